//! Name servers that a profile may not keep.
//!
//! nmstate writes name servers into the profile of an interface of its choice and leaves them there when a later
//! state turns the interface's addresses off; NetworkManager then refuses the profile ("dns is not allowed for
//! method=disabled"), and with it the whole change. They are taken out of the file first, where they cannot be
//! meant any more.

use serde_json::Value;

use crate::Result;
use crate::atomic_file;
use crate::keyfile::ProfileFile;
use crate::nm::Nm;

/// Called once the snapshot is written.
pub async fn take_out(nm: &Nm, profiles: &[ProfileFile], desired: &Value) -> Result<()> {
    let altered = without_stale(profiles, desired);
    for profile in &altered {
        atomic_file::write(&profile.path, profile.content.as_bytes(), profile.mode)
            .map_err(|e| crate::Error::call("writing a profile", e))?;
    }
    let paths: Vec<&str> = altered.iter().filter_map(|p| p.path.to_str()).collect();
    if paths.is_empty() { Ok(()) } else { nm.load_profiles(&paths).await }
}

/// The profiles that change. Pure.
fn without_stale(profiles: &[ProfileFile], desired: &Value) -> Vec<ProfileFile> {
    let off = |profile: &ProfileFile, family: &str| {
        let interfaces = desired["interfaces"].as_array().into_iter().flatten();
        interfaces
            .into_iter()
            .any(|i| i["name"].as_str() == profile.interface() && i[family]["enabled"] == false)
    };
    let altered = |profile: &ProfileFile| {
        let families: Vec<&str> = ["ipv4", "ipv6"].into_iter().filter(|f| off(profile, f)).collect();
        let content = drop_dns(&profile.content, &families);
        (content != profile.content).then(|| ProfileFile { content, ..profile.clone() })
    };
    profiles.iter().filter(|p| p.on_disk()).filter_map(altered).collect()
}

fn drop_dns(content: &str, families: &[&str]) -> String {
    let mut section = "";
    let mut kept = String::with_capacity(content.len());
    for line in content.lines() {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            section = name;
        }
        let is_dns = families.contains(&section) && line.trim_start().starts_with("dns");
        if !is_dns {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_of_the_family_that_is_turned_off() {
        let content = "[connection]\ninterface-name=eth1\n[ipv4]\ndns=10.0.0.1;\ndns-search=a;\nmethod=manual\n[ipv6]\ndns=fd00::1;\nmethod=auto\n";
        let path = format!("{}/eth1.nmconnection", crate::keyfile::ON_DISK).into();
        let profile = ProfileFile { path, mode: 0o600, content: content.into() };
        let off = json!({ "interfaces": [{ "name": "eth1", "ipv4": { "enabled": false } }] });
        let altered = without_stale(std::slice::from_ref(&profile), &off);
        assert_eq!(
            altered[0].content,
            "[connection]\ninterface-name=eth1\n[ipv4]\nmethod=manual\n[ipv6]\ndns=fd00::1;\nmethod=auto\n"
        );
        let on = json!({ "interfaces": [{ "name": "eth1", "ipv4": { "enabled": true } }] });
        assert!(without_stale(&[profile], &on).is_empty());
    }
}
