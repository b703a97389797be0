//! One entry of the journal, as lines of the keeper's own log.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// How entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogStyle {
    /// `2026-11-19T08:15:00.123456Z WARN ovs-vswitchd[7]: …`
    Text,
    /// The same with `<4>` in front, for a journal that reads standard output.
    Priority,
    /// One JSON object per line.
    Json,
}

/// An entry of the journal, as far as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    pub cursor: String,
    /// In microseconds since 1970.
    pub realtime: u64,
    priority: u8,
    unit: String,
    identifier: String,
    pid: Option<u32>,
    message: String,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("an entry of the journal is no JSON object: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("an entry of the journal has no {0}")]
    Lacks(&'static str),
}

/// What `journalctl --output=json` prints.
#[derive(Debug, Deserialize)]
struct Fields(Map<String, Value>);

impl Fields {
    /// The first value of a field that has several, as text. Bytes that are no UTF-8 come as numbers.
    fn text(&self, name: &str) -> Option<String> {
        let first = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Array(values) if values.first().is_some_and(Value::is_number) => {
                let byte = |value: &Value| u8::try_from(value.as_u64()?).ok();
                let bytes: Vec<u8> = values.iter().filter_map(byte).collect();
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => None,
        };
        let value = self.0.get(name)?;
        first(value).or_else(|| value.as_array()?.iter().find_map(first))
    }
}

impl JournalEntry {
    pub fn parse(line: &[u8]) -> Result<Self, Error> {
        let fields: Fields = serde_json::from_slice(line)?;
        let identifier = fields.text("SYSLOG_IDENTIFIER").or_else(|| fields.text("_COMM"));
        // systemd's own entries about a unit carry its name in UNIT.
        let unit = fields.text("UNIT").or_else(|| fields.text("_SYSTEMD_UNIT")).unwrap_or_default();
        Ok(Self {
            cursor: fields.text("__CURSOR").ok_or(Error::Lacks("__CURSOR"))?,
            realtime: fields
                .text("__REALTIME_TIMESTAMP")
                .and_then(|text| text.parse().ok())
                .ok_or(Error::Lacks("__REALTIME_TIMESTAMP"))?,
            priority: fields.text("PRIORITY").and_then(|text| text.parse().ok()).unwrap_or(6).min(7),
            identifier: identifier.unwrap_or_else(|| unit.trim_end_matches(".service").to_owned()),
            unit,
            pid: fields.text("_PID").and_then(|text| text.parse().ok()),
            message: fields.text("MESSAGE").unwrap_or_default(),
        })
    }

    /// Ends with a newline. Each line of a message has the prefix, so that no line is without its priority.
    pub fn write(&self, style: LogStyle) -> String {
        if style == LogStyle::Json {
            return self.json();
        }
        let priority = match style {
            LogStyle::Priority => format!("<{}>", self.priority),
            LogStyle::Text | LogStyle::Json => String::new(),
        };
        let pid = self.pid.map(|pid| format!("[{pid}]")).unwrap_or_default();
        // What systemd says of a unit names the unit itself.
        let prefix =
            format!("{priority}{} {:>5} {}{pid}: ", self.time(), self.level(), printable(&self.identifier));
        let lines = self.message.lines().chain(self.message.is_empty().then_some(""));
        lines.map(|line| format!("{}\n", format!("{prefix}{}", printable(line)).trim_end())).collect()
    }

    fn json(&self) -> String {
        let object = json!({
            "timestamp": self.time(),
            "level": self.level(),
            "message": self.message,
            "unit": self.unit,
            "identifier": self.identifier,
            "pid": self.pid,
            "priority": self.priority,
        });
        format!("{object}\n")
    }

    fn time(&self) -> String {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_micros(self.realtime);
        humantime::format_rfc3339_micros(time).to_string()
    }

    /// The keeper's own words for priorities.
    fn level(&self) -> &'static str {
        match self.priority {
            0..=3 => "ERROR",
            4 => "WARN",
            5 | 6 => "INFO",
            _ => "DEBUG",
        }
    }
}

/// A daemon's message must not control somebody's terminal.
fn printable(line: &str) -> String {
    let shown = |c: char| match c {
        '\t' => "\t".to_owned(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    line.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(fields: &Value) -> JournalEntry {
        let mut object = json!({
            "__CURSOR": "s=1;i=2", "__REALTIME_TIMESTAMP": "1763540100123456", "PRIORITY": "4", "_PID": "7",
            "_SYSTEMD_UNIT": "ovs-vswitchd.service", "SYSLOG_IDENTIFIER": "ovs-vswitchd",
        });
        for (name, value) in fields.as_object().into_iter().flatten() {
            object[name] = value.clone();
        }
        JournalEntry::parse(object.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_line_has_time_priority_unit_and_process() {
        let entry = entry(&json!({"MESSAGE": "ovs|00012|bridge|WARN|a\nb\u{1b}[1m"}));
        let text = "2025-11-19T08:15:00.123456Z  WARN ovs-vswitchd[7]: ovs|00012|bridge|WARN|a\n\
                    2025-11-19T08:15:00.123456Z  WARN ovs-vswitchd[7]: b\\u{1b}[1m\n";
        assert_eq!(entry.write(LogStyle::Text), text);
        assert!(entry.write(LogStyle::Priority).lines().all(|line| line.starts_with("<4>2025")));
        let json: Value = serde_json::from_str(&entry.write(LogStyle::Json)).unwrap();
        assert_eq!((&json["unit"], &json["priority"]), (&json!("ovs-vswitchd.service"), &json!(4)));
    }

    #[test]
    fn what_systemd_says_of_a_unit_belongs_to_the_unit() {
        let entry = entry(&json!({
            "MESSAGE": "ovs-vswitchd.service: Main process exited, code=killed, status=9/KILL", "_PID": "1",
            "_SYSTEMD_UNIT": "init.scope", "UNIT": "ovs-vswitchd.service", "SYSLOG_IDENTIFIER": "systemd",
        }));
        assert_eq!(entry.unit, "ovs-vswitchd.service");
        assert!(
            entry.write(LogStyle::Text).contains(" systemd[1]: ovs-vswitchd.service: Main process exited")
        );
    }

    #[test]
    fn bytes_several_values_and_nothing_are_messages() {
        assert_eq!(entry(&json!({"MESSAGE": [104, 105, 255]})).message, "hi\u{fffd}");
        assert_eq!(entry(&json!({"MESSAGE": ["one", "two"]})).message, "one");
        assert_eq!(entry(&json!({"MESSAGE": null})).message, "");
        assert!(entry(&json!({})).write(LogStyle::Text).ends_with("ovs-vswitchd[7]:\n"));
    }

    #[test]
    fn what_is_no_entry_is_an_error() {
        assert!(matches!(JournalEntry::parse(b"Failed"), Err(Error::NotJson(_))));
        assert!(matches!(JournalEntry::parse(b"{}"), Err(Error::Lacks("__CURSOR"))));
    }
}
