//! What must not be shown to others: passwords, keys, tokens. Masked wherever something leaves the host.

mod line;
mod reference;
mod shown;

use serde_json::Value;

use crate::keyfile::{Line, lines};
pub(crate) use line::mask_source_line;
pub use reference::{
    HIDDEN, LookupError, MissingSecret, Reference, Secrets, hide, in_clear, left_open, redacted, references,
};
pub use shown::{is_secret_place, shown};
pub(crate) use shown::{serialize_change, serialize_masked};

pub const MASK: &str = "<masked>";

/// Words that make a setting a secret, wherever they stand in its name.
const WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "psk",
    "preshared",
    "mka-cak",
    "private-key",
    "privatekey",
    "wep-key",
];

/// Whether a setting of this name holds a secret, in a profile as in a state.
pub fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace(['_', '.'], "-");
    // These say how a secret is kept, not what it is.
    let about = key.ends_with("-flags") || key == "wep-key-type" || key == "show-secrets";
    !about && (key == "pin" || WORDS.iter().any(|word| key.contains(word)))
}

/// A message without a secret that it quotes.
pub(crate) fn without(message: &str, secret: &str) -> String {
    if secret.is_empty() { message.to_owned() } else { message.replace(secret, MASK) }
}

/// A profile file without its secrets.
pub fn mask_profile(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    for (line, raw) in lines(text).zip(text.lines()) {
        match line {
            Line::Entry { section, key, .. } if section == "vpn-secrets" || is_secret(key) => {
                masked += &format!("{key}={MASK}");
            }
            // Not a profile's line: whatever it is, it may belong to a secret.
            Line::Wrong => masked += MASK,
            _ => masked += raw,
        }
        masked.push('\n');
    }
    masked
}

/// A state, a journal entry or anything else in JSON without its secrets. Profiles inside of it count, too.
pub fn mask_value(value: &mut Value) {
    mask_fields_and(value, &|text| {
        if text.contains("[connection]") {
            *text = mask_profile(text);
        } else if text.contains(['=', ':']) {
            *text = mask_text(text);
        }
    });
}

/// The same for what has no foreign text in it.
pub fn mask_fields(value: &mut Value) {
    mask_fields_and(value, &|_| {});
}

fn mask_fields_and(value: &mut Value, mask: &dyn Fn(&mut String)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                if is_secret(key) && !value.is_null() && !value.is_boolean() {
                    *value = MASK.into();
                } else {
                    mask_fields_and(value, mask);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_fields_and(item, mask)),
        Value::String(text) => mask(text),
        _ => {}
    }
}

/// Log lines without what follows the name of a secret.
pub fn mask_text(text: &str) -> String {
    text.split_inclusive('\n').map(mask_line).collect()
}

