//! `linesman explain`: the page of an error code.

use linesman_core::codes::{self, Explanation, examples};
use serde_json::{Value, json};

use crate::cli::{ExplainArgs, Format};
use crate::exit::Exit;
use crate::output;

/// Narrow enough for half a screen.
const WIDTH: usize = 78;

pub fn run(args: &ExplainArgs, format: Format) -> Exit {
    let Some(code) = &args.code else {
        list(format);
        return Exit::Done;
    };
    let Some(entry) = codes::explain(code) else {
        output::error(unknown(code));
        return Exit::Usage;
    };
    match format {
        Format::Text => output::line(text(entry).trim_end()),
        other => output::data(other, &data(entry)),
    }
    Exit::Done
}

fn list(format: Format) {
    match format {
        Format::Text => {
            codes::all().for_each(|entry| output::line(format!("{}  {}", entry.code, entry.title)))
        }
        other => output::data(other, &codes::all().map(data).collect::<Vec<_>>()),
    }
}

fn unknown(code: &str) -> String {
    let near: Vec<String> =
        codes::near(code).iter().map(|entry| format!("\n  {}  {}", entry.code, entry.title)).collect();
    let suggestions =
        if near.is_empty() { String::new() } else { format!("; similar codes:{}\n", near.concat()) };
    let all = "run `linesman explain` to list all codes";
    match suggestions.is_empty() {
        true => format!("linesman: unknown code '{code}'; {all}"),
        false => format!("linesman: unknown code '{code}'{suggestions}{all}"),
    }
}

fn text(entry: &Explanation) -> String {
    let mut text = format!("{}: {}\n\n{}\n", entry.code, entry.title, filled(entry.text));
    if let Some(message) = codes::failures::example_message(entry.code) {
        text += &format!("\nExample message:\n\n{}", indented(message));
    }
    let Some(example) = examples::of(entry.code) else { return text };
    text += &format!("\nIncorrect:\n\n{}", indented(example.wrong));
    if let Some(right) = example.right {
        text += &format!("\nCorrect:\n\n{}", indented(right));
    }
    text
}

fn data(entry: &Explanation) -> Value {
    let example = examples::of(entry.code);
    json!({
        "code": entry.code,
        "title": entry.title,
        "text": entry.text,
        "exampleMessage": codes::failures::example_message(entry.code),
        "incorrect": example.map(|example| example.wrong),
        "correct": example.and_then(|example| example.right),
    })
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

fn filled(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_can_be_explained() {
        for entry in codes::all() {
            let text = text(entry);
            let shown = ["Incorrect:", "Example message:"].iter().any(|title| text.contains(title));
            assert!(text.contains(entry.title) && shown, "{text}");
            assert!(text.lines().filter(|line| !line.starts_with("    ")).all(|line| line.len() <= WIDTH));
        }
    }

    #[test]
    fn an_unknown_code_lists_similar_ones() {
        assert!(unknown("LM0411").contains("LM0401  duplicate port"), "{}", unknown("LM0411"));
        assert!(!unknown("strange").contains("similar codes"));
    }
}
