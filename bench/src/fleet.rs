//! A policy in a cluster: how soon, and how many requests. By the API server's own log of them.

use std::path::Path;
use std::time::{Duration, SystemTime};

use linesman_lab::cluster::Event;
use linesman_lab::{Cluster, Lab, Node, Running};
use serde_json::{Value, json};

use crate::agent::{megabytes, wait};
use crate::report::{BenchReport, median};
use crate::{Fallible, bed, sibling, states};

const ROUNDS: usize = 7;
const MANY: usize = 50;
const MANY_ROUNDS: usize = 3;
const SOAK: Duration = Duration::from_secs(60);
const IDLE: Duration = Duration::from_secs(600);

pub fn run(report: &mut BenchReport) -> Fallible<()> {
    let fleet = Fleet::start("bench-fleet")?;
    let one = fleet.compare("one bridge", 1, 0.5, report)?;
    fleet.requests(report)?;
    fleet.known(report)?;
    fleet.compare("100 bridges", 100, 0.8, report)?;
    fleet.no_answer(one, report)
}

/// Many small policies at once, against one policy with the same content.
pub fn many(report: &mut BenchReport) -> Fallible<()> {
    let fleet = Fleet::start("bench-many")?;
    let (mut ours, mut one) = (Vec::new(), Vec::new());
    for round in 0..MANY_ROUNDS {
        one.push(fleet.roll_out(&format!("one-{round}"), &spec(&states::bridges(MANY)))?);
        fleet.forget_all(&states::no_bridges(MANY))?;
        ours.push(fleet.roll_out_many(round)?);
        fleet.forget_all(&states::no_bridges(MANY))?;
        eprint!(".");
    }
    eprintln!(" many policies");
    let (ours, one) = (median(ours), median(one));
    report.row(format!("{MANY} policies accepted to Available, of one policy"), ours, "s", Some(one), 3.0);
    Ok(())
}

/// Ten minutes in which nothing happens.
pub fn idle(report: &mut BenchReport) -> Fallible<()> {
    let fleet = Fleet::start("bench-idle")?;
    fleet.accept("kept", &spec(&states::bridges(1)))?;
    fleet.available("kept")?;
    // What starting up set in motion comes to rest first, and so does the rollout: its last soak ends with a write.
    std::thread::sleep(SOAK);
    wait("the end of the soak", || {
        let policy = fleet.cluster.get("nncp", "kept").ok().flatten();
        policy.is_some_and(|policy| policy["status"]["soakingNodes"].is_null())
    })?;
    std::thread::sleep(Duration::from_secs(20));
    let from = now();
    std::thread::sleep(IDLE);
    let writes = fleet.since(&from)?.into_iter().filter(Event::writes).count();
    report.row("API writes in ten idle minutes, Lease aside", writes as f64, "", None, 0.0);
    let pid = fleet.agent.pid().ok_or("the agent is not on a node in namespaces")?;
    report.row("agent in a cluster, at rest: resident", megabytes(pid, "Rss:")?, "MB", None, 24.0);
    report.row("agent in a cluster, at rest: anonymous", megabytes(pid, "Anonymous:")?, "MB", None, 10.0);
    Ok(())
}

struct Fleet {
    agent: Running,
    operator: Running,
    node: Node,
    cluster: Cluster,
    _lab: Lab,
}

fn spec(state: &str) -> Value {
    let state = linesman_core::document::tree(state).map(|tree| tree.to_value()).unwrap_or_default();
    json!({ "desiredState": state })
}

fn policy(name: &str, spec: &Value) -> Value {
    json!({ "apiVersion": "nmstate.io/v1", "kind": "NodeNetworkConfigurationPolicy",
        "metadata": { "name": name }, "spec": spec })
}

/// As the audit log writes times: these texts sort as the times do.
fn now() -> String {
    humantime::format_rfc3339_micros(SystemTime::now()).to_string()
}

fn seconds(from: &str, until: &str) -> f64 {
    let at = |text: &str| humantime::parse_rfc3339(text).unwrap_or(SystemTime::UNIX_EPOCH);
    at(until).duration_since(at(from)).unwrap_or_default().as_secs_f64()
}

