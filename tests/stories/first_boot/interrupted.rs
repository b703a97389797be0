//! Power cuts, kills and SIGTERM at every step of the first boot: the next boot ends it.

use linesman_lab::documents::eth0;
use linesman_tests::br_ex;

use super::{Installed, UNIT};

/// Where the transaction can be stopped, in its order.
const STEPS: [&str; 7] =
    ["snapshot-taken", "applying", "applied", "verified", "probed", "committing", "committed"];

/// Until the next boot, the unit stops at this step.
fn stop_at(installed: &Installed, step: &str) {
    let script = format!(
        "mkdir -p /run/systemd/system/{UNIT}.d
printf '[Service]\\nEnvironment=LINESMAN_FAILPOINT={step}\\n' >/run/systemd/system/{UNIT}.d/step.conf
systemctl daemon-reload
systemctl start --no-block {UNIT}"
    );
    installed.node().sh(&script).unwrap();
    installed.host.wait_failpoint(step);
}

/// As before its first boot.
fn forget(installed: &Installed) {
    let host = &installed.host;
    host.apply(&eth0(installed.node()));
    let script = format!(
        "rm -rf /run/systemd/system/{UNIT}.d /var/lib/linesman/first-boot.* /etc/nmstate/openshift/*
systemctl daemon-reload; systemctl stop {UNIT}"
    );
    installed.node().sh(&script).unwrap();
    host.assert_settled();
}

#[test]
fn whatever_happens_the_next_boot_applies_the_document() {
    let installed = Installed::new("first-boot-cut");
    let (node, host) = (installed.node(), &installed.host);
    node.sh("systemctl mask --runtime linesman-firstboot-changed.path").unwrap();
    for step in STEPS {
        installed.install("n1.yml", &br_ex(node));
        stop_at(&installed, step);
        installed.reboot();
        installed.assert_state("Applied");
        installed.assert_br_ex_has_the_address();
        forget(&installed);
    }

    installed.install("n1.yml", &br_ex(node));
    stop_at(&installed, "probed");
    node.run(["systemctl", "kill", "--kill-whom=main", "--signal=KILL", UNIT]).unwrap();
    host.eventually("the unit ends", || installed.property("ActiveState") == "failed");
    installed.reboot();
    installed.assert_state("Applied");
    installed.assert_br_ex_has_the_address();
    forget(&installed);

    installed.install("n1.yml", &br_ex(node));
    stop_at(&installed, "applied");
    node.run(["systemctl", "stop", "--no-block", UNIT]).unwrap();
    host.pass_failpoint("applied");
    host.eventually("the unit ends", || {
        !["activating", "deactivating"].contains(&installed.property("ActiveState").as_str())
    });
    installed.assert_state("Failed");
    host.assert_settled();
    assert_eq!(host.last_verdict(), "rolled-back");
    installed.reboot();
    installed.assert_state("Applied");
    installed.assert_br_ex_has_the_address();
}
