//! A host that has nothing but what `linesman generate` made for it, and the binary.

use std::process::Command;

use linesman_tests::{binary, br_ex};
use serde_json::Value;

use super::{Installed, UNIT};

/// What Ignition does with a config: files, units and drop-ins are written, and units enabled.
fn ignite(installed: &Installed, config: &Value) {
    let node = installed.node();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().expect("it is text").to_owned();
    for file in list(&config["storage"]["files"]) {
        let (path, source) = (text(&file["path"]), text(&file["contents"]["source"]));
        let encoded = source.split_once(";base64,").expect("it is a data URL").1;
        let mode = file["mode"].as_u64().expect("it has a mode");
        let script =
            format!("mkdir -p $(dirname {path}); echo {encoded} | base64 -d >{path}; chmod {mode:o} {path}");
        node.sh(&script).expect("a file can be written");
    }
    for unit in list(&config["systemd"]["units"]) {
        let (name, folder) = (text(&unit["name"]), "/etc/systemd/system");
        if let Some(contents) = unit["contents"].as_str() {
            node.write_file(format!("{folder}/{name}"), contents, 0o644).expect("a unit can be written");
        }
        for drop_in in list(&unit["dropins"]) {
            let path = format!("{folder}/{name}.d/{}", text(&drop_in["name"]));
            node.write_file(path, text(&drop_in["contents"]), 0o644).expect("a drop-in can be written");
        }
        if unit["enabled"] == true {
            node.run(["systemctl", "enable", &name]).expect("a unit can be enabled");
        }
    }
}

fn generated(installed: &Installed) -> Value {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let install_config = folder.path().join("install-config.yaml");
    let document = linesman_core::document::tree(&br_ex(installed.node())).expect("it is YAML").to_value();
    let text = serde_json::json!({
        "apiVersion": "v1",
        "metadata": { "name": "lab" },
        "platform": { "none": {} },
        "networking": { "hostConfig": [{ "name": "n1", "role": "master", "networkConfig": document }] },
    });
    std::fs::write(&install_config, text.to_string()).expect("it can be written");
    let output = folder.path().join("out");
    let ran = Command::new(binary()).args(["generate", "--dir"]).args([&output, &install_config]).output();
    let ran = ran.expect("linesman runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let config = std::fs::read(output.join("n1.ign")).expect("n1 has a config");
    serde_json::from_slice(&config).expect("it is JSON")
}

#[test]
fn a_generated_host_boots_and_survives_a_power_cut() {
    let installed = Installed::bare("first-boot-ignition");
    let (node, host) = (installed.node(), &installed.host);
    ignite(&installed, &generated(&installed));
    // The first boot loses power while the profiles are half of the new state.
    let step = format!("/run/systemd/system/{UNIT}.d/step.conf");
    node.write_file(&step, "[Service]\nEnvironment=LINESMAN_FAILPOINT=applied\n", 0o644).expect("a drop-in");
    node.sh(&format!("systemctl daemon-reload; systemctl start --no-block {UNIT}")).expect("it starts");
    host.wait_failpoint("applied");
    installed.reboot();
    let recovered =
        node.run(["journalctl", "--boot", "--output=cat", "--unit=linesman-recover-boot"]).unwrap();
    assert!(!recovered.trim().is_empty(), "recovered before NetworkManager started");
    installed.assert_state("Applied");
    installed.assert_br_ex_has_the_address();
    let verdicts: Vec<Value> =
        host.history().into_iter().map(|change| change["outcome"]["verdict"].clone()).collect();
    assert_eq!(verdicts, ["rolled-back", "committed"], "{}", installed.journal());
}
