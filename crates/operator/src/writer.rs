//! Writes to the API server: one per step of a decision, each only for the version that was seen.

use std::time::Duration;

use hyper::Request;
use hyper::header::CONTENT_TYPE;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Api, Client, Resource};
use linesman_api::condition::dated;
use linesman_api::enactment::EnactmentSpec;
use linesman_api::names::OPERATOR_MANAGER;
use linesman_api::objects::{Enactment, Policy};
use linesman_api::time::Time;
use linesman_api::{finalizers, names};
use linesman_fleet::rollout::{Action, Step, WaitingStatus};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::enactment_object::enactment;
use crate::leadership::Leadership;
use crate::metrics::Metrics;
use crate::pending_writes::PendingWrite;
use crate::watch::number;

use crate::{Error, facts, fault};

/// After this time the watches show what became of the write.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub enum Written {
    /// What the watches must show.
    Done(PendingWrite),
    /// The object changed in between; decide again when the watches show that.
    Refused(PendingWrite),
}

pub type Result<T = Written, E = Error> = std::result::Result<T, E>;

/// The writer that writes. It writes as long as it leads.
pub struct Writer {
    pub client: Client,
    pub leadership: Leadership,
    pub metrics: std::rc::Rc<Metrics>,
}

impl Writer {
    pub async fn perform(&self, policy: &str, action: &Action, cache: &Cache, now: Time) -> Result {
        match action {
            Action::Finalizer { keep } => self.finalizer(policy, *keep, cache).await,
            Action::Enactment { node, version, step } => {
                let name = names::enactment(node, policy);
                match (version, step) {
                    (None, step) => self.create(name, policy, node, step.spec(), cache).await,
                    (Some(version), Step::Delete) => self.delete(name, version).await,
                    (Some(version), Step::SetStatus(status)) => {
                        self.set_status(name, version, status, cache, now).await
                    }
                    (Some(version), step) => self.instruct(name, version, step.spec()).await,
                }
            }
        }
    }

    async fn create(
        &self,
        name: String,
        policy: &str,
        node: &str,
        spec: Option<&EnactmentSpec>,
        cache: &Cache,
    ) -> Result {
        let changed = PendingWrite::EnactmentChanged { name: name.clone(), was: None };
        // Without the node there is no owner, and nobody would ever delete it.
        let Some(uid) = cache.node_uid(node) else { return Ok(Written::Refused(changed)) };
        let object = enactment(name.clone(), policy, node, uid, spec);
        let api: Api<Enactment> = Api::all(self.client.clone());
        let written = self.write("create", async { api.create(&created(), &object).await }).await;
        if written.as_ref().is_err_and(Error::is_already_exists) {
            self.check_owner(&name, policy, node).await?;
        }
        self.written(written, |made: &Enactment| PendingWrite::Enactments(version(made)), changed)
    }

    /// One that exists and is of another policy or node stays, however often this one is created.
    async fn check_owner(&self, name: &str, policy: &str, node: &str) -> Result<()> {
        let api: Api<Enactment> = Api::all(self.client.clone());
        let Some(found) = self.get(api.get_opt(name)).await? else { return Ok(()) };
        let owner = facts::enactment(found).map(|facts| (facts.policy, facts.node));
        match owner {
            Some((of, on)) if of == policy && on == node => Ok(()),
            owner => Err(Error::NameTaken { name: name.into(), owner }),
        }
    }

    async fn instruct(&self, name: String, version: &str, spec: Option<&EnactmentSpec>) -> Result {
        let path = format!("{}/{name}", Enactment::url_path(&(), None));
        let written =
            self.write("spec", self.replace::<Enactment>(path, version, "/spec", json!(spec))).await;
        let changed = PendingWrite::EnactmentChanged { name, was: Some(version.into()) };
        self.written(written, |made: &Enactment| PendingWrite::Enactments(self::version(made)), changed)
    }

    async fn set_status(
        &self,
        name: String,
        version: &str,
        status: &WaitingStatus,
        cache: &Cache,
        now: Time,
    ) -> Result {
        let old = cache.enactments.get(&name).map(|e| e.status.conditions.as_slice()).unwrap_or_default();
        let conditions = dated(old, status.conditions(), now);
        let patch =
            json!({ "metadata": { "resourceVersion": version }, "status": { "conditions": conditions } });
        let api: Api<Enactment> = Api::all(self.client.clone());
        let (params, patch) = (patched(), Patch::Merge(&patch));
        let written =
            self.write("enactment-status", async { api.patch_status(&name, &params, &patch).await }).await;
        let changed = PendingWrite::EnactmentChanged { name: name.clone(), was: Some(version.into()) };
        self.written(written, |made: &Enactment| PendingWrite::Enactments(self::version(made)), changed)
    }

