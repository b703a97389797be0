//! Every interface kind and property that is tried on a full kernel: one row each, in `table/`.
//!
//! A row makes an interface of its own with one property that matters, so all of them fit into one document, one machine
//! and one reboot. Rows about a NIC share it. `docs/reference/interface-kinds.md` is written from it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

const TABLE: &[&str] = &[
    include_str!("../table/bond.yaml"),
    include_str!("../table/dummy.yaml"),
    include_str!("../table/ethernet.yaml"),
    include_str!("../table/sr-iov.yaml"),
    include_str!("../table/hsr.yaml"),
    include_str!("../table/ip-tunnel.yaml"),
    include_str!("../table/ipvlan.yaml"),
    include_str!("../table/linux-bridge.yaml"),
    include_str!("../table/mac-vlan.yaml"),
    include_str!("../table/mac-vtap.yaml"),
    include_str!("../table/ovs-bond.yaml"),
    include_str!("../table/ovs-bridge.yaml"),
    include_str!("../table/ovs-interface.yaml"),
    include_str!("../table/ovs-patch.yaml"),
    include_str!("../table/veth.yaml"),
    include_str!("../table/vlan.yaml"),
    include_str!("../table/vrf.yaml"),
    include_str!("../table/vxlan.yaml"),
];

/// One property of one kind of interface.
#[derive(Clone, Debug)]
pub struct Case {
    pub kind: String,
    /// As documents spell it, list indices as `[]`.
    pub property: String,
    /// The interface that has it.
    pub interface: String,
    /// It is a NIC, which is there before and afterwards.
    pub is_nic: bool,
    pub was: Value,
    pub becomes: Value,
    /// What the document holds for it: the interface, what it is on, what is beside it.
    pub state: Vec<Value>,
    /// The same with the other value.
    pub changed: Vec<Value>,
    /// Prints the property, without linesman and nmstate.
    pub see: String,
    pub shows: [String; 2],
    /// Changes it behind NetworkManager's back; none: the kernel does not let anybody.
    pub by_hand: Option<String>,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({})", self.kind, self.property, self.interface)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Kind {
    kind: String,
    /// Of the names of interfaces that rows make.
    #[serde(default)]
    prefix: String,
    /// The NIC that all rows are about.
    nic: Option<String>,
    /// How many dummies are made for each row, unless it says otherwise: `$a`, `$b`.
    #[serde(default)]
    ports: usize,
    base: Value,
    #[serde(default)]
    beside: Vec<Value>,
    see: Option<String>,
    by_hand: Option<String>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Row {
    property: String,
    was: Value,
    becomes: Value,
    ports: Option<usize>,
    /// What the interface has beside the base of its kind.
    #[serde(default)]
    with: Value,
    see: Option<String>,
    /// The file that shows it, if it is not named as the property.
    file: Option<String>,
    /// What `see` prints for both values, if not the values themselves.
    shows: Option<[String; 2]>,
    /// Empty: nobody can, or NetworkManager puts it back.
    by_hand: Option<String>,
    /// A third value, for `by-hand`.
    other: Option<Value>,
}

/// All rows, as they are in the table.
///
/// # Panics
/// If the table cannot be read.
pub fn cases() -> Vec<Case> {
    TABLE.iter().flat_map(|text| kind(text)).collect()
}

/// All take too long for every run.
pub fn in_every_run(case: &Case) -> bool {
    case.interface == "kl31"
}

/// What a document holds for several rows; what they say of the same NIC is one entry.
pub fn together(states: impl Iterator<Item = Vec<Value>>) -> Value {
    let mut all: Vec<Value> = vec![];
    for interface in states.flatten() {
        match all
            .iter_mut()
            .find(|known| known["name"] == interface["name"] && known["type"] == interface["type"])
        {
            Some(known) => merge(known, &interface),
            None => all.push(interface),
        }
    }
    all.into()
}

#[expect(clippy::expect_used, reason = "the table is part of the program")]
fn kind(text: &str) -> Vec<Case> {
    let kind: Kind = yaml_serde::from_str(text).expect("the table can be read");
    kind.rows.iter().enumerate().map(|(number, row)| case(&kind, row, number + 1)).collect()
}

fn case(kind: &Kind, row: &Row, number: usize) -> Case {
    let interface = kind.nic.clone().unwrap_or_else(|| format!("{}{number}", kind.prefix));
    let last = row.file.as_deref().or(row.property.rsplit('.').next()).unwrap_or_default();
    let names = [
        ("$if", interface.clone()),
        ("$a", format!("{interface}a")),
        ("$b", format!("{interface}b")),
        ("$last", last.to_owned()),
        ("$other", row.other.as_ref().map(plain).unwrap_or_default()),
        ("$number", number.to_string()),
    ];
    let filled = |text: &str| {
        names.iter().rev().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    };
    let state = |value: &Value| {
        let mut whole = json!({"name": "$if"});
        merge(&mut whole, &kind.base);
        merge(&mut whole, &row.with);
        set(&mut whole, &row.property, value.clone());
        let ports = ["$a", "$b"].into_iter().take(row.ports.unwrap_or(kind.ports));
        let ports = ports.map(|name| json!({"name": name, "type": "dummy"}));
        let all = ports.chain(kind.beside.iter().cloned()).chain([whole]);
        all.map(|interface| up(fill(&interface, &filled))).collect::<Vec<Value>>()
    };
    let by_hand = row.by_hand.as_ref().or(kind.by_hand.as_ref()).filter(|command| !command.is_empty());
    let shown = |value: &Value| plain(&fill(value, &filled));
    let shows = match &row.shows {
        Some([was, becomes]) => [filled(was), filled(becomes)],
        None => [shown(&row.was), shown(&row.becomes)],
    };
    Case {
        kind: kind.kind.clone(),
        property: spelt(&row.property),
        was: fill(&row.was, &filled),
        becomes: fill(&row.becomes, &filled),
        state: state(&row.was),
        changed: state(&row.becomes),
        see: filled(row.see.as_deref().or(kind.see.as_deref()).unwrap_or_default()),
        shows,
        by_hand: by_hand.map(|command| filled(command)),
        is_nic: kind.nic.is_some(),
        interface,
    }
}

/// What has an IP stack does not get one unless the row is about it.
fn up(mut interface: Value) -> Value {
    let bridge_only = interface["type"] == "ovs-bridge" || interface.get("patch").is_some();
    if let Value::Object(members) = &mut interface {
        members.entry("state").or_insert_with(|| json!("up"));
        for family in ["ipv4", "ipv6"].into_iter().filter(|_| !bridge_only) {
            members.entry(family).or_insert_with(|| json!({"enabled": false}));
        }
    }
    interface
}

fn spelt(property: &str) -> String {
    let parts: Vec<&str> = property.split('.').collect();
    let mut text = String::new();
    for part in parts {
        match part.parse::<usize>() {
            Ok(_) => text += "[]",
            Err(_) if text.is_empty() => text += part,
            Err(_) => text += &format!(".{part}"),
        }
    }
    text
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

fn fill(value: &Value, filled: &dyn Fn(&str) -> String) -> Value {
    match value {
        // A number that has a name is still a number.
        Value::String(text) if text == "$number" => {
            filled(text).parse::<u64>().map_or(Value::Null, Value::from)
        }
        Value::String(text) => filled(text).into(),
        Value::Array(items) => items.iter().map(|item| fill(item, filled)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), fill(value, filled)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// A null takes away.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                match value {
                    Value::Null => drop(into.remove(name)),
                    value => merge(into.entry(name).or_insert(Value::Null), value),
                }
            }
        }
        (_, Value::Null) => {}
        (into, from) => *into = from.clone(),
    }
}

