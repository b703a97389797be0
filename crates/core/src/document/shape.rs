//! Which of the three kinds of document this is, and where its desired state is.

use super::options::{self, Written};
use super::read::Root;
use super::tree::{Node, Range};
use crate::codes;
use crate::diagnostic::Diagnostic;

const POLICY_KIND: &str = "NodeNetworkConfigurationPolicy";
const POLICY_LIST: &str = "NodeNetworkConfigurationPolicyList";

#[derive(Debug)]
pub(super) struct Shape {
    pub state: Node,
    pub capture: Option<Node>,
    pub policy: Option<String>,
    pub written: Written,
}

#[derive(Debug)]
pub(super) struct ShapeError {
    pub diagnostic: Box<Diagnostic>,
    pub range: Range,
}

impl ShapeError {
    pub fn new(diagnostic: Diagnostic, range: Range) -> Self {
        Self { diagnostic: Box::new(diagnostic), range }
    }
}

/// The items of a Kubernetes List, as `kubectl get -o yaml` prints one; else the document itself.
pub(super) fn unlisted(root: Root) -> Vec<Root> {
    let is_list = |root: &Node| {
        let kind = root.get("kind").and_then(Node::as_str);
        matches!(kind, Some("List" | POLICY_LIST)) && root.get("items").and_then(Node::items).is_some()
    };
    match root {
        Ok(root) if is_list(&root) => {
            let items = root.get("items").and_then(Node::items).unwrap_or_default();
            items.iter().cloned().map(Ok).collect()
        }
        other => vec![other],
    }
}

pub(super) fn recognise(root: Node) -> Result<Shape, ShapeError> {
    must_be_mapping(&root, "the document", root.range)?;
    if root.get("kind").is_some() || root.get("apiVersion").is_some() {
        return manifest(root);
    }
    if ["capture", "desired", "desiredState"].iter().any(|key| root.get(key).is_some()) {
        refuse_strangers(&root)?;
        return policy(root, "desired", None);
    }
    Ok(Shape { state: root, capture: None, policy: None, written: Written::default() })
}

fn manifest(root: Node) -> Result<Shape, ShapeError> {
    let kind = root.entry("kind");
    if kind.and_then(|entry| entry.value.as_str()) != Some(POLICY_KIND) {
        let range = kind.map_or(root.range, |entry| entry.value.range);
        let name = kind.and_then(|entry| entry.value.as_str()).unwrap_or("object without a kind");
        let message = format!("a Kubernetes {name} contains no desired state");
        let hint = format!("use a {POLICY_KIND}, or a plain state that starts with 'interfaces:'");
        return Err(ShapeError::new(Diagnostic::new(codes::WRONG_KIND, message).hint(hint), range));
    }
    let name = root.get("metadata").and_then(|metadata| metadata.get("name")?.as_str()).map(str::to_owned);
    let range = kind.map_or(root.range, |entry| entry.range);
    let spec = root.take("spec").ok_or_else(|| no_state("the policy has no spec.desiredState", range))?;
    must_be_mapping(&spec, "spec", range)?;
    let written = options::read(&spec)?;
    Ok(Shape { written, ..policy(spec, "spec.desiredState", name)? })
}

/// `holder` has `capture` and one of the two spellings of the desired state.
fn policy(mut holder: Node, called: &str, name: Option<String>) -> Result<Shape, ShapeError> {
    let first =
        holder.entries().and_then(|entries| entries.first()).map_or(holder.range, |entry| entry.range);
    if let (Some(_), Some(second)) = (holder.entry("desired"), holder.entry("desiredState")) {
        let message = "'desired' and 'desiredState' mean the same; both are given";
        return Err(ShapeError::new(
            Diagnostic::new(codes::NO_STATE, message).hint("keep one of them"),
            second.range,
        ));
    }
    let capture = holder.get("capture").filter(|node| !node.is_null()).cloned();
    if let (Some(node), Some(entry)) = (&capture, holder.entry("capture")) {
        must_be_mapping(node, "capture", entry.range)?;
    }
    let key = if holder.get("desired").is_some() { "desired" } else { "desiredState" };
    let range = holder.entry(key).map_or(first, |entry| entry.range);
    holder = holder.take(key).ok_or_else(|| no_state(&format!("the policy has no {called}"), range))?;
    if holder.is_null() {
        return Err(no_state(&format!("{called} is empty"), range));
    }
    must_be_mapping(&holder, called, range)?;
    Ok(Shape { state: holder, capture, policy: name, written: Written::default() })
}

/// A state's own keys next to `desired` would be silently ignored.
fn refuse_strangers(root: &Node) -> Result<(), ShapeError> {
    const KNOWN: [&str; 4] = ["capture", "desired", "desiredState", "current"];
    let entries = root.entries().unwrap_or_default();
    let Some(entry) = entries.iter().find(|entry| !KNOWN.contains(&entry.key.as_str())) else {
        return Ok(());
    };
    let message = format!("unknown key '{}' in a policy", entry.key);
    let hint = "a policy has the keys 'capture' and 'desired'; the desired state belongs under 'desired'";
    Err(ShapeError::new(Diagnostic::new(codes::UNKNOWN_KEY, message).hint(hint), entry.range))
}

fn no_state(message: &str, range: Range) -> ShapeError {
    let hint = "declare the desired state, for example 'interfaces:' with a list";
    ShapeError::new(Diagnostic::new(codes::NO_STATE, message).hint(hint), range)
}

fn must_be_mapping(node: &Node, called: &str, range: Range) -> Result<(), ShapeError> {
    if node.entries().is_some() {
        return Ok(());
    }
    let message =
        format!("{called} should be a mapping with keys such as 'interfaces', but is {}", node.kind());
    let hint = match node.items() {
        Some(_) => "put 'interfaces:' above the list, if it is a list of interfaces",
        None => "an NMState document starts with a key, for example 'interfaces:'",
    };
    Err(ShapeError::new(Diagnostic::new(codes::NOT_A_STATE, message).hint(hint), range))
}
