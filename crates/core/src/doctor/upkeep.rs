//! What linesman keeps itself: checkpoints, journal, its folder, its units.

use super::{Answer, Finding, Signs, Unfinished, ok, or_ok, problem, warning};

/// Less than a journal entry with its snapshot and reserve may take.
const TOO_LITTLE: u64 = 4 << 20;
const LITTLE: u64 = 64 << 20;

pub(super) fn checkpoints(signs: &Signs) -> Vec<Finding> {
    const CHECK: &str = "checkpoints";
    if !matches!(signs.networkmanager, Answer::Yes(_)) {
        return Vec::new();
    }
    if signs.under_way {
        return ok(CHECK, "a change is under way");
    }
    let ours =
        |checkpoint: &str| signs.unfinished.iter().any(|change| change.waits.as_deref() == Some(checkpoint));
    let foreign = signs.checkpoints.iter().filter(|checkpoint| !ours(checkpoint));
    let found = foreign.map(|checkpoint| {
        let message = format!(
            "checkpoint {checkpoint} is open and no change of linesman's waits for it: \
            changes are refused until it ends"
        );
        problem(CHECK, message, format!("let its owner end it, or `linesman rollback {checkpoint}`"))
    });
    or_ok(found.collect(), CHECK, "none is left open")
}

pub(super) fn journal(signs: &Signs) -> Vec<Finding> {
    const CHECK: &str = "journal";
    let of = |change: &Unfinished| {
        let Unfinished { id, source, waits } = change;
        match waits {
            Some(_) => warning(
                CHECK,
                format!("change {id} ({source}) waits for its confirmation"),
                "`linesman commit` keeps it, `linesman rollback` takes it back",
            ),
            None => problem(
                CHECK,
                format!("change {id} ({source}) was interrupted"),
                "`linesman recover` finishes it or takes it back",
            ),
        }
    };
    or_ok(signs.unfinished.iter().map(of).collect(), CHECK, "nothing unfinished")
}

pub(super) fn state_dir(signs: &Signs) -> Vec<Finding> {
    const CHECK: &str = "state directory";
    let dir = &signs.state_dir;
    let mib = dir.free_bytes >> 20;
    if let Some(why) = &dir.unwritable {
        let message =
            format!("nothing can be written to {}: {why}; changes are refused without a journal", dir.path);
        return vec![problem(
            CHECK,
            message,
            "make the folder writable for root, or name another with LINESMAN_STATE_DIR",
        )];
    }
    if dir.free_bytes < TOO_LITTLE {
        let message =
            format!("{} has {mib} MiB left; changes are refused without room for the way back", dir.path);
        return vec![problem(CHECK, message, "free some space there")];
    }
    if dir.free_bytes < LITTLE {
        return vec![warning(
            CHECK,
            format!("{} has only {mib} MiB left", dir.path),
            "free some space there",
        )];
    }
    ok(CHECK, format!("{} is writable, {mib} MiB free", dir.path))
}

pub(super) fn units(signs: &Signs) -> Vec<Finding> {
    const CHECK: &str = "recovery at boot";
    let Some(units) = &signs.units else { return ok(CHECK, "systemd does not run here") };
    let disabled: Vec<&str> =
        units.iter().filter(|unit| !unit.enabled).map(|unit| unit.name.as_str()).collect();
    if disabled.is_empty() {
        return ok(CHECK, "its units are enabled");
    }
    let names = disabled.join(" ");
    let message =
        format!("not enabled: {names}; a change that a power cut interrupts is not finished by itself");
    vec![warning(CHECK, message, format!("install the units, then: systemctl enable {names}"))]
}
