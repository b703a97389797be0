//! Printing. A terminal that went away must not end a change that is under way: an error counts at the end.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use linesman_core::secrets::mask_fields;
use linesman_core::terminal::wrap;
use linesman_core::yaml;
use serde::Serialize;
use serde_json::Value;
use terminal_size::{Height, Width, terminal_size_of};

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::Failure;

/// What standard output is for: people, or programs.
static FORMAT: OnceLock<Format> = OnceLock::new();

/// Whether anything was printed there.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// The first write to standard output that failed.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Remembers a failure to print.
pub fn note(printed: io::Result<()>) {
    if let Err(error) = printed {
        FAILURE.set(error).ok();
    }
}

pub fn choose(format: Format) {
    FORMAT.set(format).ok();
}

fn format() -> Format {
    FORMAT.get().copied().unwrap_or(Format::Text)
}

/// Programs find the error where they look for the result; people read it on standard error.
pub fn failed(object: &Value) {
    match format() {
        Format::Text => {}
        other => data(other, object),
    }
}

/// Nobody reads standard output any more.
pub fn is_lost() -> bool {
    FAILURE.get().is_some()
}

/// A command whose output was lost has failed, unless its exit code says more. A reader that has read enough, such as
/// `head`, is no failure.
pub fn conclude(exit: Exit) -> Exit {
    // Whatever a command forgot to say: output that a program asked for is never empty.
    if exit.is_failure() && !PRINTED.load(Ordering::Relaxed) {
        failed(&Failure::new(exit, "failed; see standard error").object());
    }
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

/// For people: broken at words on a terminal, and as it is for whatever else reads it.
pub fn line(text: impl AsRef<str>) {
    raw(wrapped(text.as_ref()));
}

/// As it is, however wide: what is copied or read by programs.
pub fn raw(text: impl AsRef<str>) {
    PRINTED.store(true, Ordering::Relaxed);
    let mut out = std::io::stdout().lock();
    note(writeln!(out, "{}", text.as_ref()).and_then(|()| out.flush()));
}

pub fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// As [`line`] prints it.
pub fn wrapped(text: &str) -> String {
    match terminal_size_of(std::io::stdout()) {
        Some((Width(width), _)) => wrap(text, usize::from(width)),
        None => text.to_owned(),
    }
}

/// How many lines the terminal shows.
pub fn rows() -> usize {
    terminal_size_of(std::io::stdout()).map_or(usize::MAX, |(_, Height(rows))| usize::from(rows))
}

/// Text with places in it, such as an error with its line of a document, is not broken.
pub fn error(text: impl AsRef<str>) {
    let text = text.as_ref().trim_end();
    let plain = !text.contains('\n');
    let text = match terminal_size_of(std::io::stderr()).filter(|_| plain) {
        Some((Width(width), _)) => wrap(text, usize::from(width)),
        None => text.to_owned(),
    };
    writeln!(std::io::stderr(), "{text}").ok();
}

/// Structured output, without secrets; text has its own form per verb.
pub fn data(format: Format, value: &impl Serialize) {
    match serde_json::to_value(value) {
        Ok(mut value) => {
            mask_fields(&mut value);
            document(format, &value);
        }
        Err(why) => note(Err(why.into())),
    }
}

/// A document as it is, since it may be applied again: nmstate hides what it calls secrets in a way that keeps them
/// then, and what is imported has none.
pub fn document(format: Format, document: &Value) {
    let text = match format {
        Format::Json => serde_json::to_string_pretty(document),
        Format::Yaml | Format::Text => Ok(yaml::write(document)),
    };
    match text {
        Ok(text) => raw(text.trim_end()),
        Err(why) => note(Err(why.into())),
    }
}
