//! What `linesman generate` makes of the install-configs under examples/, as Ignition's own validator sees it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use linesman_core::document::tree;
use linesman_tests::binary;

#[test]
fn ignition_accepts_what_is_generated() {
    let validator = linesman_lab::ignition_validate().expect("the validator is built");
    assert!(
        !validate(&validator, r#"{"ignition": {"version": "3.2.0"}, "storage": {"files": [{}]}}"#).is_empty()
    );
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/install-config"));
    let mut configs = 0;
    for example in files(folder, "yaml") {
        for version in ["3.2.0", "3.5.0"] {
            for (form, ending) in [("ignition", "ign"), ("machine-config", "yaml")] {
                let directory = generate(&example, form, version);
                for file in files(&directory, ending) {
                    let text = std::fs::read_to_string(&file).expect("it can be read");
                    let Some(config) = config(form, &text) else { continue };
                    let complaints = validate(&validator, &config);
                    assert_eq!(complaints, "", "{} from {}\n{config}", file.display(), example.display());
                    configs += 1;
                }
                std::fs::remove_dir_all(&directory).expect("it can be removed");
            }
        }
    }
    assert!(configs >= 20, "{configs}");
}

fn generate(example: &Path, form: &str, version: &str) -> PathBuf {
    let name = format!("linesman-generated-{}-{form}-{version}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let output = Command::new(binary())
        .args(["generate", "--as", form, "--ignition-version", version, "--dir"])
        .args([&directory, example])
        .output()
        .expect("linesman runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    directory
}

/// The Ignition config in a generated file; the policy beside MachineConfigs has none.
fn config(form: &str, text: &str) -> Option<String> {
    if form == "ignition" {
        return Some(text.to_owned());
    }
    let object = tree(text).expect("it is YAML").to_value();
    (object["kind"] == "MachineConfig").then(|| object["spec"]["config"].to_string())
}

/// Errors and warnings.
fn validate(validator: &Path, config: &str) -> String {
    let mut command = Command::new(validator);
    let pipes = command.arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = pipes.spawn().expect("the validator starts");
    running.stdin.take().expect("a pipe").write_all(config.as_bytes()).expect("it reads");
    let output = running.wait_with_output().expect("the validator ends");
    let said = [output.stdout, output.stderr].concat();
    let mut said = String::from_utf8_lossy(&said).into_owned();
    if !output.status.success() {
        said += &format!("{}\n", output.status);
    }
    said
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("it can be listed").flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == ending));
    files.sort();
    assert!(!files.is_empty(), "{}", folder.display());
    files
}
