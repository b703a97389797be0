use std::rc::Rc;
use std::sync::{Arc, Mutex};

use hyper::{Method, Response};
use kube::client::Body;
use linesman_api::enactment::Stage;
use linesman_fleet::rollout::{EnactmentFacts, NodeFacts, PolicyFacts};

use super::*;
use crate::facts::{KnownNode, KnownPolicy};
use crate::watch::{Change, WatchEvent};

type Asked = Arc<Mutex<Vec<(String, Value)>>>;

/// A writer whose API server gives the same answer to every request, and its requests.
fn writer(code: u16, answer: Value) -> (Writer, Asked) {
    writer_with(move |_| (code, answer.clone()))
}

/// The same with an API server that answers by the method.
fn writer_with(answer: impl Fn(&Method) -> (u16, Value) + Send + 'static) -> (Writer, Asked) {
    let asked = Asked::default();
    let log = asked.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (log, (code, answer)) = (log.clone(), answer(request.method()));
        async move {
            let asked = format!("{} {}", request.method(), request.uri().path());
            let body = request.into_body().collect_bytes().await.unwrap_or_default();
            log.lock().unwrap().push((asked, serde_json::from_slice(&body).unwrap_or_default()));
            let answer = Response::builder().status(code).body(Body::from(answer.to_string().into_bytes()));
            Ok::<_, std::convert::Infallible>(answer.unwrap())
        }
    });
    let client = Client::new(service, "nmstate");
    let metrics = Rc::new(Metrics::new("test"));
    (Writer { client, leadership: Leadership::leading(), metrics }, asked)
}

fn cache() -> Cache {
    let mut cache = Cache::default();
    let facts = NodeFacts { name: "w1".into(), ..NodeFacts::default() };
    let node = KnownNode { facts, uid: "uid-w1".into() };
    cache.apply(WatchEvent::Nodes(Change::Put { name: "w1".into(), version: 1, object: node }));
    let policy = KnownPolicy {
        facts: PolicyFacts { name: "blue".into(), ..PolicyFacts::default() },
        unreadable: None,
        version: "4".into(),
        finalizers: vec!["others.example/keep".into()],
        status: Default::default(),
    };
    cache.apply(WatchEvent::Policies(Change::Put { name: "blue".into(), version: 4, object: policy }));
    let object = EnactmentFacts { policy: "blue".into(), node: "w1".into(), ..EnactmentFacts::default() };
    cache.apply(WatchEvent::Enactments(Change::Put { name: "w1.blue".into(), version: 5, object }));
    cache
}

fn action(version: Option<&str>, step: Step) -> Action {
    Action::Enactment { node: "w1".into(), version: version.map(str::to_owned), step }
}

fn spec() -> Box<EnactmentSpec> {
    Box::new(EnactmentSpec { stage: Stage::Claimed, attempt: 1, ..EnactmentSpec::default() })
}

async fn done(action: &Action, answer: Value) -> (Written, String, Value) {
    let (writer, asked) = writer(200, answer);
    let written = writer.perform("blue", action, &cache(), Time(1)).await.unwrap();
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
    assert!(matches!(written, Written::Done(PendingWrite::Enactments(9))), "{written:?}");
    assert_eq!(asked, format!("POST {}", enactments("")));
    assert_eq!(body["metadata"]["name"], "w1.blue");
    assert_eq!(body["metadata"]["labels"], json!({ "nmstate.io/policy": "blue", "nmstate.io/node": "w1" }));
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
async fn why_a_node_waits_goes_to_the_status_and_a_delete_is_for_one_version() {
    let status = WaitingStatus::aborted("why");
    let (_, asked, body) = done(&action(Some("5"), Step::SetStatus(status)), made("9")).await;
    assert_eq!(asked, format!("PATCH {}", enactments("/w1.blue/status")));
    assert_eq!(body["metadata"]["resourceVersion"], "5");
    assert_eq!(body["status"]["conditions"].as_array().map(Vec::len), Some(5));
    let (written, asked, body) = done(&action(Some("5"), Step::Delete), json!({ "kind": "Status" })).await;
    assert!(matches!(written, Written::Done(PendingWrite::EnactmentChanged { .. })), "{written:?}");
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
    assert!(matches!(written, Written::Done(PendingWrite::PolicyChanged { .. })), "{written:?}");
}

#[tokio::test]
async fn a_late_write_is_refused_and_a_forbidden_one_is_an_error() {
    let answer = |code: u16, reason: &str| json!({ "kind": "Status", "status": "Failure", "code": code, "reason": reason });
    for (code, reason) in [(409, "Conflict"), (409, "AlreadyExists"), (404, "NotFound")] {
        let (writer, _) = writer(code, answer(code, reason));
        let written = writer.perform("blue", &action(Some("5"), Step::Bind(spec())), &cache(), Time(1)).await;
        assert!(
            matches!(written, Ok(Written::Refused(PendingWrite::EnactmentChanged { .. }))),
            "{written:?}"
        );
    }
    let (writer, _) = writer(403, answer(403, "Forbidden"));
    let written = writer.perform("blue", &action(Some("5"), Step::Bind(spec())), &cache(), Time(1)).await;
    assert!(matches!(written, Err(Error::Api { .. })), "{written:?}");
}

#[tokio::test]
async fn an_enactment_whose_name_is_taken_is_an_error_and_one_that_came_first_is_not() {
    let create = async |labels: Value| {
        let exists = json!({ "kind": "Status", "status": "Failure", "code": 409, "reason": "AlreadyExists" });
        let found = json!({ "metadata": { "name": "w1.blue", "labels": labels } });
        let (writer, _) = writer_with(move |method| match *method {
            Method::GET => (200, found.clone()),
            _ => (409, exists.clone()),
        });
        writer.perform("blue", &action(None, Step::Bind(spec())), &cache(), Time(1)).await
    };
    let written = create(json!({ "nmstate.io/policy": "blue", "nmstate.io/node": "w1" })).await;
    assert!(matches!(written, Ok(Written::Refused(_))), "{written:?}");
    for (labels, who) in [
        (json!({ "nmstate.io/policy": "red", "nmstate.io/node": "w2" }), "of the policy red on the node w2"),
        (json!({}), "of an enactment without labels"),
    ] {
        let error = create(labels).await.unwrap_err();
        assert!(error.about_object().is_some_and(|why| why.contains(who)), "{error}");
    }
}

#[tokio::test]
async fn an_operator_that_does_not_lead_writes_nothing() {
    let (mut writer, asked) = writer(200, made("9"));
    writer.leadership = Leadership::lost();
    let written = writer.perform("blue", &action(None, Step::Claim(spec())), &cache(), Time(1)).await;
    assert!(matches!(written, Err(Error::NotLeading)), "{written:?}");
    assert!(asked.lock().unwrap().is_empty());
}
