//! Drawings of state machines, put into pages that people write.

use std::fmt::Write;

use super::{Fallible, fenced, tree};

const BEGIN: &str = "<!-- Drawn by `make docs` from the code. Do not edit up to the end mark. -->";
const END: &str = "<!-- End of the drawing. -->";

type Transition = (&'static str, &'static str, &'static str);

/// The page at `path` with its drawing generated again: `first` is where it begins, `last` where it ends.
pub fn page(path: &str, transitions: &[Transition], first: &str, last: &str) -> Fallible<String> {
    let text = std::fs::read_to_string(tree().join("docs").join(path))?;
    let parts = text.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) =
        parts.ok_or_else(|| format!("{path} has no place for its drawing: {BEGIN} … {END}"))?;
    Ok(format!("{head}{BEGIN}\n{}{END}{tail}", fenced("mermaid", &drawn(transitions, first, last)?)))
}

/// What begins or ends without a state of its own is the black dot.
fn drawn(transitions: &[Transition], first: &str, last: &str) -> Result<String, std::fmt::Error> {
    let mut text = String::from("stateDiagram-v2\n");
    let mut names: Vec<&str> = transitions.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
    names.sort_unstable();
    names.dedup();
    for name in names.iter().filter(|name| name.contains('-')) {
        writeln!(text, "    state \"{}\" as {}", name.replace('-', " "), id(name))?;
    }
    let dotted = |name: &str| [first, last].contains(&name) && ["new", "gone"].contains(&name);
    for name in [first].iter().filter(|name| !dotted(name)) {
        writeln!(text, "    [*] --> {}", id(name))?;
    }
    for (from, to, when) in transitions {
        let place = |name: &str| if dotted(name) { "[*]".to_string() } else { id(name) };
        writeln!(text, "    {} --> {}: {}", place(from), place(to), when.replace([':', ';'], ","))?;
    }
    for name in [last].iter().filter(|name| !dotted(name)) {
        writeln!(text, "    {} --> [*]", id(name))?;
    }
    Ok(text)
}

/// Mermaid takes no hyphen in a name.
fn id(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    #[test]
    fn states_and_transitions_are_drawn() {
        let text = super::drawn(
            &[("new", "in-hand", "it came"), ("in-hand", "done", "it went: well")],
            "new",
            "done",
        );
        let expected = "stateDiagram-v2\n    state \"in hand\" as in_hand\n    [*] --> in_hand: it came\n    in_hand --> done: it went, well\n    done --> [*]\n";
        assert_eq!(text.as_deref(), Ok(expected));
    }
}
