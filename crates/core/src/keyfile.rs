//! NetworkManager's profile files: sections in brackets, `key=value` below them.

/// One line of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'t> {
    Section(&'t str),
    Entry {
        section: &'t str,
        key: &'t str,
        value: &'t str,
    },
    /// Blank, or a comment.
    Blank,
    /// Neither of those.
    Wrong,
}

/// The lines of a profile in order; entries know their section.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut section = None;
    text.lines().map(move |line| {
        let line = read(line.trim(), section);
        if let Line::Section(name) = line {
            section = Some(name);
        }
        line
    })
}

fn read<'t>(line: &'t str, section: Option<&'t str>) -> Line<'t> {
    if line.is_empty() || line.starts_with(['#', ';']) {
        return Line::Blank;
    }
    if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
        return Line::Section(name);
    }
    match (section, line.split_once('=')) {
        (Some(section), Some((key, value))) if !key.trim().is_empty() => {
            Line::Entry { section, key: key.trim(), value: value.trim() }
        }
        _ => Line::Wrong,
    }
}

/// The value of `key` in `section`, as it is written.
pub fn get<'t>(text: &'t str, section: &str, key: &str) -> Option<&'t str> {
    lines(text).find_map(|line| match line {
        Line::Entry { section: s, key: k, value } if s == section && k == key => Some(value),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_counts_only_in_its_own_section() {
        assert_eq!(get("[a]\nx=1\n[b]\nx=2\n", "b", "x"), Some("2"));
        assert_eq!(get("[a]\nx=1\n", "b", "x"), None);
        assert_eq!(get("x=1\n[a]\n", "a", "x"), None);
    }

    #[test]
    fn lines_are_classified() {
        let found: Vec<Line<'_>> = lines("# c\n[a]\nk = v = w\nk\n=v\n").collect();
        let entry = Line::Entry { section: "a", key: "k", value: "v = w" };
        assert_eq!(found, [Line::Blank, Line::Section("a"), entry, Line::Wrong, Line::Wrong]);
    }
}
