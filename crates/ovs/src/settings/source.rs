//! Where settings come from: ConfigMaps of a cluster, or files of this host.

use std::collections::BTreeMap;

use linesman_api::selector::{Labels, Operator, Requirement, Selector};

use super::document::{Place, Source};
use super::refusal::{Cause, Refusal};

/// The key of a ConfigMap that says for which nodes it is, in the form of `kubectl --selector`.
pub const NODE_SELECTOR: &str = "node-selector";

/// All that is meant for this node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Documents {
    pub sources: Vec<Source>,
    /// What could not be read before it became a document.
    pub refusals: Vec<Refusal>,
}

impl Documents {
    /// `data` of ConfigMaps by NAMESPACE/NAME; each key but the selector is a document.
    pub fn of_config_maps<'a>(
        maps: impl IntoIterator<Item = (&'a String, &'a BTreeMap<String, String>)>,
        node: &Labels,
    ) -> Self {
        let mut documents = Self::default();
        for (name, data) in maps {
            let place = |key: &str| format!("ConfigMap {name} {key}");
            match data.get(NODE_SELECTOR).map_or(Ok(Selector::default()), |text| selector(text)) {
                Ok(selector) if selector.matches(node) => {
                    let texts = data.iter().filter(|(key, _)| *key != NODE_SELECTOR);
                    documents
                        .sources
                        .extend(texts.map(|(key, text)| Source { name: place(key), text: text.clone() }));
                }
                Ok(_) => {}
                Err(part) => documents.refusals.push(Refusal::new(
                    NODE_SELECTOR,
                    Some(Place { name: place(NODE_SELECTOR), line: 1 }),
                    Cause::Unreadable,
                    format!("{part:?} is not a requirement of labels"),
                    "write it as for kubectl --selector, such as role=worker,zone in (a,b),!virtual",
                )),
            }
        }
        documents
    }
}

/// The part that cannot be read is the error.
fn selector(text: &str) -> Result<Selector, String> {
    let parts = split(text).into_iter().map(str::trim).filter(|part| !part.is_empty());
    let requirement = |part: &str| requirement(part).ok_or_else(|| part.to_owned());
    Ok(Selector {
        match_expressions: parts.map(requirement).collect::<Result<_, _>>()?,
        ..Selector::default()
    })
}

/// At commas outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | '\n' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn requirement(part: &str) -> Option<Requirement> {
    let one = |key: &str, operator, value: &str| {
        let values = if value.is_empty() { vec![String::new()] } else { vec![value.to_owned()] };
        label(key, value).then(|| Requirement { key: key.to_owned(), operator, values })
    };
    let bare = |key: &str, operator| {
        label(key, "").then(|| Requirement { key: key.to_owned(), operator, values: Vec::new() })
    };
    if let Some((key, value)) = part.split_once("!=") {
        return one(key.trim(), Operator::NotIn, value.trim());
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return one(key.trim(), Operator::In, value.trim());
    }
    if let Some(key) = part.strip_prefix('!') {
        return bare(key.trim(), Operator::DoesNotExist);
    }
    let Some((left, list)) = part.split_once('(') else { return bare(part, Operator::Exists) };
    let (key, word) = left.trim().rsplit_once(' ')?;
    let operator = match word {
        "in" => Operator::In,
        "notin" => Operator::NotIn,
        _ => return None,
    };
    let key = key.trim();
    let values: Vec<String> =
        list.trim().strip_suffix(')')?.split(',').map(|value| value.trim().to_owned()).collect();
    values.iter().all(|value| label(key, value)).then(|| Requirement {
        key: key.to_owned(),
        operator,
        values,
    })
}

fn label(key: &str, value: &str) -> bool {
    let is_name = |text: &str, more: &str| {
        text.chars().all(|letter| letter.is_ascii_alphanumeric() || more.contains(letter))
    };
    !key.is_empty() && is_name(key, "-_./") && is_name(value, "-_.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(text: &str, labels: &[(&str, &str)]) -> Option<bool> {
        let labels = labels.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Some(selector(text).ok()?.matches(&labels))
    }

    #[test]
    fn selectors_mean_what_they_mean_for_kubectl() {
        let node = [("role", "worker"), ("zone", "a"), ("node-role.kubernetes.io/worker", "")];
        for (text, matches) in [
            ("", true),
            ("role=worker", true),
            ("role == worker, zone in (a, b)", true),
            ("zone notin (a)", false),
            ("zone!=b,!virtual", true),
            ("node-role.kubernetes.io/worker", true),
            ("node-role.kubernetes.io/worker=", true),
            ("!role", false),
            ("role=master", false),
        ] {
            assert_eq!(selects(text, &node), Some(matches), "{text}");
        }
        for text in ["zone in a", "role worker", "zone in (a", "=worker", "zone within (a)", "a=b=c"] {
            assert_eq!(selects(text, &node), None, "{text}");
        }
    }

    #[test]
    fn config_maps_for_other_nodes_are_left_out_and_unreadable_selectors_are_refused() {
        let data = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
        };
        let maps: BTreeMap<String, _> = [
            ("n/all".to_owned(), data(&[("settings", "a=1")])),
            ("n/mine".to_owned(), data(&[("node-selector", "role=worker"), ("settings", "b=1")])),
            ("n/others".to_owned(), data(&[("node-selector", "role=master"), ("settings", "c=1")])),
            ("n/wrong".to_owned(), data(&[("node-selector", "role worker"), ("settings", "d=1")])),
        ]
        .into();
        let documents = Documents::of_config_maps(&maps, &[("role".into(), "worker".into())].into());
        let names: Vec<&str> = documents.sources.iter().map(|source| source.name.as_str()).collect();
        assert_eq!(names, ["ConfigMap n/all settings", "ConfigMap n/mine settings"]);
        let refusals: Vec<String> = documents.refusals.iter().map(ToString::to_string).collect();
        assert_eq!(
            refusals,
            [
                "ConfigMap n/wrong node-selector:1: node-selector: \"role worker\" is not a requirement of labels; \
              write it as for kubectl --selector, such as role=worker,zone in (a,b),!virtual"
            ]
        );
    }
}
