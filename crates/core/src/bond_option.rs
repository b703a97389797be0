//! What the kernel says of the options of a bond: when it takes them, and in which modes they mean something.

use crate::path::{Path, PathStep};

/// As the kernel numbers them.
pub const MODES: [&str; 7] =
    ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];

/// What an option of an existing bond needs to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// The bond is down.
    Down,
    /// The bond has no ports.
    NoPorts,
}

pub fn needs(option: &str) -> Needs {
    match option {
        "lacp_rate" | "lacp_active" | "ad_select" | "ad_user_port_key" | "tlb_dynamic_lb" => Needs::Down,
        "fail_over_mac" | "mode" => Needs::NoPorts,
        _ => Needs::Nothing,
    }
}

/// Whether that is a place in a bond which NetworkManager only changes by detaching all ports and setting the bond down.
pub(crate) fn interrupts(path: &Path) -> bool {
    let [PathStep::Key(_), PathStep::Item(_), PathStep::Key(section), rest @ ..] = path.steps() else {
        return false;
    };
    let key = match rest {
        [PathStep::Key(key)] => key,
        [PathStep::Key(options), PathStep::Key(key)] if options == "options" => key,
        _ => return false,
    };
    section == "link-aggregation" && needs(key) != Needs::Nothing
}

const RR: &str = "balance-rr";
const BACKUP: &str = "active-backup";
const XOR: &str = "balance-xor";
const BROADCAST: &str = "broadcast";
const LACP: &str = "802.3ad";
const TLB: &str = "balance-tlb";
const ALB: &str = "balance-alb";

/// Whether NMState shows the option of a bond in that mode. Elsewhere it may be declared, and the kernel does nothing with it.
pub(crate) fn is_shown(option: &str, mode: &str) -> bool {
    let modes: &[&str] = match option {
        "primary" => &[BACKUP, TLB, ALB],
        "fail_over_mac" | "num_grat_arp" | "num_unsol_na" => &[BACKUP],
        "xmit_hash_policy" => &[XOR, LACP, TLB],
        "resend_igmp" => &[RR, BACKUP, TLB, ALB],
        "packets_per_slave" => &[RR],
        "tlb_dynamic_lb" => &[TLB, ALB],
        "arp_missed_max" => &[RR, BACKUP, XOR, BROADCAST],
        "lacp_rate" | "lacp_active" | "ad_select" | "ad_actor_sys_prio" | "ad_actor_system"
        | "ad_user_port_key" => &[LACP],
        _ => return true,
    };
    modes.contains(&mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_live_interrupts_nothing() {
        let bond = Path::interface("bond0").key("link-aggregation");
        assert!(interrupts(&bond.key("mode")));
        assert!(interrupts(&bond.key("options").key("lacp_rate")));
        assert!(!interrupts(&bond.key("options").key("miimon")));
        assert!(!interrupts(&bond.key("port").item("mode")));
        assert!(!interrupts(&Path::interface("bond0").key("bridge").key("options").key("mode")));
    }

    #[test]
    fn options_of_other_modes_are_not_shown() {
        assert!(is_shown("tlb_dynamic_lb", TLB) && !is_shown("tlb_dynamic_lb", LACP));
        assert!(is_shown("fail_over_mac", BACKUP) && !is_shown("fail_over_mac", LACP));
        assert!(MODES.iter().all(|mode| is_shown("miimon", mode)));
    }
}
