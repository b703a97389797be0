//! Text for a terminal, coloured where the reader's can show it.

/// Text of unknown origin on one line: control characters, which could move the cursor or start a line, are escaped.
pub fn printable(text: &str) -> String {
    let escaped = |c: char| c.is_control() && c != '\t';
    text.chars().map(|c| if escaped(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Each line of `text`, broken at words so that none is wider than `width`; what goes on is indented below its start.
/// A word that is wider by itself stays whole: it is to be copied, not read.
pub fn wrap(text: &str, width: usize) -> String {
    text.split('\n').map(|line| wrap_line(line, width)).collect::<Vec<_>>().join("\n")
}

fn wrap_line(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let start = line.len() - line.trim_start_matches(' ').len();
    let indent = " ".repeat((start + 2).min(width / 2));
    let (mut wrapped, mut at) = (line[..start].to_owned(), start);
    let mut empty = true;
    for word in line[start..].split_inclusive(' ') {
        let shown = word.trim_end_matches(' ');
        if !empty && at + columns(shown) > width {
            wrapped.truncate(wrapped.trim_end_matches(' ').len());
            wrapped.push('\n');
            wrapped.push_str(&indent);
            at = indent.len();
        }
        wrapped.push_str(word);
        at += columns(word);
        empty = false;
    }
    wrapped
}

/// How wide a text is shown: colours take no room.
fn columns(text: &str) -> usize {
    let mut count = 0;
    let mut escape = false;
    for c in text.chars() {
        match c {
            '\x1b' => escape = true,
            'm' if escape => escape = false,
            _ if escape => {}
            _ => count += 1,
        }
    }
    count
}

/// `3 min ago`, for people; whoever calculates wants the time itself.
pub fn ago(seconds: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match seconds {
        0..2 => "just now".to_owned(),
        2..MINUTE => format!("{seconds} s ago"),
        MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        HOUR..DAY => format!("{} h ago", seconds / HOUR),
        _ => format!("{} d ago", seconds / DAY),
    }
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
    use super::{ago, printable, wrap};

    #[test]
    fn lines_break_at_words_below_their_start() {
        assert_eq!(wrap("short\n", 10), "short\n");
        assert_eq!(wrap("  one two three four", 11), "  one two\n    three\n    four");
        assert_eq!(wrap("name: /a/path/that/is/long end", 12), "name:\n  /a/path/that/is/long\n  end");
        assert_eq!(wrap("\x1b[32mone\x1b[0m two", 7), "\x1b[32mone\x1b[0m two", "colours take no room");
    }

    #[test]
    fn times_are_told_as_people_tell_them() {
        let told = [0, 5, 61, 7300, 200_000].map(ago);
        assert_eq!(told, ["just now", "5 s ago", "1 min ago", "2 h ago", "2 d ago"]);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("Straße\n\u{1b}[2J\u{9b}1m"), "Straße\\n\\u{1b}[2J\\u{9b}1m");
    }
}
