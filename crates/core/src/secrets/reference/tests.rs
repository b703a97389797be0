use serde_json::{Value, json};

use super::*;
use crate::compare::Difference;

fn pointed() -> Value {
    json!({ "interfaces": [{ "name": "eth1", "802.1x": { "identity": "n1",
        "private-key": "/etc/pki/n1.key", "private-key-password": { "secretKeyRef": { "name": "eap", "key": "n1" } } } }] })
}

fn known(text: &str) -> Secrets {
    Secrets([(Reference { name: "eap".into(), key: "n1".into() }, Ok(text.into()))].into())
}

#[test]
fn references_are_found_filled_and_left_open() {
    let password = |state: &Value| state["interfaces"][0]["802.1x"]["private-key-password"].clone();
    let found: Vec<String> = references(&pointed()).values().map(ToString::to_string).collect();
    assert_eq!(found, ["interfaces[eth1].802.1x.private-key-password"]);
    let filled = known("hunter2").fill(&pointed()).unwrap();
    assert_eq!(password(&filled), "hunter2");
    assert_eq!(filled["interfaces"][0]["802.1x"]["private-key"], "/etc/pki/n1.key");
    assert_eq!(password(&left_open(&pointed())), HIDDEN);
}

#[test]
fn what_is_missing_is_told_with_its_place() {
    let reference = Reference { name: "eap".into(), key: "n1".into() };
    let missing = Secrets([(reference, Err(LookupError::NotFound { secret: "nmstate/eap".into() }))].into());
    assert_eq!(
        missing.fill(&pointed()).unwrap_err().to_string(),
        "there is no Secret nmstate/eap, needed at desiredState.interfaces[eth1].802.1x.private-key-password"
    );
    assert!(Secrets::default().fill(&pointed()).is_err());
    assert!(Secrets::default().fill(&json!({ "interfaces": [] })).is_ok());
}

#[test]
fn a_reference_is_whole_or_none() {
    for wrong in [
        json!({ "secretKeyRef": { "name": "eap" } }),
        json!({ "secretKeyRef": { "name": "eap", "key": "a", "optional": true } }),
        json!({ "secretKeyRef": { "name": "eap", "key": "a" }, "more": 1 }),
    ] {
        let state = json!({ "psk": wrong });
        assert!(references(&state).is_empty() && left_open(&state) == state, "{state}");
        assert!(in_clear(&state).is_some(), "{state}");
    }
    let elsewhere = json!({ "mtu": { "secretKeyRef": { "name": "a", "key": "b" } } });
    assert!(references(&elsewhere).is_empty(), "only a secret may point to one");
}

#[test]
fn secrets_in_clear_are_found_and_only_they() {
    assert_eq!(in_clear(&pointed()), None, "a file is named, not shown");
    let clear = [json!("hunter2"), json!(1234), json!({ "a": "b" })];
    for value in clear {
        let state = json!({ "interfaces": [{ "name": "w0", "wpa": { "psk": value } }] });
        assert_eq!(in_clear(&state).unwrap().to_string(), "interfaces[w0].wpa.psk");
    }
    for value in [Value::Null, json!(""), json!(HIDDEN), json!(true)] {
        assert_eq!(in_clear(&json!({ "psk": value })), None);
    }
}

#[test]
fn a_secret_is_no_file_because_of_a_slash() {
    let clear = [
        json!({ "802.1x": { "password": "/hunter2" } }),
        json!({ "802.1x": { "private-key-password": "file:hunter2" } }),
        json!({ "802.1x": { "private-key": "-----BEGIN PRIVATE KEY-----" } }),
        json!({ "802.1x": { "private-key": "/hunter\n2" } }),
        json!({ "libreswan": { "psk": "/hunter2" } }),
        json!({ "macsec": { "mka-cak": "/hunter2" } }),
        json!({ "wireguard": { "private-key": "/9j4hunter2=" } }),
    ];
    for mut state in clear {
        assert!(in_clear(&state).is_some(), "{state}");
        hide(&mut state);
        assert!(!state.to_string().contains("hunter"), "{state}");
    }
}

#[test]
fn what_others_say_about_a_state_has_none_of_its_secrets() {
    let state = json!({ "interfaces": [{ "name": "w0", "802.1x": { "password": "/hunter2", "private-key": "/etc/a.key" } }],
        "psk": "up" });
    assert_eq!(
        redacted("w0 is not up: /hunter2 is wrong for /etc/a.key", &state),
        "w0 is not up: <masked> is wrong for /etc/a.key"
    );
}

#[test]
fn what_is_written_down_has_no_secrets() {
    let difference = |key: &str| Difference {
        path: Path::interface("w0").key(key),
        want: "hunter2".into(),
        got: Value::Null,
    };
    let mut record = json!({ "desired": { "psk": "hunter2", "802.1x": { "private-key": "/a", "password": "/hunter2" } },
        "differences": [difference("psk"), difference("description")] });
    hide(&mut record);
    assert!(!record["desired"].to_string().contains("hunter2"), "{record}");
    assert_eq!(record["differences"][0], json!({ "path": "interfaces[w0].psk", "want": MASK, "got": null }));
    assert_eq!(record["differences"][1]["want"], "hunter2", "no secret is written there");
    assert_eq!(record["desired"]["802.1x"]["private-key"], "/a");
}

#[test]
fn others_do_not_tell_it_either() {
    let mut outcome = json!({ "reason": "cannot use 'hunter2'", "notes": ["hunter2 again"] });
    known("hunter2").redact(&mut outcome);
    assert_eq!(outcome, json!({ "reason": "cannot use '<masked>'", "notes": ["<masked> again"] }));
    assert!(!format!("{:?}", known("hunter2")).contains("hunter2"));
}
