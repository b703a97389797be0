//! Between apply and verification somebody alters the host, one property at a time. Linesman's
//! verification and nmstate's own look at the same alteration: ours fails wherever theirs does, and says
//! which property at which path.

mod cases;
mod judges;

use linesman_lab::Daemon;
use linesman_tests::{Host, observe};

use cases::Case;
use judges::{ours, theirs};

/// SERVER SEARCH OPTION: what NetworkManager itself offers no command for.
const SET_GLOBAL_DNS: &str = "#!/bin/sh
exec busctl set-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager \\
  org.freedesktop.NetworkManager GlobalDnsConfiguration 'a{sv}' 3 \\
  searches as 1 \"$2\" options as 1 \"$3\" domains 'a{sv}' 1 '*' 'a{sv}' 1 servers as 1 \"$1\"
";

/// INTERFACE: its profile goes. What is only removed by hand, NetworkManager makes again at once.
const FORGET: &str = "#!/bin/sh
set -e
nmcli connection delete uuid \"$(nmcli -g GENERAL.CON-UUID device show \"$1\")\"
";

/// One node for all of a group: every attempt is rolled back.
fn hold_to_the_incumbent(lab: &str, cases: &[Case]) {
    let incumbent = env!("CARGO_BIN_EXE_incumbent");
    let host = Host::built(lab, |node| node.binary(incumbent));
    for (name, text) in [("set-global-dns", SET_GLOBAL_DNS), ("forget", FORGET)] {
        host.node.write_file(format!("/usr/sbin/{name}"), text, 0o755).expect("a script can be written");
    }
    let filters_vlans = observe::kernel_filters_vlans(&host.node);
    let wrong: Vec<String> = cases
        .iter()
        .filter(|case| filters_vlans || !case.document.contains("vlan: {mode: trunk"))
        .filter_map(|case| judge(&host, case).err().map(|why| format!("{}: {why}", case.name)))
        .collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    host.assert_settled();
}

fn judge(host: &Host, case: &Case) -> Result<(), String> {
    // NetworkManager 1.58 has crashed after nmstate's rollback of an Open vSwitch bridge: then it starts anew.
    host.node.wait_daemon(Daemon::NetworkManager).map_err(|e| e.to_string())?;
    host.node.sh(case.before).map_err(|e| format!("before: {e}"))?;
    let ours = ours(host, case);
    host.node.sh(case.after).map_err(|e| format!("after ours: {e}"))?;
    let theirs = theirs(host, case);
    host.node.sh(case.after).map_err(|e| format!("after theirs: {e}"))?;
    let (ours, theirs) = (ours?, theirs?);
    let named = case.path.is_none_or(|path| ours.iter().any(|found| found.starts_with(path)));
    match (case.path.is_some(), ours.is_empty(), theirs.as_deref()) {
        (false, true, Some(why)) if case.incumbent.is_some_and(|word| why.contains(word)) => Ok(()),
        (_, true, Some(why)) => Err(format!("nmstate's verification fails, ours holds: {why}")),
        (true, true, None) => Err("ours holds".to_owned()),
        (true, false, _) if !named => Err(format!("ours does not name {:?}: {ours:?}", case.path)),
        (false, false, _) => Err(format!("ours fails: {ours:?}")),
        (_, _, None) if case.incumbent.is_some() => Err("nmstate's verification holds: say so".to_owned()),
        (_, _, Some(why)) if !case.incumbent.is_some_and(|word| why.contains(word)) => {
            Err(format!("nmstate says something else: {why}"))
        }
        _ => Ok(()),
    }
}

#[test]
fn links_and_addresses() {
    hold_to_the_incumbent("verify-links", cases::LINKS);
}

#[test]
fn bridges() {
    hold_to_the_incumbent("verify-bridges", cases::BRIDGES);
}

#[test]
fn stacked_interfaces() {
    hold_to_the_incumbent("verify-stacked", cases::STACKED);
}

#[test]
fn routes_and_names() {
    hold_to_the_incumbent("verify-routes", cases::HOST);
}

#[test]
fn open_vswitch() {
    hold_to_the_incumbent("verify-ovs", cases::OVS);
}
