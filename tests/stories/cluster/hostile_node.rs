//! One node, or whoever has the token of its agent, writes what it likes to its own objects: nobody else is stopped.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use linesman_tests::api::{accepted, node_state};
use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::{Value, json};

const EVIL: &str = "evil";

fn bridge(name: &str) -> Value {
    json!({ "interfaces": [{ "name": name, "type": "linux-bridge", "state": "up" }] })
}

fn on(role: &str, state: Value) -> Value {
    json!({ "nodeSelector": { "role": role }, "maxUnavailable": 1, "desiredState": state })
}

fn nested(levels: usize) -> Value {
    (0..levels)
        .fold(json!(1), |inner, level| if level % 3 == 0 { json!([inner]) } else { json!({ "a": inner }) })
}

/// Workers that a simulated agent answers for, and one node that it does not answer for, with the token of its agent.
fn fleet(name: &str, workers: &[&str]) -> (SimulatedFleet, String) {
    let fleet = SimulatedFleet::new(name, &[]);
    fleet.cluster.add_nodes(workers, &[("role", "worker")]).unwrap();
    fleet.cluster.add_nodes(&[EVIL], &[("role", EVIL)]).unwrap();
    fleet.stop_answers_of(EVIL);
    let token = fleet.cluster.agent_token(EVIL).unwrap();
    (fleet, token)
}

/// The whole status of an object of the node; whether it was accepted.
fn write(fleet: &SimulatedFleet, token: &str, kind: &str, name: &str, status: &Value) -> bool {
    let object = json!({ "apiVersion": "nmstate.io/v1beta1", "kind": kind, "metadata": { "name": name }, "status": status });
    let words = ["replace", "--subresource=status", "--validate=false", "-f", "-"];
    fleet.cluster.kubectl_as(token, &words, &object.to_string()).unwrap().success()
}

#[test]
fn nested_reports_of_one_node_stop_nobody() {
    let (fleet, token) = fleet("deep-reports", &["w1", "w2"]);
    let operator = fleet.operator("first", &[]);
    fleet.policy("mine", &on(EVIL, bridge("br1")));
    fleet.wait("the node has its enactment", || fleet.enactments("mine").contains_key(EVIL));
    accepted(
        &fleet.cluster.kubectl_as(&token, &["create", "-f", "-"], &node_state(EVIL).to_string()).unwrap(),
    );
    let deep = nested(200);
    let status = json!({ "attempt": 1, "capturedStates": { "c": { "state": { "a": deep } } } });
    assert!(write(&fleet, &token, "NodeNetworkConfigurationEnactment", "evil.mine", &status));
    let state =
        json!({ "currentState": { "interfaces": [{ "type": "ethernet", "mac-address": deep }], "x": deep } });
    assert!(write(&fleet, &token, "NodeNetworkState", EVIL, &state));
    let hosts = json!([{ "match": { "macAddress": "52:54:00:00:00:09" }, "desiredState": {} }, { "match": { "node": "w1" }, "desiredState": {} },
                       { "match": { "node": "w2" }, "desiredState": {} }]);
    let mut spec = on("worker", bridge("br2"));
    spec["hosts"] = hosts;
    fleet.policy("blue", &spec);
    fleet.wait_policy("blue", "Available");

    // Nor is an operator stopped that starts now.
    drop(operator);
    fleet.free_lease();
    let _second = fleet.operator("second", &[]);
    fleet.policy("red", &on("worker", bridge("br3")));
    fleet.wait_policy("red", "Available");
}

