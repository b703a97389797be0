//! "Did you mean": the known word that a mistyped one is closest to.

/// The nearest of `known`, if it is near enough to be a slip of the fingers, or `word` is its beginning.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    slip(word, known).or_else(|| {
        let mut begun = known.iter().filter(|candidate| word.len() >= 3 && candidate.starts_with(word));
        begun.next().filter(|_| begun.next().is_none()).copied()
    })
}

fn slip<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let allowed = 1 + word.chars().count() / 4;
    let word = word.to_lowercase();
    // Two swapped neighbours count as one edit.
    let scored = known.iter().map(|known| (strsim::osa_distance(&word, &known.to_lowercase()), *known));
    scored
        .filter(|(score, _)| *score <= allowed)
        .min_by_key(|(score, _)| *score)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_far() {
        let known = ["interfaces", "routes", "linux-bridge", "mtu"];
        let cases = [
            ("interface", Some("interfaces")),
            ("intefraces", Some("interfaces")),
            ("linuxbridge", Some("linux-bridge")),
            ("Routes", Some("routes")),
            ("mut", Some("mtu")),
            ("linux", Some("linux-bridge")),
            ("wireguard", None),
            ("", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, &known), expected, "{word}");
        }
    }
}
