//! A plan as people read it.

use serde_json::Value;

use super::{Change, ChangeKind, Detail, Plan, Slow, SlowCause, Subject};
use crate::compare::Difference;
use crate::impact::Impact;
use crate::path::{Path, PathStep};
use crate::secrets::shown;
use crate::state::text;
use crate::terminal::TextStyle;

/// What the signs mean, wherever they are shown.
pub const LEGEND: &str = "signs: + to add, - to remove, ~ to change (now -> wanted), ! to save";

/// A difference as a plan shows the change that ends it.
pub fn difference(difference: &Difference, colour: bool) -> String {
    let style = TextStyle { colour };
    let Difference { path, want, got } = difference;
    let shown = |side: &Value| value(&shown(path, side));
    match kind(difference) {
        ChangeKind::Add => style.green(&format!("+ {path}: {}", shown(want))),
        ChangeKind::Remove => style.red(&format!("- {path}: {}", shown(got))),
        _ => style.yellow(&format!("~ {path}: {} -> {}", shown(got), shown(want))),
    }
}

/// The kind of change that would end a difference.
pub fn kind(Difference { want, got, .. }: &Difference) -> ChangeKind {
    match (want, got) {
        (_, Value::Null) => ChangeKind::Add,
        (Value::Null, _) => ChangeKind::Remove,
        _ => ChangeKind::Modify,
    }
}

pub(super) fn render(plan: &Plan, colour: bool) -> String {
    let style = TextStyle { colour };
    let mut lines: Vec<String> = plan.changes.iter().flat_map(|change| lines(change, style)).collect();
    if plan.is_empty() {
        lines.push("No changes: the host is already in the desired state.".into());
    }
    lines.push(style.bold(&impact(plan)));
    lines.extend(patience(plan));
    lines.extend(plan.warnings.iter().map(|warning| style.yellow(&format!("warning: {warning}"))));
    if !plan.not_protected.is_empty() {
        lines.push(style.yellow(&format!("not protected: {}", plan.not_protected.join(", "))));
    }
    lines.join("\n") + "\n"
}

/// Why probes may take longer to pass than usual.
fn patience(plan: &Plan) -> Option<String> {
    let causes: Vec<String> = plan.slow.iter().map(slow).collect();
    (!causes.is_empty()).then(|| {
        format!("patience: {} s unless set: {}", plan.default_patience().as_secs(), causes.join(", "))
    })
}

fn slow(Slow { interface, cause, seconds }: &Slow) -> String {
    match cause {
        SlowCause::SpanningTree => format!("{interface} forwards after {seconds} s (spanning tree)"),
        SlowCause::Lacp => format!("{interface} may need {seconds} s to agree with its partner (LACP)"),
        SlowCause::Dhcp => format!("{interface} may need {seconds} s to get an address (DHCP)"),
    }
}

fn impact(plan: &Plan) -> String {
    let class = match plan.impact {
        Impact::None => "none",
        Impact::Additive => "additive",
        Impact::Disruptive => "disruptive",
        Impact::OwnPath => "own-path",
    };
    let default = match plan.impact {
        Impact::None => "nothing changes",
        Impact::Additive => "only additions; existing traffic is not affected",
        Impact::Disruptive => "something that exists changes",
        Impact::OwnPath => "the path by which this host is reached changes",
    };
    format!("impact: {class}: {}", plan.reason.as_deref().unwrap_or(default))
}

fn lines(change: &Change, style: TextStyle) -> Vec<String> {
    let mut lines = vec![sign(change.kind, &headline(change), style)];
    if !is_in_headline(change) {
        lines.extend(change.details.iter().map(|detail| format!("    {}", line(change, detail, style))));
    }
    lines
}

fn is_in_headline(change: &Change) -> bool {
    match change.subject {
        Subject::Route { .. } | Subject::RouteRule { .. } => change.kind != ChangeKind::Modify,
        Subject::Interface { .. } => change.kind == ChangeKind::Remove,
        _ => false,
    }
}

impl Change {
    /// What would change, in a few words.
    pub fn title(&self) -> String {
        match &self.subject {
            Subject::Interface { name, kind } => format!("{kind} {name}"),
            _ => headline(self),
        }
    }
}

fn headline(change: &Change) -> String {
    let entry =
        change.details.first().map(|detail| if detail.want.is_object() { &detail.want } else { &detail.got });
    let entry = entry.filter(|_| is_in_headline(change));
    match &change.subject {
        Subject::Interface { name, kind } if change.kind == ChangeKind::Persist => {
            format!("{kind} {name}: the saved profiles would not restore this state at the next boot")
        }
        Subject::Interface { name, kind } => format!("{kind} {name}"),
        Subject::Route { destination } => entry.map_or_else(|| format!("route {destination}"), route),
        Subject::RouteRule { selector } => entry.map_or_else(|| format!("route-rule {selector}"), rule),
        Subject::Dns => "dns-resolver".into(),
        Subject::Hostname => "hostname".into(),
        Subject::OvsDb => "ovs-db".into(),
    }
}

