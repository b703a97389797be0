//! What the API server wrote down of every request.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Doing, Result};

/// One request, answered. Of a watch there are two: when it began (`ResponseStarted`) and when it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub stage: String,
    pub user: String,
    /// Such as authentication.kubernetes.io/node-name, empty if the token said nothing of it.
    pub node: String,
    pub agent: String,
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    /// RFC 3339 with microseconds: these texts sort as the times do.
    pub received: String,
    pub code: u16,
    /// Bodies, of `nmstate.io` only; null elsewhere.
    pub request: Value,
    pub response: Value,
}

impl Event {
    pub fn succeeded(&self) -> bool {
        (200..300).contains(&self.code)
    }

    pub fn writes(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb.as_str())
    }

    /// `nodenetworkstates/status`
    pub fn target(&self) -> String {
        match self.subresource.as_str() {
            "" => self.resource.clone(),
            subresource => format!("{}/{subresource}", self.resource),
        }
    }
}

pub(super) fn read(log: &Path) -> Result<Vec<Event>> {
    let text = std::fs::read_to_string(log).doing_to("read", log)?;
    // The last line may be half written.
    Ok(text.lines().filter_map(event).collect())
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Line {
    stage: String,
    user: User,
    user_agent: String,
    verb: String,
    object_ref: ObjectRef,
    request_received_timestamp: String,
    response_status: Status,
    request_object: Value,
    response_object: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct User {
    username: String,
    extra: Value,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ObjectRef {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    code: u16,
}

fn event(line: &str) -> Option<Event> {
    let line: Line = serde_json::from_str(line).ok()?;
    let node = line.user.extra["authentication.kubernetes.io/node-name"][0].as_str().unwrap_or_default();
    Some(Event {
        stage: line.stage,
        node: node.to_owned(),
        user: line.user.username,
        agent: line.user_agent,
        verb: line.verb,
        group: line.object_ref.api_group,
        resource: line.object_ref.resource,
        subresource: line.object_ref.subresource,
        namespace: line.object_ref.namespace,
        name: line.object_ref.name,
        received: line.request_received_timestamp,
        code: line.response_status.code,
        request: line.request_object,
        response: line.response_object,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const LINE: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete",
        "verb":"patch","user":{"username":"system:serviceaccount:nmstate:nmstate-handler",
        "extra":{"authentication.kubernetes.io/node-name":["n1"]}},"userAgent":"linesman",
        "objectRef":{"resource":"nodenetworkconfigurationenactments","name":"n1.br","apiGroup":"nmstate.io","subresource":"status"},
        "responseStatus":{"metadata":{},"code":403},"requestObject":{"status":{"attempt":1}},
        "requestReceivedTimestamp":"2026-01-01T00:00:00.000001Z"}"#;

    #[test]
    fn a_line_is_read() {
        let event = event(LINE).unwrap();
        assert_eq!(event.target(), "nodenetworkconfigurationenactments/status");
        assert_eq!((event.node.as_str(), event.code, event.succeeded()), ("n1", 403, false));
        assert_eq!(event.request["status"]["attempt"], 1);
        assert!(event.writes() && event.response.is_null());
    }

    #[test]
    fn half_a_line_is_none() {
        assert_eq!(event(&LINE[..LINE.len() / 2]), None);
    }
}
