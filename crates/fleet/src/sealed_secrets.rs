//! Values of Secrets on their way to one node: what is sealed, and what the sealed message is bound to.

use std::collections::BTreeMap;

use linesman_api::enactment::EnactmentSpec;
use linesman_api::limits::SECRETS;
pub use linesman_core::secrets::{LookupError, Reference, Secrets, references};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use linesman_core::codes::failures::NO_SECRET;

#[derive(Serialize, Deserialize)]
struct Entry {
    name: String,
    key: String,
    value: String,
}

/// What a message is for: this node, policy and release. The agent computes it from its own enactment, so a message that was
/// copied from another node's, or from an earlier release, cannot be opened.
pub fn context(node: &str, spec: &EnactmentSpec) -> Vec<u8> {
    let policy = &spec.policy;
    json!([node, policy.name, policy.uid, policy.generation, spec.attempt, spec.release_expires])
        .to_string()
        .into_bytes()
}

/// Whether the agent needs the values of Secrets to carry this out.
pub fn needs_secrets(state: Option<&Value>, revert: bool) -> bool {
    // What undoes a policy is recorded without secrets.
    !revert && state.is_some_and(|state| !references(state).is_empty())
}

/// Why not all values that the document needs are known, for people.
pub fn unavailable(secrets: &Secrets, state: &Value) -> Option<String> {
    secrets.missing(state).map(|missing| format!("[{NO_SECRET}] {missing}; no changes made"))
}

/// Secrets that could not be read the last time, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnavailableSecrets(pub BTreeMap<Reference, LookupError>);

impl UnavailableSecrets {
    pub fn note(&mut self, read: &Secrets) {
        let errors = read.0.iter().filter_map(|(reference, value)| {
            value.as_ref().err().map(|error| (reference.clone(), error.clone()))
        });
        self.0.extend(errors);
    }

    /// Why the document cannot be applied, for people.
    pub fn reason(&self, state: &Value) -> Option<String> {
        let known = |reference: Reference| {
            let value = self.error(&reference).map_or_else(|| Ok(String::new()), |error| Err(error.clone()));
            (reference, value)
        };
        let needed = references(state).into_keys().map(known).collect();
        if self.0.is_empty() { None } else { unavailable(&Secrets(needed), state) }
    }

    /// A Secret that is missing has no other key either.
    fn error(&self, reference: &Reference) -> Option<&LookupError> {
        let is_whole = |error: &LookupError| {
            matches!(error, LookupError::NotFound { .. } | LookupError::Unreadable { .. })
        };
        let mut same = self.0.iter().filter(|(other, error)| other.name == reference.name && is_whole(error));
        self.0.get(reference).or_else(|| same.next().map(|(_, error)| error))
    }
}

/// What the Secret `namespace/NAME`, with this data, says for a reference; none: there is no such Secret.
pub fn value_of(
    reference: &Reference,
    namespace: &str,
    data: Option<impl Fn(&str) -> Option<Vec<u8>>>,
) -> Result<String, LookupError> {
    let (secret, key) = (format!("{namespace}/{}", reference.name), reference.key.clone());
    let Some(data) = data else { return Err(LookupError::NotFound { secret }) };
    let Some(bytes) = data(&key) else { return Err(LookupError::NoKey { secret, key }) };
    if bytes.len() > SECRETS {
        return Err(LookupError::TooLong { secret, key, limit: SECRETS });
    }
    let text = String::from_utf8(bytes).map_err(|_| LookupError::NotText { secret, key })?;
    // Editors and shells end a file with a newline that is not part of the value.
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_string())
}

/// The message before it is sealed. The values that are known, all of them in clear.
pub fn message(secrets: &Secrets) -> Vec<u8> {
    let known = secrets.0.iter().filter_map(|(reference, value)| {
        let Reference { name, key } = reference.clone();
        Some(Entry { name, key, value: value.as_ref().ok()?.clone() })
    });
    json!(known.collect::<Vec<_>>()).to_string().into_bytes()
}

/// None: it is not such a message.
pub fn read_message(opened: &[u8]) -> Option<Secrets> {
    let entries: Vec<Entry> = serde_json::from_slice(opened).ok()?;
    let value = |Entry { name, key, value }| (Reference { name, key }, Ok(value));
    Some(Secrets(entries.into_iter().map(value).collect()))
}

