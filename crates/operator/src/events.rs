//! Events on policies and enactments: what `kubectl describe` shows below the status.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use linesman_api::kinds::{self, Kind};
use linesman_fleet::rollout::{PolicyEvent, PolicyFacts};

use crate::writer::{Writer, created};

/// Kubernetes keeps events of objects without a namespace here.
const NAMESPACE: &str = "default";
const CONTROLLER: &str = "nmstate.io/linesman-operator";
/// Bytes that Kubernetes accepts.
const NOTE: usize = 1024;
/// Of the name of an object, so that the name of the event fits into 253.
const NAME: usize = 236;

/// What an event is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    kind: Kind,
    name: &'a str,
    uid: &'a str,
}

impl<'a> Subject<'a> {
    pub fn policy(policy: &'a PolicyFacts) -> Self {
        Self { kind: kinds::POLICY, name: &policy.name, uid: &policy.uid }
    }

    pub fn enactment(name: &'a str, uid: &'a str) -> Self {
        Self { kind: kinds::ENACTMENT, name, uid }
    }
}

/// An event that cannot be written is only logged: the status says the same.
pub async fn publish(writer: &Writer, identity: &str, about: Subject<'_>, version: u64, event: &PolicyEvent) {
    let PolicyEvent { warning, reason, message } = event;
    let (kind, name) = (about.kind.singular, about.name);
    match warning {
        true => tracing::warn!(kind, name, %reason, "{message}"),
        false => tracing::info!(kind, name, %reason, "{message}"),
    }
    let event = object(identity, about, version, event);
    let api: Api<Event> = Api::namespaced(writer.client.clone(), NAMESPACE);
    let written = writer.write("event", async { api.create(&created(), &event).await }).await;
    // After a restart the same version gives the same event.
    if let Err(error) =
        written.map(drop).or_else(|error| if error.is_refusal() { Ok(()) } else { Err(error) })
    {
        tracing::warn!(kind, name, error = &error as &dyn std::error::Error, "cannot write the event");
    }
}

/// Named by the version of the object that it describes.
fn object(identity: &str, about: Subject<'_>, version: u64, event: &PolicyEvent) -> Event {
    let regarding = ObjectReference {
        api_version: Some(about.kind.api_version()),
        kind: Some(about.kind.kind.into()),
        name: Some(about.name.into()),
        uid: Some(about.uid.into()),
        ..ObjectReference::default()
    };
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{}.{version:x}", about.name.get(..NAME).unwrap_or(about.name))),
            namespace: Some(NAMESPACE.into()),
            ..ObjectMeta::default()
        },
        action: Some("Rollout".into()),
        event_time: Some(MicroTime(Timestamp::now())),
        note: Some(short(&event.message)),
        reason: Some(event.reason.as_str().into()),
        regarding: Some(regarding),
        reporting_controller: Some(CONTROLLER.into()),
        reporting_instance: Some(identity.chars().take(128).collect()),
        type_: Some(if event.warning { "Warning" } else { "Normal" }.into()),
        ..Event::default()
    }
}

fn short(message: &str) -> String {
    if message.len() <= NOTE {
        return message.into();
    }
    let end = (0..=NOTE - "…".len()).rev().find(|end| message.is_char_boundary(*end)).unwrap_or_default();
    format!("{}…", &message[..end])
}

#[cfg(test)]
mod tests {
    use linesman_api::reasons::EventReason;

    use super::*;

    #[test]
    fn events_are_about_the_policy_and_fit() {
        let policy = PolicyFacts { name: "blue".into(), uid: "u".into(), ..PolicyFacts::default() };
        let event =
            PolicyEvent { warning: true, reason: EventReason::ReconcileFailed, message: "ä".repeat(800) };
        let event = object("op-1", Subject::policy(&policy), 255, &event);
        assert_eq!(event.metadata.name.as_deref(), Some("blue.ff"));
        assert_eq!(event.type_.as_deref(), Some("Warning"));
        assert!(event.note.is_some_and(|note| note.len() <= NOTE && note.ends_with('…')));
        assert_eq!(event.regarding.and_then(|it| it.kind).as_deref(), Some("NodeNetworkConfigurationPolicy"));
    }
}
