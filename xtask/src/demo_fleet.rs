//! `make demo-fleet`: a policy on three nodes of a real cluster; one that fails; and a return to the previous version.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use linesman_lab::{Cluster, Kubernetes, Lab, Node, Running};
use serde_json::Value;

use crate::build::{self, Fallible};
use crate::demo::show::Show;

const GOOD: &str = include_str!("../../examples/policies/bridge.yaml");
const BAD: &str = include_str!("demo_fleet/cuts-off.yaml");
const EDIT: &str = include_str!("demo_fleet/edit.yaml");
const UNDO: &str = r#"{"spec":{"rollout":{"undo":true}}}"#;

struct Fleet {
    show: Show,
    /// Everything that lives as long as the demo.
    _running: Vec<Running>,
    nodes: Vec<Node>,
    cluster: Cluster,
    lab: Lab,
}

pub fn run() -> Fallible<()> {
    let show = Show::new();
    linesman_lab::setup()?;
    Kubernetes::ensure()?;
    let binary = build::linesman()?;
    show.title("A fleet: three nodes, a real Kubernetes API server, Linesman's operator and agents");
    show.say("Namespaces on this machine. The network of this machine is not changed.");
    let start = Instant::now();
    let fleet = Fleet::start(show, &binary)?;
    fleet.show.say(&format!("Up after {:.0} s.", start.elapsed().as_secs_f64()));
    fleet.kubectl(&["get", "nodes,nns"])?;
    fleet.good()?;
    fleet.bad()?;
    fleet.undo()?;
    fleet.play()
}

impl Fleet {
    fn start(show: Show, binary: &Path) -> Fallible<Self> {
        let lab = Lab::start("demo-fleet")?;
        let cluster = Cluster::start(&lab)?;
        cluster.install(&build::deploy())?;
        let mut running = vec![cluster.start_operator(binary, "demo", &[])?];
        let mut nodes = Vec::new();
        for name in ["n1", "n2", "n3"] {
            let node = lab.node(name).nics(3).binary(binary).start()?;
            node.configure_static()?;
            cluster.join(&node, &[])?;
            running.push(cluster.start_agent(&node)?);
            nodes.push(node);
        }
        let fleet = Self { show, _running: running, nodes, cluster, lab };
        fleet.wait("the nodes report their state", || {
            Ok(fleet.cluster.run(&["get", "nns", "-o", "name"])?.lines().count() == 3)
        })?;
        Ok(fleet)
    }

    fn good(&self) -> Fallible<()> {
        self.show.title("1. A policy for all nodes, one at a time");
        self.show.print(GOOD);
        let start = Instant::now();
        self.cluster.apply(GOOD)?;
        self.follow("storage", "Available")?;
        self.show.say(&format!("On all three nodes after {:.1} s.", start.elapsed().as_secs_f64()));
        self.kubectl(&["get", "nncp,nnce"])?;
        self.kubectl(&["get", "nncp", "storage", "-o", "jsonpath={.status.conditions[0].message}{'\\n'}"])
    }

    fn bad(&self) -> Fallible<()> {
        self.show.title("2. A policy that cuts its node off: a wrong address on eth0, the node's own path");
        self.show.print(BAD);
        self.show.say("The canary n2 is changed first. The hub pings it ten times a second.");
        let watch = self.lab.hub().watch(self.nodes[1].mgmt_ipv4())?;
        self.cluster.apply(BAD)?;
        self.follow("wrong", "Degraded")?;
        self.show.seen(watch);
        self.show
            .say("The change was rolled back, and the enactments show it. The other nodes were not changed.");
        self.kubectl(&["get", "nnce", "-l", "nmstate.io/policy=wrong"])?;
        let failing = "jsonpath={.status.conditions[?(@.type=='Failing')].message}{'\\n'}";
        self.kubectl(&["get", "nnce", "n2.wrong", "-o", failing])?;
        self.kubectl(&["delete", "nncp", "wrong"])
    }

    fn undo(&self) -> Fallible<()> {
        self.show.title("3. An edit, and a return to the previous version");
        self.show.print(EDIT);
        self.cluster.apply(EDIT)?;
        self.follow("storage", "Available")?;
        self.mtu()?;
        self.kubectl(&["patch", "nncp", "storage", "--type=merge", "-p", UNDO])?;
        self.follow("storage", "Available")?;
        self.mtu()
    }

    fn mtu(&self) -> Fallible<()> {
        for node in &self.nodes {
            let mtu = node.run(["cat", "/sys/class/net/br-storage/mtu"])?;
            self.show.say(&format!("{}: br-storage has MTU {}", node.name(), mtu.trim()));
        }
        Ok(())
    }

    /// Prints the policy's status whenever it changes, until this condition is true.
    fn follow(&self, policy: &str, until: &str) -> Fallible<()> {
        let mut told = String::new();
        self.wait(&format!("policy {policy} to be {until}"), || {
            let object = self.cluster.get("nncp", policy)?.unwrap_or_default();
            if object["status"]["observedGeneration"] != object["metadata"]["generation"] {
                return Ok(false);
            }
            let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let Some(now) = conditions.iter().find(|c| c["status"] == "True") else { return Ok(false) };
            let word = |key: &str| now.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
            let line = format!("{policy}: {} ({})", word("type"), word("message"));
            if line != told {
                self.show.say(&line);
                told = line;
            }
            let moving = object["status"]["nodes"]["progressing"].as_u64().unwrap_or_default();
            Ok(word("type") == until && moving == 0)
        })
    }

    fn wait(&self, what: &str, mut holds: impl FnMut() -> Fallible<bool>) -> Fallible<()> {
        let deadline = Instant::now() + Duration::from_secs(180);
        while !holds()? {
            if Instant::now() > deadline {
                return Err(format!("waited three minutes for {what}").into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn kubectl(&self, words: &[&str]) -> Fallible<()> {
        let shown: Vec<String> = words
            .iter()
            .map(|w| if w.contains(['{', ' ']) { format!("'{w}'") } else { (*w).into() })
            .collect();
        self.show.prompt_at("$", &format!("kubectl {}", shown.join(" ")));
        self.show.print(&self.cluster.run(words)?);
        Ok(())
    }

    /// A terminal keeps it until Enter.
    fn play(&self) -> Fallible<()> {
        self.show.title("Done. What to try next");
        if !std::io::stdin().is_terminal() {
            self.show.say("On a terminal, the fleet stays up until you press Enter.");
            return Ok(());
        }
        let forwarder = self.cluster.forward(0)?;
        let path = kubeconfig()?;
        std::fs::write(&path, self.cluster.admin_at(&format!("https://{}", forwarder.address()))?)?;
        self.show.say("The fleet stays up until you press Enter:");
        self.show.print(&format!("export KUBECONFIG={}", path.display()));
        self.show.print(&format!("alias kubectl={}", self.cluster.kubectl_path().display()));
        self.show.print("kubectl get nncp,nnce,nns\nkubectl apply -f examples/policies/bridge.yaml");
        std::io::stdin().lock().read_line(&mut String::new())?;
        std::fs::remove_file(path).ok();
        Ok(())
    }
}

fn kubeconfig() -> Fallible<PathBuf> {
    let folder = linesman_lab::places::cache().join("run");
    std::fs::create_dir_all(&folder)?;
    Ok(folder.join("demo-fleet.kubeconfig"))
}
