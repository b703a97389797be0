//! One entry of the log: what a `tracing` event says, as lines of text or as a JSON object.

use std::fmt;

use linesman_core::secrets::{MASK, is_secret, mask_text};
use linesman_core::terminal::printable;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use super::Prefix;

#[derive(Debug)]
pub struct Entry {
    level: Level,
    target: String,
    message: String,
    fields: Vec<LogField>,
}

#[derive(Debug)]
struct LogField {
    name: String,
    value: Value,
    /// Given as text, and therefore in quotes; what a type displays is not.
    quoted: bool,
}

impl Entry {
    pub fn new(level: Level, message: impl fmt::Display) -> Self {
        let target = env!("CARGO_CRATE_NAME").to_owned();
        Self { level, target, message: message.to_string(), fields: Vec::new() }
    }

    /// None: not worth a line.
    pub fn of(event: &Event<'_>) -> Option<Self> {
        let metadata = event.metadata();
        let target = metadata.target().to_owned();
        let mut entry = Self { level: *metadata.level(), target, message: String::new(), fields: Vec::new() };
        event.record(&mut entry);
        if !entry.target.starts_with("linesman") {
            entry.mask();
        }
        (!entry.is_noise()).then_some(entry)
    }

    /// nmstate's warnings quote what NetworkManager or the document holds, passwords included.
    fn mask(&mut self) {
        self.message = mask_text(&self.message);
        for LogField { name, value, .. } in &mut self.fields {
            match value {
                _ if is_secret(name) => *value = MASK.into(),
                Value::String(text) => *text = mask_text(text),
                _ => {}
            }
        }
    }

    /// To revert is to ask for `state: absent` beside what the interface was before: nmstate warns every time, and
    /// nobody can do anything about it.
    fn is_noise(&self) -> bool {
        self.target.starts_with("nmstate") && self.message.starts_with("Ignoring properties ")
    }

    /// Each line with its prefix, or journald would take the second for another message, of no priority. The fields
    /// belong to the first one, which says what happened; the others quote a document or another program.
    pub fn text(&self, prefix: Prefix) -> String {
        let mut text = String::new();
        for (number, line) in self.message.lines().chain(self.message.is_empty().then_some("")).enumerate() {
            let start = text.len();
            text += &self.prefix(prefix);
            text += &printable(line);
            if number == 0 {
                self.fields.iter().for_each(|field| text += &field.text());
            }
            text.truncate(start + text[start..].trim_end().len());
            text.push('\n');
        }
        text
    }

    fn prefix(&self, prefix: Prefix) -> String {
        match prefix {
            Prefix::Priority => format!("<{}>", priority(self.level)),
            Prefix::TimeAndLevel => format!("{} {:>5} ", now(), self.level),
            Prefix::Word => format!("{}: ", word(self.level)),
        }
    }

    pub fn json(&self) -> String {
        let mut object = Map::new();
        object.insert("timestamp".into(), now().into());
        object.insert("level".into(), self.level.as_str().into());
        object.insert("message".into(), self.message.as_str().into());
        for LogField { name, value, .. } in &self.fields {
            object.entry(name).or_insert_with(|| value.clone());
        }
        object.entry("target").or_insert_with(|| self.target.as_str().into());
        format!("{}\n", Value::Object(object))
    }

    fn add(&mut self, field: &Field, value: Value, quoted: bool) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            // What comes through `log` has its own target, and places that nobody asked for.
            ("log.target", Value::String(target)) => self.target = target,
            (name, _) if name.starts_with("log.") => {}
            (name, value) => {
                let name = name.trim_start_matches("r#").to_owned();
                self.fields.push(LogField { name, value, quoted });
            }
        }
    }
}

impl Visit for Entry {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}").into(), false);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.into(), true);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into(), true);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into(), true);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into(), true);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value.into(), true);
    }
}

impl LogField {
    /// ` name=value`, on one line whatever the value is.
    fn text(&self) -> String {
        let Self { name, value, quoted } = self;
        match value.as_str() {
            Some(text) if !quoted && !text.contains(char::is_control) => format!(" {name}={text}"),
            _ => format!(" {name}={value}"),
        }
    }
}

fn now() -> String {
    let mut text = String::new();
    SystemTime.format_time(&mut Writer::new(&mut text)).ok();
    text
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

    use super::*;

    /// Keeps what would be written.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<String>>);

    impl<S: tracing::Subscriber> Layer<S> for Kept {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            if let Some(entry) = Entry::of(event) {
                *self.0.lock().unwrap() += &entry.text(Prefix::Word);
            }
        }
    }

    fn text_of(log: impl FnOnce()) -> String {
        let kept = Kept::default();
        let filter: tracing_subscriber::filter::Targets = "trace,nmstate::nm=trace".parse().unwrap();
        let registry =
            tracing_subscriber::registry().with(filter).with(super::super::most()).with(kept.clone());
        tracing::subscriber::with_default(registry, log);
        let text = kept.0.lock().unwrap();
        text.clone()
    }

    #[test]
    fn fields_are_on_the_first_line() {
        let text = text_of(|| tracing::warn!(policy = "a", file = %"/b", count = 2, "one:\n  two\nthree"));
        assert_eq!(text, "warning: one: policy=\"a\" file=/b count=2\nwarning:   two\nwarning: three\n");
    }

    #[test]
    fn control_characters_and_lines_of_values_are_escaped() {
        let text = text_of(|| tracing::warn!(error = %"a\n<0>b", "\u{1b}[2J"));
        assert_eq!(text, "warning: \\u{1b}[2J error=\"a\\n<0>b\"\n");
    }

    #[test]
    fn secrets_are_not_logged_whatever_rust_log_says() {
        let text = text_of(|| {
            tracing::debug!(target: "nmstate::nm::query_apply", "NmConnection {{ private_key_password: hunter2 }}");
            tracing::trace!(target: "zbus::connection", "Sending message: hunter2");
            tracing::warn!(target: "nmstate::nm::nm_dbus", "Failed to convert password: hunter2");
            tracing::info!(target: "nmstate", psk = "hunter2", "info");
            tracing::debug!(target: "linesman_engine", "ours");
        });
        let expected =
            "warning: Failed to convert password:<masked>\ninfo: info psk=\"<masked>\"\ndebug: ours\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn warnings_of_every_revert_are_left_out() {
        let text = text_of(|| {
            tracing::warn!(target: "nmstate::iface", "Ignoring properties [\"mtu\"] of absent interface \"br1\"");
        });
        assert_eq!(text, "");
    }

    #[test]
    fn a_json_entry_is_one_line() {
        let text = Entry::new(Level::ERROR, "a\nb").json();
        assert_eq!(text.lines().count(), 1);
        let entry: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&entry["level"], &entry["message"]), (&"ERROR".into(), &"a\nb".into()));
    }
}
