//! Secrets that documents refer to. The operator reads them by name, for each release anew, and passes them on sealed to the node
//! that is released; nothing else is kept of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use linesman_api::enactment::{EnactmentSpec, SealedSecrets};
use linesman_api::limits::SECRETS;
use linesman_daemon::sealing::PublicKey;
use linesman_fleet::rollout::{Action, Step};
use linesman_fleet::sealed_secrets::{
    LookupError, Reference, Secrets, UnavailableSecrets, context, message, needs_secrets, references,
    value_of,
};

use crate::Error;
use crate::cache::Cache;

const TIMEOUT: Duration = Duration::from_secs(10);

pub struct SecretReader {
    pub client: Client,
    /// The only one whose Secrets are read.
    pub namespace: String,
}

/// What was read while one decision is carried out: a Secret of many nodes is read once.
#[derive(Default)]
pub struct Found(BTreeMap<String, Result<Option<Secret>, String>>);

/// An action with the Secrets that it needs.
pub enum Prepared<'a> {
    Ready(Cow<'a, Action>),
    /// Some could not be read.
    Unavailable(Secrets),
    /// They can be read, but not be sealed to the node.
    NotSealed {
        node: &'a str,
        reason: String,
    },
}

impl SecretReader {
    /// A node is claimed only when its Secrets can be read, and released with their values.
    pub async fn prepare<'a>(
        &self,
        action: &'a Action,
        cache: &Cache,
        found: &mut Found,
    ) -> Result<Prepared<'a>, Error> {
        let Action::Enactment { node, version, step } = action else {
            return Ok(Prepared::Ready(Cow::Borrowed(action)));
        };
        let (Step::Claim(spec) | Step::Release { spec, .. } | Step::Seal(spec)) = step else {
            return Ok(Prepared::Ready(Cow::Borrowed(action)));
        };
        let Some(state) = spec.desired_state.as_ref().filter(|state| needs_secrets(Some(state), spec.revert))
        else {
            return Ok(Prepared::Ready(Cow::Borrowed(action)));
        };
        let secrets = self.read(references(state).into_keys(), found).await?;
        if secrets.missing(state).is_some() {
            return Ok(Prepared::Unavailable(secrets));
        }
        let key = cache.nodes.get(node).and_then(|node| node.sealing_key.as_deref()).unwrap_or_default();
        Ok(match (seal(node, spec, key, &secrets), step) {
            (Err(reason), _) => Prepared::NotSealed { node, reason },
            (Ok(_), Step::Claim(_)) => Prepared::Ready(Cow::Borrowed(action)),
            (Ok(sealed), _) => {
                let spec = Box::new(EnactmentSpec { sealed_secrets: Some(sealed), ..(**spec).clone() });
                let step = match step {
                    Step::Release { until, .. } => Step::Release { spec, until: *until },
                    _ => Step::Seal(spec),
                };
                Prepared::Ready(Cow::Owned(Action::Enactment {
                    node: node.clone(),
                    version: version.clone(),
                    step,
                }))
            }
        })
    }

    /// What of it is still unavailable.
    pub async fn read_again(&self, secrets: &UnavailableSecrets) -> Result<UnavailableSecrets, Error> {
        let mut still = UnavailableSecrets::default();
        still.note(&self.read(secrets.0.keys().cloned(), &mut Found::default()).await?);
        Ok(still)
    }

    async fn read(
        &self,
        references: impl Iterator<Item = Reference>,
        found: &mut Found,
    ) -> Result<Secrets, Error> {
        let mut secrets = Secrets::default();
        for reference in references {
            if !found.0.contains_key(&reference.name) {
                found.0.insert(reference.name.clone(), self.get(&reference.name).await?);
            }
            let value = self.value(&reference, &found.0[&reference.name]);
            secrets.0.insert(reference, value);
        }
        Ok(secrets)
    }

    fn value(
        &self,
        reference: &Reference,
        secret: &Result<Option<Secret>, String>,
    ) -> Result<String, LookupError> {
        let secret = secret.as_ref().map_err(|reason| LookupError::Unreadable {
            secret: format!("{}/{}", self.namespace, reference.name),
            reason: reason.clone(),
        })?;
        let data = |secret: &'_ Secret, key: &str| Some(secret.data.as_ref()?.get(key)?.0.clone());
        value_of(reference, &self.namespace, secret.as_ref().map(|secret| move |key: &str| data(secret, key)))
    }

    /// None: there is none. The inner error is about this very Secret.
    async fn get(&self, name: &str) -> Result<Result<Option<Secret>, String>, Error> {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        let answer = tokio::time::timeout(TIMEOUT, api.get_opt(name)).await;
        let answer = answer.map_err(|_| Error::Timeout { kind: "secret" })?;
        match answer.map_err(|error| Error::Api { kind: "secret", source: Box::new(error) }) {
            Ok(secret) => Ok(Ok(secret)),
            Err(error) => error.about_object().map(Err).ok_or(error),
        }
    }
}

fn seal(node: &str, spec: &EnactmentSpec, key: &str, secrets: &Secrets) -> Result<SealedSecrets, String> {
    let public: PublicKey = key.parse().map_err(|error| {
        format!(
            "status.sealingKey of the NodeNetworkState cannot be used: {error}; restart the agent on the node"
        )
    })?;
    let sealed = public.seal(&message(secrets), &context(node, spec), SECRETS);
    let message = sealed.map_err(|error| {
        format!("the Secrets that the policy refers to cannot be encrypted for the node: {error}")
    })?;
    Ok(SealedSecrets { key: key.into(), message })
}

#[cfg(test)]
mod tests;