#[cfg(test)]
mod tests {
    use linesman_api::enactment::PolicyRef;
    use linesman_api::time::Time;

    use super::*;

    fn reference() -> Reference {
        Reference { name: "eap".into(), key: "n1".into() }
    }

    #[test]
    fn every_part_of_a_release_belongs_to_the_context() {
        let spec = EnactmentSpec {
            policy: PolicyRef { name: "blue".into(), uid: "u".into(), generation: 2 },
            attempt: 3,
            release_expires: Some(Time(10)),
            ..EnactmentSpec::default()
        };
        let own = context("w1", &spec);
        assert_eq!(own, context("w1", &spec.clone()));
        assert_ne!(own, context("w2", &spec), "another node");
        let other = |change: fn(&mut EnactmentSpec)| {
            let mut spec = spec.clone();
            change(&mut spec);
            assert_ne!(own, context("w1", &spec), "{spec:?}");
        };
        other(|spec| spec.policy.name = "red".into());
        other(|spec| spec.policy.uid = "v".into());
        other(|spec| spec.policy.generation = 3);
        other(|spec| spec.attempt = 4);
        other(|spec| spec.release_expires = Some(Time(11)));
    }

    #[test]
    fn messages_are_read_as_they_are_written_and_garbage_is_none() {
        let missing = Reference { key: "n2".into(), ..reference() };
        let error = LookupError::NotFound { secret: "nmstate/eap".into() };
        let secrets = Secrets([(reference(), Ok("sesame".into())), (missing, Err(error))].into());
        let read = read_message(&message(&secrets)).unwrap();
        assert_eq!(read.0, [(reference(), Ok("sesame".to_string()))].into());
        for garbage in [&b""[..], b"{}", b"\xff", b"[{}]", b"[1]"] {
            assert!(read_message(garbage).is_none());
        }
    }

    #[test]
    fn a_value_is_text_without_its_last_newline() {
        let of = |bytes: Option<&'static [u8]>| {
            value_of(&reference(), "nmstate", Some(|_: &str| bytes.map(<[u8]>::to_vec)))
                .map_err(|e| e.to_string())
        };
        assert_eq!(of(Some(b"sesame\n")), Ok("sesame".into()));
        assert_eq!(of(Some(b"a\n\n")), Ok("a\n".into()));
        assert_eq!(of(None), Err("the Secret nmstate/eap has no key n1".into()));
        assert_eq!(of(Some(b"\xff")), Err("the Secret nmstate/eap: n1 is no text".into()));
        let long = value_of(&reference(), "nmstate", Some(|_: &str| Some(vec![b'x'; SECRETS + 1])));
        let error = long.unwrap_err().to_string();
        assert_eq!(error, "the Secret nmstate/eap: n1 is longer than 65536 bytes");
        let none = value_of(&reference(), "nmstate", None::<fn(&str) -> Option<Vec<u8>>>);
        assert_eq!(none.unwrap_err().to_string(), "there is no Secret nmstate/eap");
    }

    #[test]
    fn what_is_unavailable_is_found_in_other_documents() {
        let state = |key: &str| json!({ "psk": { "secretKeyRef": { "name": "eap", "key": key } } });
        let after = |error| {
            let mut secrets = UnavailableSecrets::default();
            secrets.note(&Secrets([(reference(), Err(error))].into()));
            ["n1", "n2"].map(|key| secrets.reason(&state(key)))
        };
        let secret = || "nmstate/eap".to_string();
        let reason =
            |text: &str| Some(format!("[LM2016] {text}, needed at desiredState.psk; no changes made"));
        let missing = reason("there is no Secret nmstate/eap");
        assert_eq!(after(LookupError::NotFound { secret: secret() }), [missing.clone(), missing]);
        let no_key = reason("the Secret nmstate/eap has no key n1");
        assert_eq!(after(LookupError::NoKey { secret: secret(), key: "n1".into() }), [no_key, None]);
        assert_eq!(UnavailableSecrets::default().reason(&state("n1")), None);
    }
}
