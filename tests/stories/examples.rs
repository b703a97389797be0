//! Every document under examples/ is planned, applied, in sync, imported, and rolled back.

use std::path::Path;

use linesman_tests::{Host, observe};

#[test]
fn every_example_works() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples"));
    let entries = std::fs::read_dir(folder).expect("there are examples");
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    assert!(files.len() >= 8, "{files:?}");
    let host = Host::new("examples");
    let filters_vlans = observe::kernel_filters_vlans(&host.node);
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("an example can be read");
        if filters_vlans || !text.contains("trunk-tags") {
            example(&host, &name, &text);
        }
    }
    host.assert_settled();
}

/// Applied without being confirmed, so that a rollback restores the node.
fn example(host: &Host, name: &str, text: &str) {
    let file = host.document(text);
    let plan = host.linesman(&["plan", &file]);
    assert_eq!(plan.code(), Some(2), "{name}: {}{}", plan.stdout, plan.stderr);
    let applied = host.linesman(&["apply", &file, "--no-commit", "--timeout", "300"]);
    assert!(applied.success(), "{name}: {}{}", applied.stdout, applied.stderr);
    let again = host.linesman(&["plan", &file]);
    assert!(again.success(), "{name}, once applied: {}{}", again.stdout, again.stderr);
    let imported = host.linesman(&["import"]);
    let nothing = host.linesman(&["plan", &host.document(&imported.stdout)]);
    assert!(nothing.success(), "{name}, imported: {}{}\n{}", nothing.stdout, nothing.stderr, imported.stdout);
    let back = host.linesman(&["rollback"]);
    assert!(back.success(), "{name}, going back: {}{}", back.stdout, back.stderr);
    let plan_again = host.linesman(&["plan", &file]);
    assert_eq!(plan_again.stdout, plan.stdout, "{name}: the node is not as before");
}
