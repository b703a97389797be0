//! Whatever NMState calls a secret is in nothing that a person, a file or a cluster gets to see.

use linesman_core::check::check;
use linesman_core::compare::differences;
use linesman_core::compose::compose;
use linesman_core::diagnostic::render;
use linesman_core::document::{Document, tree};
use linesman_core::facts::Facts;
use linesman_core::plan::plan;
use linesman_core::policy::{Options, Policy};
use linesman_core::secrets::{hide, in_clear, mask_profile, mask_value, redacted};
use linesman_core::why::why;
use nmstate::NetworkState;
use serde_json::{Value, json};

const EVERY_FIELD: &str = include_str!("../cases/schema/every-field.yaml");
const HOST: &str = include_str!("../cases/plan/node/observed.yaml");
/// What every secret of the document begins with, perhaps after a slash.
const MARK: &str = "hunter2";

fn canonical(state: &Value) -> Value {
    let typed: NetworkState = serde_json::from_value(state.clone()).expect("is a state");
    serde_json::to_value(typed).expect("was a state")
}

/// Each interface of the document that has secrets, with what they need and nothing else.
fn interfaces_with_secrets() -> Vec<Value> {
    let state = tree(EVERY_FIELD).expect("is YAML").to_value();
    let sections =
        [("eth1", "ethernet", "802.1x"), ("ms0", "macsec", "macsec"), ("ipsec0", "ipsec", "libreswan")];
    let mut found = Vec::new();
    for interface in state["interfaces"].as_array().into_iter().flatten() {
        let text = interface.to_string().replace("\"eth2\"", "\"eth1\"");
        if !text.contains(MARK) {
            continue;
        }
        let interface: Value = serde_json::from_str(&text).expect("is still JSON");
        let known = sections.iter().find(|(name, ..)| interface["name"] == *name);
        let (name, kind, section) = known.expect("every interface with a secret is known here");
        found.push(json!({ "name": name, "type": kind, "state": "up", *section: interface[section] }));
    }
    assert_eq!(found.len(), sections.len());
    found
}

/// Other secrets than those of the document.
fn changed(interface: &Value) -> Value {
    serde_json::from_str(&interface.to_string().replace(MARK, "hunter2-another")).expect("is still JSON")
}

fn policy(name: &str, state: &Value) -> Policy {
    Policy { name: name.into(), state: state.clone(), capture: None, options: Options::default() }
}

/// Everything that is said of `desired` on a host that looks like `observed`.
fn said(desired: &Value, observed: &Value) -> Vec<(&'static str, String)> {
    let facts = Facts { ovs_running: true, ..Facts::default() };
    let mut said = Vec::new();
    match plan(desired, observed, &facts) {
        Ok(plan) => {
            said.push(("plan", plan.render(false)));
            said.push(("plan -o json", json!(plan).to_string()));
        }
        Err(refusals) => said.push(("refusal", json!(refusals).to_string())),
    }
    for difference in differences(desired, observed) {
        said.push(("difference", difference.to_string()));
        said.push(("difference -o json", json!(difference).to_string()));
    }
    for name in ["eth1", "ms0", "ipsec0"] {
        said.push(("why", json!(why(name, &[policy("one", desired)], observed)).to_string()));
    }
    said
}

#[test]
fn no_secret_is_shown() {
    let host = canonical(&tree(HOST).expect("is YAML").to_value());
    let mut leaks = Vec::new();
    let mut places = 0;
    for interface in interfaces_with_secrets() {
        let desired = canonical(&json!({ "interfaces": [interface] }));
        let other = canonical(&json!({ "interfaces": [changed(&interface)] }));
        assert!(in_clear(&desired).is_some(), "{desired}");
        let mut configured = host.clone();
        let list = configured["interfaces"].as_array_mut().expect("a host has interfaces");
        list.retain(|i| i["name"] != interface["name"]);
        list.extend(other["interfaces"].as_array().cloned().unwrap_or_default());

        let mut all = said(&desired, &host);
        all.extend(said(&desired, &configured));
        let conflicts =
            compose(&[&policy("one", &desired), &policy("two", &other)]).expect_err("they differ");
        all.extend(conflicts.iter().map(|conflict| ("conflict", conflict.to_string())));
        all.push(("conflicts", json!(conflicts).to_string()));
        let mut written = json!({ "desired": desired });
        hide(&mut written);
        all.push(("journal", written.to_string()));
        let mut reported = desired.clone();
        mask_value(&mut reported);
        all.push(("report", reported.to_string()));
        places += all.len();
        leaks.extend(all.into_iter().filter(|(_, text)| text.contains(MARK)));
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
    assert!(places > 30, "only {places} places were looked at");
}

/// A diagnostic quotes the line that it is about.
#[test]
fn no_secret_is_quoted_by_a_diagnostic() {
    let schema = |state: &Value| {
        serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
    };
    for interface in interfaces_with_secrets() {
        // Each secret as a list, and on a line with the mistake.
        let text = interface.to_string();
        let marks: Vec<usize> = text.match_indices(MARK).map(|(at, _)| at).collect();
        for at in marks {
            let start = text[..at].rfind('"').expect("it is a text");
            let end = at + text[at..].find('"').expect("it is a text") + 1;
            let broken = format!("{}[{}]{}", &text[..start], &text[start..end], &text[end..]);
            let document = Document::parse("a", &format!("{{\"interfaces\": [{broken}]}}")).expect("is JSON");
            let problems = check(&document, &schema);
            assert!(!problems.is_empty(), "{broken}");
            let shown: String = problems.iter().map(|problem| render(problem, &document, false)).collect();
            assert!(!shown.contains(MARK), "{shown}");
        }
    }
}

#[test]
fn what_others_quote_is_redacted() {
    for interface in interfaces_with_secrets() {
        let state = json!({ "interfaces": [interface] });
        let quoted = format!("NetworkManager says: invalid {state}");
        let said = redacted(&quoted, &state);
        assert!(said.starts_with("NetworkManager says: invalid ") && !said.contains(MARK), "{said}");
    }
}

/// Properties that NetworkManager itself marks as secrets (NM_SETTING_PARAM_SECRET), and keys that may be written in
/// place of a file's name.
const OF_PROFILES: &[(&str, &[&str])] = &[
    (
        "802-1x",
        &[
            "ca-cert-password",
            "client-cert-password",
            "phase2-ca-cert-password",
            "phase2-client-cert-password",
            "password",
            "password-raw",
            "private-key",
            "private-key-password",
            "phase2-private-key",
            "phase2-private-key-password",
            "pin",
        ],
    ),
    ("adsl", &["password"]),
    ("cdma", &["password"]),
    ("gsm", &["password", "pin"]),
    ("macsec", &["mka-cak"]),
    ("pppoe", &["password"]),
    ("vpn-secrets", &["password", "cookie", "gateway", "IPSec secret", "pskvalue", "cert-pass"]),
    ("wifi-security", &["psk", "wep-key0", "wep-key1", "wep-key2", "wep-key3", "leap-password"]),
    ("802-11-wireless-security", &["psk", "wep-key0", "leap-password"]),
    ("wireguard", &["private-key"]),
    ("wireguard-peer.abc=", &["preshared-key"]),
];

#[test]
fn profiles_lose_every_secret_that_networkmanager_has() {
    for (section, keys) in OF_PROFILES {
        for key in *keys {
            for value in ["hunter2", "/hunter2", " hunter2 = : x", "'hunter2'"] {
                let masked = mask_profile(&format!("[{section}]\n{key}={value}\n"));
                assert!(!masked.contains(MARK) && masked.contains(key), "{masked}");
            }
        }
    }
}
