//! What can be written in a document.

use linesman_core::check::fields::{INTERFACE, OPTIONS, TOP};
use linesman_core::interface_kind::InterfaceKind;

use super::NOTE;

const POLICY: &str = "\
A NodeNetworkConfigurationPolicy may say in its `spec`, beside `desiredState` and `capture`, what the agent does with it. A plain
state in the agent's directory is a policy, too: it is named after its file and has the defaults. Keys that mean something in a
cluster only (`nodeSelector`, `maxUnavailable` and so on) are left alone. [How to keep a host](../howto/keep-a-host.md) has examples.";

const INTRO: &str = "\
A document is an [NMState](https://nmstate.io) state, in YAML or JSON. It may also be an NMPolicy (`capture` and
`desired`) or a NodeNetworkConfigurationPolicy (`spec.desiredState`). `linesman check FILE` says what is wrong with one.";

const SECRETS: &str = "\
In a cluster, a secret (a password, a key, a shared secret: any key that is named so) must not stand in a policy. It points to a Secret
in the agents' namespace instead, and each agent reads it there when it applies the policy:

    802.1x:
      identity: host-1
      private-key: /etc/pki/host-1.key
      private-key-password: {secretKeyRef: {name: doors, key: host-1}}

The clear text is in the host's own profile and nowhere else. A Secret that changes later is read at the next change of the policy. In
files on a host, without a cluster, secrets stand in clear.";

pub fn page() -> String {
    let plain = |(key, meaning): &(&str, &str)| format!("| `{key}` | {meaning} |\n");
    let typed = |kind: &InterfaceKind| {
        let keys: Vec<String> = kind.sections().iter().map(|key| format!("`{key}`")).collect();
        format!("| `{kind}` | {} | {} |\n", kind.description(), keys.join(", "))
    };
    let option =
        |(key, meaning, default): &(&str, &str, &str)| format!("| `{key}` | {meaning} | {default} |\n");
    format!(
        "{NOTE}\n\n# Documents\n\n{INTRO}\n\n## At the top\n\n| key | what it is for |\n|---|---|\n{}\n\
         ## Every interface\n\n| key | what it is for |\n|---|---|\n{}\n\
         ## Types of interfaces\n\n| type | what it is | its own keys |\n|---|---|---|\n{}\n\
         ## Options of a policy\n\n{POLICY}\n\n| key | what it is for | default |\n|---|---|---|\n{}\n\
         ## Secrets\n\n{SECRETS}\n",
        TOP.iter().map(plain).collect::<String>(),
        INTERFACE.iter().map(plain).collect::<String>(),
        InterfaceKind::ALL.iter().map(typed).collect::<String>(),
        OPTIONS.iter().map(option).collect::<String>(),
    )
}