fn is_available(event: &Event) -> bool {
    let conditions = event.response["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|c| c["type"] == "Available" && c["status"] == "True"))
}

impl Fleet {
    fn start(name: &str) -> Fallible<Self> {
        let (lab, node) = bed(name)?;
        let cluster = Cluster::start(&lab)?;
        cluster.install(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy"))?;
        cluster.join(&node, &[])?;
        let binary = sibling(&std::env::current_exe()?, "linesman");
        let operator = cluster.start_operator(&binary, "bench", &[])?;
        let agent = cluster.start_agent(&node)?;
        let fleet = Self { agent, operator, node, cluster, _lab: lab };
        wait("the node's state", || fleet.cluster.get("nns", "n1").is_ok_and(|found| found.is_some()))?;
        Ok(fleet)
    }

    fn accept(&self, name: &str, spec: &Value) -> Fallible<()> {
        Ok(self.cluster.apply(&policy(name, spec).to_string())?)
    }

    fn available(&self, name: &str) -> Fallible<()> {
        let done = || {
            let policy = self.cluster.get("nncp", name).ok().flatten().unwrap_or_default();
            let conditions = policy["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.iter().any(|c| c["type"] == "Available" && c["status"] == "True")
        };
        wait(&format!("policy {name}"), done).map_err(|e| format!("{e}\n{}", self.picture()).into())
    }

    fn picture(&self) -> String {
        let objects = self.cluster.run(&["get", "nncp,nnce", "-o", "wide"]).unwrap_or_default();
        format!("{objects}\nagent:\n{}\noperator:\n{}", self.agent.stderr(), self.operator.stderr())
    }

    /// Everybody's requests but for the administrator's and Leases; those that were refused cost as much as others.
    fn since(&self, from: &str) -> Fallible<Vec<Event>> {
        let ours = |event: &Event| {
            event.received.as_str() > from
                && event.stage == "ResponseComplete"
                && event.user.contains("serviceaccount")
                && event.resource != "leases"
        };
        Ok(self.cluster.audit()?.into_iter().filter(ours).collect())
    }

    /// Seconds from the creation of a policy in the API server to the status Available.
    fn roll_out(&self, name: &str, spec: &Value) -> Fallible<f64> {
        self.accept(name, spec)?;
        self.available(name)?;
        let (made, done) = self.times(name)?;
        Ok(seconds(&made, &done))
    }

    /// When the API server got a policy, and when the policy's status became Available.
    fn times(&self, name: &str) -> Fallible<(String, String)> {
        let audit = self.cluster.audit()?;
        let of = |event: &&Event| event.name == name && event.resource == "nodenetworkconfigurationpolicies";
        let made = audit.iter().filter(of).find(|event| event.subresource.is_empty() && event.writes());
        let done = audit.iter().filter(of).find(|event| event.subresource == "status" && is_available(event));
        match (made, done) {
            (Some(made), Some(done)) => Ok((made.received.clone(), done.received.clone())),
            _ => Err(format!("the audit log does not contain policy {name}").into()),
        }
    }

    /// Seconds from the first of many policies, each with one bridge, to the status Available of the last one.
    fn roll_out_many(&self, round: usize) -> Fallible<f64> {
        let name = |n: usize| format!("many-{round}-{n}");
        let one = |n: usize| policy(&name(n), &spec(&states::bridges_in(n..n + 1)));
        let list =
            json!({ "apiVersion": "v1", "kind": "List", "items": (0..MANY).map(one).collect::<Vec<_>>() });
        self.cluster.apply(&list.to_string())?;
        wait("all policies", || {
            // Asking costs as much as what is measured.
            std::thread::sleep(Duration::from_millis(300));
            let available = "-o=jsonpath={.items[*].status.conditions[?(@.type==\"Available\")].status}";
            let found = self.cluster.run(&["get", "nncp", available]).unwrap_or_default();
            found.matches("True").count() == MANY
        })
        .map_err(|e| format!("{e}\n{}", self.picture()))?;
        let times: Vec<(String, String)> =
            (0..MANY).map(|n| self.times(&name(n))).collect::<Fallible<_>>()?;
        let first = times.iter().map(|(made, _)| made.as_str()).min().unwrap_or_default();
        let last = times.iter().map(|(_, done)| done.as_str()).max().unwrap_or_default();
        Ok(seconds(first, last))
    }

    /// Deletes all policies.
    fn forget_all(&self, undo: &str) -> Fallible<()> {
        self.cluster.run(&["delete", "nncp", "--all"])?;
        wait("the enactments to go", || {
            self.cluster.run(&["get", "nnce", "-o", "name"]).is_ok_and(|left| left.trim().is_empty())
        })?;
        self.incumbent(undo).map(drop)
    }

    fn forget(&self, name: &str, undo: &str) -> Fallible<()> {
        self.cluster.run(&["delete", "nncp", name])?;
        wait("the enactment to go", || {
            self.cluster.get("nnce", &format!("n1.{name}")).is_ok_and(|found| found.is_none())
        })?;
        self.incumbent(undo).map(drop)
    }

    /// Seconds of nmstate's own apply.
    fn incumbent(&self, state: &str) -> Fallible<f64> {
        self.node.write_file("/root/peer.yaml", state, 0o600)?;
        let text = self.node.run(["linesman-bench", "incumbent", "apply", "/root/peer.yaml"])?;
        let reply: Value = serde_json::from_str(text.trim())?;
        Ok(reply["milliseconds"].as_f64().unwrap_or(f64::NAN) / 1e3)
    }

    fn compare(&self, what: &str, count: usize, goal: f64, report: &mut BenchReport) -> Fallible<f64> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let name = format!("bench-{count}-{round}");
            ours.push(self.roll_out(&name, &spec(&states::bridges(count)))?);
            self.forget(&name, &states::no_bridges(count))?;
            theirs.push(self.incumbent(&states::bridges(count))?);
            self.incumbent(&states::no_bridges(count))?;
            eprint!(".");
        }
        eprintln!(" {what}");
        let (ours, theirs) = (median(ours), median(theirs));
        report.row(format!("policy accepted to Available: {what}"), ours, "s", Some(theirs), goal);
        Ok(ours)
    }

    fn requests(&self, report: &mut BenchReport) -> Fallible<()> {
        let (mut writes, mut reads, mut statuses) = (Vec::new(), Vec::new(), Vec::new());
        let mut refused = Vec::new();
        for round in 0..ROUNDS {
            let (name, from) = (format!("count-{round}"), now());
            self.roll_out(&name, &spec(&states::bridges(1)))?;
            // Late ones count, too.
            std::thread::sleep(Duration::from_secs(4));
            let all = self.since(&from)?;
            let of_policy = |event: &Event| {
                event.resource == "nodenetworkconfigurationpolicies" || event.resource == "events"
            };
            let written: Vec<&Event> = all.iter().filter(|event| event.writes()).collect();
            writes.push(written.iter().filter(|event| !of_policy(event)).count() as f64);
            statuses.push(written.iter().filter(|event| of_policy(event)).count() as f64);
            refused.push(all.iter().filter(|event| !event.succeeded()).count() as f64);
            reads.push(all.iter().filter(|event| matches!(event.verb.as_str(), "get" | "list")).count() as f64);
            self.forget(&name, &states::no_bridges(1))?;
            eprint!(".");
        }
        eprintln!(" requests");
        report.row("API writes per policy and node, NNS included", median(writes), "", None, 5.0);
        report.row("of all these requests: refused", median(refused), "", None, 0.0);
        report.row("API reads per policy and node", median(reads), "", None, 2.0);
        // Two statuses and two events.
        report.row("API writes about the policy itself, one wave", median(statuses), "", None, 4.0);
        Ok(())
    }

    fn known(&self, report: &mut BenchReport) -> Fallible<()> {
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            let mtu = (1300 + round).to_string();
            // The last report must not be taken for this one's.
            std::thread::sleep(Duration::from_secs(2));
            let from = now();
            self.node.run(["ip", "link", "set", "eth2", "mtu", &mtu])?;
            let made = now();
            let reported = || {
                let events = self.since(&from).unwrap_or_default();
                let states = |event: &Event| event.resource == "nodenetworkstates" && event.writes();
                events.into_iter().find(|event| states(event) && event.succeeded())
            };
            wait("the node's state", || reported().is_some())?;
            times.push(reported().map_or(f64::NAN, |event| seconds(&made, &event.received)));
            eprint!(".");
        }
        eprintln!(" known");
        report.row("manual change to NodeNetworkState", median(times), "s", None, 0.5);
        Ok(())
    }

    /// A gateway and a DNS server that do not answer, before the change and after it.
    fn no_answer(&self, usual: f64, report: &mut BenchReport) -> Fallible<()> {
        let unreachable =
            ["connection", "modify", "eth0", "ipv4.gateway", "10.9.0.77", "ipv4.dns", "10.9.0.78"];
        self.node.nmcli(&unreachable)?;
        self.node.nmcli(&["connection", "modify", "eth0", "ipv6.gateway", "", "ipv6.dns", ""])?;
        self.node.nmcli(&["--wait", "60", "connection", "up", "eth0"])?;
        let mut more = Vec::new();
        for round in 0..ROUNDS {
            let name = format!("no-answer-{round}");
            more.push(self.roll_out(&name, &spec(&states::bridges(1)))? - usual);
            self.forget(&name, &states::no_bridges(1))?;
            eprint!(".");
        }
        eprintln!(" no answer");
        report.row("gateway and DNS do not answer: longer by", median(more), "s", None, 3.0);
        Ok(())
    }
}
