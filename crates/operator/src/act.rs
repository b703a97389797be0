//! Act: one write per step of a decision, each only for the version that was seen.

use std::time::Duration;

use hyper::Request;
use hyper::header::CONTENT_TYPE;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Api, Client, Resource};
use linesman_api::condition::dated;
use linesman_api::enactment::EnactmentSpec;
use linesman_api::objects::{Enactment, Policy};
use linesman_api::time::Time;
use linesman_api::{finalizers, labels, names};
use linesman_core::rollout::{Action, Mark, Step};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::echo::Echo;
use crate::lease::Leadership;
use crate::metrics::Metrics;
use crate::watch::number;
use crate::world::World;
use crate::{Error, fault};

/// An answer that takes longer is not waited for; what became of the write, the watches tell.
const LIMIT: Duration = Duration::from_secs(10);

/// What became of a write.
#[derive(Debug)]
pub enum Written {
    /// Seen when this is.
    Done(Echo),
    /// Somebody was faster; look again when that is seen.
    Refused(Echo),
}

pub type Result<T = Written, E = Error> = std::result::Result<T, E>;

/// The hand that writes. It writes as long as it leads.
pub struct Hand {
    pub client: Client,
    pub leadership: Leadership,
    pub metrics: std::rc::Rc<Metrics>,
}

impl Hand {
    pub async fn perform(&self, policy: &str, action: &Action, world: &World, now: Time) -> Result {
        match action {
            Action::Finalizer { keep } => self.finalizer(policy, *keep, world).await,
            Action::Enactment { node, version, step } => {
                let name = names::enactment(node, policy);
                match (version, step) {
                    (None, step) => self.create(name, policy, node, step.spec(), world).await,
                    (Some(version), Step::Delete) => self.delete(name, version).await,
                    (Some(version), Step::Mark(mark)) => self.mark(name, version, mark, world, now).await,
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
        world: &World,
    ) -> Result {
        let was = Echo::Enactment { name: name.clone(), was: None };
        // Without the node there is no owner, and nobody would ever delete it.
        let Some(uid) = world.uid(node) else { return Ok(Written::Refused(was)) };
        let object = enactment(name, policy, node, uid, spec);
        let api: Api<Enactment> = Api::all(self.client.clone());
        let written = self.write("create", async { api.create(&PostParams::default(), &object).await }).await;
        self.judge(written, |made: &Enactment| Echo::Enactments(version(made)), was)
    }

    async fn instruct(&self, name: String, version: &str, spec: Option<&EnactmentSpec>) -> Result {
        let path = format!("{}/{name}", Enactment::url_path(&(), None));
        let written = self.write("spec", self.put::<Enactment>(path, version, "/spec", json!(spec))).await;
        let was = Echo::Enactment { name, was: Some(version.into()) };
        self.judge(written, |made: &Enactment| Echo::Enactments(self::version(made)), was)
    }

    async fn mark(&self, name: String, version: &str, mark: &Mark, world: &World, now: Time) -> Result {
        let old = world.enactments.get(&name).map(|e| e.status.conditions.as_slice()).unwrap_or_default();
        let conditions = dated(old, mark.conditions(), now);
        let patch =
            json!({ "metadata": { "resourceVersion": version }, "status": { "conditions": conditions } });
        let api: Api<Enactment> = Api::all(self.client.clone());
        let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
        let written = self.write("mark", async { api.patch_status(&name, &params, &patch).await }).await;
        let was = Echo::Enactment { name: name.clone(), was: Some(version.into()) };
        self.judge(written, |made: &Enactment| Echo::Enactments(self::version(made)), was)
    }

    async fn delete(&self, name: String, version: &str) -> Result {
        let seen = Preconditions { resource_version: Some(version.into()), uid: None };
        let params = DeleteParams { preconditions: Some(seen), ..DeleteParams::default() };
        let api: Api<Enactment> = Api::all(self.client.clone());
        let written = self.write("delete", async { api.delete(&name, &params).await }).await;
        let gone = Echo::Enactment { name: name.clone(), was: Some(version.into()) };
        self.judge(written, |_| gone.clone(), gone.clone())
    }

    async fn finalizer(&self, policy: &str, keep: bool, world: &World) -> Result {
        let Some(papers) = world.papers.get(policy) else {
            return Err(Error::Forgotten { policy: policy.into() });
        };
        let mut finalizers: Vec<&str> = papers.finalizers.iter().map(String::as_str).collect();
        finalizers.retain(|name| *name != finalizers::REVERT);
        finalizers.extend(keep.then_some(finalizers::REVERT));
        let patch = json!({ "metadata": { "resourceVersion": papers.version, "finalizers": finalizers } });
        let api: Api<Policy> = Api::all(self.client.clone());
        let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
        let written = self.write("finalizer", async { api.patch(policy, &params, &patch).await }).await;
        let was = Echo::PolicyOther { name: policy.into(), was: papers.version.clone() };
        // Without its last finalizer it is gone, and its end is all that is heard.
        let seen = was.clone();
        self.judge(written, |made: &Policy| if keep { Echo::Policy(version(made)) } else { seen }, was)
    }

    /// The whole status of a policy.
    pub async fn status(&self, policy: &str, version: &str, status: Value) -> Result {
        let path = format!("{}/{policy}/status", Policy::url_path(&(), None));
        let written = self.write("status", self.put::<Policy>(path, version, "/status", status)).await;
        let was = Echo::PolicyOther { name: policy.into(), was: version.into() };
        self.judge(written, |made: &Policy| Echo::Policy(self::version(made)), was)
    }

    /// Replaces one part of an object: a merge would leave what is no longer said.
    async fn put<T: DeserializeOwned>(
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
        let request = Request::patch(path).header(CONTENT_TYPE, "application/json-patch+json");
        let request = request.body(patch.to_string().into_bytes()).map_err(kube::Error::HttpError)?;
        self.client.request(request).await
    }

    /// Bounded by patience and by the lease.
    pub async fn write<T>(
        &self,
        kind: &'static str,
        work: impl Future<Output = kube::Result<T>>,
    ) -> Result<T> {
        let left = self.leadership.left().ok_or(Error::NotLeading)?;
        let written = tokio::time::timeout(left.min(LIMIT), work).await.map_err(|_| Error::Slow { kind })?;
        if written.is_ok() {
            self.metrics.wrote(kind);
            fault::after_write();
        }
        written.map_err(|error| Error::Api { kind, error: Box::new(error) })
    }

    fn judge<T>(&self, written: Result<T>, done: impl FnOnce(&T) -> Echo, refused: Echo) -> Result {
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

fn version<K: Resource>(object: &K) -> u64 {
    number(object.meta().resource_version.as_deref().unwrap_or_default())
}

/// Owned by its node: Kubernetes deletes it with that.
fn enactment(name: String, policy: &str, node: &str, uid: &str, spec: Option<&EnactmentSpec>) -> Enactment {
    let owner = OwnerReference {
        api_version: "v1".into(),
        kind: "Node".into(),
        name: node.into(),
        uid: uid.into(),
        ..OwnerReference::default()
    };
    let labels = [(labels::POLICY, policy), (labels::NODE, node)];
    let metadata = ObjectMeta {
        name: Some(name),
        labels: Some(labels.map(|(key, value)| (key.into(), value.into())).into()),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    };
    Enactment { metadata, spec: spec.cloned(), ..Enactment::default() }
}