#[test]
fn a_report_that_cannot_be_read_is_reported_on_its_node_and_its_policy() {
    let (fleet, token) = fleet("unreadable", &["w1"]);
    let _operator = fleet.operator("first", &[]);
    fleet.policy("mine", &on(EVIL, bridge("br1")));
    fleet.policy("blue", &on("worker", bridge("br2")));
    fleet.wait("the node is released", || {
        fleet.enactments("mine").get(EVIL).is_some_and(|it| it["spec"]["stage"] == "Released")
    });
    let status = json!({ "attempt": 1, "conditions": [{ "type": "Available", "status": "Perhaps" }] });
    assert!(write(&fleet, &token, "NodeNetworkConfigurationEnactment", "evil.mine", &status));
    fleet.wait("the policy says so", || {
        let policy = fleet.cluster.get("nncp", "mine").unwrap().unwrap_or_default();
        let blocked = &policy["status"]["blockedNodes"][0];
        let reason = blocked["reason"].as_str().unwrap_or_default();
        blocked["node"] == EVIL && reason.contains("cannot be read: status.conditions[0].status")
    });
    fleet.wait("so does an event on the enactment", || fleet.events("evil.mine", "Unreadable") == 1);
    fleet.wait_policy("blue", "Available");
}

/// Xorshift: the same seed gives the same statuses.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: u64) -> usize {
        usize::try_from(self.next() % most).unwrap_or_default()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64)]
    }

    fn scalar(&mut self) -> Value {
        match self.below(8) {
            0 => Value::Null,
            1 => json!(-1),
            2 => json!(i64::MIN),
            3 => json!(u64::MAX),
            4 => json!(1.5e300),
            5 => json!("\u{202e}\u{0}😀".repeat(self.below(50))),
            6 => json!("x".repeat(self.below(100_000))),
            _ => json!("9999-99-99T00:00:00Z"),
        }
    }

    fn value(&mut self) -> Value {
        match self.below(5) {
            0 => nested(self.below(400)),
            1 => (0..self.below(3000)).map(|_| json!({})).collect(),
            2 => (0..self.below(500))
                .map(|n| (n.to_string(), json!([n])))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            _ => self.scalar(),
        }
    }

    fn object(&mut self, keys: &[&str]) -> Value {
        let count = self.below(keys.len() as u64 + 1);
        (0..count)
            .map(|_| ((*self.pick(keys)).to_owned(), self.value()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    fn condition(&mut self) -> Value {
        let status = *self.pick(&["True", "False", "Unknown", "Maybe", ""]);
        let time = *self.pick(&[
            "2026-01-01T00:00:00Z",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "1969-12-31T23:59:59+14:00",
        ]);
        let kind = *self.pick(&[
            "Available",
            "Failing",
            "Progressing",
            "Pending",
            "Aborted",
            "Drifted",
            "\u{7f}",
            "",
        ]);
        json!({ "type": kind, "status": status, "lastTransitionTime": time, "message": "ß".repeat(self.below(40_000)) })
    }

    fn enactment_status(&mut self) -> Value {
        let mut status = self.object(&[
            "attempt",
            "observedGeneration",
            "policyGeneration",
            "features",
            "retryCount",
            "unknown",
        ]);
        status["attempt"] = [json!(1), json!(-7), json!(i64::MAX)][self.below(3)].clone();
        status["conditions"] = (0..self.below(4)).map(|_| self.condition()).collect();
        status["desiredState"] = json!({ "a": self.value() });
        status["capturedStates"] = json!({ "c": { "state": { "a": self.value() } } });
        status
    }

    fn node_status(&mut self) -> Value {
        let keys = ["type", "mac-address", "permanent-mac-address", "name", "ipv4"];
        let interfaces: Vec<Value> = (0..self.below(20))
            .map(|_| if self.below(3) == 0 { self.value() } else { self.object(&keys) })
            .collect();
        json!({ "currentState": { "interfaces": interfaces, "routes": self.value(), "x": self.value() } })
    }
}

#[test]
fn a_rollout_finishes_while_a_node_writes_hostile_reports() {
    let seed = std::env::var("LINESMAN_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(now.as_micros()).unwrap_or_default() | 1
    });
    println!("LINESMAN_SEED={seed}");
    let workers = ["w1", "w2", "w3", "w4", "w5"];
    let (fleet, token) = fleet("fuzzed", &workers);
    let operator = fleet.operator("first", &[]);
    fleet.policy("mine", &on(EVIL, bridge("br1")));
    fleet.wait("the node has its enactment", || fleet.enactments("mine").contains_key(EVIL));
    accepted(
        &fleet.cluster.kubectl_as(&token, &["create", "-f", "-"], &node_state(EVIL).to_string()).unwrap(),
    );
    let (done, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random(seed);
            while !done.load(Ordering::Relaxed) {
                let (kind, name, status) = match random.below(2) {
                    0 => ("NodeNetworkConfigurationEnactment", "evil.mine", random.enactment_status()),
                    _ => ("NodeNetworkState", EVIL, random.node_status()),
                };
                written.fetch_add(usize::from(write(&fleet, &token, kind, name, &status)), Ordering::Relaxed);
            }
        });
        let finished = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            roll_out(&fleet, operator);
            fleet.wait("hostile reports were accepted", || written.load(Ordering::Relaxed) >= 20);
        }));
        done.store(true, Ordering::Relaxed);
        finished.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

