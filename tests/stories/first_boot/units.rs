//! systemd's own opinion of the units under `deploy/host`, all of them together.

use linesman_tests::Host;
use linesman_tests::agent_host::install_units;

#[test]
fn systemd_accepts_the_units() {
    let host = Host::built("boot-units", |node| node.systemd(true));
    install_units(&host.node);
    // The drop-in is of a unit that the lab's images do not have.
    let foreign = "[Service]\nType=oneshot\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n";
    let place = "/usr/lib/systemd/system/nmstate-configuration.service";
    host.node.write_file(place, foreign, 0o644).expect("a unit can be written");
    let units = "cd /usr/lib/systemd/system && systemctl enable linesman-*.service linesman-*.path 2>/dev/null; \
                 systemctl daemon-reload; systemd-analyze verify --man=no linesman-*.service linesman-*.path \
                 nmstate-configuration.service multi-user.target";
    let output = host.node.exec(["sh", "-c", units]).expect("systemd-analyze runs");
    let said = format!("{}{}", output.stdout, output.stderr);
    let about_ours: Vec<&str> =
        said.lines().filter(|line| line.contains("linesman") || line.contains("cycle")).collect();
    assert!(about_ours.is_empty(), "{}", about_ours.join("\n"));
    assert!(output.success(), "{said}");
}
