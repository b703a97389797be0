//! CustomResourceDefinitions as code. Versions of one kind share one schema: converting between them changes nothing.

mod enactment;
mod nmstate;
mod node_state;
mod open_vswitch;
mod policy;
mod schema;

use serde_json::{Value, json};

use crate::kinds::Kind;
use schema::{Schema, object, string};

/// All of them, in the order in which they are written and applied.
pub fn all() -> Vec<Value> {
    vec![nmstate::crd(), policy::crd(), enactment::crd(), node_state::crd(), open_vswitch::crd()]
}

/// What differs between kinds.
struct Definition {
    kind: Kind,
    about: &'static str,
    /// Of spec and status.
    fields: Vec<schema::Field>,
    columns: Vec<Value>,
}

impl Definition {
    fn build(self, finish: impl Fn(Value) -> Value) -> Value {
        let Kind { group, kind, plural, singular, short_names, versions } = self.kind;
        let mut names = json!({ "kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": singular });
        if !short_names.is_empty() {
            names["shortNames"] = json!(short_names);
        }
        let schema = finish(root(self.kind, self.about, self.fields));
        let versions: Vec<Value> = versions
            .iter()
            .enumerate()
            .map(|(n, name)| version(name, n == 0, self.kind, &schema, &self.columns))
            .collect();
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": self.kind.crd_name() },
            "spec": {
                "group": group,
                "names": names,
                "scope": "Cluster",
                "conversion": { "strategy": "None" },
                "versions": versions,
            },
        })
    }
}

fn root(kind: Kind, about: &str, fields: Vec<schema::Field>) -> Value {
    let own = [
        (
            "apiVersion",
            string().about(&format!(
                "apiVersion is the version of the schema of this object, such as {}.",
                kind.example()
            )),
        ),
        ("kind", string().about("kind is the kind of this object.")),
        ("metadata", json!({ "type": "object" })),
    ];
    object(own.into_iter().chain(fields)).about(about)
}

fn version(name: &str, stored: bool, kind: Kind, schema: &Value, columns: &[Value]) -> Value {
    let mut version = json!({ "name": name, "served": true, "storage": stored });
    if !stored {
        let Kind { group, kind, .. } = kind;
        version["deprecated"] = true.into();
        version["deprecationWarning"] =
            format!("{group}/{name} {kind} is deprecated; use {group}/v1 {kind}").into();
    }
    if !columns.is_empty() {
        version["additionalPrinterColumns"] = columns.into();
    }
    version["schema"] = json!({ "openAPIV3Schema": schema });
    version["subresources"] = json!({ "status": {} });
    version
}

/// A column that shows a field of the condition that is true.
fn column(name: &str, kind: &str, field: &str) -> Value {
    json!({ "name": name, "type": kind, "description": name,
            "jsonPath": format!(".status.conditions[?(@.status==\"True\")].{field}") })
}
