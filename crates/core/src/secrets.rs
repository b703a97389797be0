//! What must not be shown to others: passwords, keys, tokens.

/// Whether a setting of this name holds a secret, in a profile as in a state.
pub fn is_secret(key: &str) -> bool {
    const WHOLE: &[&str] = &[
        "psk",
        "pin",
        "password",
        "passwd",
        "secret",
        "secrets",
        "private-key",
        "mka-cak",
        "leap-password",
        "preshared-key",
        "token-secret",
        "wep-key",
        "key-data",
        "leftrsasigkey",
        "community",
    ];
    const PARTS: &[&str] =
        &["password", "passphrase", "secret", "psk", "preshared", "mka-cak", "private-key", "wep-key"];
    let key = key.to_ascii_lowercase().replace('_', "-");
    // These say how a secret is kept, not what it is.
    if key.ends_with("-flags") || key == "wep-key-type" || key == "psk-flags" {
        return false;
    }
    WHOLE.contains(&key.as_str()) || PARTS.iter().any(|part| key.contains(part))
}