    async fn delete(&self, name: String, version: &str) -> Result {
        let seen = Preconditions { resource_version: Some(version.into()), uid: None };
        let params = DeleteParams { preconditions: Some(seen), ..DeleteParams::default() };
        let api: Api<Enactment> = Api::all(self.client.clone());
        let written = self.write("delete", async { api.delete(&name, &params).await }).await;
        let gone = PendingWrite::EnactmentChanged { name: name.clone(), was: Some(version.into()) };
        self.written(written, |_| gone.clone(), gone.clone())
    }

    async fn finalizer(&self, policy: &str, keep: bool, cache: &Cache) -> Result {
        let Some(object) = cache.policy_objects.get(policy) else {
            return Err(Error::PolicyGone { policy: policy.into() });
        };
        let mut finalizers: Vec<&str> = object.finalizers.iter().map(String::as_str).collect();
        finalizers.retain(|name| *name != finalizers::REVERT);
        finalizers.extend(keep.then_some(finalizers::REVERT));
        let patch = json!({ "metadata": { "resourceVersion": object.version, "finalizers": finalizers } });
        let api: Api<Policy> = Api::all(self.client.clone());
        let (params, patch) = (patched(), Patch::Merge(&patch));
        let written = self.write("finalizer", async { api.patch(policy, &params, &patch).await }).await;
        let changed = PendingWrite::PolicyChanged { name: policy.into(), was: object.version.clone() };
        // Without its last finalizer it is deleted, and the watch shows only that.
        let gone = changed.clone();
        self.written(
            written,
            |made: &Policy| if keep { PendingWrite::Policy(version(made)) } else { gone },
            changed,
        )
    }

    /// Replaces the status of a policy.
    pub async fn policy_status(&self, policy: &str, version: &str, status: Value) -> Result {
        let path = format!("{}/{policy}/status", Policy::url_path(&(), None));
        let written = self.write("status", self.replace::<Policy>(path, version, "/status", status)).await;
        let changed = PendingWrite::PolicyChanged { name: policy.into(), was: version.into() };
        self.written(written, |made: &Policy| PendingWrite::Policy(self::version(made)), changed)
    }

    /// Whether the policy exists now, whatever the watches show.
    pub async fn exists(&self, policy: &str) -> Result<bool> {
        let api: Api<Policy> = Api::all(self.client.clone());
        self.get(api.get_opt(policy)).await.map(|found| found.is_some())
    }

    async fn get<T>(&self, work: impl Future<Output = kube::Result<T>>) -> Result<T> {
        let answer = tokio::time::timeout(TIMEOUT, work).await;
        let found = answer.map_err(|_| Error::Timeout { kind: "get" })?;
        found.map_err(|error| Error::Api { kind: "get", source: Box::new(error) })
    }

    /// Replaces one part of an object: a merge would leave fields that are no longer set.
    async fn replace<T: DeserializeOwned>(
        &self,
        path: String,
        version: &str,
        part: &str,
        value: Value,
    ) -> kube::Result<T> {
        let patch = json!([
            { "op": "replace", "path": "/metadata/resourceVersion", "value": version },
            { "op": "add", "path": part, "value": value },
        ]);
        let path = format!("{path}?fieldManager={OPERATOR_MANAGER}");
        let request = Request::patch(path).header(CONTENT_TYPE, "application/json-patch+json");
        let request = request.body(patch.to_string().into_bytes()).map_err(kube::Error::HttpError)?;
        self.client.request(request).await
    }

    /// Bounded by the timeout and by the Lease.
    pub async fn write<T>(
        &self,
        kind: &'static str,
        work: impl Future<Output = kube::Result<T>>,
    ) -> Result<T> {
        let left = self.leadership.left().ok_or(Error::NotLeading)?;
        let written =
            tokio::time::timeout(left.min(TIMEOUT), work).await.map_err(|_| Error::Timeout { kind })?;
        if written.is_ok() {
            self.metrics.wrote(kind);
            fault::after_write();
        }
        written.map_err(|error| Error::Api { kind, source: Box::new(error) })
    }

    fn written<T>(
        &self,
        written: Result<T>,
        done: impl FnOnce(&T) -> PendingWrite,
        refused: PendingWrite,
    ) -> Result {
        match written {
            Ok(object) => Ok(Written::Done(done(&object))),
            Err(error) if error.is_refusal() => {
                self.metrics.refused();
                Ok(Written::Refused(refused))
            }
            Err(error) => Err(error),
        }
    }
}

/// In `metadata.managedFields`, under a name of its own.
pub fn created() -> PostParams {
    PostParams { field_manager: Some(OPERATOR_MANAGER.into()), ..PostParams::default() }
}

fn patched() -> PatchParams {
    PatchParams { field_manager: Some(OPERATOR_MANAGER.into()), ..PatchParams::default() }
}

fn version<K: Resource>(object: &K) -> u64 {
    number(object.meta().resource_version.as_deref().unwrap_or_default())
}

#[cfg(test)]
mod tests;
