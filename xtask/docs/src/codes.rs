//! Every error code, as `linesman explain` tells it.

use linesman_core::codes::{self, Explanation, examples};

use super::{NOTE, fenced};

pub fn page() -> String {
    let intro = "Every error in a document, and every way in which a change can end badly, has a stable code: it is never \
                 renumbered or used again for something else. `linesman explain CODE` says the same at a terminal.";
    let entries: String = codes::all().map(entry).collect();
    format!("{NOTE}\n\n# Error codes\n\n{intro}\n{entries}")
}

fn entry(explanation: &Explanation) -> String {
    let Explanation { code, title, text } = explanation;
    let mut entry = format!("\n## {code}: {title}\n\n{text}\n");
    if let Some(told) = codes::endings::told(code) {
        entry += &format!("\nThis is how it is told:\n\n{}", fenced("text", &format!("{told}\n")));
    }
    if let Some(example) = examples::of(code) {
        entry += &format!("\nThis causes it:\n\n{}", fenced("yaml", example.wrong));
        if let Some(right) = example.right {
            entry += &format!("\nThis is right:\n\n{}", fenced("yaml", right));
        }
    }
    entry
}
