//! Where in a document something is said.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// One step down into a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep {
    /// The value of a key in a mapping.
    Key(String),
    /// The item of a list, counted from 0.
    Index(usize),
    /// The item of a list that people know by name: an interface, a route's destination.
    Item(String),
}

/// A place in a state document, such as `interfaces[br1].ipv4.address[0].ip`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<PathStep>);

impl Path {
    pub fn root() -> Self {
        Self::default()
    }

    /// `interfaces[NAME]`
    pub fn interface(name: &str) -> Self {
        Self::root().key("interfaces").item(name)
    }

    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Self {
        self.join(PathStep::Key(key.into()))
    }

    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.join(PathStep::Index(index))
    }

    #[must_use]
    pub fn item(&self, name: impl Into<String>) -> Self {
        self.join(PathStep::Item(name.into()))
    }

    #[must_use]
    pub fn join(&self, step: PathStep) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }

    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    pub fn last(&self) -> Option<&PathStep> {
        self.0.last()
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, rest)| Self(rest.to_vec()))
    }

    pub fn starts_with(&self, ancestor: &Self) -> bool {
        self.0.starts_with(&ancestor.0)
    }

    /// The value at this place, if `root` has it.
    pub fn find<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(root, child)
    }

    /// The same place with list items called by their names where they have one, as people read it.
    #[must_use]
    pub fn named(&self, root: &Value) -> Self {
        let mut here = Some(root);
        let steps = self.0.iter().map(|step| {
            let list = here;
            here = here.and_then(|value| child(value, step));
            match (step, list.and(here).and_then(item_name)) {
                (PathStep::Index(_), Some(name)) => PathStep::Item(name.to_owned()),
                _ => step.clone(),
            }
        });
        Self(steps.collect())
    }
}

fn child<'a>(value: &'a Value, step: &PathStep) -> Option<&'a Value> {
    match step {
        PathStep::Key(key) => value.get(key),
        PathStep::Index(index) => value.get(index),
        PathStep::Item(name) => value.as_array()?.iter().find(|item| item_name(item) == Some(name)),
    }
}

/// What people call an item of a list: an interface or port by its name, a route by its destination.
pub(crate) fn item_name(item: &Value) -> Option<&str> {
    ["name", "destination"].iter().find_map(|key| item.get(key)?.as_str()).filter(|name| !name.is_empty())
}

impl FromIterator<PathStep> for Path {
    fn from_iter<I: IntoIterator<Item = PathStep>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(key) if position == 0 => write!(f, "{key}")?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
                PathStep::Item(name) => write!(f, "[{name}]")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads back what was printed, as a journal needs it; a list item that is a number counts as an index.
impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut steps = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            if let Some(item) = rest.strip_prefix('[') {
                let (item, after) = item.split_once(']').unwrap_or((item, ""));
                steps.push(item.parse().map_or_else(|_| PathStep::Item(item.to_string()), PathStep::Index));
                rest = after;
            } else {
                rest = rest.strip_prefix('.').unwrap_or(rest);
                let (key, after) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
                steps.push(PathStep::Key(key.to_string()));
                rest = after;
            }
        }
        Ok(Self(steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn state() -> Value {
        json!({"interfaces": [{"name": "eth0"}, {"name": "br1", "ipv4": {"address": [{"ip": "192.0.2.1"}]}}],
               "routes": {"config": [{"destination": "10.0.0.0/24"}]}})
    }

    #[test]
    fn prints_list_items_by_name() {
        let path = Path::root().key("interfaces").index(1).key("ipv4").key("address").index(0).key("ip");
        assert_eq!(path.to_string(), "interfaces[1].ipv4.address[0].ip");
        assert_eq!(path.named(&state()).to_string(), "interfaces[br1].ipv4.address[0].ip");
        let route = Path::root().key("routes").key("config").index(0);
        assert_eq!(route.named(&state()).to_string(), "routes.config[10.0.0.0/24]");
    }

    #[test]
    fn finds_values_by_index_and_by_name() {
        let ip = |path: Path| path.key("ipv4").key("address").index(0).key("ip").find(&state()).cloned();
        assert_eq!(ip(Path::interface("br1")), Some(json!("192.0.2.1")));
        assert_eq!(ip(Path::root().key("interfaces").index(1)), Some(json!("192.0.2.1")));
        assert_eq!(ip(Path::interface("br2")), None);
    }

    #[test]
    fn a_place_that_does_not_exist_prints_as_it_is() {
        let path = Path::root().key("interfaces").index(7).key("mtu");
        assert_eq!(path.named(&state()).to_string(), "interfaces[7].mtu");
    }
}
