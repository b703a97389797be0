//! A change by hand that the agent would correct: the user hears of it first.

use linesman_agent::{StateFile, freeze};
use linesman_core::document::Document;
use linesman_core::reconcile::{Ledger, contradictions};
use linesman_engine::desired;
use linesman_engine::transaction::Settings;

use crate::output;

/// What captures resolve to is not known yet; a document with captures is left alone.
pub fn warn(document: &Document, settings: &Settings) {
    if document.capture.is_some() || freeze::read(&settings.state_dir).is_some() {
        return;
    }
    let ledger = StateFile::ledger(&settings.state_dir).read::<Ledger>();
    if let (Ok(ledger), Ok(state)) = (ledger, desired::canonical(&document.state)) {
        for contradiction in contradictions(&state, &ledger) {
            output::error(format!("warning: {contradiction}"));
        }
    }
}
