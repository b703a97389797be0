//! NetworkManager's profiles to a state document.

mod bond;
mod bridge;
mod harmless;
mod ip;
mod links;
mod names;
mod ovs;
mod profile;
mod routes;

use std::collections::BTreeMap;

use super::draft::{self, Draft, Section};
use super::report::{ImportError, Imported, Log};
use super::{Input, fields::Fields};
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::secrets::is_secret;
use names::Names;
use profile::Profile;

pub(super) fn import(inputs: &[Input]) -> Result<Imported, Vec<ImportError>> {
    let mut log = Log::new(inputs);
    let read = |(file, input): (usize, &Input), log: &mut Log<'_>| Profile::read(file, input, log);
    let profiles: Vec<Profile> =
        inputs.iter().enumerate().filter_map(|input| read(input, &mut log)).collect();
    let profiles = names::choose(profiles, &mut log);
    let names = Names::of(&profiles);
    let mut work = Work { names, draft: Draft::default(), dns: Vec::new(), ports: BTreeMap::new(), log };
    let mut bridges = ovs::Bridges::default();
    for mut profile in profiles {
        work.translate(&mut profile, &mut bridges);
        leave(profile, &mut work.log);
    }
    work.fill_controllers(bridges);
    work.fill_dns();
    let Work { draft, log, .. } = work;
    log.finish(draft.finish())
}

/// A translation under way.
pub(super) struct Work<'i> {
    names: Names,
    draft: Draft,
    dns: Vec<ip::Dns>,
    /// What each controller's ports say of themselves, by the controller's name.
    ports: BTreeMap<String, Vec<(String, Section)>>,
    log: Log<'i>,
}

impl Work<'_> {
    fn translate(&mut self, profile: &mut Profile, bridges: &mut ovs::Bridges) {
        if profile.kind == "ovs-port" {
            bridges.port(profile, &mut self.log);
            return;
        }
        let Some(kind) = links::kind(profile, &mut self.log) else { return };
        let Some((name, by_mac)) = names::of_interface(profile, &mut self.log) else {
            profile.forget();
            return;
        };
        let mut interface = draft::interface(&name, &kind);
        if let Some(mac) = by_mac {
            interface.insert("identifier".into(), "mac-address".into());
            interface.insert("mac-address".into(), mac.into());
        }
        links::base(profile, &mut interface, &mut self.log);
        if self.join(profile, &name, bridges) {
            profile.section("ipv4").take("method");
            profile.section("ipv6").take("method");
        } else if kind != InterfaceKind::OvsBridge {
            self.addresses(profile, &name, &mut interface);
        }
        links::own(profile, &mut interface, &self.names, &mut self.log);
        self.draft.interfaces.push(interface);
    }

    /// Notes whose port this is. True if that takes its addresses away.
    fn join(&mut self, profile: &mut Profile, name: &str, bridges: &mut ovs::Bridges) -> bool {
        let port_kind = ["port-type", "slave-type"]
            .iter()
            .find_map(|key| profile.section("connection").text(key, &mut self.log))
            .map(|at| at.value);
        let Some(controller) = profile.controller.clone() else { return false };
        let owner = self.names.controller(&controller.value);
        let kind = owner.as_ref().map(|owner| owner.kind.clone()).or(port_kind).unwrap_or_default();
        let owner = owner.map_or(controller.value.clone(), |owner| owner.name);
        if kind == "ovs-port" {
            bridges.member(&controller.value, name);
            return profile.kind != "ovs-interface";
        }
        if !self.names.is_known(&controller.value) {
            let why = format!(
                "no imported profile creates {owner}; import it as well, or add the port to it by hand"
            );
            self.log.note(controller.place, "connection.controller", why);
        }
        let details = match kind.as_str() {
            "bridge" => bridge::port(profile, &mut self.log),
            "bond" => bond::port(profile, &mut self.log),
            _ => Section::new(),
        };
        self.ports.entry(owner).or_default().push((name.to_owned(), details));
        kind != "vrf"
    }

    fn fill_controllers(&mut self, bridges: ovs::Bridges) {
        bridges.fill(&mut self.draft.interfaces, &self.names, &mut self.log);
        let mut ports = std::mem::take(&mut self.ports);
        for interface in &mut self.draft.interfaces {
            let name = interface.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned();
            let kind = interface.get("type").and_then(|kind| kind.as_str()).unwrap_or_default().into();
            if matches!(kind, InterfaceKind::LinuxBridge | InterfaceKind::Bond | InterfaceKind::Vrf) {
                let mut ports = ports.remove(&name).unwrap_or_default();
                ports.sort_by(|(a, _), (b, _)| a.cmp(b));
                links::fill_ports(interface, &kind, ports);
            }
        }
    }

    fn fill_dns(&mut self) {
        self.dns.sort_by_key(|dns| dns.priority);
        for dns in std::mem::take(&mut self.dns) {
            self.draft.servers.extend(dns.servers);
            self.draft.search.extend(dns.search);
            self.draft.options.extend(dns.options);
        }
    }
}

/// Says what of a profile was not carried over.
fn leave(profile: Profile, log: &mut Log<'_>) {
    for mut section in profile.into_sections() {
        harmless::drop_from(&mut section);
        leave_secrets(&mut section, log);
        let why = match section.path.as_str() {
            "802-1x" => "802.1X is not imported, because its secrets are not",
            _ => "not supported by NMState",
        };
        section.leave(why, log);
    }
}

fn leave_secrets(section: &mut Fields, log: &mut Log<'_>) {
    for field in section.take_all(is_secret) {
        log.note(field.place, section.named(&field.key), "secrets are not imported; set it on the host");
    }
}
