//! The log of this process, on standard error: every `tracing` event, and what nmstate reports through `log`.

mod entry;

use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use clap::ValueEnum;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{self as subscriber, FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::Verb;
use entry::Entry;

/// Sets the format for a daemon.
pub const FORMAT: &str = "LINESMAN_LOG_FORMAT";
/// Its flag; a worker process gets it from the daemon that starts it.
const FLAG: &str = "--log-format";

/// Errors of libraries that we do not handle ourselves: nispor warns at every look at a kernel without WiFi, nmstate at
/// every look at whatever others have on a host, and kube's client logs every refused connection, which the daemons
/// report once.
const DAEMON: &str = "error,kube_client=off,nmstate=warn,nmstate::ovsdb=error,nmstate::nispor=error,\
     nmstate::iface=error,nmstate::nm::nm_dbus::error=error,linesman=info,linesman_agent=info,linesman_daemon=info,\
     linesman_engine=info,linesman_operator=info,linesman_ovs=info";
const COMMAND: &str = "error,kube_client=off,nmstate=warn,nmstate::ovsdb=error,nmstate::nispor=error,\
     nmstate::iface=error,nmstate::nm::nm_dbus::error=error,linesman=warn,linesman_agent=warn,linesman_daemon=warn,\
     linesman_engine=warn,linesman_operator=warn,linesman_ovs=warn";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people; with priorities for the journal when systemd runs the daemon
    Text,
    /// One JSON object per line
    Json,
}

/// What each line starts with.
#[derive(Clone, Copy, Debug)]
enum Prefix {
    /// `<4>`, which journald reads and removes.
    Priority,
    /// `2026-11-17T08:15:00Z WARN`
    TimeAndLevel,
    /// `warning:`, as commands write it.
    Word,
}

pub fn install(verb: &Verb) {
    match verb {
        Verb::Agent(args) => start(DAEMON, args.logging.log_format, Prefix::TimeAndLevel),
        Verb::Operator(args) => start(DAEMON, args.logging.log_format, Prefix::TimeAndLevel),
        Verb::OvsKeeper(args) => start(DAEMON, args.logging.log_format, Prefix::TimeAndLevel),
        _ => start(COMMAND, LogFormat::Text, Prefix::Word),
    }
}

/// The worker writes to the standard error of the daemon that starts it, in the same format.
pub fn worker_arguments(format: LogFormat) -> Vec<String> {
    let value = format.to_possible_value();
    value.map(|value| vec![FLAG.to_owned(), value.get_name().to_owned()]).unwrap_or_default()
}

/// A command gives its worker no format.
pub fn install_for_worker(arguments: impl Iterator<Item = String>) {
    match format_for_worker(arguments) {
        Some(format) => start(DAEMON, format, Prefix::TimeAndLevel),
        None => start(COMMAND, LogFormat::Text, Prefix::Word),
    }
}

fn format_for_worker(mut arguments: impl Iterator<Item = String>) -> Option<LogFormat> {
    let given = arguments.find(|argument| argument == FLAG).and_then(|_| arguments.next())?;
    LogFormat::from_str(&given, true).ok()
}

/// What ends a daemon: an entry like the others, and written whatever RUST_LOG says.
pub fn fatal(format: LogFormat, error: impl fmt::Display) {
    let lines = Lines { format, prefix: Prefix::TimeAndLevel.or_priority() };
    std::io::stderr().write_all(lines.write(&Entry::new(Level::ERROR, error)).as_bytes()).ok();
}

fn start(default: &str, format: LogFormat, prefix: Prefix) {
    let asked = std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty());
    let parsed = asked.as_deref().map(str::parse::<Targets>);
    let unreadable = parsed.as_ref().and_then(|filter| filter.as_ref().err().map(ToString::to_string));
    let filter = parsed.and_then(Result::ok).or_else(|| default.parse().ok()).unwrap_or_default();
    let lines = Lines { format, prefix: prefix.or_priority() };
    let layer = subscriber::layer().with_writer(std::io::stderr).event_format(lines);
    let installed = tracing_subscriber::registry().with(filter).with(most()).with(layer).try_init();
    if let Err(e) = installed {
        crate::output::error(format!("linesman: no log will be written: {e}"));
    }
    if let Some(error) = unreadable {
        tracing::warn!(error, "RUST_LOG is invalid and ignored; use for example info,kube=debug");
    }
}

/// How much may be logged at all. At `debug` these libraries print whole connections and messages, with their secrets.
fn most() -> Targets {
    let quoting = ["nmstate", "nispor", "zbus", "zvariant"];
    quoting.iter().fold(Targets::new().with_default(Level::TRACE), |most, target| {
        most.with_target(*target, Level::INFO)
    })
}

/// How entries become lines.
#[derive(Clone, Copy, Debug)]
struct Lines {
    format: LogFormat,
    prefix: Prefix,
}

impl Lines {
    fn write(self, entry: &Entry) -> String {
        match self.format {
            LogFormat::Json => entry.json(),
            LogFormat::Text => entry.text(self.prefix),
        }
    }
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        Entry::of(event).map_or(Ok(()), |entry| writer.write_str(&self.write(&entry)))
    }
}

impl Prefix {
    fn or_priority(self) -> Self {
        if is_journal(&std::io::stderr()) { Self::Priority } else { self }
    }
}

/// Whether the journal reads what is written there. systemd's variable names a device and an inode; a shell that a unit started
/// inherits the variable, but its standard error is a terminal (systemd.exec(5)).
pub fn is_journal(stream: &impl AsFd) -> bool {
    let Ok(journal) = std::env::var("JOURNAL_STREAM") else { return false };
    let descriptor = stream.as_fd().try_clone_to_owned();
    let metadata = descriptor.and_then(|descriptor| File::from(descriptor).metadata());
    metadata.is_ok_and(|metadata| journal == format!("{}:{}", metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_is_given_the_format_of_its_daemon() {
        for format in [LogFormat::Text, LogFormat::Json] {
            assert_eq!(format_for_worker(worker_arguments(format).into_iter()), Some(format));
        }
        assert_eq!(format_for_worker(std::iter::empty()), None);
    }
}
