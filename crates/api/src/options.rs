//! Settings of a policy beside its state.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Everything has the default that kubernetes-nmstate behaves by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Among policies that do not depend on each other, the higher one is applied first.
    #[serde(skip_serializing_if = "is_zero")]
    pub priority: i64,
    pub on_delete: OnDelete,
    pub drift: Drift,
    /// In the spelling of `linesman apply --probe`; none given: what the host itself suggests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Vec<String>>,
    /// How long probes may take to pass after the change, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnDelete {
    /// What the policy configured stays.
    #[default]
    Retain,
    /// What the policy changed is restored.
    Revert,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Drift {
    Ignore,
    #[default]
    Report,
    /// Apply the policy again, with a growing pause while something else keeps changing it.
    Correct,
}

/// A probe is written as a text, or as a mapping of that text (`probe`) and its `timeout`; either is read as the text.
/// What is neither stays as it is written, for whoever understands probes to refuse: one wrong policy must not keep
/// the others from being read.
pub(crate) fn probes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    let written = Option::<Vec<Value>>::deserialize(from)?;
    Ok(written.map(|probes| probes.iter().map(probe).collect()))
}

fn probe(written: &Value) -> String {
    let known = |fields: &serde_json::Map<String, Value>| {
        fields.keys().all(|key| ["probe", "timeout"].contains(&key.as_str()))
    };
    match (written, &written["probe"], &written["timeout"]) {
        (Value::String(text), ..) => text.clone(),
        (Value::Object(fields), Value::String(text), Value::Null) if known(fields) => text.clone(),
        (Value::Object(fields), Value::String(text), Value::String(timeout)) if known(fields) => {
            format!("{text},timeout={timeout}")
        }
        (Value::Object(fields), Value::String(text), Value::Number(seconds)) if known(fields) => {
            format!("{text},timeout={seconds}")
        }
        _ => written.to_string(),
    }
}

fn is_zero(n: &i64) -> bool {
    *n == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_probe_has_two_spellings() {
        let cases = [
            (json!("dns"), "dns"),
            (json!({ "probe": "dns" }), "dns"),
            (json!({ "probe": "tcp:10.0.0.1:22", "timeout": "5s" }), "tcp:10.0.0.1:22,timeout=5s"),
            (json!({ "probe": "dns", "timeout": 5 }), "dns,timeout=5"),
            (json!({ "probe": "dns", "wait": "5s" }), r#"{"probe":"dns","wait":"5s"}"#),
            (json!(7), "7"),
        ];
        for (written, read) in cases {
            assert_eq!(probe(&written), read);
        }
    }
}
