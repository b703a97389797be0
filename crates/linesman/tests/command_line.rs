//! What can be said of the command line without a host to change.

#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

fn linesman(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linesman"))
        .args(arguments)
        .output()
        .expect("the binary was built for this test")
}

#[test]
fn help_lists_the_verbs_and_the_exit_codes() {
    let output = linesman(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout);
    for word in [
        "plan",
        "apply",
        "commit",
        "rollback",
        "show",
        "history",
        "import",
        "doctor",
        "gather",
        "recover",
        "Exit codes:",
    ] {
        assert!(text.contains(word), "{word} is missing in:\n{text}");
    }
    assert!(!text.contains("apply-worker"), "the worker's verb is nobody's business");
}

#[test]
fn a_wrong_command_line_is_64_and_never_2() {
    for arguments in [
        &["aply"][..],
        &["apply", "--try", "soon"],
        &["apply", "--try", "5s", "--no-commit"],
        &["plan", "--probe"],
    ] {
        assert_eq!(linesman(arguments).status.code(), Some(64), "{arguments:?}");
    }
}

#[test]
fn a_wrong_probe_says_which_ones_there_are() {
    let output = linesman(&["apply", "x.yaml", "--probe", "gatewy"]);
    assert_eq!(output.status.code(), Some(64));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("gateway") && text.contains("tcp:"), "{text}");
}

