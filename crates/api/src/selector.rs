//! Which nodes are meant.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub type Labels = BTreeMap<String, String>;

/// A label selector as Kubernetes has it; without content it selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Selector {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: Labels,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    pub key: String,
    pub operator: Operator,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Selector {
    pub fn matches(&self, labels: &Labels) -> bool {
        has_all(labels, &self.match_labels) && self.match_expressions.iter().all(|r| r.matches(labels))
    }
}

impl Requirement {
    fn matches(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            Operator::In => value.is_some_and(|value| self.values.contains(value)),
            // As in Kubernetes: a node without the label is not in the list either.
            Operator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

/// Whether `labels` has everything that is `wanted`.
pub fn has_all(labels: &Labels, wanted: &Labels) -> bool {
    wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(operator: Operator, values: &[&str], labels: &[(&str, &str)]) -> bool {
        let requirement = Requirement {
            key: "zone".into(),
            operator,
            values: values.iter().map(|v| v.to_string()).collect(),
        };
        let selector = Selector { match_expressions: vec![requirement], ..Selector::default() };
        selector.matches(&labels.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect())
    }

    #[test]
    fn operators_mean_what_they_mean_in_kubernetes() {
        let (here, nowhere) = ([("zone", "a")], []);
        assert!(selects(Operator::In, &["a", "b"], &here));
        assert!(!selects(Operator::In, &["b"], &here) && !selects(Operator::In, &["a"], &nowhere));
        assert!(!selects(Operator::NotIn, &["a"], &here));
        assert!(selects(Operator::NotIn, &["b"], &here) && selects(Operator::NotIn, &["a"], &nowhere));
        assert!(selects(Operator::Exists, &[], &here) && !selects(Operator::Exists, &[], &nowhere));
        assert!(
            !selects(Operator::DoesNotExist, &[], &here) && selects(Operator::DoesNotExist, &[], &nowhere)
        );
    }

    #[test]
    fn labels_and_expressions_must_both_hold() {
        let selector: Selector = serde_json::from_str(
            r#"{"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}"#,
        )
        .unwrap();
        let labels =
            |keys: &[&str]| keys.iter().map(|k| (k.to_string(), "1".to_string())).collect::<Labels>();
        assert!(selector.matches(&labels(&["a", "b"])));
        assert!(!selector.matches(&labels(&["a"])) && !selector.matches(&labels(&["b"])));
        assert!(Selector::default().matches(&labels(&[])));
    }
}
