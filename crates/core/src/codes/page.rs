//! The page of a code: a title, a paragraph, and examples, each under a heading and indented.

const INDENT: &str = "    ";

/// What a code means, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    pub code: &'static str,
    /// As it is printed, at most 78 columns wide.
    pub page: &'static str,
}

impl Explanation {
    pub fn title(&self) -> &'static str {
        let first = self.page.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(first, |(_, title)| title)
    }

    /// The paragraph below the title, as one line.
    pub fn text(&self) -> String {
        let lines = self.page.lines().skip(2).take_while(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    }

    /// A message with this code, if it is the code of a failed change.
    pub fn example_message(&self) -> Option<String> {
        self.section("Example message:").map(|message| message.trim_end().to_owned())
    }

    /// A document that causes this code.
    pub fn incorrect(&self) -> Option<String> {
        self.section("Incorrect:")
    }

    /// The corrected document; `None` if correcting the document is not the remedy.
    pub fn correct(&self) -> Option<String> {
        self.section("Correct:")
    }

    fn section(&self, heading: &str) -> Option<String> {
        let lines = self.page.lines().skip_while(|line| *line != heading).skip(2);
        let section: String =
            lines.map_while(|line| Some(line.strip_prefix(INDENT)?.to_owned() + "\n")).collect();
        (!section.is_empty()).then_some(section)
    }
}
