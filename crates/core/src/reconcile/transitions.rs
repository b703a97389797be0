//! How the state of a policy changes. The drawing in docs/explanation is generated from this.

use super::PolicyState;

/// From, to, and when. A policy that nobody has tried yet is `new`; one that is forgotten is `gone`.
pub type Transition = (&'static str, &'static str, &'static str);

pub const TRANSITIONS: &[Transition] = &[
    ("new", "applied", "committed, or already in the desired state"),
    ("new", "rolled-back", "applied, but failed"),
    ("new", "waiting", "a prerequisite is missing; no changes made"),
    ("waiting", "applied", "retried: committed"),
    ("waiting", "rolled-back", "retried: applied, but failed"),
    ("applied", "rolled-back", "edited, and that failed"),
    ("applied", "waiting", "edited, corrected or removed, and a prerequisite is missing"),
    ("rolled-back", "applied", "edited: committed"),
    ("rolled-back", "waiting", "linesman retry; or edited, and a prerequisite is missing"),
    ("applied", "gone", "removed: retained, or reverted"),
    ("waiting", "gone", "removed"),
    ("rolled-back", "gone", "removed"),
    ("applied", "revert-failed", "removed, but could not be reverted"),
    ("waiting", "revert-failed", "removed, but an earlier version could not be reverted"),
    ("rolled-back", "revert-failed", "removed, but an earlier version could not be reverted"),
    ("revert-failed", "waiting", "linesman retry; or recreated, and a prerequisite is missing"),
    ("revert-failed", "applied", "recreated: committed"),
    ("revert-failed", "rolled-back", "recreated: applied, but failed"),
];

impl PolicyState {
    /// As the ledger spells it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::RolledBack { .. } => "rolled-back",
            Self::Waiting { .. } => "waiting",
            Self::RevertFailed { .. } => "revert-failed",
        }
    }

    /// `before` is none for a policy that is new.
    pub fn follows(&self, before: Option<&Self>) -> bool {
        let (from, to) = (before.map_or("new", Self::as_str), self.as_str());
        from == to || TRANSITIONS.iter().any(|edge| (edge.0, edge.1) == (from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_spelled_as_in_the_ledger_and_all_are_drawn() {
        let reason = String::new;
        let all = [
            PolicyState::Applied,
            PolicyState::RolledBack { reason: reason() },
            PolicyState::Waiting { reason: reason(), attempts: 0, until: 0 },
            PolicyState::RevertFailed { reason: reason() },
        ];
        for policy_state in &all {
            let written = serde_json::to_value(policy_state).unwrap();
            assert_eq!(written["state"], policy_state.as_str());
            assert!(
                TRANSITIONS.iter().any(|(_, to, _)| *to == policy_state.as_str()),
                "{policy_state:?} is not drawn"
            );
        }
        for (from, to, _) in TRANSITIONS {
            let known =
                |word: &str| ["new", "gone"].contains(&word) || all.iter().any(|s| s.as_str() == word);
            assert!(known(from) && known(to), "{from} -> {to}");
        }
    }

    #[test]
    fn a_new_policy_has_nothing_to_revert() {
        assert!(PolicyState::Applied.follows(None));
        assert!(!PolicyState::RevertFailed { reason: String::new() }.follows(None));
    }
}