fn set(into: &mut Value, path: &str, value: Value) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let slot = match first.parse::<usize>() {
        Ok(index) => &mut into[index],
        Err(_) => {
            if into.is_null() {
                *into = json!({});
            }
            &mut into[first]
        }
    };
    match rest {
        Some(rest) => set(slot, rest, value),
        None => *slot = value,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read_and_has_a_name_of_its_own() {
        let cases = cases();
        assert!(cases.len() > 90, "{}", cases.len());
        let mut names: Vec<&str> = cases
            .iter()
            .filter(|case| !case.is_nic)
            .flat_map(|case| &case.state)
            .filter_map(|interface| interface["name"].as_str())
            .collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(names.iter().all(|name| name.len() <= 15));
        for case in &cases {
            let text = format!("{}{}{:?}", case.see, case.by_hand.as_deref().unwrap_or_default(), case.state);
            assert!(!text.contains("$if") && !text.contains("$a ") && !text.contains("$last"), "{text}");
            assert!(!case.see.is_empty(), "{} {}", case.kind, case.property);
        }
    }

    #[test]
    fn rows_about_the_same_nic_are_one_entry() {
        let nics = cases().into_iter().filter(|case| case.interface == "eth1");
        let document = together(nics.map(|case| case.state));
        assert_eq!(document.as_array().unwrap().len(), 1, "{document}");
        assert_eq!(document[0]["ethtool"]["ring"], json!({"rx": 512, "tx": 512}));
    }

    #[test]
    fn a_row_is_in_every_run() {
        assert_eq!(cases().iter().filter(|case| in_every_run(case)).count(), 1);
    }

    #[test]
    fn a_row_changes_its_own_property() {
        let primary = cases().into_iter().find(|case| case.property.ends_with("options.primary")).unwrap();
        let bond = primary.state.last().unwrap();
        assert_eq!(
            bond["link-aggregation"]["options"],
            json!({"miimon": 100, "primary": format!("{}a", primary.interface)})
        );
        assert_eq!(
            primary.by_hand.unwrap(),
            format!("echo {0}b > /sys/class/net/{0}/bonding/primary", primary.interface)
        );
    }
}
