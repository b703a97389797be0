//! Captures of a policy that the agent has applied: they are not resolved again. Whoever plans or applies the same policy
//! by hand must mean the same NIC.

use linesman_agent::StateFile;
use linesman_core::captures::Captured;
use linesman_core::document::Document;
use linesman_core::reconcile::Ledger;
use linesman_engine::transaction::Settings;
use linesman_engine::{Result, desired};
use serde_json::Value;

/// What the agent of this host keeps; nothing where there is none.
#[derive(Debug, Default)]
pub struct Kept(Ledger);

impl Kept {
    pub fn read(settings: &Settings) -> Self {
        Self(StateFile::ledger(&settings.state_dir).read().unwrap_or_default())
    }

    fn of(&self, document: &Document) -> Option<&Captured> {
        self.0.get(document.policy.as_ref()?)?.captured.as_ref()
    }

    /// The state of a document with its captures filled in, as the agent would fill them in.
    pub fn fill(&self, document: &Document, observed: &Value) -> Result<Value> {
        match &document.capture {
            Some(capture) => {
                desired::fill(&document.state, &desired::capture_once(capture, self.of(document), observed)?)
            }
            None => Ok(document.state.clone()),
        }
    }
}
