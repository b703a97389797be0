//! The part of the demo about a host that was declared before it existed.

use std::time::Duration;

use linesman_lab::{Lab, Node, documents};

use super::Show;
use crate::build::Fallible;

const CONFIG: &str = "/root/install-config.yaml";
const DOCUMENTS: &str = "/etc/nmstate/openshift";

pub fn run(show: &Show, lab: &Lab, node: &Node) -> Fallible<()> {
    show.title("9. A host that was declared before it existed");
    show.say("An install-config declares master-0, here with a mistake. `generate` finds it at the desk, not at boot:");
    let config = install_config(node);
    node.write_file(
        CONFIG,
        config.replace(
            "- name: br-ex\n          type: ovs-interface",
            "- name: br-ext\n          type: ovs-interface",
        ),
        0o644,
    )?;
    show.command(node, &["linesman", "generate", CONFIG], 3)?;
    show.say("Corrected. On a real host an Ignition config or a MachineConfig brings the files; here they are written in place:");
    node.write_file(CONFIG, config, 0o644)?;
    show.command(node, &["linesman", "generate", CONFIG, "--as", "files", "--dir", DOCUMENTS], 0)?;

    show.title("10. Its first boot");
    show.say("What linesman-firstboot.service does: find the document of this host, apply it once.");
    show.command(node, &["linesman", "firstboot", "--dry-run"], 0)?;
    let watch = lab.hub().watch(node.mgmt_ipv4())?;
    show.command(node, &["linesman", "firstboot"], 0)?;
    lab.hub().wait_reachable(node.mgmt_ipv4(), Duration::from_secs(30))?;
    show.seen(watch);
    show.say("The power fails. After the next boot there is nothing to do:");
    node.power_cut()?;
    node.boot()?;
    lab.hub().wait_reachable(node.mgmt_ipv4(), Duration::from_secs(60))?;
    show.command(node, &["linesman", "firstboot"], 0)?;
    show.say(
        "A document that is edited later is reported, not applied: on day 2, hosts are changed by policies.",
    );
    show.command(
        node,
        &[
            "sed",
            "-i",
            "/^- name: br-ex/,$ s/state: up/state: up\\n  mtu: 1400/",
            &format!("{DOCUMENTS}/master-0.yml"),
        ],
        0,
    )?;
    show.command(node, &["linesman", "firstboot"], 0)
}

fn install_config(node: &Node) -> String {
    let document = documents::br_ex(node);
    let document: String = document.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "apiVersion: v1
metadata: {{name: demo}}
baseDomain: lab.test
platform: {{baremetal: {{}}}}
networking:
  networkType: OVNKubernetes
  hostConfig:
  - name: master-0
    role: master
    macs: ['{}']
    networkConfig:
{document}",
        node.mac(0)
    )
}
