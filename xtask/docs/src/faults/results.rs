//! What a campaign's progress file comes down to: a line for each fault at each step.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Sum;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Each with its campaign.
    pub seeds: BTreeSet<String>,
    pub commits: BTreeSet<String>,
    /// How many violated something, and did not when they were run again.
    pub passed_again: u32,
    pub rows: Vec<Row>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub campaign: String,
    pub fault: String,
    pub step: String,
    pub count: Count,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub committed: u32,
    pub rolled_back: u32,
    pub not_begun: u32,
    pub violations: u32,
    /// The longest, in tenths of a second.
    pub silence: u32,
}

impl Count {
    pub fn runs(&self) -> u32 {
        self.committed + self.rolled_back + self.not_begun + self.violations
    }

    pub fn add(&mut self, other: &Self) {
        self.committed += other.committed;
        self.rolled_back += other.rolled_back;
        self.not_begun += other.not_begun;
        self.violations += other.violations;
        self.silence = self.silence.max(other.silence);
    }

    fn of(verdict: &str, silence: &str) -> Option<Self> {
        let mut count = Self { silence: tenths(silence)?, ..Self::default() };
        match verdict {
            "committed" => count.committed = 1,
            "rolled-back" => count.rolled_back = 1,
            "abandoned" => count.not_begun = 1,
            "violation" => count.violations = 1,
            _ => return None,
        }
        Some(count)
    }
}

impl<'a> Sum<&'a Count> for Count {
    fn sum<I: Iterator<Item = &'a Count>>(counts: I) -> Self {
        counts.fold(Self::default(), |mut sum, count| {
            sum.add(count);
            sum
        })
    }
}

fn tenths(seconds: &str) -> Option<u32> {
    seconds.replace('.', "").parse().ok()
}

impl Results {
    /// Of a number that was run several times, the last run counts. Lines that were cut off are passed over.
    pub fn of_campaign(progress: &str) -> Self {
        let mut results = Self::default();
        let mut last: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
        let mut violated = BTreeSet::new();
        for fields in progress.lines().map(|line| line.split('\t').collect::<Vec<_>>()) {
            let [campaign, seed, number, commit, ref rest @ ..] = fields[..] else { continue };
            let &[fault, step, _, verdict, silence] = rest else { continue };
            results.seeds.insert(format!("{campaign} {seed}"));
            results.commits.insert(commit.to_string());
            if verdict == "violation" {
                violated.insert((campaign, seed, number));
            }
            last.insert((campaign, seed, number), vec![fault, step, verdict, silence]);
        }
        let mut rows: BTreeMap<(&str, &str, &str), Count> = BTreeMap::new();
        for ((campaign, seed, number), fields) in &last {
            let Some(count) = Count::of(fields[2], fields[3]) else { continue };
            results.passed_again +=
                u32::from(count.violations == 0 && violated.contains(&(*campaign, *seed, *number)));
            rows.entry((campaign, fields[0], fields[1])).or_default().add(&count);
        }
        let row = |((campaign, fault, step), count): ((&str, &str, &str), Count)| Row {
            campaign: campaign.into(),
            fault: fault.into(),
            step: step.into(),
            count,
        };
        results.rows = rows.into_iter().map(row).collect();
        results
    }

    pub fn text(&self) -> String {
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join("\t");
        let head = format!(
            "seeds\t{}\ncommits\t{}\npassed again\t{}\n\
             campaign\tfault\tstep\tcommitted\trolled back\tnot begun\tviolations\tlongest silence in 0.1 s\n",
            list(&self.seeds),
            list(&self.commits),
            self.passed_again
        );
        let line = |row: &Row| {
            let Count { committed, rolled_back, not_begun, violations, silence } = row.count;
            let Row { campaign, fault, step, .. } = row;
            format!(
                "{campaign}\t{fault}\t{step}\t{committed}\t{rolled_back}\t{not_begun}\t{violations}\t{silence}\n"
            )
        };
        head + &self.rows.iter().map(line).collect::<String>()
    }

    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut list = |name: &str| -> Option<BTreeSet<String>> {
            let mut fields = lines.next()?.split('\t');
            (fields.next()? == name).then(|| fields.map(ToString::to_string).collect())
        };
        let (seeds, commits, passed_again) = (list("seeds")?, list("commits")?, list("passed again")?);
        let passed_again = passed_again.first()?.parse().ok()?;
        let rows = lines.skip(1).map(row).collect::<Option<Vec<Row>>>()?;
        Some(Self { seeds, commits, passed_again, rows })
    }
}

fn row(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [campaign, fault, step, ref numbers @ ..] = fields[..] else { return None };
    let numbers: Vec<u32> = numbers.iter().map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [committed, rolled_back, not_begun, violations, silence] = numbers[..] else { return None };
    let count = Count { committed, rolled_back, not_begun, violations, silence };
    Some(Row { campaign: campaign.into(), fault: fault.into(), step: step.into(), count })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRESS: &str = "campaign\t7\t0\tabc\tagent killed\tat applied\tbr-ex\trolled-back\t1.2
campaign\t7\t1\tabc\tagent killed\tat applied\tadditive\tviolation\t0.0
campaign\t7\t1\tdef\tagent killed\tat applied\tadditive\tcommitted\t10.4
campaign\t7\t2\tdef\tdisk filled\tat applied\tadditive\tabandoned\t0.0
campaign\t7\t3\tdef\tdisk fil";

    #[test]
    fn the_last_run_of_a_fault_counts() {
        let results = Results::of_campaign(PROGRESS);
        assert_eq!((results.passed_again, results.rows.len()), (1, 2));
        let killed = Count { committed: 1, rolled_back: 1, silence: 104, ..Count::default() };
        assert_eq!(results.rows[0].count, killed);
        assert_eq!(Results::parse(&results.text()), Some(results));
    }
}
