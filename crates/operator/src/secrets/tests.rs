use std::convert::Infallible;

use hyper::{Request, Response};
use kube::client::Body;
use linesman_api::enactment::{PolicyRef, Stage};
use linesman_api::limits::SEALED_SECRETS;
use linesman_api::time::Time;
use linesman_daemon::sealing::{PrivateKey, encoded};
use linesman_fleet::rollout::NodeFacts;
use linesman_fleet::sealed_secrets::read_message;
use linesman_fleet::sealed_secrets::unavailable;
use serde_json::{Value, json};

use super::*;

/// Its API server gives the same answer to every request.
fn reader(code: u16, answer: &Value) -> SecretReader {
    let answer = answer.to_string();
    let service = tower::service_fn(move |_: Request<Body>| {
        let response = Response::builder().status(code).body(Body::from(answer.clone().into_bytes()));
        async { Ok::<_, Infallible>(response.unwrap()) }
    });
    SecretReader { client: Client::new(service, "nmstate"), namespace: "nmstate".into() }
}

fn refusal(code: u16, reason: &str) -> SecretReader {
    let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": reason });
    reader(code, &status)
}

fn secret(password: &str) -> SecretReader {
    let data = json!({ "n1": k8s_openapi::ByteString(password.as_bytes().to_vec()) });
    reader(200, &json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "eap" }, "data": data }))
}

fn cache(key: &str) -> Cache {
    let mut cache = Cache::default();
    let node = NodeFacts { name: "w1".into(), sealing_key: Some(key.into()), ..NodeFacts::default() };
    cache.nodes.insert("w1".into(), node);
    cache
}

fn spec() -> Box<EnactmentSpec> {
    let state = json!({ "ovs-db": { "external_ids": { "tunnel-psk": { "secretKeyRef": { "name": "eap", "key": "n1" } } } } });
    Box::new(EnactmentSpec {
        policy: PolicyRef { name: "blue".into(), uid: "u".into(), generation: 1 },
        desired_state: Some(state),
        stage: Stage::Released,
        attempt: 1,
        release_expires: Some(Time(9)),
        ..EnactmentSpec::default()
    })
}

fn release() -> Step {
    Step::Release { spec: spec(), until: Time(9) }
}

async fn prepare(reader: &SecretReader, key: &str, step: Step) -> Result<Result<Action, String>, Error> {
    let action = Action::Enactment { node: "w1".into(), version: Some("1".into()), step };
    Ok(match reader.prepare(&action, &cache(key), &mut Found::default()).await? {
        Prepared::Ready(action) => Ok(action.into_owned()),
        Prepared::Unavailable(secrets) => Err(unavailable(&secrets, &spec().desired_state.unwrap()).unwrap()),
        Prepared::NotSealed { node, reason } => Err(format!("{node}: {reason}")),
    })
}

#[tokio::test]
async fn a_release_carries_its_secrets_for_its_node_alone() {
    let own = PrivateKey::generate();
    let key = own.public().to_string();
    for step in [release(), Step::Seal(spec())] {
        let action = prepare(&secret("sesame\n"), &key, step.clone()).await.unwrap().unwrap();
        let Action::Enactment { step: prepared, .. } = &action else { panic!("{action:?}") };
        assert_eq!(std::mem::discriminant(prepared), std::mem::discriminant(&step));
        let released = prepared.spec().unwrap();
        assert!(!json!(released).to_string().contains("sesame"));
        let sealed = released.sealed_secrets.as_ref().unwrap();
        assert_eq!(sealed.key, key);
        let opened = own.open(&sealed.message, &context("w1", released), SECRETS).unwrap();
        let values: Vec<_> = read_message(&opened).unwrap().0.into_values().collect();
        assert_eq!(values, [Ok("sesame".to_string())]);
        assert!(own.open(&sealed.message, &context("w2", released), SECRETS).is_err());
        let later = EnactmentSpec { attempt: 2, ..released.clone() };
        assert!(own.open(&sealed.message, &context("w1", &later), SECRETS).is_err());
        assert!(PrivateKey::generate().open(&sealed.message, &context("w1", released), SECRETS).is_err());
    }
}

#[tokio::test]
async fn a_claim_carries_nothing_and_is_not_made_without_its_secrets() {
    let key = PrivateKey::generate().public().to_string();
    let action = prepare(&secret("sesame"), &key, Step::Claim(spec())).await.unwrap().unwrap();
    assert!(
        matches!(action, Action::Enactment { step: Step::Claim(spec), .. } if spec.sealed_secrets.is_none())
    );
    let needed = "needed at desiredState.ovs-db.external_ids.tunnel-psk; no changes made";
    for step in [Step::Claim(spec()), release(), Step::Seal(spec())] {
        let missing = prepare(&refusal(404, "NotFound"), &key, step.clone()).await.unwrap();
        assert_eq!(missing, Err(format!("[LM2016] there is no Secret nmstate/eap, {needed}")));
        let forbidden = prepare(&refusal(403, "Forbidden"), &key, step.clone()).await.unwrap();
        let reason = "the Secret nmstate/eap cannot be read: Forbidden";
        assert_eq!(forbidden, Err(format!("[LM2016] {reason}, {needed}")));
        let error = prepare(&refusal(503, "ServiceUnavailable"), &key, step.clone()).await;
        assert!(error.is_err(), "that is nothing about this Secret");
        let large = prepare(&secret(&"x".repeat(SECRETS)), &key, step).await.unwrap();
        assert!(large.unwrap_err().contains("it is longer than 65536 bytes"));
    }
}

#[tokio::test]
async fn a_key_that_cannot_be_used_is_named() {
    let zero = format!("{}=", "A".repeat(43));
    for key in ["", "no key", &zero] {
        let reason = prepare(&secret("sesame"), key, release()).await.unwrap().unwrap_err();
        assert!(reason.contains("it is no X25519 public key"), "{key:?}: {reason}");
    }
}

#[tokio::test]
async fn what_needs_no_secret_reads_none() {
    let broken = refusal(503, "ServiceUnavailable");
    let reverting = Box::new(EnactmentSpec { revert: true, ..*spec() });
    let plain = Box::new(EnactmentSpec { desired_state: Some(json!({})), ..*spec() });
    for step in
        [Step::Claim(reverting), Step::Claim(plain), Step::Bind(spec()), Step::Expire(spec()), Step::Delete]
    {
        assert!(prepare(&broken, "", step).await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn what_was_unavailable_is_read_again() {
    let reference = Reference { name: "eap".into(), key: "n1".into() };
    let other = Reference { key: "n2".into(), ..reference.clone() };
    let error = LookupError::NotFound { secret: "nmstate/eap".into() };
    let missing = UnavailableSecrets([(reference, error.clone()), (other.clone(), error)].into());
    assert_eq!(refusal(404, "NotFound").read_again(&missing).await.unwrap(), missing);
    assert!(refusal(503, "ServiceUnavailable").read_again(&missing).await.is_err());
    let no_key = LookupError::NoKey { secret: "nmstate/eap".into(), key: "n2".into() };
    let still = secret("sesame").read_again(&missing).await.unwrap();
    assert_eq!(still.0, [(other, no_key)].into());
}

#[test]
fn the_longest_message_fits_into_the_schema() {
    assert!(u64::try_from(encoded(SECRETS)).unwrap() <= SEALED_SECRETS);
}
