//! Both verifications, asked about the same alteration at the same moment.

use std::time::{Duration, Instant};

use linesman_lab::Running;
use linesman_tests::{Host, observe};

use super::cases::Case;

/// The paths that did not hold; none: it holds.
pub fn ours(host: &Host, case: &Case) -> Result<Vec<String>, String> {
    // What is altered stays so: a short look is enough. What holds must be given its time.
    let settle = if case.path.is_some() { "2s" } else { "30s" };
    let flags = ["--no-commit", "--no-probes", "--settle", settle, "-o", "json"];
    let running = host.start_apply(case.document, &flags, "applied");
    let altered = alter(host, case, &running);
    let output = running.wait().map_err(|e| e.to_string())?;
    if altered.is_err() {
        host.linesman(&["rollback"]);
    }
    altered?;
    let told: serde_json::Value = serde_json::from_str(&output.stdout)
        .map_err(|e| format!("ours: {e}: {}{}", output.stdout, output.stderr))?;
    match (told["verdict"].as_str(), told["step"].as_str()) {
        (Some("pending"), _) => {
            let rollback = host.linesman(&["rollback"]);
            if rollback.success() {
                Ok(Vec::new())
            } else {
                Err(format!("ours, going back: {}", rollback.stdout))
            }
        }
        (Some("rolled-back"), Some("verify")) if !observe::list(&told["differences"]).is_empty() => {
            let differences = observe::list(&told["differences"]).iter();
            Ok(differences.filter_map(|d| d["path"].as_str()).map(str::to_owned).collect())
        }
        _ => Err(format!("ours: {told}")),
    }
}

/// What nmstate's verification complains about; none: it holds.
pub fn theirs(host: &Host, case: &Case) -> Result<Option<String>, String> {
    let command = host.node.command(["incumbent"]).map_err(|e| e.to_string())?;
    let running = command.input(case.document).spawn().map_err(|e| e.to_string())?;
    let altered = alter(host, case, &running);
    let output = running.wait().map_err(|e| e.to_string())?;
    altered?;
    match output.code() {
        Some(0) => Ok(None),
        Some(5) => Ok(Some(output.stdout.trim().to_owned())),
        _ => Err(format!("theirs: {}{}", output.stdout, output.stderr)),
    }
}

/// While NetworkManager is at an interface, it may write again what was altered in the database.
const OVS_DONE: &str = "! nmcli -t -f TYPE,STATE device | grep -q '^ovs-.*:connecting'";

/// Waits until the state is there and nobody has looked at it yet; alters the host; lets go.
fn alter(host: &Host, case: &Case, running: &Running) -> Result<(), String> {
    let deadline = Instant::now() + Duration::from_secs(90);
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        while !holds() {
            if running.status().is_some() || Instant::now() > deadline {
                return Err(format!("{what}: {}{}", running.stdout(), running.stderr()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    };
    until("not applied", &|| host.node.exists("/run/linesman/failpoint/applied").unwrap_or(false))?;
    let file = host.document(case.document);
    let there = until("applied, but not there", &|| match case.there {
        None => host.linesman(&["plan", &file]).success() && host.node.sh(OVS_DONE).is_ok(),
        Some(script) => host.node.sh(script).is_ok(),
    });
    let altered = there.and_then(|()| host.node.sh(case.alter).map_err(|e| format!("alter: {e}")));
    host.pass_failpoint("applied");
    altered.map(drop)
}
