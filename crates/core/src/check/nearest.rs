//! "Did you mean": the known word that a mistyped one is closest to.

/// The nearest of `known`, if it is near enough to be a slip of the fingers, or `word` is its beginning.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    slip(word, known).or_else(|| {
        let mut begun = known.iter().filter(|candidate| word.len() >= 3 && candidate.starts_with(word));
        begun.next().filter(|_| begun.next().is_none()).copied()
    })
}

fn slip<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let allowed = 1 + word.chars().count() / 4;
    let scored = known.iter().copied().map(|candidate| (distance(word, candidate), candidate));
    scored
        .filter(|(score, _)| *score <= allowed)
        .min_by_key(|(score, _)| *score)
        .map(|(_, candidate)| candidate)
}

/// Edit distance where two swapped neighbours count as one edit.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let swap = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + swap);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
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
