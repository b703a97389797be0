//! How far a change came, and where it can go from there. The drawing in docs/explanation is made from [`TRANSITIONS`].

use serde::{Deserialize, Serialize};

/// How far a change came. What recovery does follows from this alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The snapshot is written; nothing was changed yet.
    Prepared,
    /// The worker may have touched anything.
    Applying,
    /// The new state is there and waits for a confirmation until the given time.
    Pending {
        until: String,
        checkpoint: String,
    },
    /// Verified and probed: the new state is wanted from here on.
    Committing,
    /// The old state is wanted from here on.
    RollingBack {
        reason: String,
    },
    Done,
}

/// From, to, and when.
pub type Transition = (&'static str, &'static str, &'static str);

pub const TRANSITIONS: &[Transition] = &[
    ("prepared", "applying", "the checkpoint was created"),
    ("prepared", "rolling-back", "no checkpoint was created: no changes made"),
    ("prepared", "done", "interrupted: no changes made"),
    ("applying", "pending", "verified, what passed before passes, confirmation required"),
    ("applying", "committing", "verified, and what passed before passes"),
    ("applying", "rolling-back", "an error, a difference, a failed probe, a crash or a power cut"),
    ("pending", "committing", "confirmed"),
    ("pending", "done", "confirmed after its process had died, still in the desired state"),
    ("pending", "rolling-back", "not confirmed in time, or rolled back"),
    ("committing", "done", "committed"),
    ("committing", "rolling-back", "the checkpoint was lost, and the host is not in the desired state"),
    ("rolling-back", "done", "the previous state was restored and verified"),
];

impl Phase {
    /// As the journal spells it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Applying => "applying",
            Self::Pending { .. } => "pending",
            Self::Committing => "committing",
            Self::RollingBack { .. } => "rolling-back",
            Self::Done => "done",
        }
    }

    /// A rollback may take more than one attempt.
    pub fn leads_to(&self, next: &Self) -> bool {
        let (from, to) = (self.as_str(), next.as_str());
        from == to || TRANSITIONS.iter().any(|(a, b, _)| (*a, *b) == (from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_journal() {
        let pending = Phase::Pending { until: String::new(), checkpoint: String::new() };
        let back = Phase::RollingBack { reason: String::new() };
        let all = [Phase::Prepared, Phase::Applying, pending, Phase::Committing, back, Phase::Done];
        for phase in &all {
            let written = serde_json::to_string(phase).unwrap();
            assert!(written.contains(&format!("\"{}\"", phase.as_str())), "{written}");
            assert!(
                TRANSITIONS.iter().any(|(from, to, _)| [from, to].contains(&&phase.as_str())),
                "{phase:?} is not drawn"
            );
        }
        for (from, to, _) in TRANSITIONS {
            assert!(
                [from, to].iter().all(|word| all.iter().any(|phase| phase.as_str() == **word)),
                "{from} -> {to}"
            );
        }
    }

    #[test]
    fn what_is_done_stays_done_and_an_abandoned_change_is_not_taken_up_again() {
        assert!(!Phase::Done.leads_to(&Phase::Applying));
        assert!(!Phase::RollingBack { reason: String::new() }.leads_to(&Phase::Committing));
        assert!(Phase::Applying.leads_to(&Phase::RollingBack { reason: String::new() }));
    }
}
