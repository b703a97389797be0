//! Names that an OpenShift node has its own use for, beyond those that nobody may use on any host.

use linesman_core::codes::RESERVED;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::path::Path;
use linesman_core::state::{condition, interfaces, name};

use crate::configuration::Configuration;

const NAMES: [&str; 8] = ["br-ext", "br-local", "br-nexthop", "br0", "ext", "ext-vxlan", "int", "tun0"];
const PREFIX: &str = "ovn-k8s-";

pub fn names(configuration: &Configuration) -> Vec<Diagnostic> {
    let path = Path::root().key("interfaces");
    let ours = interfaces(configuration.state())
        .iter()
        .enumerate()
        .filter(|(_, interface)| condition(interface) != "ignore");
    let taken = ours.filter(|(_, it)| NAMES.contains(&name(it)) || name(it).starts_with(PREFIX));
    taken
        .map(|(index, interface)| {
            let message = format!(
                "'{}' is reserved; it belongs to OpenShift's network plugins, which remove or recreate it",
                name(interface)
            );
            let hint = "choose another name, or set 'state: ignore'";
            Diagnostic::new(RESERVED, message).at(path.index(index).key("name")).hint(hint)
        })
        .collect()
}
