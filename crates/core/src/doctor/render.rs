//! A report for people: the verdict first.

use super::{Finding, Level, Report};
use crate::terminal::TextStyle;

impl Report {
    pub fn problems(&self) -> usize {
        self.count(Level::Problem)
    }

    fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }

    pub fn render(&self, colour: bool) -> String {
        let lines = self.findings.iter().map(|finding| line(finding, colour));
        format!("{}\n{}", self.headline(colour), lines.collect::<String>())
    }

    fn headline(&self, colour: bool) -> String {
        let (problems, warnings) = (self.problems(), self.count(Level::Warning));
        let many = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let text = match (problems, warnings) {
            (0, 0) => "this host is ready".to_owned(),
            (0, warnings) => format!("this host is ready, with {}", many(warnings, "warning")),
            (problems, 0) => format!("this host is not ready: {}", many(problems, "problem")),
            (problems, warnings) => format!(
                "this host is not ready: {}, {}",
                many(problems, "problem"),
                many(warnings, "warning")
            ),
        };
        paint(self.verdict, &text, colour)
    }
}

fn line(finding: &Finding, colour: bool) -> String {
    let word = match finding.level {
        Level::Ok => "ok",
        Level::Warning => "warning",
        Level::Problem => "problem",
    };
    let word = paint(finding.level, &format!("{word:<8}"), colour);
    let remedy = finding.remedy.as_ref().map(|remedy| format!("           {:<18} remedy: {remedy}\n", ""));
    format!("  {word} {:<18} {}\n{}", finding.check, finding.message, remedy.unwrap_or_default())
}

fn paint(level: Level, text: &str, colour: bool) -> String {
    let style = TextStyle { colour };
    match level {
        Level::Ok => style.green(text),
        Level::Warning => style.yellow(text),
        Level::Problem => style.bold_red(text),
    }
}
