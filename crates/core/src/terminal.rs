//! Text for a terminal, coloured where the reader's can show it.

/// Text of unknown origin on one line: control characters, which could move the cursor or start a line, are escaped.
pub fn printable(text: &str) -> String {
    let escaped = |c: char| c.is_control() && c != '\t';
    text.chars().map(|c| if escaped(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

#[derive(Debug, Clone, Copy)]
pub struct TextStyle {
    pub colour: bool,
}

impl TextStyle {
    /// `code` is an SGR parameter of ECMA-48.
    fn with(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    pub fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    pub fn bold_red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    pub fn blue(self, text: &str) -> String {
        self.with("34", text)
    }

    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("Straße\n\u{1b}[2J\u{9b}1m"), "Straße\\n\\u{1b}[2J\\u{9b}1m");
    }
}
