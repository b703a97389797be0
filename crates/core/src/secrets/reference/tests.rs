use serde_json::{Value, json};

use super::*;

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
fn what_is_written_down_has_no_secrets() {
    let mut record = json!({ "desired": { "psk": "hunter2", "private-key": "/a" },
        "differences": [{ "path": "interfaces[w0].psk", "want": "hunter2", "got": null },
                        { "path": "interfaces[w0].mtu", "want": 1, "got": 2 }] });
    hide(&mut record);
    assert!(!record.to_string().contains("hunter2"), "{record}");
    assert_eq!(record["differences"][0]["got"], Value::Null);
    assert_eq!(record["differences"][1]["want"], 1);
    assert_eq!(record["desired"]["private-key"], "/a");
}

#[test]
fn others_do_not_tell_it_either() {
    let mut outcome = json!({ "reason": "cannot use 'hunter2'", "notes": ["hunter2 again"] });
    known("hunter2").redact(&mut outcome);
    assert_eq!(outcome, json!({ "reason": "cannot use '<masked>'", "notes": ["<masked> again"] }));
    assert!(!format!("{:?}", known("hunter2")).contains("hunter2"));
}
