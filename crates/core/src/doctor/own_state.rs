//! What linesman keeps itself: checkpoints, journal, its folder, its units.

use super::{Answer, Finding, Inspection, Unfinished, ok, or_ok, problem, warning};

/// Less than a journal entry with its snapshot and reserve may take.
const TOO_LITTLE: u64 = 4 << 20;
const LITTLE: u64 = 64 << 20;

pub(super) fn checkpoints(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "checkpoints";
    if !matches!(inspection.networkmanager, Answer::Yes(_)) {
        return Vec::new();
    }
    if inspection.under_way {
        return ok(CHECK, "a change is in progress");
    }
    // No change begins while a checkpoint is open, so the only one is that of the change that was interrupted.
    let interrupted = inspection.unfinished.iter().find(|change| change.waits.is_none());
    if let ([checkpoint], Some(change)) = (inspection.checkpoints.as_slice(), interrupted) {
        let message = format!(
            "checkpoint {checkpoint} belongs to the interrupted change {}: NetworkManager rolls it back within seconds",
            change.id
        );
        return vec![warning(CHECK, message, "run `linesman recover`")];
    }
    let ours = |checkpoint: &str| {
        inspection.unfinished.iter().any(|change| change.waits.as_deref() == Some(checkpoint))
    };
    let foreign = inspection.checkpoints.iter().filter(|checkpoint| !ours(checkpoint));
    let found = foreign.map(|checkpoint| {
        let message = format!(
            "checkpoint {checkpoint} is open and does not belong to linesman: changes are rejected \
            until it is closed"
        );
        problem(
            CHECK,
            message,
            format!("close it with the program that created it, or run `linesman rollback {checkpoint}`"),
        )
    });
    or_ok(found.collect(), CHECK, "none open")
}

pub(super) fn journal(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "journal";
    let of = |change: &Unfinished| {
        let Unfinished { id, source, waits } = change;
        match waits {
            Some(_) => warning(
                CHECK,
                format!("change {id} ({source}) is pending confirmation"),
                "run `linesman commit` or `linesman rollback`",
            ),
            None => {
                problem(CHECK, format!("change {id} ({source}) was interrupted"), "run `linesman recover`")
            }
        }
    };
    let newer = inspection.newer_record.iter().map(|file| {
        let message = format!("{file} is of an unfinished change that a newer linesman began");
        problem(CHECK, message, "install the newer linesman and run `linesman recover`")
    });
    let found = inspection.unfinished.iter().map(of).chain(newer).collect();
    or_ok(found, CHECK, "no unfinished changes")
}

pub(super) fn state_dir(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "state directory";
    let dir = &inspection.state_dir;
    let mib = dir.free_bytes >> 20;
    if let Some(why) = &dir.unwritable {
        let message = format!("{} is not writable: {why}; changes are rejected without a journal", dir.path);
        return vec![problem(
            CHECK,
            message,
            "make the directory writable for root, or set LINESMAN_STATE_DIR to another one",
        )];
    }
    if dir.free_bytes < TOO_LITTLE {
        let message =
            format!("{} has {mib} MiB left; changes are rejected without space for the snapshot", dir.path);
        return vec![problem(CHECK, message, "free some disk space")];
    }
    if dir.free_bytes < LITTLE {
        return vec![warning(CHECK, format!("{} has only {mib} MiB left", dir.path), "free some disk space")];
    }
    ok(CHECK, format!("{} is writable, {mib} MiB free", dir.path))
}

pub(super) fn units(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "recovery at boot";
    let Some(units) = &inspection.units else { return ok(CHECK, "not applicable: systemd is not running") };
    let disabled: Vec<&str> =
        units.iter().filter(|unit| !unit.enabled).map(|unit| unit.name.as_str()).collect();
    if disabled.is_empty() {
        return ok(CHECK, "units enabled");
    }
    let names = disabled.join(" ");
    let message =
        format!("not enabled: {names}; a change that is interrupted by a power cut is not recovered at boot");
    vec![warning(CHECK, message, format!("install the units, then: systemctl enable {names}"))]
}
