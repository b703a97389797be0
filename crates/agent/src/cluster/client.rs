//! Client of the API server. Every request has a limit: a node that is cut off must notice.

use std::fmt::Debug;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Status;
use kube::{Api, Client};
use linesman_api::enactment::EnactmentStatus;
use linesman_api::names::{self, AGENT_MANAGER};
use linesman_api::objects::{Enactment, NodeState, UnreadableSpec};
use linesman_daemon::renewal::Renewal;
use linesman_fleet::enactment::{Bound, Unreadable};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// How long one request may take.
const LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Where(#[from] linesman_daemon::cluster::Error),
    #[error("the API server does not answer: {0}")]
    NoAnswer(String),
    /// Perhaps not yet: a server that has just started does not know who may what.
    #[error("the API server does not allow it: {0}")]
    Forbidden(String),
    /// Somebody else wrote in between.
    #[error("the object changed in the meantime")]
    Changed,
    #[error("there is no such object")]
    Gone,
    #[error("the API server refuses: {0}")]
    Refused(String),
}

#[derive(Clone)]
pub struct ClusterClient {
    client: Client,
    /// Of all its connections.
    pub renewal: Renewal,
    pub node: String,
}

impl std::fmt::Debug for ClusterClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClusterClient({})", self.node)
    }
}

impl ClusterClient {
    /// Sends no request yet: the cluster may be away when the agent starts.
    pub async fn new(kubeconfig: Option<&Path>, node: &str) -> Result<Self, Error> {
        let renewal = Renewal::default();
        let client = linesman_daemon::cluster::connect_renewable(kubeconfig, &renewal).await?;
        Ok(Self { client, renewal, node: node.into() })
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }

    pub fn enactments(&self) -> Api<Enactment> {
        Api::all(self.client.clone())
    }

    pub fn states(&self) -> Api<NodeState> {
        Api::all(self.client.clone())
    }

    /// From the API server itself, not from the watch.
    pub async fn read(&self, policy: &str) -> Result<(Enactment, Bound), Error> {
        let name = names::enactment(&self.node, policy);
        let object = within(self.enactments().get(&name)).await?;
        match of_node(object.clone(), &self.node) {
            Some(NodeEnactment::Readable(bound)) => Ok((object, bound)),
            _ => Err(Error::Gone),
        }
    }

    /// Only if the enactment is still what was read.
    pub async fn begin(&self, object: Enactment, status: EnactmentStatus) -> Result<(), Error> {
        let object = Enactment { status, ..object };
        let name = object.metadata.name.clone().unwrap_or_default();
        within(self.enactments().replace_status(&name, &written(), &object)).await.map(drop)
    }

    /// The whole status at once; with a uid, of that very object and no other of the same name. If the API server refuses it,
    /// because a document in it is too large, the rest of it without documents: the operator waits for the conditions.
    pub async fn put_status<K: Clone + DeserializeOwned + Debug>(
        api: &Api<K>,
        name: &str,
        uid: Option<&str>,
        status: &Value,
    ) -> Result<(), Error> {
        match (Self::replace_status(api, name, uid, status).await, without_documents(status)) {
            (Err(Error::Refused(why)), Some(rest)) => {
                tracing::warn!(
                    "the API server refuses a status with its documents: {why}; sending it without them"
                );
                Self::replace_status(api, name, uid, &rest).await
            }
            (result, _) => result,
        }
    }

    async fn replace_status<K: Clone + DeserializeOwned + Debug>(
        api: &Api<K>,
        name: &str,
        uid: Option<&str>,
        status: &Value,
    ) -> Result<(), Error> {
        let mut operations = vec![json!({ "op": "add", "path": "/status", "value": status })];
        if let Some(uid) = uid {
            operations.insert(0, json!({ "op": "test", "path": "/metadata/uid", "value": uid }));
        }
        let patch: json_patch::Patch =
            serde_json::from_value(operations.into()).map_err(|e| Error::Refused(e.to_string()))?;
        let patch: Patch<()> = Patch::Json(patch);
        within(api.patch_status(
            name,
            &PatchParams { field_manager: Some(AGENT_MANAGER.into()), ..PatchParams::default() },
            &patch,
        ))
        .await
        .map(drop)
    }

    pub async fn node_uid(&self) -> Result<String, Error> {
        let nodes: Api<k8s_openapi::api::core::v1::Node> = Api::all(self.client.clone());
        let node = within(nodes.get_metadata(&self.node)).await?;
        node.metadata.uid.ok_or(Error::Gone)
    }
}

/// In `metadata.managedFields`, under a name of its own.
pub fn written() -> PostParams {
    PostParams { field_manager: Some(AGENT_MANAGER.into()), ..PostParams::default() }
}

pub async fn within<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, Error> {
    match tokio::time::timeout(LIMIT, request).await {
        Err(_) => Err(Error::NoAnswer(format!("no answer within {} s", LIMIT.as_secs()))),
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(kube::Error::Api(status))) => Err(classify(&status)),
        Ok(Err(other)) => Err(Error::NoAnswer(other.to_string())),
    }
}

