//! The log of this process, on standard error: every `tracing` event, and what nmstate reports through `log`.

use std::fmt;

use clap::ValueEnum;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{self as subscriber, FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::Verb;

/// Sets the format for a daemon.
pub const FORMAT: &str = "LINESMAN_LOG_FORMAT";
/// Its flag; a worker process gets it from the daemon that starts it.
const FLAG: &str = "--log-format";

/// Errors of libraries that we do not handle ourselves: nispor warns at every look at a kernel without WiFi, and kube's
/// client logs every refused connection, which the daemons report once.
const DAEMON: &str = "error,kube_client=off,nmstate=warn,linesman=info,linesman_agent=info,linesman_daemon=info,\
     linesman_engine=info,linesman_operator=info";
const COMMAND: &str = "error,kube_client=off,nmstate=warn,linesman=warn,linesman_agent=warn,linesman_daemon=warn,\
     linesman_engine=warn,linesman_operator=warn";

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
        _ => start(COMMAND, LogFormat::Text, Prefix::Word),
    }
}

/// The worker's standard error is that of the process that started it, so it writes the same format.
pub fn worker_arguments(format: LogFormat) -> Vec<String> {
    let value = format.to_possible_value();
    value.map(|value| vec![FLAG.to_owned(), value.get_name().to_owned()]).unwrap_or_default()
}

pub fn install_for_worker(mut arguments: impl Iterator<Item = String>) {
    let given = arguments.find(|argument| argument == FLAG).and_then(|_| arguments.next());
    let format = given.and_then(|text| LogFormat::from_str(&text, true).ok());
    start(COMMAND, format.unwrap_or(LogFormat::Text), Prefix::Word);
}

/// What ends a daemon. In a log of JSON objects it is one of them.
pub fn fatal(format: LogFormat, error: impl fmt::Display) {
    match format {
        LogFormat::Json => tracing::error!("{error}"),
        LogFormat::Text => crate::output::error(format!("linesman: {error}")),
    }
}

fn start(default: &str, format: LogFormat, prefix: Prefix) {
    let asked = std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty());
    let parsed = asked.as_deref().map(str::parse::<Targets>);
    let unreadable = parsed.as_ref().and_then(|filter| filter.as_ref().err().map(ToString::to_string));
    let filter = parsed.and_then(Result::ok).or_else(|| default.parse().ok()).unwrap_or_default();
    let prefix = if std::env::var_os("JOURNAL_STREAM").is_some() { Prefix::Priority } else { prefix };
    let layer = subscriber::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter);
    let installed = match format {
        LogFormat::Json => registry.with(layer.json().flatten_event(true)).try_init(),
        LogFormat::Text => registry.with(layer.event_format(prefix)).try_init(),
    };
    if let Err(e) = installed {
        crate::output::error(format!("linesman: no log will be written: {e}"));
    }
    if let Some(error) = unreadable {
        tracing::warn!(error, "RUST_LOG is invalid and ignored; use for example info,kube=debug");
    }
}

impl<S, N> FormatEvent<S, N> for Prefix
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut text = String::new();
        context.format_fields(Writer::new(&mut text), event)?;
        // Each line of its own: journald would take the second one for another message, of no priority.
        for line in text.lines() {
            self.write(*event.metadata().level(), &mut writer)?;
            writeln!(writer, "{line}")?;
        }
        Ok(())
    }
}

impl Prefix {
    fn write(self, level: Level, writer: &mut Writer<'_>) -> fmt::Result {
        match self {
            Self::Priority => write!(writer, "<{}>", priority(level)),
            Self::TimeAndLevel => {
                SystemTime.format_time(writer)?;
                write!(writer, " {level:>5} ")
            }
            Self::Word => write!(writer, "{}: ", word(level)),
        }
    }
}

/// As in syslog(3).
fn priority(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warning",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}
