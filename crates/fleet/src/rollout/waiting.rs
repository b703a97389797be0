//! What the operator says in the status of an enactment that waits.

use linesman_api::condition::{Condition, Truth, find};
use linesman_api::conditions::enactment::{ABORTED, ALL, PENDING};

use super::steps::WaitingStatus;

impl WaitingStatus {
    /// All five: whatever was said of an earlier version is over.
    pub fn conditions(&self) -> Vec<Condition> {
        let kind = if self.aborted { ABORTED } else { PENDING };
        let truth = |name: &str| if name == kind { Truth::True } else { Truth::False };
        ALL.iter().map(|name| Condition::new(name, truth(name), self.reason, &self.message)).collect()
    }
}

pub fn is_news(mark: &WaitingStatus, known: &[Condition]) -> bool {
    mark.conditions().iter().any(|new| {
        find(known, &new.kind).is_none_or(|old| {
            (old.status, &old.reason, &old.message) != (new.status, &new.reason, &new.message)
        })
    })
}
