//! Campaigns of faults: numbered, drawn by a seed, and resumable.
//!
//! Every result is a line in target/faults/progress.tsv (LINESMAN_PROGRESS=FILE: another file), from which
//! `cargo run -p xtask-docs -- --faults FILE` makes docs/reference/faults.md. A campaign that was interrupted goes on with
//! the seed of its last line; faults that violated something are run again.
//! Outside of `make soak` a campaign runs a few, others each time, and records nothing.
//! LINESMAN_FAULTS=N: until so many are done. LINESMAN_SEED=S LINESMAN_FAULT=NUMBER: that one, and nothing is recorded.

mod chance;
mod progress;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

pub use chance::Chance;
use progress::Line;

/// How a fault is counted.
#[derive(Clone, Debug)]
pub struct Fault {
    pub name: String,
    pub step: String,
    pub change: String,
}

/// How a change ended that was struck, and for how long the node did not answer.
#[derive(Clone, Debug)]
pub struct Ending {
    pub verdict: String,
    pub silence: Duration,
}

#[derive(Debug)]
pub struct Campaign {
    /// Of the test that runs it: as in `--test machines -- power_cuts`.
    name: &'static str,
    test: &'static str,
    seed: u64,
    numbers: Vec<u64>,
    /// None if nothing is recorded.
    file: Option<PathBuf>,
    commit: String,
    violations: Mutex<Vec<String>>,
}

impl Campaign {
    /// `share` is how many of ten thousand are this campaign's; outside of `make soak` a `sample` is run, another one each time.
    pub fn open(test: &'static str, name: &'static str, share: u64, sample: u64) -> Self {
        let number = |variable: &str| -> Option<u64> {
            let text = std::env::var(variable).ok()?;
            Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
        };
        let (one, count) = (number("LINESMAN_FAULT"), number("LINESMAN_FAULTS"));
        let goes_on = one.is_none() && (count.is_some() || std::env::var_os("LINESMAN_SOAK").is_some());
        let file = goes_on.then(progress::file);
        let lines = file.iter().flat_map(|file| progress::read(file));
        let lines: Vec<Line> = lines.filter(|line| line.campaign == name).collect();
        let seed = number("LINESMAN_SEED").or(lines.last().map(|line| line.seed)).unwrap_or_else(new_seed);
        let numbers = match (one, &file) {
            (Some(number), _) => vec![number],
            (None, Some(_)) => progress::left(&lines, seed, count.unwrap_or(10_000) * share / 10_000),
            (None, None) => (0..sample).collect(),
        };
        println!("{name}: {} faults to go, seed {seed}", numbers.len());
        Self { name, test, seed, numbers, file, commit: commit(), violations: Mutex::default() }
    }

    /// What is left to do for one of several at a time.
    pub fn numbers(&self, part: u64, of: u64) -> impl Iterator<Item = u64> {
        self.numbers.iter().copied().filter(move |number| number % of == part)
    }

    pub fn chance(&self, number: u64) -> Chance {
        Chance::new(self.seed.wrapping_add(Chance::new(number).number()))
    }

    /// With what there is to read about it if it violated something.
    pub fn record(&self, number: u64, fault: &Fault, result: &Result<Ending, String>) {
        let Fault { name, step, change } = fault;
        let ending = match result {
            Ok(Ending { verdict, silence }) => {
                format!("{verdict}, silent for {:.1} s", silence.as_secs_f64())
            }
            Err(why) => format!("VIOLATION\n{why}\nto repeat: {}\n", self.repeat(number)),
        };
        println!("{} {number} (seed {}) {name} {step}, {change}: {ending}", self.name, self.seed);
        if let Err(why) = result {
            let first = why.lines().next().unwrap_or_default();
            let violation = format!("{name} {step}, {change}: {first}\n  {}", self.repeat(number));
            self.violations.lock().expect("nobody panics here").push(violation);
        }
        let Some(file) = &self.file else { return };
        let line = Line::new(self.name, self.seed, number, &self.commit, fault, result.as_ref().ok());
        line.append(file).expect("the progress can be written");
        if let Err(why) = result {
            let evidence = file.with_file_name(format!("violation-{}-{number}.log", self.seed));
            std::fs::write(evidence, why).expect("the evidence can be written");
        }
    }

    fn repeat(&self, number: u64) -> String {
        let (seed, test, name) = (self.seed, self.test, self.name);
        let variables = format!("LINESMAN_SEED={seed} LINESMAN_FAULT={number}");
        format!("{variables} cargo xtask test --test {test} -- --include-ignored {name}")
    }

    /// The end of a campaign.
    #[track_caller]
    pub fn assert_clean(&self) {
        let violations = self.violations.lock().expect("nobody panics here");
        assert!(violations.is_empty(), "{} violations:\n{}", violations.len(), violations.join("\n"));
    }
}

/// Another one each time.
pub fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) ^ now.as_secs()
}

/// What is tested, if git knows.
fn commit() -> String {
    let tree = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut git = std::process::Command::new("git");
    let output = git.args(["rev-parse", "--short=10", "HEAD"]).current_dir(tree).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    text.ok().filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_string())
}
