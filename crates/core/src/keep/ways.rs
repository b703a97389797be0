//! How a policy's standing changes. The drawing in docs/explanation is made from this.

use super::Standing;

/// From, to, and when. A policy that nobody has tried yet is `new`; one that is forgotten is `gone`.
pub type Way = (&'static str, &'static str, &'static str);

pub const WAYS: &[Way] = &[
    ("new", "kept", "committed, or it held already"),
    ("new", "rolled-back", "made, but did not hold"),
    ("new", "waiting", "the host lacks something; nothing was touched"),
    ("waiting", "kept", "tried again: committed"),
    ("waiting", "rolled-back", "tried again: made, but did not hold"),
    ("kept", "rolled-back", "edited, and that did not hold"),
    ("kept", "waiting", "edited or corrected, and the host lacks something"),
    ("rolled-back", "kept", "edited: committed"),
    ("rolled-back", "waiting", "linesman retry; or edited, and the host lacks something"),
    ("kept", "gone", "removed: retained, or what it changed is as before"),
    ("waiting", "gone", "removed"),
    ("rolled-back", "gone", "removed"),
    ("kept", "revert-failed", "removed, but what it changed did not go back"),
    ("waiting", "revert-failed", "removed, but what a former version changed did not go back"),
    ("rolled-back", "revert-failed", "removed, but what a former version changed did not go back"),
    ("revert-failed", "waiting", "linesman retry; or the policy came back, and the host lacks something"),
    ("revert-failed", "kept", "the policy came back: committed"),
    ("revert-failed", "rolled-back", "the policy came back, but did not hold"),
];

impl Standing {
    /// As the ledger spells it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::RolledBack { .. } => "rolled-back",
            Self::Waiting { .. } => "waiting",
            Self::RevertFailed { .. } => "revert-failed",
        }
    }

    /// `before` is none for a policy that is new.
    pub fn follows(&self, before: Option<&Self>) -> bool {
        let (from, to) = (before.map_or("new", Self::word), self.word());
        from == to || WAYS.iter().any(|way| (way.0, way.1) == (from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_ledger_and_all_are_drawn() {
        let reason = String::new;
        let all = [
            Standing::Kept,
            Standing::RolledBack { reason: reason() },
            Standing::Waiting { reason: reason(), attempts: 0, until: 0 },
            Standing::RevertFailed { reason: reason() },
        ];
        for standing in &all {
            let written = serde_json::to_value(standing).unwrap();
            assert_eq!(written["is"], standing.word());
            assert!(WAYS.iter().any(|(_, to, _)| *to == standing.word()), "{standing:?} is not drawn");
        }
        for (from, to, _) in WAYS {
            let known = |word: &str| ["new", "gone"].contains(&word) || all.iter().any(|s| s.word() == word);
            assert!(known(from) && known(to), "{from} -> {to}");
        }
    }

    #[test]
    fn a_new_policy_has_nothing_to_revert() {
        assert!(Standing::Kept.follows(None));
        assert!(!Standing::RevertFailed { reason: String::new() }.follows(None));
    }
}
