//! Secrets that policies refer to: the operator puts their values into the released enactment, sealed to the key of this agent. They
//! are opened for one transaction.

use std::path::Path;

use linesman_api::enactment::EnactmentSpec;
use linesman_api::limits::SECRETS;
use linesman_core::policy::Policy;
use linesman_daemon::sealing::{self, PrivateKey};
use linesman_fleet::sealed_secrets::{LookupError, Reference, Secrets, context, read_message, references};
use tracing::{info, warn};

use super::Cluster;
use crate::state_file::StateFile;

/// Without one that can be read, a new one is made: the operator seals to whatever the NodeNetworkState has.
pub fn private_key(state_dir: &Path) -> crate::Result<PrivateKey> {
    let file = StateFile::sealing_key(state_dir);
    let kept: Option<String> = file.take()?;
    if let Some(key) = kept.as_deref().and_then(PrivateKey::read) {
        return Ok(key);
    }
    let key = PrivateKey::generate();
    info!(key = key.public().to_string(), "made a new key for the values of Secrets");
    if let Err(e) = file.write(&Some(key.reveal())) {
        warn!("{e}; the agent makes another key when it is restarted");
    }
    Ok(key)
}

/// Why the enactment gives no values.
#[derive(Debug, thiserror::Error)]
enum NotOpened {
    #[error("the enactment is not known until the API server answers")]
    NoEnactment,
    #[error("the enactment does not contain it; update the operator if it is older than the agent")]
    NotSealed,
    #[error("the enactment contains it for another key of this node; the operator encrypts it again")]
    AnotherKey,
    #[error("its encrypted value in the enactment cannot be used: {0}")]
    Sealing(#[from] sealing::Error),
    #[error("its encrypted value in the enactment is damaged")]
    Damaged,
}

fn open(key: &PrivateKey, node: &str, spec: Option<&EnactmentSpec>) -> Result<Secrets, NotOpened> {
    let spec = spec.ok_or(NotOpened::NoEnactment)?;
    let sealed = spec.sealed_secrets.as_ref().ok_or(NotOpened::NotSealed)?;
    if sealed.key != key.public().to_string() {
        return Err(NotOpened::AnotherKey);
    }
    let message = key.open(&sealed.message, &context(node, spec), SECRETS)?;
    read_message(&message).ok_or(NotOpened::Damaged)
}

/// For each reference of the policy what its enactment gave.
fn values(policy: &Policy, opened: &Result<Secrets, NotOpened>, namespace: &str) -> Secrets {
    let unreadable = |name: &str, reason: &NotOpened| LookupError::Unreadable {
        secret: format!("{namespace}/{name}"),
        reason: reason.to_string(),
    };
    let value = |reference: Reference| {
        let found = match opened {
            Ok(secrets) => secrets.0.get(&reference).cloned(),
            Err(reason) => Some(Err(unreadable(&reference.name, reason))),
        };
        let found = found.unwrap_or_else(|| Err(unreadable(&reference.name, &NotOpened::NotSealed)));
        (reference, found)
    };
    Secrets(references(&policy.state).into_keys().map(value).collect())
}

impl Cluster {
    /// The secrets that these policies refer to.
    pub fn secrets(&self, policies: &[Policy]) -> Secrets {
        let mut specs: Vec<_> =
            policies.iter().map(|policy| (self.enactments.spec(&policy.name), policy)).collect();
        // Of two that refer to the same Secret, the last release has its current value.
        specs.sort_by_key(|(spec, _)| spec.and_then(|spec| spec.release_expires));
        let mut found = Secrets::default();
        for (spec, policy) in specs {
            let opened = open(&self.private_key, &self.client.node, spec);
            for (reference, value) in values(policy, &opened, &self.namespace).0 {
                if value.is_ok() || !found.0.contains_key(&reference) {
                    found.0.insert(reference, value);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use linesman_api::enactment::SealedSecrets;
    use linesman_fleet::sealed_secrets::message;
    use serde_json::json;

    use super::*;

    const FILE: &str = "sealing-key.json";

    #[test]
    fn the_key_is_made_once_and_anew_when_it_is_lost_or_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let key = || private_key(dir.path()).unwrap().public();
        let first = key();
        assert_eq!(key(), first);
        let file = dir.path().join(FILE);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let mut known = vec![first];
        for damage in [
            None,
            Some("["),
            Some(r#"{"version":1,"content":"AAAA"}"#),
            Some(r#"{"version":1,"content":null}"#),
        ] {
            match damage {
                None => fs::remove_file(&file).unwrap(),
                Some(text) => fs::write(&file, text).unwrap(),
            }
            let new = key();
            assert!(!known.contains(&new), "{damage:?}");
            assert_eq!(key(), new);
            known.push(new);
        }
    }

    fn policy() -> Policy {
        let psk = json!({ "secretKeyRef": { "name": "eap", "key": "n1" } });
        let state = json!({ "ovs-db": { "external_ids": { "tunnel-psk": psk } } });
        Policy { name: "a".into(), state, capture: None, options: Default::default() }
    }

    fn sealed(key: &PrivateKey, node: &str, message: &[u8]) -> EnactmentSpec {
        let mut spec = EnactmentSpec { attempt: 3, ..EnactmentSpec::default() };
        let message = key.public().seal(message, &context(node, &spec), SECRETS).unwrap();
        spec.sealed_secrets = Some(SealedSecrets { key: key.public().to_string(), message });
        spec
    }

    #[test]
    fn values_are_opened_from_the_own_enactment_alone() {
        let (own, other) = (PrivateKey::generate(), PrivateKey::generate());
        let reference = Reference { name: "eap".into(), key: "n1".into() };
        let text = message(&Secrets([(reference.clone(), Ok("sesame".into()))].into()));
        let value = |spec: Option<&EnactmentSpec>| {
            let found = values(&policy(), &open(&own, "w1", spec), "nmstate").0.remove(&reference).unwrap();
            found.map_err(|error| error.to_string())
        };
        assert_eq!(value(Some(&sealed(&own, "w1", &text))), Ok("sesame".into()));
        let fails = |spec: Option<&EnactmentSpec>, why: &str| {
            let error = value(spec).unwrap_err();
            assert!(
                error.starts_with("the Secret nmstate/eap cannot be read: ") && error.contains(why),
                "{error}"
            );
        };
        fails(None, "is not known");
        fails(Some(&EnactmentSpec::default()), "update the operator");
        fails(Some(&sealed(&other, "w1", &text)), "for another key of this node");
        fails(Some(&sealed(&own, "w2", &text)), "for another purpose");
        let moved = EnactmentSpec { attempt: 4, ..sealed(&own, "w1", &text) };
        fails(Some(&moved), "for another purpose");
        fails(Some(&sealed(&own, "w1", b"garbage")), "damaged");
        fails(Some(&sealed(&own, "w1", b"[]")), "does not contain it");
    }
}
