//! Kubeconfigs with everything inside: they work wherever they are carried.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::authority::Identity;

/// How somebody proves who they are.
#[derive(Debug)]
pub(super) enum Proof<'a> {
    Certificate(&'a Identity),
    Token(&'a str),
}

/// JSON, which is YAML.
pub(super) fn kubeconfig(server: &str, authority: &str, proof: &Proof) -> String {
    let user = match proof {
        Proof::Certificate(identity) => json!({
            "client-certificate-data": STANDARD.encode(&identity.certificate),
            "client-key-data": STANDARD.encode(&identity.key),
        }),
        Proof::Token(token) => json!({ "token": token }),
    };
    let cluster = json!({ "server": server, "certificate-authority-data": STANDARD.encode(authority) });
    let config: Value = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "lab", "cluster": cluster }],
        "users": [{ "name": "lab", "user": user }],
        "contexts": [{ "name": "lab", "context": { "cluster": "lab", "user": "lab" } }],
        "current-context": "lab",
    });
    format!("{config:#}\n")
}