fn line(change: &Change, Detail { path, want, got }: &Detail, style: TextStyle) -> String {
    let (want, got) = (&shown(path, want), &shown(path, got));
    let is_address = want.get("ip").or_else(|| got.get("ip")).is_some();
    let path = &path.parent().filter(|_| is_address).unwrap_or_else(|| path.clone());
    let place = place(path, &change.subject);
    let label = |entry: &Value| match path.last() {
        // A port's own name is already in its place.
        Some(PathStep::Item(_)) if value(entry).is_empty() => place.clone(),
        Some(PathStep::Item(item)) if value(entry) == *item => place.clone(),
        _ => format!("{place}: {}", value(entry)),
    };
    match (change.kind, want, got) {
        (ChangeKind::Add, want, _) => label(want),
        (_, want, Value::Null) => style.green(&format!("+ {}", label(want))),
        (_, Value::Null, got) => style.red(&format!("- {}", label(got))),
        (_, want, got) => style.yellow(&format!("~ {place}: {} -> {}", value(got), value(want))),
    }
}

/// The path below its subject.
fn place(path: &Path, subject: &Subject) -> String {
    let skip = match subject {
        Subject::Interface { .. } | Subject::Dns => 2,
        Subject::Route { .. } | Subject::RouteRule { .. } => 3,
        Subject::Hostname | Subject::OvsDb => 1,
    };
    let below: Path =
        path.steps().iter().skip(skip).filter(|step| !matches!(step, PathStep::Index(_))).cloned().collect();
    below.to_string()
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) if text.is_empty() => "none".into(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => object(value, fields),
        other => other.to_string(),
    }
}

/// Of a list. What has only a name is that name.
fn item(item: &Value) -> String {
    let only_name = item.as_object().is_some_and(|fields| fields.len() == 1);
    text(item, "name").filter(|_| only_name).map_or_else(|| value(item), str::to_owned)
}

fn object(whole: &Value, fields: &serde_json::Map<String, Value>) -> String {
    if let (Some(ip), Some(prefix)) = (text(whole, "ip"), fields.get("prefix-length")) {
        return format!("{ip}/{prefix}");
    }
    if let (Some(low), Some(high)) = (fields.get("min"), fields.get("max")) {
        return format!("{low}-{high}");
    }
    if let Some(only) = fields.get("id").or_else(|| fields.get("id-range")).filter(|_| fields.len() == 1) {
        return value(only);
    }
    let named = fields.iter().filter(|(key, _)| *key != "name");
    named.map(|(key, field)| format!("{key} {}", value(field))).collect::<Vec<_>>().join(", ")
}

fn route(route: &Value) -> String {
    let mut words = vec!["route".to_owned(), text(route, "destination").unwrap_or("any").to_owned()];
    for (key, word) in [("route-type", ""), ("next-hop-address", "via"), ("next-hop-interface", "dev")] {
        words.extend(text(route, key).map(|said| format!("{word} {said}").trim().to_owned()));
    }
    for (key, word) in [("metric", "metric"), ("table-id", "table"), ("weight", "weight"), ("mtu", "mtu")] {
        let number = route.get(key).filter(|number| number.as_i64().is_some_and(|number| number > 0));
        words.extend(
            number
                .filter(|table| key != "table-id" || table.as_u64() != Some(254))
                .map(|number| format!("{word} {number}")),
        );
    }
    words.extend(text(route, "source").map(|source| format!("src {source}")));
    words.join(" ")
}

fn rule(rule: &Value) -> String {
    let mut words = vec!["route-rule".to_owned()];
    for (key, word) in
        [("ip-from", "from"), ("ip-to", "to"), ("iif", "iif"), ("fwmark", "fwmark"), ("fwmask", "mask")]
    {
        words.extend(rule.get(key).map(|said| format!("{word} {}", value(said))));
    }
    if words.len() == 1 {
        words.push(format!("all {}", text(rule, "family").unwrap_or("traffic")));
    }
    words.extend(rule.get("route-table").map(|table| format!("lookup {table}")));
    words.extend(text(rule, "action").map(str::to_owned));
    words.extend(rule.get("priority").map(|priority| format!("priority {priority}")));
    words.join(" ")
}

fn sign(kind: ChangeKind, text: &str, style: TextStyle) -> String {
    match kind {
        ChangeKind::Add => style.green(&format!("+ {text}")),
        ChangeKind::Modify => style.yellow(&format!("~ {text}")),
        ChangeKind::Remove => style.red(&format!("- {text}")),
        ChangeKind::Persist => style.yellow(&format!("! {text}")),
    }
}
