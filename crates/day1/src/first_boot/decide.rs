//! What is done with the document of a host: applied once, then only compared. Later changes are policies.

use super::record::{Hash, Record};
use super::rename::Renamed;

/// All that the decision depends on.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    pub record: &'a Record,
    /// Of the document that is for this host now; none: there is none.
    pub hash: Option<&'a Hash>,
    /// NICs of the applied document that are called differently now, and have not been followed with what was applied.
    pub renamed: &'a [Renamed],
    /// Interfaces of the document that no profile on disk brings up.
    pub lost: &'a [String],
    /// Interfaces of the document that policies declare.
    pub adopted: &'a [Adopted],
    pub occasion: Occasion,
    pub on_change: OnChange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adopted {
    pub interface: String,
    pub policy: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    Boot,
    /// The files changed on a running host.
    FilesChanged,
}

/// What a document that changed after it was applied does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnChange {
    /// It is compared with the host, and what differs is reported.
    #[default]
    Report,
    /// It is applied at the next boot.
    Boot,
    /// It is applied at once.
    Live,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// No document is for this host, and none was.
    Nothing,
    /// The document that was there is gone.
    Withdraw,
    /// It is applied and has not changed since: the host is not even looked at.
    Keep,
    /// This very document failed; it is tried again at the next boot, not before.
    Wait,
    Apply(Cause),
    /// The host is compared with the document, and not changed.
    Compare(Cause),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    First,
    /// An earlier attempt failed or was interrupted.
    Again,
    /// It is another document than the one that was applied.
    Changed,
    /// The one that was applied had been chosen without the name of this host.
    Named,
    Renamed,
    /// Profiles that it had brought are gone.
    Lost(Vec<String>),
    Adopted(Vec<Adopted>),
}

