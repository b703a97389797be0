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
use linesman_fleet::rollout::{Action, Step, WaitingStatus};
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
                    (Some(version), Step::SetStatus(mark)) => {
                        self.mark(name, version, mark, world, now).await
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

    async fn mark(
        &self,
        name: String,
        version: &str,
        mark: &WaitingStatus,
        world: &World,
        now: Time,
    ) -> Result {
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

    /// Whether there is such a policy now, whatever the watches say.
    pub async fn is_there(&self, policy: &str) -> Result<bool> {
        let api: Api<Policy> = Api::all(self.client.clone());
        let asked = tokio::time::timeout(LIMIT, api.get_metadata_opt(policy)).await;
        let found = asked.map_err(|_| Error::Slow { kind: "look" })?;
        found
            .map(|found| found.is_some())
            .map_err(|error| Error::Api { kind: "look", error: Box::new(error) })
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

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::{Arc, Mutex};

    use hyper::Response;
    use kube::client::Body;
    use linesman_api::enactment::Stage;
    use linesman_fleet::rollout::{EnactmentFacts, NodeFacts, PolicyFacts};

    use super::*;
    use crate::facts::{KnownNode, KnownPolicy};
    use crate::watch::{Change, News};

    type Asked = Arc<Mutex<Vec<(String, Value)>>>;

    /// A hand before an API server that gives everybody the same answer, and what that was asked.
    fn hand(code: u16, answer: Value) -> (Hand, Asked) {
        let asked = Asked::default();
        let log = asked.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (log, answer) = (log.clone(), answer.to_string());
            async move {
                let asked = format!("{} {}", request.method(), request.uri().path());
                let body = request.into_body().collect_bytes().await.unwrap_or_default();
                log.lock().unwrap().push((asked, serde_json::from_slice(&body).unwrap_or_default()));
                let answer = Response::builder().status(code).body(Body::from(answer.into_bytes()));
                Ok::<_, std::convert::Infallible>(answer.unwrap())
            }
        });
        let client = Client::new(service, "nmstate");
        let metrics = Rc::new(Metrics::new("test"));
        (Hand { client, leadership: Leadership::settled(), metrics }, asked)
    }

    fn world() -> World {
        let mut world = World::default();
        let facts = NodeFacts { name: "w1".into(), ..NodeFacts::default() };
        let node = KnownNode { facts, uid: "uid-w1".into() };
        world.take(News::Nodes(Change::Put { name: "w1".into(), version: 1, thing: node }));
        let policy = KnownPolicy {
            facts: PolicyFacts { name: "blue".into(), ..PolicyFacts::default() },
            version: "4".into(),
            finalizers: vec!["others.example/keep".into()],
            status: Default::default(),
        };
        world.take(News::Policies(Change::Put { name: "blue".into(), version: 4, thing: policy }));
        let thing = EnactmentFacts { policy: "blue".into(), node: "w1".into(), ..EnactmentFacts::default() };
        world.take(News::Enactments(Change::Put { name: "w1.blue".into(), version: 5, thing }));
        world
    }

    fn action(version: Option<&str>, step: Step) -> Action {
        Action::Enactment { node: "w1".into(), version: version.map(str::to_owned), step }
    }

    fn spec() -> Box<EnactmentSpec> {
        Box::new(EnactmentSpec { stage: Stage::Claimed, attempt: 1, ..EnactmentSpec::default() })
    }

    async fn done(action: &Action, answer: Value) -> (Written, String, Value) {
        let (hand, asked) = hand(200, answer);
        let written = hand.perform("blue", action, &world(), Time(1)).await.unwrap();
        let (asked, body) = asked.lock().unwrap().pop().unwrap();
        (written, asked, body)
    }

    fn enactments(rest: &str) -> String {
        format!("/apis/nmstate.io/v1beta1/nodenetworkconfigurationenactments{rest}")
    }

    fn made(version: &str) -> Value {
        json!({ "metadata": { "name": "any", "resourceVersion": version } })
    }

    #[tokio::test]
    async fn a_new_enactment_belongs_to_its_node_and_is_awaited() {
        let (written, asked, body) = done(&action(None, Step::Claim(spec())), made("9")).await;
        assert!(matches!(written, Written::Done(Echo::Enactments(9))), "{written:?}");
        assert_eq!(asked, format!("POST {}", enactments("")));
        assert_eq!(body["metadata"]["name"], "w1.blue");
        assert_eq!(
            body["metadata"]["labels"],
            json!({ "nmstate.io/policy": "blue", "nmstate.io/node": "w1" })
        );
        assert_eq!(body["metadata"]["ownerReferences"][0]["uid"], "uid-w1");
        assert_eq!(body["spec"]["stage"], "Claimed");
    }

    #[tokio::test]
    async fn an_instruction_is_replaced_for_the_version_that_was_seen() {
        let (_, asked, body) = done(&action(Some("5"), Step::Bind(spec())), made("9")).await;
        assert_eq!(asked, format!("PATCH {}", enactments("/w1.blue")));
        assert_eq!(body[0], json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": "5" }));
        assert_eq!((&body[1]["op"], &body[1]["path"]), (&json!("add"), &json!("/spec")));
        assert_eq!(body[1]["value"]["attempt"], 1);
    }

    #[tokio::test]
    async fn a_mark_is_a_report_and_a_delete_holds_for_one_version() {
        let mark = WaitingStatus { aborted: true, reason: "R", message: "why".into() };
        let (_, asked, body) = done(&action(Some("5"), Step::SetStatus(mark)), made("9")).await;
        assert_eq!(asked, format!("PATCH {}", enactments("/w1.blue/status")));
        assert_eq!(body["metadata"]["resourceVersion"], "5");
        assert_eq!(body["status"]["conditions"].as_array().map(Vec::len), Some(5));
        let (written, asked, body) =
            done(&action(Some("5"), Step::Delete), json!({ "kind": "Status" })).await;
        assert!(matches!(written, Written::Done(Echo::Enactment { .. })), "{written:?}");
        assert_eq!(asked, format!("DELETE {}", enactments("/w1.blue")));
        assert_eq!(body["preconditions"], json!({ "resourceVersion": "5" }));
    }

    #[tokio::test]
    async fn finalizers_of_others_stay() {
        let (_, _, body) = done(&Action::Finalizer { keep: true }, made("9")).await;
        assert_eq!(body["metadata"]["resourceVersion"], "4");
        assert_eq!(body["metadata"]["finalizers"], json!(["others.example/keep", finalizers::REVERT]));
        let (written, _, body) = done(&Action::Finalizer { keep: false }, made("9")).await;
        assert_eq!(body["metadata"]["finalizers"], json!(["others.example/keep"]));
        assert!(matches!(written, Written::Done(Echo::PolicyOther { .. })), "{written:?}");
    }

    #[tokio::test]
    async fn who_comes_too_late_looks_again_and_who_may_not_says_so() {
        let answer = |code: u16, reason: &str| json!({ "kind": "Status", "status": "Failure", "code": code, "reason": reason });
        for (code, reason) in [(409, "Conflict"), (409, "AlreadyExists"), (404, "NotFound")] {
            let (hand, _) = hand(code, answer(code, reason));
            let written =
                hand.perform("blue", &action(Some("5"), Step::Bind(spec())), &world(), Time(1)).await;
            assert!(matches!(written, Ok(Written::Refused(Echo::Enactment { .. }))), "{written:?}");
        }
        let (hand, _) = hand(403, answer(403, "Forbidden"));
        let written = hand.perform("blue", &action(Some("5"), Step::Bind(spec())), &world(), Time(1)).await;
        assert!(matches!(written, Err(Error::Api { .. })), "{written:?}");
    }

    #[tokio::test]
    async fn who_does_not_lead_writes_nothing() {
        let (mut hand, asked) = hand(200, made("9"));
        hand.leadership = Leadership::lost();
        let written = hand.perform("blue", &action(None, Step::Claim(spec())), &world(), Time(1)).await;
        assert!(matches!(written, Err(Error::NotLeading)), "{written:?}");
        assert!(asked.lock().unwrap().is_empty());
    }
}
