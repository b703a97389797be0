//! `linesman explain`: the page of an error code.

use linesman_core::codes::{self, Explanation, commands};
use serde_json::{Value, json};

use crate::cli::{ExplainArgs, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub fn run(args: &ExplainArgs, format: Format) -> Exit {
    let Some(code) = &args.code else {
        list(format);
        return Exit::Done;
    };
    let Some(entry) = codes::explain(code) else {
        output::error(unknown(code));
        return Failure::new(Exit::Usage, format!("unknown code '{code}'"))
            .code(commands::USAGE)
            .hint("run `linesman explain` to list all codes")
            .report_to_programs();
    };
    match format {
        Format::Text => output::line(entry.page.trim_end()),
        other => output::data(other, &data(entry)),
    }
    Exit::Done
}

fn list(format: Format) {
    match format {
        Format::Text => {
            codes::all().for_each(|entry| output::line(format!("{}  {}", entry.code, entry.title())))
        }
        other => output::data(other, &codes::all().map(data).collect::<Vec<_>>()),
    }
}

fn unknown(code: &str) -> String {
    let near: Vec<String> =
        codes::near(code).iter().map(|entry| format!("\n  {}  {}", entry.code, entry.title())).collect();
    let suggestions =
        if near.is_empty() { String::new() } else { format!("; similar codes:{}\n", near.concat()) };
    let all = "run `linesman explain` to list all codes";
    match suggestions.is_empty() {
        true => format!("linesman: unknown code '{code}'; {all}"),
        false => format!("linesman: unknown code '{code}'{suggestions}{all}"),
    }
}

fn data(entry: &Explanation) -> Value {
    json!({
        "code": entry.code,
        "title": entry.title(),
        "text": entry.text(),
        "exampleMessage": entry.example_message(),
        "incorrect": entry.incorrect(),
        "correct": entry.correct(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_code_lists_similar_ones() {
        assert!(unknown("LM0411").contains("LM0401  duplicate port"), "{}", unknown("LM0411"));
        assert!(!unknown("strange").contains("similar codes"));
    }
}