fn classify(status: &Status) -> Error {
    match status.code {
        404 => Error::Gone,
        409 => Error::Changed,
        422 if is_unpatchable(status) => Error::Gone,
        401 | 403 => Error::Forbidden(status.message.clone()),
        500 if is_too_large(&status.message) => Error::Refused(status.message.clone()),
        429 | 500.. => Error::NoAnswer(status.message.clone()),
        _ => Error::Refused(status.message.clone()),
    }
}

/// What etcd, or the API server's client of it, finds too large is an internal error.
fn is_too_large(message: &str) -> bool {
    message.contains("request is too large") || message.contains("larger than max")
}

/// None: it has none.
fn without_documents(status: &Value) -> Option<Value> {
    let mut rest = status.as_object()?.clone();
    rest.retain(|key, _| !["desiredState", "capturedStates"].contains(&key.as_str()));
    (rest.len() < status.as_object()?.len()).then_some(rest.into())
}

/// The test for the uid failed: the API server names no cause then, while an invalid object has one for each field.
fn is_unpatchable(status: &Status) -> bool {
    status.reason == "Invalid" && status.details.as_ref().is_none_or(|details| details.causes.is_empty())
}

/// An enactment of this node.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there are few, and nearly all are readable")]
pub enum NodeEnactment {
    Readable(Bound),
    Unreadable(Unreadable),
}

/// None: not one of this node's, or of kubernetes-nmstate, which has no spec.
pub fn of_node(object: Enactment, node: &str) -> Option<NodeEnactment> {
    let Enactment { metadata, spec, status, unreadable, .. } = object;
    let policy = names::policy_of(metadata.name.as_deref()?, node)?.to_owned();
    let (uid, generation) = (metadata.uid?, metadata.generation.unwrap_or_default());
    if let Some(UnreadableSpec { error, attempt }) = unreadable {
        return Some(NodeEnactment::Unreadable(Unreadable {
            policy,
            uid,
            generation,
            attempt,
            error,
            status,
        }));
    }
    let created = serde_json::to_value(&metadata.creation_timestamp)
        .and_then(serde_json::from_value)
        .unwrap_or_default();
    Some(NodeEnactment::Readable(Bound { policy, uid, created, generation, spec: spec?, status }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16, reason: &str, details: &Value) -> Status {
        serde_json::from_value(json!({
            "status": "Failure", "code": code, "reason": reason, "message": "testing", "details": details
        }))
        .unwrap()
    }

    #[test]
    fn refusals_are_classified_by_code_reason_and_causes() {
        let of = |code, reason: &str, details| classify(&status(code, reason, &details));
        assert!(matches!(of(404, "NotFound", json!({})), Error::Gone));
        assert!(matches!(of(409, "Conflict", json!({})), Error::Changed));
        assert!(matches!(of(422, "Invalid", json!({})), Error::Gone), "another uid");
        let causes =
            json!({ "causes": [{ "reason": "FieldValueInvalid", "field": "status", "message": "testing" }] });
        assert!(matches!(of(422, "Invalid", causes), Error::Refused(_)), "whatever its message contains");
        assert!(matches!(of(403, "Forbidden", json!({})), Error::Forbidden(_)));
        assert!(matches!(of(503, "ServiceUnavailable", json!({})), Error::NoAnswer(_)));
        assert!(matches!(of(500, "InternalError", json!({})), Error::NoAnswer(_)));
        let mut large = status(500, "InternalError", &json!({}));
        large.message = "etcdserver: request is too large".into();
        assert!(matches!(classify(&large), Error::Refused(_)), "it would be too large for ever");
    }

    #[test]
    fn a_status_without_its_documents_keeps_the_rest() {
        let status = json!({ "attempt": 1, "desiredState": {}, "conditions": [] });
        assert_eq!(without_documents(&status), Some(json!({ "attempt": 1, "conditions": [] })));
        assert_eq!(without_documents(&json!({ "currentState": {} })), None);
    }

    #[test]
    fn enactments_of_this_node_count() {
        let read = |spec: Value, node| {
            let name = names::enactment("w1", "blue");
            let metadata = json!({ "name": name, "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z" });
            of_node(serde_json::from_value(json!({ "metadata": metadata, "spec": spec })).unwrap(), node)
        };
        let Some(NodeEnactment::Readable(found)) = read(json!({ "attempt": 2 }), "w1") else { panic!() };
        assert_eq!((found.policy.as_str(), found.spec.attempt), ("blue", 2));
        assert_eq!(found.created.to_string(), "2026-01-01T00:00:00Z");
        assert_eq!(read(json!({ "attempt": 2 }), "w2"), None, "of another node");
        assert_eq!(read(Value::Null, "w1"), None, "of kubernetes-nmstate");
        let unreadable = read(json!({ "attempt": "two" }), "w1");
        assert!(
            matches!(unreadable, Some(NodeEnactment::Unreadable(unreadable)) if unreadable.policy == "blue")
        );
    }
}
