//! Text for a terminal, coloured where the reader's can show it.

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
