//! NetworkManager's profile files, read as far as a snapshot needs them.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use linesman_core::facts::{ProfileFact, RuleFact};
use linesman_core::keyfile::{Line, get, lines};
use linesman_core::state::network;
use serde::{Deserialize, Serialize};

/// Where profiles outlive a reboot.
pub const ON_DISK: &str = "/etc/NetworkManager/system-connections";
/// Where NetworkManager keeps the ones that do not.
pub const IN_MEMORY: &str = "/run/NetworkManager/system-connections";

/// One profile file, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileFile {
    pub path: PathBuf,
    pub mode: u32,
    pub content: String,
}

impl ProfileFile {
    pub fn uuid(&self) -> Option<&str> {
        self.get("connection", "uuid")
    }

    pub fn id(&self) -> Option<&str> {
        self.get("connection", "id")
    }

    pub fn on_disk(&self) -> bool {
        self.path.starts_with(ON_DISK)
    }

    /// What a power cut leaves of a file that had not reached the disk: its name.
    pub fn is_blank(&self) -> bool {
        self.content.chars().all(|c| c == '\0' || c.is_whitespace())
    }

    /// NetworkManager describes what others configured with profiles that it makes up and forgets again;
    /// nobody wants those back. (The profile it makes up to run a bare NIC by DHCP is not volatile.)
    fn made_up(&self) -> bool {
        ["nm-generated", "volatile"].iter().all(|key| self.get(".nmmeta", key) == Some("true"))
    }

    pub fn interface(&self) -> Option<&str> {
        self.get("connection", "interface-name")
    }

    /// The bridge or bond that it is a port of: an interface, or the UUID of a profile.
    pub fn controller(&self) -> Option<&str> {
        self.get("connection", "controller").or_else(|| self.get("connection", "master"))
    }

    /// Of a device that Open vSwitch has as a port; its `ovs-port` is another profile.
    pub fn is_interface_of_ovs_port(&self) -> bool {
        let controller = self.get("connection", "port-type").or_else(|| self.get("connection", "slave-type"));
        controller == Some("ovs-port")
    }

    pub fn kind(&self) -> Option<&str> {
        self.get("connection", "type")
    }

    pub fn has_rules(&self) -> bool {
        self.lines().any(|line| line.starts_with("routing-rule"))
    }

    fn ip_entries(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        lines(&self.content).filter_map(|line| match line {
            Line::Entry { section: section @ ("ipv4" | "ipv6"), key, value } => Some((section, key, value)),
            _ => None,
        })
    }

    fn has_dns(&self) -> bool {
        let is_dns = |key: &str| matches!(key, "dns" | "dns-search" | "dns-options");
        self.ip_entries().any(|(_, key, value)| is_dns(key) && !value.trim_matches(';').is_empty())
    }

    fn rules(&self) -> Vec<RuleFact> {
        let rule = |(family, key, value): (&str, &str, &str)| {
            let mut words = value.split_whitespace().skip_while(|word| *word != "priority").skip(1);
            let priority = words.next()?.parse().ok()?;
            key.starts_with("routing-rule").then(|| RuleFact { family: family.to_owned(), priority })
        };
        self.ip_entries().filter_map(rule).collect()
    }

    fn onlink(&self) -> Vec<String> {
        let is_onlink = |options: &str| options.split(',').any(|option| option.trim() == "onlink=true");
        let destination = |(section, key, value): (&str, &str, &str)| {
            let route = key.strip_suffix("_options").filter(|_| is_onlink(value))?;
            let to = self.get(section, route)?.split([',', ' ', ';']).next().and_then(network)?;
            Some(to.to_string())
        };
        self.ip_entries().filter_map(destination).collect()
    }

    /// The static addresses that the profile asks for.
    pub fn addresses(&self) -> Vec<(IpAddr, u8)> {
        self.content
            .lines()
            .filter_map(|l| l.trim().split_once('='))
            .filter(|(key, _)| key.strip_prefix("address").is_some_and(|n| n.parse::<u32>().is_ok()))
            .filter_map(|(_, value)| {
                let (ip, prefix) = value.split([',', ' ', ';']).next()?.split_once('/')?;
                Some((ip.parse().ok()?, prefix.parse().ok()?))
            })
            .collect()
    }

