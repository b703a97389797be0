//! Captures of a policy that the agent has applied: they are not resolved again, so what would change is known only with
//! what they found then.

use linesman_agent::StateFile;
use linesman_core::document::Document;
use linesman_core::reconcile::Ledger;
use linesman_engine::desired;
use linesman_engine::transaction::{Request, Settings};

/// The request as the agent would make it.
pub fn kept(request: Request, document: &Document, settings: &Settings) -> Request {
    let known = || {
        let ledger = StateFile::ledger(&settings.state_dir).read::<Ledger>().ok()?;
        let captured = ledger.get(document.policy.as_ref()?)?.captured.clone()?;
        let found = Some(captured.found).filter(|_| document.capture.as_ref() == Some(&captured.capture))?;
        desired::fill(&request.state, &found).ok()
    };
    match known() {
        Some(state) => Request { state, capture: None, ..request },
        None => request,
    }
}