#[test]
fn a_file_that_is_not_there_is_wrong_input() {
    let output = linesman(&["plan", "/nowhere/state.yaml"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/state.yaml"));
}

#[test]
fn every_example_passes_the_check() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let output = linesman(&["check", "--apart", examples, &format!("{examples}/policies")]);
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{wrong}");
    assert!(said.contains("builds-on-another.yaml:14: ok (lab-tunnel)"), "{said}");
}

/// Files need neither root nor NetworkManager, so this says it all without a host.
#[test]
fn files_are_imported_anywhere() {
    let folder = std::env::temp_dir().join(format!("linesman-import-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let profile =
        write("a.nmconnection", "[connection]\nid=a\ntype=dummy\ninterface-name=dm0\nzone=public\n");
    let broken = write("b.txt", "network:\n  ethernets: {eth0: {mtu: big}}\n");
    let output = linesman(&["import", &folder.display().to_string()]);
    let (document, notes) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{notes}");
    assert!(document.starts_with("# Imported from ") && document.contains("name: dm0"), "{document}");
    assert!(notes.contains("a.nmconnection:5: connection.zone") && document.contains("#   "), "{notes}");
    let json = linesman(&["import", "-o", "json", "--from", "keyfile", &profile]).stdout;
    let state: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(state["interfaces"][0]["type"], "dummy");
    let refused = linesman(&["import", &broken]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("error[LM0017]"));
    assert_eq!(linesman(&["import", "/nowhere"]).status.code(), Some(3));
    assert_eq!(linesman(&["import", "--from", "netplan"]).status.code(), Some(64));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A host whose network plugin needs no br-ex.
fn install_config(host: &str) -> String {
    format!(
        "platform: {{none: {{}}}}\nnetworking:\n  networkType: Calico\n  hostConfig:\n  - name: {host}\n    networkConfig:\n      \
         interfaces:\n      - {{name: eno1, type: ethernet, state: up}}\n"
    )
}

#[test]
fn generate_writes_all_or_nothing_and_replaces_only_its_own() {
    let dir = folder("generate", &[]);
    let (input, out) = (format!("{dir}/install-config.yaml"), format!("{dir}/out"));
    let generate = |host: &str| {
        std::fs::write(&input, install_config(host)).unwrap();
        let output = linesman(&["generate", &input, "--dir", &out]);
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        let said = said.concat();
        let without_notes = said.lines().filter(|line| !line.starts_with("note: "));
        (output.status.code(), without_notes.map(|line| format!("{line}\n")).collect::<String>())
    };
    assert_eq!(generate("Master-0").0, Some(3));
    assert!(!std::path::Path::new(&out).exists(), "nothing is written when anything is wrong");
    assert_eq!(generate("master-0"), (Some(0), format!("wrote {out}/master-0.ign\n")));
    assert_eq!(generate("master-0"), (Some(0), format!("unchanged {out}/master-0.ign\n")));
    let replaced = format!("wrote {out}/master-1.ign\nremoved {out}/master-0.ign\n");
    assert_eq!(generate("master-1"), (Some(0), replaced));
    std::fs::write(format!("{out}/master-2.ign"), "{}").unwrap();
    let (code, text) = generate("master-2");
    assert!(code == Some(1) && text.contains("master-2.ign exists and was not generated"), "{text}");
    std::fs::write(format!("{out}/master-1.ign"), "{}").unwrap();
    let (code, text) = generate("master-1");
    assert!(code == Some(1) && text.contains("master-1.ign was edited"), "{text}");
    let output = linesman(&["generate", "-o", "json", &input, "--dir", &out]);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["error"]["code"], "LM2036");
    std::os::unix::fs::symlink("/nowhere", format!("{out}/master-3.ign")).unwrap();
    let (code, text) = generate("master-3");
    assert!(code == Some(1) && text.contains("master-3.ign exists and was not generated"), "{text}");

    // Nothing is written without a directory; a file that is named twice counts once.
    let output = linesman(&["generate", "-o", "json", &input, &input]);
    let sections: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sections[0]["wouldWrite"], serde_json::json!(["master-3.ign"]), "{sections}");
    assert_eq!((sections.as_array().unwrap().len(), &sections[0]["written"]), (1, &serde_json::json!([])));
}

#[test]
fn generate_takes_the_examples_each_into_a_directory_of_its_own() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/install-config");
    let out = folder("generate-examples", &[]);
    for form in ["ignition", "machine-config", "files"] {
        let output = linesman(&["generate", examples, "--as", form, "--dir", &format!("{out}/{form}")]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for file in [
        "ignition/bond/master-0.ign",
        "machine-config/cluster-wide/10-br-ex-worker.yaml",
        "files/dual-stack/hosts.json",
    ] {
        assert!(std::path::Path::new(&out).join(file).exists(), "{file}");
    }
    let again = linesman(&["generate", &format!("{out}/files/dual-stack")]);
    assert_eq!(again.status.code(), Some(0), "its own files are documents, and the index among them is none");
}

#[test]
fn crds_are_those_that_deploy_holds() {
    let deploy = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    for (arguments, folder) in [(&["crds"][..], "crds"), (&["crds", "--admission"][..], "admission")] {
        let output = linesman(arguments);
        let said = String::from_utf8_lossy(&output.stdout);
        for file in std::fs::read_dir(deploy.join(folder)).expect("deploy is there") {
            let text =
                std::fs::read_to_string(file.expect("deploy is there").path()).expect("deploy is there");
            assert!(said.contains(text.trim_end()), "{folder}: not printed: {}", &text[..200]);
        }
    }
}

const MANIFEST: &str = "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: storage}\n\
    spec:\n  desiredState:\n    interfaces:\n    - {name: br1, type: linux-bridge}\n";

fn folder(name: &str, files: &[(&str, &str)]) -> String {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    folder.display().to_string()
}

#[test]
fn two_policies_of_one_name_are_an_error_as_they_are_for_the_agent() {
    let dir = folder("same-name", &[("a.yaml", MANIFEST), ("b.yaml", MANIFEST)]);
    let output = linesman(&["check", &dir]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    let sentence = format!("{dir}/a.yaml and {dir}/b.yaml both contain a policy named storage");
    assert!(text.contains("error[LM0023]") && text.contains(&sentence), "{text}");
    assert_eq!(linesman(&["check", "--apart", &dir]).status.code(), Some(0));
    let state = "interfaces:\n- {name: br1, type: linux-bridge}\n";
    let dir = folder("same-file-name", &[("a.yaml", state), ("a.yml", state)]);
    assert_eq!(linesman(&["check", &dir]).status.code(), Some(3));
    let other = folder("other-directory", &[("a.yaml", state)]);
    let (one, two) = (format!("{dir}/a.yaml"), format!("{other}/a.yaml"));
    assert_eq!(linesman(&["check", &one, &two]).status.code(), Some(0));
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let dir = folder("full", &[("a.yaml", MANIFEST)]);
    let verbs = [
        &["crds"][..],
        &["check", &dir],
        &["check", "-o", "yaml", &dir],
        &["explain"],
        &["--help"],
        &["man"],
        &["completion", "bash"],
    ];
    for arguments in verbs {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let binary = env!("CARGO_BIN_EXE_linesman");
        let output = Command::new(binary).args(arguments).stdout(full).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.starts_with("linesman: cannot write to standard output: No space left"), "{text}");
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_linesman")).arg("crds").stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// Every verb that asks NetworkManager says the same.
#[test]
fn without_dbus_a_prerequisite_is_missing() {
    let dir = folder("no-dbus", &[("a.yaml", "interfaces:\n- {name: br1, type: linux-bridge}\n")]);
    let file = format!("{dir}/a.yaml");
    for arguments in [
        &["show"][..],
        &["show", "-r"],
        &["plan", &file],
        &["apply", &file],
        &["commit"],
        &["rollback"],
        &["diff"],
        &["why", "br1"],
        &["import"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_linesman"))
            .args(["--state-dir", &dir, "--run-dir", &dir])
            .args(arguments)
            .env("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere/bus")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {text}");
        let missing = text.starts_with("linesman: no system D-Bus at unix:path=/nowhere/bus");
        assert!(missing || text.contains("must run as root"), "{arguments:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{arguments:?}: {text}");
    }
}

#[test]
fn the_reason_of_a_freeze_is_one_line() {
    let dir = folder("freeze", &[]);
    for reason in ["a\nb", "\u{1b}[2Ja"] {
        let output = linesman(&["--state-dir", &dir, "freeze", reason]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{text}");
        assert!(text.contains("control character") && !text.contains('\u{1b}'), "{text}");
    }
    assert!(!std::path::Path::new(&dir).join("freeze.json").exists());
}

#[test]
fn a_freeze_that_cannot_be_removed_is_named() {
    let dir = folder("freeze-directory", &[]);
    std::fs::create_dir(format!("{dir}/freeze.json")).unwrap();
    let output = linesman(&["--state-dir", &dir, "unfreeze"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains(&format!("cannot remove {dir}/freeze.json: ")), "{text}");
}

/// `arguments` with a state directory of their own, without D-Bus; the exit code, what was printed, and what was said.
fn failing(dir: &str, format: &str, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_linesman"))
        .args(["--state-dir", dir, "--run-dir", dir, "-o", format])
        .args(arguments)
        .env("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere/bus")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn programs_read_one_object_whatever_goes_wrong() {
    let newer = r#"{"version": 99}"#;
    let files = [
        ("ok.yaml", "interfaces:\n- {name: br1, type: linux-bridge}\n"),
        ("wrong.yaml", "interfaces:\n- {name: br1, type: linux-bridge, mtu: big}\n"),
        ("policies.json", "["),
        ("freeze.json", "{"),
        ("netplan.txt", "network:\n  ethernets: {eth0: {mtu: big}}\n"),
    ];
    let dir = folder("error-objects", &files);
    let journal = folder("error-objects/journal", &[("1.record.json", newer), ("1.snapshot.json", newer)]);
    std::fs::create_dir_all(journal).unwrap();
    let file = |name: &str| format!("{dir}/{name}");
    let (ok, wrong, netplan) = (file("ok.yaml"), file("wrong.yaml"), file("netplan.txt"));
    let cases: &[(&[&str], i32)] = &[
        (&["plan", &ok], 4),
        (&["plan", &wrong], 3),
        (&["plan", "/nowhere.yaml"], 3),
        (&["apply", &ok], 4),
        (&["apply", &ok, "--no-commit"], 4),
        (&["apply", &wrong], 3),
        (&["commit"], 4),
        (&["rollback"], 4),
        (&["show"], 4),
        (&["show", "--json"], 4),
        (&["topology", "--file", "/nowhere.yaml"], 3),
        (&["topology", "--file", &ok, "eth77"], 1),
        (&["topology", "--file", &ok, "--svg", "/nowhere/a.svg"], 1),
        (&["history", "never"], 1),
        (&["agent", "--standalone", "--listen", "somewhere"], 64),
        (&["operator", "--listen", "somewhere"], 64),
        (&["status"], 4),
        (&["status", "--watch"], 4),
        (&["diff"], 4),
        (&["why", "br1"], 4),
        (&["retry"], 4),
        (&["freeze"], 7),
        (&["freeze", "a\nb"], 64),
        (&["import"], 4),
        (&["import", "/nowhere"], 3),
        (&["import", &netplan], 3),
        (&["import", "--from", "netplan"], 64),
        (&["gather", "--file", &ok], 1),
        (&["recover"], 4),
        (&["explain", "LM9999"], 64),
        (&["man", "--dir", "/proc/nowhere"], 1),
        (&["apply", "--try", "soon", &ok], 64),
        (&["apply", "--try"], 64),
        (&["completion", "tcsh"], 64),
        (&["frobnicate"], 64),
        (&["crds", "--nonsense"], 64),
        (&["check"], 64),
        (&["unfreeze", "now"], 64),
        (&["doctor", "now"], 64),
    ];
    for (arguments, expected) in cases {
        let (code, printed, said) = failing(&dir, "json", arguments);
        let context = format!("{arguments:?}: {code}\n{printed}\n{said}");
        assert_eq!(code, *expected, "{context}");
        let object: serde_json::Value = serde_json::from_str(&printed).expect(&context);
        let error = &object["error"];
        assert_eq!(error["exitCode"], *expected, "{context}");
        assert!(error["message"].as_str().is_some_and(|text| text.len() > 10), "{context}");
        assert!(error["message"] != "failed; see standard error", "{context}");
        assert!(!error["hint"].is_null() || error["code"].is_null(), "{context}");
        assert!(!said.is_empty(), "people are told as well: {context}");
        let (_, printed, _) = failing(&dir, "yaml", arguments);
        if !arguments.contains(&"--json") {
            let tree = linesman_core::document::tree(&printed).expect(&context);
            assert_eq!(tree.to_value(), object, "{context}");
        }
        let (_, printed, _) = failing(&dir, "text", arguments);
        assert!(!printed.contains("exitCode") || arguments.contains(&"--json"), "{context}");
    }
    let (_, printed, _) = failing(&dir, "json", &["status"]);
    let object: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(object["error"]["code"], "LM2034", "{printed}");
    let (_, printed, _) = failing(&dir, "json", &["plan", &wrong]);
    let object: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(object["error"]["problems"][0]["line"], 2, "{printed}");
    let (code, printed, _) = failing(&dir, "json", &["check", &wrong]);
    let findings: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, findings[0]["line"].as_u64()), (3, Some(2)), "{printed}");
}

#[test]
fn every_verb_is_among_those_whose_errors_are_objects() {
    let help = String::from_utf8(linesman(&["--help"]).stdout).unwrap();
    let verbs =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs =
        verbs.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    for verb in verbs.filter(|verb| *verb != "help") {
        let (code, printed, _) = failing("/nowhere", "json", &[verb, "--nonsense"]);
        let object: serde_json::Value = serde_json::from_str(&printed).expect(verb);
        assert_eq!((code, object["error"]["code"].as_str()), (64, Some("LM2035")), "{verb}: {printed}");
    }
}
