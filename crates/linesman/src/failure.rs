//! A command that failed: a line for people, an object for programs.

use linesman_agent::socket::NoAnswer;
use linesman_core::codes::{commands, failures};
use linesman_core::diagnostic_record::DiagnosticRecord;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output;

#[derive(Clone, Debug)]
pub struct Failure {
    exit: Exit,
    code: Option<&'static str>,
    message: String,
    hint: Option<String>,
    /// What is wrong with the documents, each with its place.
    problems: Vec<DiagnosticRecord>,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, code: None, message: message.into(), hint: None, problems: Vec::new() }
    }

    /// Of `linesman explain`.
    #[must_use]
    pub fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Told from "there is none": whoever may not look must not read that there is nothing.
    pub fn needs_root(message: impl Into<String>) -> Self {
        Self::new(Exit::Environment, message)
            .code(commands::NOT_ROOT)
            .hint("run it as root, for example with sudo")
    }

    pub fn no_agent() -> Self {
        Self::new(Exit::Environment, "no agent is running on this host").code(commands::NO_AGENT)
    }

    /// The errors of documents, which are printed one by one.
    pub fn of_documents(exit: Exit, message: impl Into<String>, problems: Vec<DiagnosticRecord>) -> Self {
        let code = problems.iter().find_map(|problem| problem.code);
        let hint = code.map(|code| format!("run `linesman explain {code}` for details"));
        Self { exit, code, message: message.into(), hint, problems }
    }

    /// One line, with the remedy at its end.
    pub fn line(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.message),
            None => self.message.clone(),
        }
    }

    /// As `-o json` and `-o yaml` print it.
    pub fn object(&self) -> Value {
        let explained = || self.code.map(|code| format!("run `linesman explain {code}` for details"));
        let mut error = json!({
            "code": self.code,
            "message": self.message,
            "hint": self.hint.clone().or_else(explained),
            "exitCode": self.exit as u8,
        });
        if !self.problems.is_empty() {
            error["problems"] = json!(self.problems);
        }
        json!({ "error": error })
    }

    /// Says it, and gives the exit code back.
    pub fn report(self) -> Exit {
        output::error(format!("linesman: {}", self.line()));
        self.report_to_programs()
    }

    /// For commands that have told people already.
    pub fn report_to_programs(self) -> Exit {
        output::failed(&self.object());
        self.exit
    }
}

impl From<&linesman_engine::Error> for Failure {
    fn from(error: &linesman_engine::Error) -> Self {
        if !is_root() && is_denied(error) {
            return Self::needs_root(error.to_string());
        }
        Self::new(error.into(), error.to_string()).code(error.code())
    }
}

impl From<&linesman_agent::Error> for Failure {
    fn from(error: &linesman_agent::Error) -> Self {
        match error {
            linesman_agent::Error::Host(host) => host.into(),
            linesman_agent::Error::UnreadableStateFile { path, source }
                if !is_root() && is_denied(source) =>
            {
                Self::needs_root(format!("cannot read {path}: {source}"))
            }
            linesman_agent::Error::Another { .. } => {
                Self::new(Exit::Busy, error.to_string()).code(failures::BUSY)
            }
            _ => Self::new(Exit::Environment, error.to_string()).code(failures::HINDERED),
        }
    }
}

impl From<&NoAnswer> for Failure {
    fn from(why: &NoAnswer) -> Self {
        match why {
            NoAnswer::NoAgent => Self::no_agent(),
            NoAnswer::Refused(error) if !is_root() => {
                Self::needs_root(format!("the agent answers only root: {error}"))
            }
            NoAnswer::Refused(error) => {
                Self::new(Exit::Environment, format!("the agent cannot be asked: {error}"))
                    .code(failures::HINDERED)
            }
        }
    }
}

pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Whether the kernel or a D-Bus policy refused it. Libraries pass that on in words only.
pub fn is_denied(error: &(dyn std::error::Error + 'static)) -> bool {
    const WORDS: [&str; 5] = [
        "AccessDenied",
        "Permission denied",
        "Operation not permitted",
        "not authorized",
        "prevents this sender",
    ];
    let mut chain = std::iter::successors(Some(error), |error| error.source());
    chain.any(|error| {
        let text = error.to_string();
        WORDS.iter().any(|word| text.contains(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_says_what_a_line_says() {
        let failure = Failure::new(Exit::Failed, "no change 7 in the journal").hint("run `linesman history`");
        assert_eq!(failure.line(), "no change 7 in the journal; run `linesman history`");
        assert_eq!(
            failure.object(),
            json!({"error": {"code": null, "message": "no change 7 in the journal", "hint": "run `linesman history`", "exitCode": 1}})
        );
    }

    #[test]
    fn a_refusal_by_the_kernel_is_told_from_absence() {
        use std::io::{Error, ErrorKind};
        assert!(
            is_denied(&Error::from(ErrorKind::PermissionDenied)) || is_denied(&Error::from_raw_os_error(13))
        );
        assert!(!is_denied(&Error::from_raw_os_error(2)));
    }
}
