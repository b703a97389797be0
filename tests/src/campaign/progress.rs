//! The file of a campaign: a line for each fault, never rewritten.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Ending, Fault};

const VIOLATION: &str = "violation";

#[derive(Clone, Debug)]
pub struct Line {
    pub campaign: String,
    pub seed: u64,
    pub number: u64,
    /// What was tested, what was done to it, how it ended.
    rest: Vec<String>,
}

impl Line {
    pub fn new(
        campaign: &str,
        seed: u64,
        number: u64,
        commit: &str,
        fault: &Fault,
        ending: Option<&Ending>,
    ) -> Self {
        let verdict = ending.map_or(VIOLATION, |ending| &ending.verdict);
        let silence = ending.map_or(0.0, |ending| ending.silence.as_secs_f64());
        let rest = [commit, &fault.name, &fault.step, &fault.change, verdict, &format!("{silence:.1}")];
        Self { campaign: campaign.into(), seed, number, rest: rest.map(ToString::to_string).into() }
    }

    pub fn append(&self, file: &Path) -> io::Result<()> {
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut file = OpenOptions::new().create(true).append(true).open(file)?;
        let text = format!("{}\t{}\t{}\t{}\n", self.campaign, self.seed, self.number, self.rest.join("\t"));
        file.write_all(text.as_bytes())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split('\t').map(ToString::to_string);
        let (campaign, seed, number) = (fields.next()?, fields.next()?, fields.next()?);
        let (seed, number) = (seed.parse().ok()?, number.parse().ok()?);
        Some(Self { campaign, seed, number, rest: fields.collect() }).filter(|line| line.rest.len() == 6)
    }

    fn is_done(&self) -> bool {
        !self.rest.iter().any(|field| field == VIOLATION)
    }
}

pub fn file() -> PathBuf {
    let usual = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/faults/progress.tsv");
    std::env::var_os("LINESMAN_PROGRESS").map_or_else(|| usual.into(), PathBuf::from)
}

/// A line that was cut off is as good as none.
pub fn read(file: &Path) -> Vec<Line> {
    fs::read_to_string(file).unwrap_or_default().lines().filter_map(Line::parse).collect()
}

/// Of so many with that seed, those without a line, and those that violated something the last time.
pub fn left(lines: &[Line], seed: u64, count: u64) -> Vec<u64> {
    let lines = lines.iter().filter(|line| line.seed == seed);
    let last: BTreeMap<u64, bool> = lines.map(|line| (line.number, line.is_done())).collect();
    (0..count).filter(|number| last.get(number) != Some(&true)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn line(number: u64, verdict: Option<&str>) -> Line {
        let fault = Fault { name: "agent killed".into(), step: "at applied".into(), change: "br-ex".into() };
        let ending =
            verdict.map(|verdict| Ending { verdict: verdict.into(), silence: Duration::from_millis(1200) });
        Line::new("campaign", 7, number, "abc", &fault, ending.as_ref())
    }

    #[test]
    fn an_interrupted_campaign_goes_on_where_it_stopped() {
        let folder = std::env::temp_dir().join(format!("linesman-campaign-{}", std::process::id()));
        let file = folder.join("progress.tsv");
        for line in [
            line(0, Some("committed")),
            line(1, None),
            line(2, None),
            line(2, Some("rolled-back")),
            line(4, Some("committed")),
        ] {
            line.append(&file).unwrap();
        }
        let mut text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("campaign\t7\t0\tabc\tagent killed\tat applied\tbr-ex\tcommitted\t1.2\n"));
        text.push_str("campaign\t7\t3\tab");
        fs::write(&file, text).unwrap();
        let lines = read(&file);
        fs::remove_dir_all(folder).unwrap();
        assert_eq!(left(&lines, 7, 6), [1, 3, 5]);
        assert_eq!(left(&lines, 8, 2), [0, 1], "another seed is another campaign");
    }
}
