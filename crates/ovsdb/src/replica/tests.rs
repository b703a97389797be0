//! Differences against states: whatever happens to rows, the replica ends with what the database has.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::monitor::Monitor;
use crate::value::{Atom, Datum};

fn schema() -> Schema {
    let column = |key: &str, max: Value| json!({"type": {"key": key, "min": 0, "max": max}});
    let schema = json!({"name": "D", "version": "1.0.0", "tables": {"T": {"columns": {
        "name": {"type": "string"},
        "maybe": column("integer", json!(1)),
        "set": column("string", json!("unlimited")),
        "map": {"type": {"key": "string", "value": "string", "min": 0, "max": "unlimited"}},
    }}}});
    Schema::parse(&schema).unwrap()
}

#[derive(Debug, Clone, PartialEq, Default)]
struct State {
    name: String,
    maybe: Option<i64>,
    set: BTreeSet<String>,
    map: BTreeMap<String, String>,
}

type Table = BTreeMap<u8, State>;

impl State {
    fn data(&self) -> [(&'static str, Datum); 4] {
        [
            ("map", Datum::map(self.map.iter().map(|(key, value)| (key.as_str(), value.as_str())))),
            ("maybe", Datum::set(self.maybe)),
            ("name", Datum::Atom(Atom::from(self.name.as_str()))),
            ("set", Datum::set(self.set.iter().map(String::as_str))),
        ]
    }

    /// As ovsdb-server writes it: what is as in a new row is left out.
    fn inserted(&self) -> Value {
        let new = State::default().data();
        let said = self.data().into_iter().filter(|(name, datum)| !new.contains(&(*name, datum.clone())));
        json!({"insert": said.map(|(name, datum)| (name.to_owned(), datum.to_json())).collect::<Map<_, _>>()})
    }

    /// As section 4.1.14 of ovsdb-server's manual has it: elements in one of the two sets only; keys in one of the two maps
    /// only, and those with another value; a single value as it is.
    fn modified(&self, former: &Self) -> Option<Value> {
        let mut said = Map::new();
        if self.name != former.name {
            said.insert("name".into(), json!(self.name));
        }
        if self.maybe != former.maybe {
            said.insert("maybe".into(), Datum::set(self.maybe).to_json());
        }
        if self.set != former.set {
            let difference = former.set.symmetric_difference(&self.set);
            said.insert("set".into(), Datum::set(difference.map(String::as_str)).to_json());
        }
        if self.map != former.map {
            let gone = former.map.iter().filter(|(key, _)| !self.map.contains_key(*key));
            let come = self.map.iter().filter(|(key, value)| former.map.get(*key) != Some(value));
            let difference = gone.chain(come).map(|(key, value)| (key.as_str(), value.as_str()));
            said.insert("map".into(), Datum::map(difference).to_json());
        }
        (!said.is_empty()).then(|| json!({"modify": said}))
    }
}

fn uuid(row: u8) -> Uuid {
    Uuid::from_bytes([row; 16])
}

fn update(former: &Table, next: &Table) -> Value {
    let mut rows = Map::new();
    for row in former.keys().chain(next.keys()) {
        let said = match (former.get(row), next.get(row)) {
            (None, Some(next)) => Some(next.inserted()),
            (Some(former), Some(next)) => next.modified(former),
            _ => Some(json!({"delete": null})),
        };
        rows.extend(said.map(|said| (uuid(*row).to_string(), said)));
    }
    json!({"T": rows})
}

fn shown(snapshot: &Snapshot) -> BTreeMap<Uuid, Vec<(String, Datum)>> {
    let row = |row: &Row| row.iter().map(|(name, datum)| (name.to_owned(), datum.clone())).collect();
    snapshot.table("T").unwrap().iter().map(|(uuid, data)| (uuid, row(data))).collect()
}

fn expected(table: &Table) -> BTreeMap<Uuid, Vec<(String, Datum)>> {
    let row =
        |state: &State| state.data().into_iter().map(|(name, datum)| (name.to_owned(), datum)).collect();
    table.iter().map(|(number, state)| (uuid(*number), row(state))).collect()
}

fn states() -> impl Strategy<Value = Table> {
    let word = || "[ab]{0,2}";
    let state = (
        word(),
        proptest::option::of(0_i64..3),
        proptest::collection::btree_set(word(), 0..4),
        proptest::collection::btree_map(word(), word(), 0..4),
    );
    let state = state.prop_map(|(name, maybe, set, map)| State { name, maybe, set, map });
    proptest::collection::btree_map(0_u8..4, state, 0..4)
}

fn mirror() -> Mirror {
    let mut mirror = Mirror::new(Monitor::all());
    mirror.begin(schema());
    mirror.replace(&json!({}), None).unwrap();
    mirror
}

proptest! {
    #[test]
    fn differences_lead_to_the_state_that_they_were_made_from(history in proptest::collection::vec(states(), 1..8)) {
        let mut mirror = mirror();
        let mut former = Table::new();
        let mut kept = Vec::new();
        for next in history {
            mirror.update(&update(&former, &next), None).unwrap();
            prop_assert_eq!(shown(&mirror.snapshot()), expected(&next));
            kept.push((mirror.snapshot(), next.clone()));
            former = next;
        }
        for (snapshot, state) in kept {
            prop_assert_eq!(shown(&snapshot), expected(&state), "a snapshot does not change any more");
        }
    }
}

#[test]
fn what_cannot_be_read_changes_nothing() {
    let mut mirror = mirror();
    let one = Table::from([(1, State { name: "one".into(), ..State::default() })]);
    mirror.update(&update(&Table::new(), &one), None).unwrap();
    let before = mirror.snapshot();
    let good = json!({"modify": {"name": "other"}});
    let rows = |bad: Value| json!({"T": {(uuid(1).to_string()): good, (uuid(2).to_string()): bad}});
    for bad in [
        json!({"T": []}),
        json!({"U": {}}),
        json!({"T": {"one": {"delete": null}}}),
        rows(json!({"modify": {"name": "nobody"}})),
        rows(json!({"insert": {"name": 7}})),
        rows(json!({"insert": {"color": "red"}})),
        rows(json!({"vanish": {}})),
        rows(json!({})),
    ] {
        assert!(mirror.update(&bad, None).is_err(), "{bad}");
        assert_eq!(shown(&mirror.snapshot()), shown(&before), "{bad}");
    }
}

#[test]
fn rows_that_did_not_change_are_shared() {
    let mut mirror = mirror();
    let state = |name: &str| State { name: name.into(), ..State::default() };
    let (one, two) =
        (Table::from([(1, state("a")), (2, state("b"))]), Table::from([(1, state("a")), (2, state("c"))]));
    mirror.update(&update(&Table::new(), &one), None).unwrap();
    let before = mirror.snapshot();
    mirror.update(&update(&one, &two), None).unwrap();
    let after = mirror.snapshot();
    let same = |row| {
        Arc::ptr_eq(
            before.table("T").unwrap().get(uuid(row)).unwrap(),
            after.table("T").unwrap().get(uuid(row)).unwrap(),
        )
    };
    assert!(same(1) && !same(2) && after.generation() == before.generation() + 1);
    assert_eq!(after.table("T").unwrap().named("c").map(|(found, _)| found), Some(uuid(2)));
}
