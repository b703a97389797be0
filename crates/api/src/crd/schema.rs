//! Building blocks of structural schemas.

use serde_json::{Map, Value, json};

pub type Field = (&'static str, Value);

pub fn object(fields: impl IntoIterator<Item = Field>) -> Value {
    let properties: Map<String, Value> =
        fields.into_iter().map(|(name, schema)| (name.into(), schema)).collect();
    json!({ "type": "object", "properties": properties })
}

/// An object whose content is somebody else's: NMState, a Pod's affinity.
pub fn free() -> Value {
    json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

/// A text or a mapping; no rule can look inside.
pub fn anything() -> Value {
    json!({ "x-kubernetes-preserve-unknown-fields": true })
}

/// With at most so many keys.
pub fn small_map(keys: u64, value: Value) -> Value {
    json!({ "type": "object", "additionalProperties": value, "maxProperties": keys })
}

pub fn map(value: Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

pub fn list(item: Value) -> Value {
    json!({ "type": "array", "items": item })
}

pub fn string() -> Value {
    json!({ "type": "string" })
}

pub fn short(length: u64) -> Value {
    json!({ "type": "string", "maxLength": length })
}

/// 32 bytes in base64.
pub fn public_key() -> Value {
    short(44).with("pattern", "^[A-Za-z0-9+/]{43}=$")
}

pub fn word(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

pub fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

pub fn boolean() -> Value {
    json!({ "type": "boolean" })
}

pub fn integer() -> Value {
    json!({ "type": "integer" })
}

pub fn number(least: i64, most: i64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

pub fn long() -> Value {
    json!({ "type": "integer", "format": "int64" })
}

pub fn int_or_string() -> Value {
    json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] })
}

/// Attributes of a schema, chained.
pub trait Schema: Sized {
    #[must_use]
    fn with(self, key: &str, value: impl Into<Value>) -> Self;

    #[must_use]
    fn about(self, text: &str) -> Self {
        self.with("description", text)
    }

    #[must_use]
    fn required(self, fields: &[&str]) -> Self {
        self.with("required", json!(fields))
    }

    #[must_use]
    fn at_most(self, items: u64) -> Self {
        self.with("maxItems", items)
    }

    /// A CEL rule, and the message for a value that breaks it.
    #[must_use]
    fn rule(self, rule: &str, message: &str) -> Self;
}

impl Schema for Value {
    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self[key] = value.into();
        self
    }

    fn rule(mut self, rule: &str, message: &str) -> Self {
        let rule = json!({ "rule": rule, "message": message });
        match self.get_mut("x-kubernetes-validations").and_then(Value::as_array_mut) {
            Some(rules) => rules.push(rule),
            None => self["x-kubernetes-validations"] = json!([rule]),
        }
        self
    }
}

/// Keyed by type, so that the agent and the operator can each own theirs.
pub fn conditions(types: &str) -> Value {
    let condition = object([
        ("type", short(316).about("type is the type of the condition.")),
        ("status", short(316).about("status is True, False or Unknown.")),
        ("reason", short(1024).about("reason is a CamelCase word for the cause of the last change.")),
        ("message", short(32_768).about("message describes the cause for people.")),
        ("lastHeartbeatTime", time().about("lastHeartbeatTime is when the condition was last updated.")),
        ("lastTransitionTime", time().about("lastTransitionTime is when status last changed.")),
        (
            "observedGeneration",
            long().about("observedGeneration is the metadata.generation that the condition was set for."),
        ),
    ]);
    list(condition.required(&["type", "status"]))
        .at_most(32)
        .with("x-kubernetes-list-type", "map")
        .with("x-kubernetes-list-map-keys", json!(["type"]))
        .about(&format!("conditions are the current conditions. Types are {types}."))
}

const LABEL_NAME: &str =
    "^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
const LABEL_VALUE: &str = "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$";

/// Labels that a node must have.
pub fn labels() -> Value {
    let value = short(63).rule(
        &format!("self.matches('{LABEL_VALUE}')"),
        "a label value must have at most 63 letters, digits, '-', '_' or '.', and start and end with an alphanumeric character",
    );
    map(value).with("maxProperties", 256).rule(
        &format!("self.all(key, key.matches('{LABEL_NAME}'))"),
        "a label key must be a name such as zone or kubernetes.io/hostname",
    )
}

pub fn selector(about: &str) -> Value {
    let requirement = object([
        (
            "key",
            short(317).about("key is the label key.").rule(
                &format!("self.matches('{LABEL_NAME}')"),
                "a label key must be a name such as zone or kubernetes.io/hostname",
            ),
        ),
        (
            "operator",
            word(&["In", "NotIn", "Exists", "DoesNotExist"]).about("operator relates the key to the values."),
        ),
        (
            "values",
            list(short(63))
                .at_most(256)
                .with("x-kubernetes-list-type", "atomic")
                .about("values are the label values to compare with."),
        ),
    ]);
    let requirement = requirement.required(&["key", "operator"]).rule(
        "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",
        "values must be set for In and NotIn, and must be empty for Exists and DoesNotExist",
    );
    object([
        ("matchLabels", labels().about("matchLabels are labels that a node must have.")),
        (
            "matchExpressions",
            list(requirement)
                .at_most(64)
                .with("x-kubernetes-list-type", "atomic")
                .about("matchExpressions are requirements that a node must all meet."),
        ),
    ])
    .about(about)
}
