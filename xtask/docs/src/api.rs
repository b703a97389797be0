//! The API: kinds and fields from the CustomResourceDefinitions.

use linesman_api::conditions::{EnactmentCondition, PolicyCondition};
use linesman_api::crd;
use serde_json::Value;

use super::NOTE;

const INTRO: &str = "\
`linesman crds` prints the definitions; they are also in `deploy/crds`. All fields that kubernetes-nmstate does not have
are optional. The operator writes the `spec` of an enactment, the agent writes its `status`.";

pub fn page() -> String {
    let kinds: String = crd::all().iter().map(kind).collect();
    format!("{NOTE}\n\n# The API\n\n{INTRO}\n\n{kinds}## Conditions\n\n{}", condition_types())
}

fn kind(crd: &Value) -> String {
    let names = &crd["spec"]["names"];
    let short: Vec<&str> =
        names["shortNames"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let versions: Vec<&str> =
        crd["spec"]["versions"].as_array().into_iter().flatten().filter_map(|v| v["name"].as_str()).collect();
    let mut rows = String::new();
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    for part in ["spec", "status"] {
        walk(part, &schema["properties"][part], &mut rows);
    }
    let group = crd["spec"]["group"].as_str().unwrap_or_default();
    let short = if short.is_empty() { String::new() } else { format!(", short `{}`", short.join("`, `")) };
    format!(
        "## {}\n\n`{group}`, versions {}{short}.\n\n| field | meaning |\n|---|---|\n{rows}\n",
        names["kind"].as_str().unwrap_or_default(),
        versions.join(" and "),
    )
}

/// Fields without a description are self-explanatory, or standard in Kubernetes.
fn walk(path: &str, schema: &Value, rows: &mut String) {
    if let Some(about) = schema["description"].as_str() {
        rows.push_str(&format!("| `{path}` | {} |\n", about.replace('|', "\\|").replace('\n', " ")));
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        walk(&format!("{path}.{name}"), field, rows);
    }
    if schema["items"]["properties"].is_object() {
        walk(&format!("{path}[]"), &schema["items"], rows);
    }
}

fn condition_types() -> String {
    let line = |kind: &str, types: Vec<&str>| format!("| {kind} | `{}` |\n", types.join("`, `"));
    format!(
        "| kind | condition types |\n|---|---|\n{}{}\nSee [how to roll out a policy](../howto/roll-out-a-policy.md).\n",
        line(
            "NodeNetworkConfigurationPolicy",
            PolicyCondition::ALL.iter().map(|kind| kind.as_str()).collect()
        ),
        line(
            "NodeNetworkConfigurationEnactment",
            EnactmentCondition::ALL.iter().map(|kind| kind.as_str()).collect()
        ),
    )
}
