//! Every error code, as `linesman explain` prints it.

use linesman_core::codes::{self, Explanation};

use super::{NOTE, fenced, wrapped};

pub fn page() -> String {
    let intro = "Every error in a document and every failure of a change has a stable code. Codes are never renumbered \
                 or reused. `linesman explain CODE` prints the same text.";
    let entries: String = codes::all().map(entry).collect();
    format!("{NOTE}\n\n# Error codes\n\n{}\n{entries}", wrapped(intro))
}

fn entry(explanation: &Explanation) -> String {
    let mut entry =
        format!("\n## {}: {}\n\n{}\n", explanation.code, explanation.title(), wrapped(&explanation.text()));
    if let Some(message) = explanation.example_message() {
        entry += &format!("\nExample message:\n\n{}", fenced("text", &format!("{message}\n")));
    }
    if let Some(incorrect) = explanation.incorrect() {
        entry += &format!("\nIncorrect:\n\n{}", fenced("yaml", &incorrect));
    }
    if let Some(correct) = explanation.correct() {
        entry += &format!("\nCorrect:\n\n{}", fenced("yaml", &correct));
    }
    entry
}
