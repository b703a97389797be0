//! Names with wildcards: `*` any characters, `?` any one.

use std::fmt::{self, Write as _};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(Vec<char>);

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|c| f.write_char(*c))
    }
}

impl Glob {
    pub fn new(pattern: &str) -> Self {
        Self(pattern.chars().collect())
    }

    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (&self.0, name.chars().collect::<Vec<_>>());
        let (mut p, mut n) = (0, 0);
        // Where to go on when the last star should have taken one character more.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some('*') => {
                    star = Some((p, n));
                    p += 1;
                }
                Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
                _ => match star {
                    Some((at, taken)) => {
                        star = Some((at, taken + 1));
                        (p, n) = (at + 1, taken + 1);
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|c| *c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_take_what_they_must() {
        let yes = [
            ("veth*", "veth12ab"),
            ("*", ""),
            ("cali?*", "cali1"),
            ("*.7", "eth0.1.7"),
            ("a*b*c", "aXbYbc"),
            ("eth0", "eth0"),
        ];
        let no = [
            ("veth*", "eth0"),
            ("cali?*", "cali"),
            ("*.7", "eth0.70"),
            ("a*b*c", "aXbYcd"),
            ("", "x"),
            ("eth?", "eth10"),
        ];
        assert_eq!(
            yes.iter().filter(|(p, n)| !Glob::new(p).matches(n)).collect::<Vec<_>>(),
            Vec::<&(&str, &str)>::new()
        );
        assert_eq!(
            no.iter().filter(|(p, n)| Glob::new(p).matches(n)).collect::<Vec<_>>(),
            Vec::<&(&str, &str)>::new()
        );
    }
}
