//! What can be said of the command line without a host to change.

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