pub fn decide(situation: &Situation<'_>) -> Action {
    let Situation { record, hash, .. } = *situation;
    let Some(hash) = hash else {
        let is_known = record.in_use || record.selected.is_some() || record.applied.is_some();
        return if is_known { Action::Withdraw } else { Action::Nothing };
    };
    let applied = record.applied.as_ref().map(|applied| &applied.hash);
    let is_boot = situation.occasion == Occasion::Boot;
    if applied == Some(hash) {
        if !situation.renamed.is_empty() {
            // Also if policies declare its interfaces by now: a host whose profiles name no NIC is cut off.
            return if is_boot { Action::Apply(Cause::Renamed) } else { Action::Compare(Cause::Renamed) };
        }
        if situation.lost.is_empty() || !situation.adopted.is_empty() {
            return Action::Keep;
        }
        let cause = Cause::Lost(situation.lost.to_vec());
        return if is_boot { Action::Apply(cause) } else { Action::Compare(cause) };
    }
    if is_boot && applied.is_some() && !situation.renamed.is_empty() {
        // What was applied is not known any more, and its profiles name no NIC: only this document can connect the host.
        return Action::Apply(Cause::Renamed);
    }
    if !situation.adopted.is_empty() {
        return Action::Compare(Cause::Adopted(situation.adopted.to_vec()));
    }
    let is_selected = record.selected.as_ref().is_some_and(|selected| selected.hash == *hash);
    if is_selected && record.succeeded == Some(false) && !is_boot {
        return Action::Wait;
    }
    let (cause, may_apply) = match applied {
        // What arrives on a running host for the first time waits for a boot, as it would on a new one.
        None => {
            let cause = if record.succeeded == Some(false) { Cause::Again } else { Cause::First };
            (cause, is_boot || situation.on_change == OnChange::Live)
        }
        Some(_) if record.applied.as_ref().is_some_and(|applied| applied.provisional) => {
            (Cause::Named, is_boot)
        }
        Some(_) => {
            let may_apply = match situation.on_change {
                OnChange::Report => false,
                OnChange::Boot => is_boot,
                OnChange::Live => true,
            };
            (Cause::Changed, may_apply)
        }
    };
    if may_apply { Action::Apply(cause) } else { Action::Compare(cause) }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Applied, Selected};
    use super::*;

    const BOOT: Occasion = Occasion::Boot;
    const RUNNING: Occasion = Occasion::FilesChanged;

    fn never() -> Record {
        Record::default()
    }

    fn applied(text: &str) -> Record {
        let (file, hash) = ("a.yml".to_owned(), Hash::of(text.as_bytes()));
        let selected =
            Selected { file: file.clone(), hash: hash.clone(), why: String::new(), provisional: false };
        let applied = Applied { file, hash, nics: [].into(), called: [].into(), provisional: false };
        Record {
            selected: Some(selected),
            in_use: true,
            applied: Some(applied),
            succeeded: Some(true),
            ..never()
        }
    }

    fn action(record: &Record, text: Option<&str>, occasion: Occasion, on_change: OnChange) -> Action {
        let hash = text.map(|text| Hash::of(text.as_bytes()));
        let situation = Situation {
            record,
            hash: hash.as_ref(),
            renamed: &[],
            lost: &[],
            adopted: &[],
            occasion,
            on_change,
        };
        decide(&situation)
    }

    #[test]
    fn a_document_is_applied_once() {
        use OnChange::{Boot, Live, Report};
        let failed = Record { applied: None, succeeded: Some(false), ..applied("1") };
        let rows = [
            (never(), None, BOOT, Report, Action::Nothing),
            (never(), Some("1"), BOOT, Report, Action::Apply(Cause::First)),
            (never(), Some("1"), RUNNING, Report, Action::Compare(Cause::First)),
            (never(), Some("1"), RUNNING, Boot, Action::Compare(Cause::First)),
            (never(), Some("1"), RUNNING, Live, Action::Apply(Cause::First)),
            (failed.clone(), Some("1"), BOOT, Report, Action::Apply(Cause::Again)),
            (failed.clone(), Some("1"), RUNNING, Report, Action::Wait),
            (failed.clone(), Some("1"), RUNNING, Live, Action::Wait),
            (failed, Some("2"), RUNNING, Live, Action::Apply(Cause::Again)),
            (applied("1"), Some("1"), BOOT, Report, Action::Keep),
            (applied("1"), Some("1"), BOOT, Live, Action::Keep),
            (applied("1"), Some("2"), BOOT, Report, Action::Compare(Cause::Changed)),
            (applied("1"), Some("2"), BOOT, Boot, Action::Apply(Cause::Changed)),
            (applied("1"), Some("2"), RUNNING, Boot, Action::Compare(Cause::Changed)),
            (applied("1"), Some("2"), RUNNING, Live, Action::Apply(Cause::Changed)),
            (applied("1"), None, BOOT, Report, Action::Withdraw),
            (Record { in_use: true, ..never() }, None, RUNNING, Report, Action::Withdraw),
        ];
        for (record, text, occasion, on_change, expected) in rows {
            let found = action(&record, text, occasion, on_change);
            assert_eq!(found, expected, "{record:?} {text:?} {occasion:?} {on_change:?}");
        }
    }

    #[test]
    fn what_was_chosen_without_a_host_name_does_not_count_as_its_document() {
        let mut record = applied("cluster-wide");
        record.applied.as_mut().unwrap().provisional = true;
        for (text, occasion, expected) in [
            ("cluster-wide", BOOT, Action::Keep),
            ("own", BOOT, Action::Apply(Cause::Named)),
            ("own", RUNNING, Action::Compare(Cause::Named)),
        ] {
            assert_eq!(action(&record, Some(text), occasion, OnChange::Report), expected, "{text}");
        }
    }

    #[test]
    fn policies_win() {
        let adopted = [Adopted { interface: "br-ex".into(), policy: "site".into() }];
        for (record, expected) in [
            (applied("1"), Action::Keep),
            (applied("0"), Action::Compare(Cause::Adopted(adopted.to_vec()))),
            (never(), Action::Compare(Cause::Adopted(adopted.to_vec()))),
        ] {
            let situation = Situation {
                record: &record,
                hash: Some(&Hash::of(b"1")),
                renamed: &[],
                lost: &[],
                adopted: &adopted,
                occasion: BOOT,
                on_change: OnChange::Live,
            };
            assert_eq!(decide(&situation), expected);
        }
    }

    #[test]
    fn a_renamed_nic_is_configured_again_at_boot() {
        let renamed = [Renamed { from: "eth0".into(), to: "ens3".into() }];
        for (occasion, expected) in
            [(BOOT, Action::Apply(Cause::Renamed)), (RUNNING, Action::Compare(Cause::Renamed))]
        {
            let situation = Situation {
                record: &applied("1"),
                hash: Some(&Hash::of(b"1")),
                renamed: &renamed,
                lost: &[],
                adopted: &[],
                occasion,
                on_change: OnChange::Report,
            };
            assert_eq!(decide(&situation), expected);
        }
    }

    #[test]
    fn a_renamed_nic_comes_before_policies_and_lost_profiles_are_made_anew() {
        let renamed = [Renamed { from: "eth0".into(), to: "ens3".into() }];
        let lost = ["br-ex".to_owned()];
        let adopted = [Adopted { interface: "br-ex".into(), policy: "site".into() }];
        let with = |renamed: &[Renamed], lost: &[String], adopted: &[Adopted], occasion| {
            let (record, hash) = (applied("1"), Hash::of(b"1"));
            let on_change = OnChange::Report;
            decide(&Situation {
                record: &record,
                hash: Some(&hash),
                renamed,
                lost,
                adopted,
                occasion,
                on_change,
            })
        };
        let gone = || Cause::Lost(lost.to_vec());
        assert_eq!(with(&renamed, &lost, &adopted, BOOT), Action::Apply(Cause::Renamed));
        let edited = Record { applied: applied("0").applied, ..applied("1") };
        let situation = Situation {
            record: &edited,
            hash: Some(&Hash::of(b"1")),
            renamed: &renamed,
            lost: &[],
            adopted: &[],
            occasion: BOOT,
            on_change: OnChange::Report,
        };
        assert_eq!(decide(&situation), Action::Apply(Cause::Renamed), "nothing else connects the host");
        let situation = Situation { occasion: RUNNING, ..situation };
        assert_eq!(decide(&situation), Action::Compare(Cause::Changed));
        assert_eq!(with(&[], &lost, &[], BOOT), Action::Apply(gone()));
        assert_eq!(with(&[], &lost, &[], RUNNING), Action::Compare(gone()));
        assert_eq!(with(&[], &lost, &adopted, BOOT), Action::Keep, "a policy may have removed it");
    }
}
