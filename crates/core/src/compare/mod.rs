//! The one comparison of a declared state with an observed one, used both to plan (what would change) and to
//! verify (what does not hold). It finds every difference, not just the first.

mod bond;
mod bridge;
mod dns;
mod ethernet;
mod findings;
mod interface;
pub(crate) mod ip;
pub(crate) mod ovs;
pub(crate) mod route;
pub(crate) mod rule;
mod view;

use serde::Deserialize;
use serde_json::Value;

use crate::path::Path;
use crate::secrets::{serialize_masked, shown};
use findings::Findings;
pub(crate) use view::{Declared, View};

/// One place where a state is not as declared.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Difference {
    pub path: Path,
    /// Null: it must not exist.
    pub want: Value,
    /// Null: it is missing.
    pub got: Value,
}

serialize_masked!(Difference);

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let print = |value: &Value| match shown(&self.path, value) {
            Value::Null => "nothing".to_string(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        write!(f, "{}: wanted {}, found {}", self.path, print(&self.want), print(&self.got))
    }
}

/// Every place where `observed` is not as `desired` says. A desired document is partial: what it does not
/// mention is left as it is.
pub fn differences(desired: &Value, observed: &Value) -> Vec<Difference> {
    against(desired, observed, observed)
}

/// The same, where the state before the change says what a partial document leaves as it was.
pub(crate) fn against(desired: &Value, before: &Value, observed: &Value) -> Vec<Difference> {
    let view = View::new(desired, before, observed);
    let mut all: Vec<Difference> =
        view.declared.iter().flat_map(|declared| of_interface(&view, declared)).collect();
    all.extend(of_host(&view));
    all
}

/// What is not as declared of one interface.
pub(crate) fn of_interface(view: &View<'_>, declared: &Declared) -> Vec<Difference> {
    let mut found = Findings::default();
    interface::compare(view, declared, &mut found);
    found.0
}

/// What is not as declared of everything that is no interface.
pub(crate) fn of_host(view: &View<'_>) -> Vec<Difference> {
    let mut found = Findings::default();
    route::compare(view, &mut found);
    rule::compare(view, &mut found);
    dns::compare(view, &mut found);
    hostname(view, &mut found);
    ovs::database(view, &mut found);
    ovs::mappings(view, &mut found);
    found.0
}

/// An empty `config` means that no host name is set, as NMState takes it; observed, it is missing then.
fn hostname(view: &View<'_>, found: &mut Findings) {
    let Some(want) = view.desired.get("hostname") else { return };
    let mut observed = view.observed.get("hostname").cloned();
    if let Some(map) = observed.as_mut().and_then(serde_json::Value::as_object_mut) {
        map.entry("config").or_insert_with(|| "".into());
    }
    found.holds(&Path::root().key("hostname"), want, observed.as_ref());
}
