//! Printing. A terminal that went away must not end a change that is under way: an error counts at the end.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use linesman_core::secrets::mask_fields;
use linesman_core::yaml;
use serde::Serialize;

use crate::cli::Format;
use crate::exit::Exit;

/// The first write to standard output that failed.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Remembers a failure to print.
pub fn note(printed: io::Result<()>) {
    if let Err(error) = printed {
        FAILURE.set(error).ok();
    }
}

/// Nobody reads standard output any more.
pub fn is_lost() -> bool {
    FAILURE.get().is_some()
}

/// A command whose output was lost has failed, unless its exit code says more. A reader that has read enough, such as
/// `head`, is no failure.
pub fn conclude(exit: Exit) -> Exit {
    let Some(failure) = FAILURE.get().filter(|failure| failure.kind() != ErrorKind::BrokenPipe) else {
        return exit;
    };
    error(format!("linesman: cannot write to standard output: {failure}"));
    if matches!(exit, Exit::Done | Exit::Differences) { Exit::Failed } else { exit }
}

/// Colours only for people who look.
pub fn colour() -> bool {
    is_seen(&std::io::stdout())
}

/// The same for what goes to standard error, which may be seen when standard output is not.
pub fn colour_of_errors() -> bool {
    is_seen(&std::io::stderr())
}

fn is_seen(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

pub fn line(text: impl AsRef<str>) {
    let mut out = std::io::stdout().lock();
    note(writeln!(out, "{}", text.as_ref()).and_then(|()| out.flush()));
}

pub fn error(text: impl AsRef<str>) {
    writeln!(std::io::stderr(), "{}", text.as_ref().trim_end()).ok();
}

/// Structured output, without secrets; text has its own form per verb.
pub fn data(format: Format, value: &impl Serialize) {
    let value = serde_json::to_value(value).map(|mut value| {
        mask_fields(&mut value);
        value
    });
    let text = match format {
        Format::Json => value.and_then(|value| serde_json::to_string_pretty(&value)),
        Format::Yaml | Format::Text => value.map(|value| yaml::write(&value)),
    };
    match text {
        Ok(text) => line(text.trim_end()),
        Err(why) => note(Err(why.into())),
    }
}
