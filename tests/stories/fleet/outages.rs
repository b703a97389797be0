//! The API server or etcd is killed, or paused, while an agent applies a policy.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use linesman_lab::cluster::Component;
use linesman_tests::campaign::{Campaign, Chance, Ending, Fault};
use linesman_tests::fleet::Fleet;
use serde_json::{Value, json};

const POLICY: &str = "outage";
const LINK: &str = "br-outage";
const STEPS: [&str; 8] =
    ["snapshot-taken", "applying", "worker-done", "applied", "verified", "probed", "committing", "committed"];

#[derive(Clone, Copy, Debug)]
struct Cell {
    component: Component,
    killed: bool,
    step: &'static str,
    lasting: Duration,
    /// Whether the policy asks the API server whether the node is there still.
    asks_cluster: bool,
}

impl Cell {
    fn draw(chance: &mut Chance) -> Self {
        Self {
            component: [Component::ApiServer, Component::Etcd][chance.below(2)],
            killed: chance.below(2) == 0,
            step: STEPS[chance.below(STEPS.len())],
            lasting: Duration::from_millis(chance.milliseconds(200..15_000)),
            asks_cluster: chance.below(2) == 0,
        }
    }

    fn fault(&self) -> Fault {
        let component = match self.component {
            Component::ApiServer => "API server",
            Component::Etcd => "etcd",
        };
        let name = format!("{component} {}", if self.killed { "killed" } else { "paused" });
        let change = if self.asks_cluster { "default probes" } else { "probes of the host alone" };
        Fault { name, step: format!("at {}", self.step), change: change.into() }
    }
}

#[test]
fn outages() {
    let campaign = Campaign::open("stories", "outages", 200, 2);
    let mut fleet = None;
    for number in campaign.numbers(0, 1) {
        let cell = Cell::draw(&mut campaign.chance(number));
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| {
            one(fleet.get_or_insert_with(|| Fleet::new("outages", 1)), &cell, number)
        }));
        let result = result.unwrap_or_else(|panic| {
            Err(panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_string()))
        });
        if result.is_err() {
            fleet = None;
        }
        println!("{cell:?}: {:.1} s", start.elapsed().as_secs_f64());
        campaign.record(number, &cell.fault(), &result.map_err(|why| format!("{cell:?}: {why}")));
    }
    campaign.assert_clean();
}

fn one(fleet: &Fleet, cell: &Cell, number: u64) -> Result<Ending, String> {
    let former = 1400 + number % 3;
    bring_to(fleet, former);
    let watch = fleet.lab.hub().watch(fleet.node("n1").mgmt_ipv4()).map_err(|e| e.to_string())?;
    let (before, earlier) = (fleet.network("n1"), last_record(fleet));
    replace_agent(fleet, cell.step);
    fleet.policy(POLICY, &spec(former + 10, cell.asks_cluster));
    fleet.wait_failpoint("n1", cell.step);
    strike(fleet, cell).map_err(|e| e.to_string())?;
    fleet.eventually("the change comes to its end", || {
        last_record(fleet)["id"] != earlier["id"] && !last_record(fleet)["outcome"].is_null()
    });
    let verdict = verdict(fleet, cell)?;
    fleet.assert_settled("n1");
    let (mtu, wanted) = (fleet.mtu("n1", LINK), if verdict == "committed" { former + 10 } else { former });
    if mtu != wanted.to_string() {
        return Err(format!("{verdict}, but the MTU is {mtu} instead of {wanted}\n{}", fleet.diagnostics()));
    }
    if verdict != "committed" && fleet.network("n1") != before {
        return Err(format!("{verdict}, but the network is not as it was\n{}", fleet.diagnostics()));
    }
    let silence = watch.stop().longest_outage();
    fleet.wait_enactment("n1", POLICY, if verdict == "committed" { "Available" } else { "Failing" });
    bring_to(fleet, former + 20);
    Ok(Ending { verdict, silence })
}

fn last_record(fleet: &Fleet) -> Value {
    fleet.history("n1").last().cloned().unwrap_or_default()
}

/// By a policy that nothing strikes: so the next one works.
fn bring_to(fleet: &Fleet, mtu: u64) {
    replace_agent(fleet, "");
    fleet.policy(POLICY, &spec(mtu, false));
    fleet.wait_policy(POLICY, "Available");
    assert_eq!(fleet.mtu("n1", LINK), mtu.to_string(), "{}", fleet.diagnostics());
}

/// A machine that stands still for many seconds is no fault of a cell.
fn replace_agent(fleet: &Fleet, failpoint: &str) {
    fleet.kill_agent("n1");
    let variables = [("LINESMAN_FAILPOINT", failpoint), ("LINESMAN_DEAD_MAN", "60s")];
    fleet.start_agent_with(fleet.node("n1"), &variables);
}

/// The change goes on meanwhile.
fn strike(fleet: &Fleet, cell: &Cell) -> linesman_lab::Result<()> {
    let cluster = &fleet.cluster;
    if cell.killed {
        cluster.kill(cell.component)?
    } else {
        cluster.suspend(cell.component)?
    }
    fleet.pass_failpoint("n1", cell.step);
    std::thread::sleep(cell.lasting);
    if cell.killed { cluster.start_again(cell.component) } else { cluster.resume(cell.component) }
}

/// A policy that asks the cluster may be rolled back; without an answer nobody can tell that all is as before, though it is.
fn verdict(fleet: &Fleet, cell: &Cell) -> Result<String, String> {
    let last = last_record(fleet)["outcome"].clone();
    let verdict = last["verdict"].as_str().unwrap_or_default();
    let remaining = last["remaining"].as_array().cloned().unwrap_or_default();
    let only_unanswered = remaining.iter().all(|text| text.to_string().contains("apiServer"));
    match verdict {
        "committed" => Ok(verdict.to_string()),
        "rolled-back" if cell.asks_cluster => Ok(verdict.to_string()),
        "incomplete" if cell.asks_cluster && only_unanswered => Ok("rolled-back".to_string()),
        _ => Err(format!("{verdict}: {last}\n{}", fleet.diagnostics())),
    }
}

fn spec(mtu: u64, asks_cluster: bool) -> Value {
    let bridge = json!({ "name": LINK, "type": "linux-bridge", "state": "up", "mtu": mtu });
    let mut spec = json!({ "patience": 5, "desiredState": { "interfaces": [bridge] } });
    if !asks_cluster {
        spec["probes"] = json!(["gateway", "dns"]);
    }
    spec
}
