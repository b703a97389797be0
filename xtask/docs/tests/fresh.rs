//! The generated pages are what the code says.

use std::process::Command;

#[test]
fn no_page_is_stale() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask-docs"))
        .arg("--check")
        .output()
        .expect("the program was built for this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
