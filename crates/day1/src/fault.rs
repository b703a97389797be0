//! What is wrong with one of several files.

use linesman_core::diagnostic::Diagnostic;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which of the inputs.
    pub file: usize,
    pub diagnostic: Box<Diagnostic>,
}

impl Fault {
    pub(crate) fn new(file: usize, diagnostic: Diagnostic) -> Self {
        Self { file, diagnostic: Box::new(diagnostic) }
    }
}

/// For readers that go on after a mistake, to report all of them.
pub(crate) trait OrNote {
    type Value;

    /// Notes what is wrong, if anything.
    fn or_note(self, faults: &mut Vec<Fault>) -> Option<Self::Value>;
}

impl<T> OrNote for Result<T, Fault> {
    type Value = T;

    fn or_note(self, faults: &mut Vec<Fault>) -> Option<T> {
        self.map_err(|fault| faults.push(fault)).ok()
    }
}

/// In the order of the lines. What an alias repeats for several hosts is wrong in one place, and said once.
pub(crate) fn in_order(mut faults: Vec<Fault>) -> Vec<Fault> {
    let place = |fault: &Fault| (fault.file, fault.diagnostic.span, fault.diagnostic.code);
    faults.sort_by_key(place);
    faults.dedup_by(|later, first| {
        place(later) == place(first) && later.diagnostic.message == first.diagnostic.message
    });
    faults
}
