//! How long each test takes. The stable test harness does not say; but it starts tests in the order in which it lists
//! them, the next one whenever one ends, and prints a line at each end. From that the start times follow.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::build::Fallible;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    binary: OsString,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Cargo runs each test binary by this; the times are added to the file LINESMAN_TEST_TIMES.
pub fn measure(arguments: &Arguments) -> Fallible<ExitCode> {
    let command = || {
        let mut command = Command::new(&arguments.binary);
        command.args(&arguments.arguments).stdout(Stdio::piped());
        command
    };
    let listed = command().arg("--list").stderr(Stdio::null()).output()?;
    let threads = std::env::var("RUST_TEST_THREADS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut clock = Clock::new(names(&String::from_utf8_lossy(&listed.stdout)), threads);
    let start = Instant::now();
    let mut child = command().spawn()?;
    let stdout = child.stdout.take().ok_or("the test has no output")?;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = [line?, b"\n".into()].concat();
        std::io::stdout().write_all(&line)?;
        if let Some(name) = ended(&String::from_utf8_lossy(&line)) {
            clock.end(name, start.elapsed());
        }
    }
    let status = child.wait()?;
    if let Some(times) = std::env::var_os("LINESMAN_TEST_TIMES") {
        write!(
            OpenOptions::new().append(true).open(times)?,
            "{}",
            clock.report(Path::new(&arguments.binary))
        )?;
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn names(list: &str) -> VecDeque<String> {
    list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

fn ended(line: &str) -> Option<&str> {
    let (name, how) = line.trim_end().strip_prefix("test ")?.split_once(" ... ")?;
    (how == "ok" || how == "FAILED" || how.starts_with("ignored"))
        .then_some(name.trim_end_matches(" - should panic"))
}

#[derive(Debug)]
struct Clock {
    waiting: VecDeque<String>,
    started: BTreeMap<String, Duration>,
    ended: Vec<(String, Duration)>,
}

impl Clock {
    fn new(waiting: VecDeque<String>, threads: usize) -> Self {
        let mut clock = Self { waiting, started: BTreeMap::new(), ended: Vec::new() };
        (0..threads).for_each(|_| clock.start(Duration::ZERO));
        clock
    }

    fn start(&mut self, now: Duration) {
        if let Some(name) = self.waiting.pop_front() {
            self.started.insert(name, now);
        }
    }

    fn end(&mut self, name: &str, now: Duration) {
        if let Some(start) = self.started.remove(name) {
            self.ended.push((name.to_owned(), now.saturating_sub(start)));
            self.start(now);
        }
    }

    /// MILLISECONDS BINARY TEST
    fn report(&self, binary: &Path) -> String {
        let file = binary.file_name().unwrap_or_default().to_string_lossy();
        let binary = file.rsplit_once('-').map_or(&*file, |(name, _hash)| name);
        self.ended.iter().map(|(name, took)| format!("{} {binary} {name}\n", took.as_millis())).collect()
    }
}

/// The table that ends a run.
pub fn slowest(report: &str, count: usize) -> String {
    let parse = |line: &str| -> Option<(u64, String)> {
        let (millis, test) = line.split_once(' ')?;
        Some((millis.parse().ok()?, test.to_owned()))
    };
    let mut times: Vec<(u64, String)> = report.lines().filter_map(parse).collect();
    times.sort_by(|a, b| b.cmp(a));
    let row = |(millis, test): &(u64, String)| {
        format!("{:>7.1} s  {test}\n", Duration::from_millis(*millis).as_secs_f64())
    };
    let rows: String = times.iter().take(count).map(row).collect();
    if rows.is_empty() { rows } else { format!("The slowest of {} tests:\n{rows}", times.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_starts_when_another_one_ends() {
        let second = Duration::from_secs;
        let mut clock = Clock::new(names("a: test\nb: test\nc: test\n\n3 tests, 0 benchmarks\n"), 2);
        clock.end("b", second(2));
        clock.end("unknown", second(3));
        clock.end("c", second(9));
        clock.end("a", second(10));
        assert_eq!(
            clock.report(Path::new("deps/my-tests-0f")),
            "2000 my-tests b\n7000 my-tests c\n10000 my-tests a\n"
        );
    }

    #[test]
    fn only_lines_of_ended_tests_count() {
        assert_eq!(ended("test a::b ... ok\n"), Some("a::b"));
        assert_eq!(ended("test a - should panic ... ok\n"), Some("a"));
        assert_eq!(ended("test c ... ignored, not today\n"), Some("c"));
        assert_eq!(ended("test result: ok. 3 passed\n"), None);
    }

    #[test]
    fn the_slowest_come_first() {
        let table = slowest("100 x a\n70000 y b\n2500 x c\n", 2);
        assert_eq!(table, "The slowest of 3 tests:\n   70.0 s  y b\n    2.5 s  x c\n");
        assert_eq!(slowest("", 2), "");
    }
}