    /// Where the routes lead that the profile brings: its own, its default routes, and the way to their gateways.
    pub fn route_destinations(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let (mut gateways, mut defaults) = (Vec::new(), Vec::new());
        for (key, value) in self.content.lines().filter_map(|l| l.trim().split_once('=')) {
            let numbered = |start: &str| key.strip_prefix(start).is_some_and(|n| n.parse::<u32>().is_ok());
            let mut parts = value.split([',', ' ', ';']);
            if numbered("route") {
                all.extend(parts.next().and_then(network).map(|to| to.to_string()));
                gateways.extend(parts.next());
            } else if numbered("address") {
                defaults.extend(parts.nth(1));
            } else if key == "gateway" {
                defaults.push(value);
            }
        }
        let parse = |ip: &str| ip.trim().parse::<IpAddr>().ok();
        for gateway in defaults.iter().filter_map(|ip| parse(ip)) {
            all.insert(if gateway.is_ipv4() { "0.0.0.0/0" } else { "::/0" }.to_string());
        }
        for gateway in gateways.iter().chain(&defaults).filter_map(|ip| parse(ip)) {
            all.insert(format!("{gateway}/{}", if gateway.is_ipv4() { 32 } else { 128 }));
        }
        all
    }

    /// Addresses of this family come by DHCP or from a router.
    pub fn is_automatic(&self, v4: bool) -> bool {
        let section = if v4 { "ipv4" } else { "ipv6" };
        matches!(self.get(section, "method"), Some("auto" | "dhcp"))
    }

    /// The MAC address that somebody chose; words such as `preserve` choose none.
    fn mac(&self) -> Option<&str> {
        let places = [("ethernet", "cloned-mac-address"), ("bridge", "mac-address")];
        places.iter().find_map(|(section, key)| self.get(section, key)).filter(|mac| mac.contains(':'))
    }

    fn get(&self, section: &str, key: &str) -> Option<&str> {
        get(&self.content, section, key)
    }

    pub fn fact(&self, active_on: Option<String>) -> ProfileFact {
        ProfileFact {
            uuid: self.uuid().unwrap_or_default().to_string(),
            id: self.get("connection", "id").unwrap_or_default().to_string(),
            interface: self.interface().map(str::to_string),
            kind: self.kind().unwrap_or_default().to_string(),
            autoconnect: !matches!(self.get("connection", "autoconnect"), Some("false" | "0" | "no")),
            autoconnect_priority: self
                .get("connection", "autoconnect-priority")
                .and_then(|p| p.parse().ok())
                .unwrap_or_default(),
            on_disk: self.on_disk(),
            active_on,
            addresses: self.addresses().iter().map(|(ip, prefix)| format!("{ip}/{prefix}")).collect(),
            mac: self.mac().map(str::to_string),
            ofport_request: self.get("ovs-interface", "ofport-request").and_then(|port| port.parse().ok()),
            needs_supplicant: self.lines().any(|line| line == "[802-1x]" || line == "[macsec]"),
            has_dns: self.has_dns(),
            rules: self.rules(),
            onlink: self.onlink(),
        }
    }

    /// Whether both describe the same profile. NetworkManager stamps the time of the last
    /// activation into the file, which is no change.
    pub fn same_profile(&self, other: &Self) -> bool {
        self.path == other.path && self.lines().eq(other.lines())
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.content.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("timestamp="))
    }
}

/// All profiles that NetworkManager writes, on disk and in memory. A folder that is missing has none.
pub fn read_all() -> std::io::Result<Vec<ProfileFile>> {
    let mut profiles = Vec::new();
    for dir in [ON_DISK, IN_MEMORY] {
        read_dir(Path::new(dir), &mut profiles)?;
    }
    profiles.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(profiles)
}

fn read_dir(dir: &Path, into: &mut Vec<ProfileFile>) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for entry in entries {
        let path = entry?.path();
        let Ok(meta) = std::fs::metadata(&path) else { continue };
        if !meta.is_file() || path.extension().is_none_or(|e| e != "nmconnection") {
            continue;
        }
        // A profile that vanished between the listing and the reading is simply not there.
        let Ok(content) = std::fs::read_to_string(&path) else { continue };
        let profile = ProfileFile { mode: meta.permissions().mode() & 0o777, path, content };
        if !profile.made_up() {
            into.push(profile);
        }
    }
    Ok(())
}

