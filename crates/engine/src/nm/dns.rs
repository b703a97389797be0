//! NetworkManager's global DNS configuration, which nmstate writes and old checkpoints forget.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use zbus::zvariant::{OwnedValue, Value};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobalDns {
    pub searches: Vec<String>,
    pub options: Vec<String>,
    pub domains: BTreeMap<String, GlobalDomain>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobalDomain {
    pub servers: Vec<String>,
    pub options: Vec<String>,
}

impl GlobalDns {
    pub(super) fn from_bus(raw: &HashMap<String, OwnedValue>) -> Self {
        let domains: HashMap<String, OwnedValue> = take(raw.get("domains")).unwrap_or_default();
        Self {
            searches: strings(raw.get("searches")),
            options: strings(raw.get("options")),
            domains: domains
                .iter()
                .map(|(name, value)| {
                    let fields: HashMap<String, OwnedValue> = take(Some(value)).unwrap_or_default();
                    let domain = GlobalDomain {
                        servers: strings(fields.get("servers")),
                        options: strings(fields.get("options")),
                    };
                    (name.clone(), domain)
                })
                .collect(),
        }
    }

    /// An empty map removes the configuration.
    pub(super) fn to_bus(&self) -> Value<'static> {
        let mut map: HashMap<String, Value<'static>> = HashMap::new();
        if *self != Self::default() {
            map.insert("searches".into(), self.searches.clone().into());
            map.insert("options".into(), self.options.clone().into());
            let domains: HashMap<String, Value<'static>> =
                self.domains.iter().map(|(name, d)| (name.clone(), d.to_bus())).collect();
            map.insert("domains".into(), domains.into());
        }
        map.into()
    }
}

impl GlobalDomain {
    fn to_bus(&self) -> Value<'static> {
        let mut map: HashMap<String, Value<'static>> = HashMap::new();
        map.insert("servers".into(), self.servers.clone().into());
        if !self.options.is_empty() {
            map.insert("options".into(), self.options.clone().into());
        }
        map.into()
    }
}

pub(super) fn take<T: TryFrom<OwnedValue>>(value: Option<&OwnedValue>) -> Option<T> {
    T::try_from(value?.try_clone().ok()?).ok()
}

fn strings(value: Option<&OwnedValue>) -> Vec<String> {
    take(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_a_round_trip_over_the_bus() {
        let domain = GlobalDomain { servers: vec!["10.9.0.1".into()], options: vec![] };
        let dns = GlobalDns {
            searches: vec!["lab.test".into()],
            options: vec!["rotate".into()],
            domains: BTreeMap::from([("*".to_string(), domain)]),
        };
        let Value::Dict(dict) = dns.to_bus() else { unreachable!() };
        let raw: HashMap<String, OwnedValue> = HashMap::<String, Value<'_>>::try_from(dict)
            .unwrap()
            .into_iter()
            .map(|(k, v)| (k, v.try_to_owned().unwrap()))
            .collect();
        assert_eq!(GlobalDns::from_bus(&raw), dns);
    }
}
