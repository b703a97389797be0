//! The cluster's kinds, from the definitions that the API server gets.

use linesman_api::{conditions, crd};
use serde_json::Value;

use super::NOTE;

const INTRO: &str = "\
`linesman crds` prints the definitions, `deploy/crds` holds them. Everything that kubernetes-nmstate does not know is optional. Fields under `spec` of an
enactment are the operator's alone, its `status` is the agent's.";

pub fn page() -> String {
    let kinds: String = crd::all().iter().map(kind).collect();
    format!("{NOTE}\n\n# The API\n\n{INTRO}\n\n{kinds}## Conditions\n\n{}", told())
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
    let short = if short.is_empty() { String::new() } else { format!(", short `{}`", short.join("`, `")) };
    format!(
        "## {}\n\n`nmstate.io`, versions {}{short}.\n\n| field | what it says |\n|---|---|\n{rows}\n",
        names["kind"].as_str().unwrap_or_default(),
        versions.join(" and "),
    )
}

/// What has no description needs none: its name says it, or it is Kubernetes' own.
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

fn told() -> String {
    let line = |kind: &str, types: &[&str]| format!("| {kind} | `{}` |\n", types.join("`, `"));
    let enactment: Vec<&str> =
        conditions::enactment::ALL.iter().copied().chain([conditions::enactment::DRIFTED]).collect();
    format!(
        "| of | types |\n|---|---|\n{}{}\nWhat to do about them: [how to roll a policy out](../howto/roll-out-a-policy.md).\n",
        line("a policy", &conditions::policy::ALL),
        line("an enactment", &enactment),
    )
}