/// NetworkManager renames its files into place and removes them, but does not sync.
pub fn sync(profiles: &[ProfileFile]) -> std::io::Result<()> {
    for profile in profiles.iter().filter(|p| p.on_disk()) {
        match File::open(&profile.path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            file => file?.sync_data()?,
        }
    }
    let dir = Path::new(ON_DISK);
    if dir.exists() { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// Removes what a power cut leaves of files that were being written, by NetworkManager or by us. Not while NetworkManager
/// runs: it may be writing one.
pub fn remove_unfinished(dir: &Path) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_file() && is_temporary(&entry.file_name().to_string_lossy()) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// `NAME.nmconnection.XXXXXX` is NetworkManager's, `.NAME.nmconnection.tmp` is ours.
fn is_temporary(name: &str) -> bool {
    let random = |end: &str| end.len() == 6 && end.chars().all(|c| c.is_ascii_alphanumeric());
    match name.rsplit_once('.') {
        Some((start, "tmp")) => start.starts_with('.') && start.ends_with(".nmconnection"),
        Some((start, end)) => start.ends_with(".nmconnection") && random(end),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_were_being_written_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let kept = ["br0.nmconnection", "br0.nmconnection.old", "notes.123456", ".hidden.nmconnection"];
        let removed = ["br0.nmconnection.A1b2C3", ".br0.nmconnection.tmp"];
        for name in kept.iter().chain(&removed) {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        remove_unfinished(dir.path()).unwrap();
        let left = |name: &&&str| dir.path().join(name).exists();
        assert!(kept.iter().all(|name| left(&name)));
        assert!(!removed.iter().any(|name| left(&name)));
        remove_unfinished(&dir.path().join("none")).unwrap();
    }

    fn file(content: &str) -> ProfileFile {
        ProfileFile { path: format!("{ON_DISK}/a.nmconnection").into(), mode: 0o600, content: content.into() }
    }

    const BR0: &str = "[connection]\nid=br0\nuuid=u-1\ntype=bridge\ninterface-name=br0\ntimestamp=17\n\n[ipv4]\nmethod=manual\n";

    #[test]
    fn reads_dns_rules_and_onlink_routes_of_a_profile() {
        let none = file(BR0).fact(None);
        assert!(!none.has_dns && none.rules.is_empty() && none.onlink.is_empty());
        let empty = file(&format!("{BR0}dns=;\n")).fact(None);
        assert!(!empty.has_dns);
        let some = file(&format!(
            "{BR0}dns=192.0.2.53;\nroute1=198.51.100.0/24,192.0.2.1\nroute1_options=table=200,onlink=true\n\
             route2=203.0.113.0/24,192.0.2.1\nroute2_options=table=200\n\
             routing-rule1=priority 777 from 198.51.100.0/24 table 200\n"
        ));
        let fact = some.fact(None);
        assert!(fact.has_dns);
        assert_eq!(fact.rules, [RuleFact { family: "ipv4".into(), priority: 777 }]);
        assert_eq!(fact.onlink, ["198.51.100.0/24"]);
    }

    #[test]
    fn reads_the_facts_of_a_profile() {
        let fact = file(BR0).fact(Some("br0".into()));
        assert_eq!((fact.uuid.as_str(), fact.kind.as_str()), ("u-1", "bridge"));
        assert_eq!(fact.interface.as_deref(), Some("br0"));
        assert!(fact.autoconnect && fact.on_disk);
        assert!(!file(&BR0.replace("timestamp=17", "autoconnect=false")).fact(None).autoconnect);
    }

    #[test]
    fn profiles_generated_by_networkmanager_are_recognised() {
        assert!(!file(BR0).made_up());
        assert!(file(&format!("{BR0}\n[.nmmeta]\nnm-generated=true\nvolatile=true\n")).made_up());
    }

    #[test]
    fn the_time_of_the_last_activation_is_no_change() {
        assert!(file(BR0).same_profile(&file(&BR0.replace("timestamp=17", "timestamp=99"))));
        assert!(!file(BR0).same_profile(&file(&BR0.replace("manual", "auto"))));
    }

    #[test]
    fn reads_where_its_routes_lead() {
        let text = "[ipv4]\naddress1=10.9.0.2/24,10.9.0.1\nroute1=192.0.2.0/24,10.9.0.3,50\nroute1_options=table=7\n\
            [ipv6]\naddress1=fd09::2/64\nroute1=2001:db8::/32\n";
        let expected =
            ["0.0.0.0/0", "10.9.0.1/32", "10.9.0.3/32", "192.0.2.0/24", "2001:db8::/32"].map(str::to_string);
        assert_eq!(file(text).route_destinations(), expected.into());
    }

    #[test]
    fn reads_the_static_addresses() {
        let text =
            "[ipv4]\naddress1=10.9.0.2/24,10.9.0.1\n[ipv6]\naddress1=fd09::2/64\naddr-gen-mode=default\n";
        let expected = vec![("10.9.0.2".parse().unwrap(), 24), ("fd09::2".parse().unwrap(), 64)];
        assert_eq!(file(text).addresses(), expected);
    }
}
