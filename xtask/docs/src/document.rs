//! The keys of a document.

use linesman_core::check::fields::{INTERFACE, OPTIONS, TOP};
use linesman_core::interface_kind::InterfaceKind;

use super::NOTE;

const POLICY: &str = "\
In addition to `desiredState` and `capture`, the `spec` of a NodeNetworkConfigurationPolicy may contain options for the
agent. A plain state in the agent's directory is a policy as well: it is named after its file and has the default options.
Options that apply only in a cluster (`nodeSelector`, `maxUnavailable` and so on) are ignored on a single host. See
[how to run the agent](../howto/run-the-agent.md) for examples.

Captures of a policy are resolved when the policy is first applied. What they found is kept for later versions, until the
`capture` text is edited: then it is resolved on the host as it would be without the policy.";

const INTRO: &str = "\
A document is an [NMState](https://nmstate.io) state in YAML or JSON, an NMPolicy (`capture` and `desired`), or a
NodeNetworkConfigurationPolicy (`spec.desiredState`). `linesman check FILE` validates a document.";

const SECRETS: &str = "\
In a cluster, a policy must not contain secrets in plain text (passwords, keys, shared secrets: every key with such a
name). Refer to a Secret in the namespace of the operator and the agents instead:

    802.1x:
      identity: host-1
      private-key: /etc/pki/host-1.key
      private-key-password: {secretKeyRef: {name: doors, key: host-1}}

The operator reads the Secret when it releases a node, and encrypts the value to the key of this node: no other node can
read it. The plain text is stored only in the profile on the host. If the Secret changes, the new value is used from the
next release of the policy on, or when a node tries again that could not be changed. In files on a host, without a
cluster, secrets are in plain text.";

const PORTS: &str = "\
The list `bridge.port` of a `linux-bridge` or an `ovs-bridge` replaces the ports that NetworkManager manages: those with a
profile that the list does not name leave the bridge. Ports that others attached stay, if the document does not mention
them: the veth of a Pod, the tap device of a virtual machine, a port added with `ovs-vsctl` or `ip link`. They are not
part of the plan, of the verification, of drift, or of `onDelete: Revert`. To remove them, do one of the following:

- declare the port itself with `state: absent`, or with `controller: ''`, or list it as a port of another bridge
- declare `allow-extra-ports: false` on the bridge: it has exactly the ports that are listed
- use `--override-iface` with `linesman plan` and `linesman apply`

Devices that NetworkManager is configured to leave unmanaged stay in any case. With `allow-extra-ports: true`, other ports
of NetworkManager stay as well.";

const UP: &str = "\
A change is committed only when everything that is declared up is up: NetworkManager has configured the device, and Open
vSwitch has added it to its bridge. A device that waits for an address by DHCP or from a router counts as up; set `wait-ip`
to require an address. If an interface does not come up, the message contains the state that NetworkManager reports, and
for an address that is already in use the MAC address of its owner.

With `ipv6.autoconf: false`, addresses that a router gave are removed. If `dhcp` and `autoconf` are switched off and the
document lists no `address`, NMState keeps the present addresses as static ones: list those that should stay.";

pub fn page() -> String {
    let plain = |(key, meaning): &(&str, &str)| format!("| `{key}` | {meaning} |\n");
    let typed = |kind: &InterfaceKind| {
        let keys: Vec<String> = kind.sections().iter().map(|key| format!("`{key}`")).collect();
        format!("| `{kind}` | {} | {} |\n", kind.description(), keys.join(", "))
    };
    let option =
        |(key, meaning, default): &(&str, &str, &str)| format!("| `{key}` | {meaning} | {default} |\n");
    format!(
        "{NOTE}\n\n# Documents\n\n{INTRO}\n\n## Top level\n\n| key | meaning |\n|---|---|\n{}\n\
         ## All interfaces\n\n| key | meaning |\n|---|---|\n{}\n\
         ## Interface types\n\n| type | meaning | additional keys |\n|---|---|---|\n{}\n\
         ## Ports of bridges\n\n{PORTS}\n\n\
         ## Interfaces that are up\n\n{UP}\n\n\
         ## Policy options\n\n{POLICY}\n\n| key | meaning | default |\n|---|---|---|\n{}\n\
         ## Secrets\n\n{SECRETS}\n",
        TOP.iter().map(plain).collect::<String>(),
        INTERFACE.iter().map(plain).collect::<String>(),
        InterfaceKind::ALL.iter().map(typed).collect::<String>(),
        OPTIONS.iter().map(option).collect::<String>(),
    )
}