fn roll_out(fleet: &SimulatedFleet, operator: linesman_lab::Running) {
    let mut spec = on("worker", bridge("br2"));
    spec["hosts"] =
        (1..=5).map(|n| json!({ "match": { "node": format!("w{n}") }, "desiredState": {} })).collect();
    spec["hosts"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "match": { "macAddress": "52:54:00:00:00:09" }, "desiredState": {} }));
    fleet.policy("blue", &spec);
    fleet.wait_policy("blue", "Available");
    operator.signal(nix::sys::signal::Signal::SIGTERM).unwrap();
    assert!(operator.wait_at_most(Duration::from_secs(30)).unwrap().success());
    let _second = fleet.operator("second", &[]);
    spec["desiredState"] = bridge("br3");
    fleet.policy("blue", &spec);
    let policy = fleet.wait_policy("blue", "Available");
    assert_eq!(policy["status"]["nodes"]["available"], 5);
}

/// Whenever its node is released, it reports that it is done and asks again.
fn ask_again_and_again(fleet: &SimulatedFleet, token: &str, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        let spec = fleet.enactments("shared").remove(EVIL).unwrap_or_default()["spec"].clone();
        if spec["stage"] == "Released" {
            let conditions = json!([{ "type": "Available", "status": "True" }]);
            let status =
                json!({ "attempt": spec["attempt"], "conditions": conditions, "requestsRelease": "Drifted" });
            write(fleet, token, "NodeNetworkConfigurationEnactment", "evil.shared", &status);
        }
    }
}

#[test]
fn a_node_that_asks_for_corrections_all_the_time_starves_nobody() {
    let (fleet, token) = fleet("greedy", &["w1"]);
    let _operator = fleet.operator("first", &[]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| ask_again_and_again(&fleet, &token, &done));
        let finished = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let spec = json!({ "maxUnavailable": 1, "drift": "Correct", "desiredState": bridge("br1") });
            fleet.policy("shared", &spec);
            let attempt = |node: &str| {
                fleet
                    .enactments("shared")
                    .get(node)
                    .and_then(|it| it["spec"]["attempt"].as_i64())
                    .unwrap_or(0)
            };
            fleet.wait_enactment("shared", "w1", "Available");
            fleet.wait("the node asks again and again", || attempt(EVIL) >= 2);
            let (other, began, first) =
                (fleet.cluster.agent_token("w1").unwrap(), Instant::now(), attempt(EVIL));
            let asked = json!({ "attempt": attempt("w1"), "requestsRelease": "Drifted",
                                "conditions": [{ "type": "Available", "status": "True" }] });
            assert!(write(&fleet, &other, "NodeNetworkConfigurationEnactment", "w1.shared", &asked));
            fleet.wait("the other one is corrected", || attempt("w1") >= 2);
            fleet.wait("the node had another turn", || attempt(EVIL) >= first + 2);
            let most = 2 + began.elapsed().as_secs() / 10;
            let releases = attempt(EVIL) - first;
            assert!(
                releases <= i64::try_from(most).unwrap_or(i64::MAX),
                "{releases} releases, at most {most}"
            );
        }));
        done.store(true, Ordering::Relaxed);
        finished.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}
