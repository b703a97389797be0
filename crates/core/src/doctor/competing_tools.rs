//! Other tools that configure the network.

use super::{CompetingTool, Finding, Inspection, OpenFile, Tool, or_ok, warning};

pub(super) fn tools(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "other tools";
    let found = inspection.competing_tools.iter().map(|found| {
        let (what, remedy) = say(found.tool);
        warning(CHECK, format!("{what} ({})", found.evidence), remedy)
    });
    or_ok(found.collect(), CHECK, "none found")
}

fn say(tool: Tool) -> (&'static str, &'static str) {
    match tool {
        Tool::Netplan => (
            "netplan configures interfaces with systemd-networkd",
            "convert the files with `linesman import --from netplan /etc/netplan`, then set 'renderer: \
                NetworkManager' or remove them",
        ),
        Tool::Ifupdown => (
            "ifupdown configures interfaces",
            "keep only lo in /etc/network/interfaces, and apply a document for the other interfaces",
        ),
        Tool::Networkd => (
            "systemd-networkd is running and manages interfaces",
            "systemctl disable --now systemd-networkd.service systemd-networkd.socket, or remove its \
                .network files",
        ),
        Tool::CloudInit => (
            "cloud-init writes network configuration at boot",
            "write 'network: {config: disabled}' to /etc/cloud/cloud.cfg.d/99-network.cfg",
        ),
        Tool::Wicked => ("wicked is running", "systemctl disable --now wicked.service"),
        Tool::Connman => ("connman is running", "systemctl disable --now connman.service"),
        Tool::Dhcpcd => ("dhcpcd is running", "systemctl disable --now dhcpcd.service"),
        Tool::KubernetesNmstate => (
            "the handler of kubernetes-nmstate is running on this host",
            "delete its NMState object (the policies stay), so that only one handler applies them",
        ),
    }
}

/// Whether a netplan file hands interfaces to systemd-networkd, its default.
pub fn netplan(file: &OpenFile) -> Option<CompetingTool> {
    let words =
        |key: &str| file.text.lines().any(|line| line.trim().trim_start_matches(['{', '"']).starts_with(key));
    let devices = ["ethernets", "bonds", "bridges", "vlans", "vrfs", "wifis", "tunnels"]
        .iter()
        .any(|kind| file.text.contains(&format!("{kind}:")));
    let handed_over = file.text.contains("renderer: NetworkManager")
        || file.text.contains("\"renderer\": \"NetworkManager\"");
    (words("network") && devices && !handed_over)
        .then(|| CompetingTool { tool: Tool::Netplan, evidence: file.path.clone() })
}

/// Whether /etc/network/interfaces, or a file beside it, knows more than lo.
pub fn ifupdown(file: &OpenFile) -> Option<CompetingTool> {
    let names = file.text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("iface")).then(|| words.next()).flatten()
    });
    let others: Vec<&str> = names.filter(|name| *name != "lo").collect();
    (!others.is_empty()).then(|| CompetingTool {
        tool: Tool::Ifupdown,
        evidence: format!("{}: {}", file.path, others.join(", ")),
    })
}

/// Whether any of cloud-init's files switches its network part off.
pub fn cloud_init_keeps_off(files: &[OpenFile]) -> bool {
    let squeezed =
        |text: &str| text.split_whitespace().collect::<String>().replace(['{', '}', '"', '\''], "");
    files.iter().any(|file| squeezed(&file.text).contains("network:config:disabled"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> OpenFile {
        OpenFile { path: "f".into(), text: text.into() }
    }

    #[test]
    fn netplan_competes_unless_it_renders_for_networkmanager() {
        assert!(netplan(&file("network:\n  ethernets: {eth0: {}}\n")).is_some());
        assert!(netplan(&file("network:\n  renderer: NetworkManager\n  ethernets: {}\n")).is_none());
        assert!(netplan(&file("network:\n  version: 2\n  renderer: NetworkManager\n")).is_none());
        assert!(netplan(&file("network: {version: 2}\n")).is_none());
    }

    #[test]
    fn loopback_alone_does_not_compete() {
        assert!(
            ifupdown(&file("source /etc/network/interfaces.d/*\nauto lo\niface lo inet loopback\n"))
                .is_none()
        );
        let found = ifupdown(&file("iface lo inet loopback\n  iface eth0 inet dhcp\n")).unwrap();
        assert!(found.evidence.contains("eth0"));
    }

    #[test]
    fn cloud_init_with_networking_disabled_does_not_compete() {
        assert!(cloud_init_keeps_off(&[file("a: 1\n"), file("network: {config: disabled}\n")]));
        assert!(cloud_init_keeps_off(&[file("network:\n  config: disabled\n")]));
        assert!(!cloud_init_keeps_off(&[file("network:\n  version: 1\n")]));
    }
}
