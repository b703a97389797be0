//! Every error code, as `linesman explain` prints it.

use linesman_core::codes::{self, Explanation, examples};

use super::{NOTE, fenced, wrapped};

pub fn page() -> String {
    let intro = "Every error in a document and every failure of a change has a stable code. Codes are never renumbered \
                 or reused. `linesman explain CODE` prints the same text.";
    let entries: String = codes::all().map(entry).collect();
    format!("{NOTE}\n\n# Error codes\n\n{}\n{entries}", wrapped(intro))
}

fn entry(explanation: &Explanation) -> String {
    let Explanation { code, title, text } = explanation;
    let mut entry = format!("\n## {code}: {title}\n\n{}\n", wrapped(text));
    if let Some(message) = codes::failures::example_message(code) {
        entry += &format!("\nExample message:\n\n{}", fenced("text", &format!("{message}\n")));
    }
    if let Some(example) = examples::of(code) {
        entry += &format!("\nIncorrect:\n\n{}", fenced("yaml", example.wrong));
        if let Some(right) = example.right {
            entry += &format!("\nCorrect:\n\n{}", fenced("yaml", right));
        }
    }
    entry
}
