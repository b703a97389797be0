//! What a node should be instructed to do.

use std::collections::BTreeMap;

use linesman_api::enactment::{EnactmentSpec, PolicyRef, Previous, Purpose, Stage};
use linesman_api::options::Options;
use serde_json::Value;

use super::facts::{EnactmentFacts, PolicyFacts};
use super::progress::NodeProgress;
use crate::sealed_secrets::needs_secrets;
use linesman_core::mac_address::MacAddress;

#[derive(Debug, Clone)]
pub struct Content {
    pub state: Option<Value>,
    pub capture: BTreeMap<String, String>,
    pub options: Options,
    pub revert: bool,
    /// The address that matched the host; noted, and nothing that a node is instructed to do.
    pub mac: Option<MacAddress>,
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        (&self.state, &self.capture, &self.options, self.revert)
            == (&other.state, &other.capture, &other.options, other.revert)
    }
}

impl Content {
    pub fn of_policy(policy: &PolicyFacts, state: Option<Value>) -> Self {
        let (capture, options) = (policy.spec.capture.clone(), policy.spec.options());
        Self { state, capture, options, revert: false, mac: None }
    }

    pub fn of_spec(spec: &EnactmentSpec) -> Self {
        Self {
            state: spec.desired_state.clone(),
            capture: spec.capture.clone(),
            options: spec.options.clone(),
            revert: spec.revert,
            mac: matched(spec),
        }
    }

    /// Revert what the policy changed, whatever the last instruction was.
    pub fn reverting(spec: &EnactmentSpec) -> Self {
        Self { revert: true, ..Self::of_spec(spec) }
    }

    /// A version that the node had, under the options that the policy has now.
    pub fn earlier(policy: &PolicyFacts, spec: &EnactmentSpec, version: &Previous) -> Self {
        Self {
            state: version.desired_state.clone(),
            capture: version.capture.clone(),
            options: policy.spec.options(),
            revert: false,
            mac: matched(spec),
        }
    }

    pub fn needs_secrets(&self) -> bool {
        needs_secrets(self.state.as_ref(), self.revert)
    }

    /// Whether this is the same version, under whatever options.
    pub fn is_version(&self, version: &Previous) -> bool {
        (&self.state, &self.capture) == (&version.desired_state, &version.capture)
    }

    /// Whether the enactment has this content already, for this very policy.
    pub fn is_current(&self, policy: &PolicyFacts, enactment: &EnactmentFacts) -> bool {
        enactment
            .spec
            .as_ref()
            .is_some_and(|spec| spec.policy.uid == policy.uid && Self::of_spec(spec) == *self)
    }
}

fn matched(spec: &EnactmentSpec) -> Option<MacAddress> {
    spec.matched_mac.as_ref()?.parse().ok()
}

/// The spec with this content; a claim is a new attempt.
pub fn enactment_spec(
    policy: &PolicyFacts,
    content: &Content,
    before: Option<&EnactmentFacts>,
    stage: Stage,
) -> EnactmentSpec {
    let old = before.and_then(|enactment| enactment.spec.as_ref());
    EnactmentSpec {
        policy: PolicyRef {
            name: policy.name.clone(),
            uid: policy.uid.clone(),
            generation: policy.generation,
        },
        desired_state: content.state.clone(),
        capture: content.capture.clone(),
        options: content.options.clone(),
        revert: content.revert,
        purpose: purpose(policy, content, before),
        stage,
        attempt: attempt(before) + i64::from(stage == Stage::Claimed),
        // The next release must expire later than this one, or the agent takes it for an old one.
        release_expires: old.and_then(|spec| spec.release_expires),
        not_ready_since: None,
        failed_soak: None,
        sealed_secrets: None,
        matched_mac: content.mac.as_ref().map(ToString::to_string),
        previous: before.and_then(|enactment| previous(policy, content, enactment)),
    }
}

/// The last one. A spec that cannot be read does not say it, but a status may belong to it: no attempt may have its number again.
fn attempt(before: Option<&EnactmentFacts>) -> i64 {
    let known = before.map_or(0, |enactment| match &enactment.spec {
        Some(spec) => spec.attempt,
        None => enactment.status.attempt.unwrap_or_default(),
    });
    known.clamp(0, i64::MAX - 1)
}

/// The version of an enactment.
pub fn version(spec: &EnactmentSpec) -> Previous {
    Previous {
        generation: spec.policy.generation,
        desired_state: spec.desired_state.clone(),
        capture: spec.capture.clone(),
    }
}

/// The version of this very policy that the node has, as far as is known: an attempt that failed was rolled back.
pub fn applied(policy: &PolicyFacts, enactment: &EnactmentFacts) -> Option<Previous> {
    let spec = enactment.spec.as_ref().filter(|spec| spec.policy.uid == policy.uid && !spec.revert)?;
    let has = NodeProgress::of(enactment) == NodeProgress::Available || spec.purpose == Purpose::Repeat;
    if has { Some(version(spec)) } else { spec.previous.clone() }
}

fn purpose(policy: &PolicyFacts, content: &Content, before: Option<&EnactmentFacts>) -> Purpose {
    match before.and_then(|enactment| applied(policy, enactment)) {
        Some(applied) if content.is_version(&applied) => Purpose::Repeat,
        _ if policy.undoes() => Purpose::Undo,
        _ => Purpose::Rollout,
    }
}

/// What is applied on the node; where the same is wanted again, what was applied before that.
fn previous(policy: &PolicyFacts, content: &Content, before: &EnactmentFacts) -> Option<Previous> {
    let spec = before.spec.as_ref().filter(|spec| spec.policy.uid == policy.uid)?;
    let (older, applied) = (spec.previous.clone(), applied(policy, before));
    match applied {
        Some(applied) if content.is_version(&applied) => older.or(Some(applied)),
        Some(applied) => Some(applied),
        None => older,
    }
}