/// `psk=…`, `password: …`, `"psk": "…"`, `psk '…'`.
fn mask_line(line: &str) -> String {
    let mut masked = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = rest.split_at(at + 1);
        masked += before;
        rest = after;
        let name = before[..at].trim_end_matches(['"', '\'', ' ']);
        let start = name
            .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
            .map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
        if is_secret(&name[start..]) {
            // Where a secret ends is unknown: with a space in it, it goes on.
            masked += MASK;
            if line.ends_with('\n') {
                masked.push('\n');
            }
            return masked;
        }
    }
    masked + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_known_by_their_names() {
        let secret = [
            "psk",
            "wep-key0",
            "password",
            "password-raw",
            "leap-password",
            "phase2-private-key",
            "private-key",
            "private-key-password",
            "phase2-private-key-password",
            "pin",
            "mka-cak",
            "preshared-key",
            "Xauth password",
            "IPSec secret",
            "passphrase",
            "client-secret",
        ];
        let open = [
            "psk-flags",
            "password-flags",
            "key-mgmt",
            "identity",
            "wep-key-type",
            "token",
            "ping",
            "id",
            "eap",
            "public-key",
            "ipv4",
        ];
        assert_eq!(secret.iter().filter(|key| !is_secret(key)).collect::<Vec<_>>(), Vec::<&&str>::new());
        assert_eq!(open.iter().filter(|key| is_secret(key)).collect::<Vec<_>>(), Vec::<&&str>::new());
    }

    #[test]
    fn profiles_lose_their_secrets_and_nothing_else() {
        let cases = [
            (
                "[wifi-security]\nkey-mgmt=wpa-psk\npsk=hunter2\n",
                "[wifi-security]\nkey-mgmt=wpa-psk\npsk=<masked>\n",
            ),
            (
                "[802-1x]\nidentity=n1\npassword = hunter2\nca-cert=/a\n",
                "[802-1x]\nidentity=n1\npassword=<masked>\nca-cert=/a\n",
            ),
            ("[wireguard]\nprivate-key=hunter2\n", "[wireguard]\nprivate-key=<masked>\n"),
            (
                "[wireguard-peer.abc=]\npreshared-key=hunter2\nendpoint=a:1\n",
                "[wireguard-peer.abc=]\npreshared-key=<masked>\nendpoint=a:1\n",
            ),
            ("[vpn-secrets]\nanything=hunter2\n", "[vpn-secrets]\nanything=<masked>\n"),
            ("[macsec]\nmka-cak=hunter2\nmka-ckn=1\n", "[macsec]\nmka-cak=<masked>\nmka-ckn=1\n"),
            ("[a]\npsk=x\nhunter2\n", "[a]\npsk=<masked>\n<masked>\n"),
            ("[ipv4]\nmethod=auto\n", "[ipv4]\nmethod=auto\n"),
        ];
        for (profile, masked) in cases {
            assert_eq!(mask_profile(profile), masked);
        }
    }

    #[test]
    fn states_and_journals_lose_their_secrets() {
        let cases = [
            (
                json!({"802.1x": {"identity": "a", "private-key-password": "hunter2"}}),
                json!({"802.1x": {"identity": "a", "private-key-password": MASK}}),
            ),
            (
                json!({"libreswan": {"psk": "hunter2", "left": "1.1.1.1"}}),
                json!({"libreswan": {"psk": MASK, "left": "1.1.1.1"}}),
            ),
            (json!([{"macsec": {"mka-cak": "hunter2"}}]), json!([{"macsec": {"mka-cak": MASK}}])),
            (json!({"secrets": {"a": "hunter2"}, "psk": null}), json!({"secrets": MASK, "psk": null})),
            (
                json!({"content": "[connection]\nid=a\n[wifi-security]\npsk=hunter2\n"}),
                json!({"content": "[connection]\nid=a\n[wifi-security]\npsk=<masked>\n"}),
            ),
            (json!({"reason": "cannot set psk=hunter2 now"}), json!({"reason": "cannot set psk=<masked>"})),
            (json!({"mtu": 1500, "name": "eth0"}), json!({"mtu": 1500, "name": "eth0"})),
        ];
        for (mut value, masked) in cases {
            mask_value(&mut value);
            assert_eq!(value, masked);
        }
    }

    #[test]
    fn log_lines_lose_what_follows_a_secret() {
        let cases = [
            ("a\npsk=hunter2\nb\n", "a\npsk=<masked>\nb\n"),
            ("set 802-1x.password: hunter2 and more", "set 802-1x.password:<masked>"),
            ("{\"psk\": \"hunter2\"}", "{\"psk\":<masked>"),
            ("Config: added 'psk' value '<hidden>'", "Config: added 'psk' value '<hidden>'"),
            ("10:05:01 device eth0: up", "10:05:01 device eth0: up"),
            ("ü=1 pässword: x", "ü=1 pässword: x"),
        ];
        for (line, masked) in cases {
            assert_eq!(mask_text(line), masked);
        }
    }
}
