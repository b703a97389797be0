//! The API server fails during a change: the probes of the policy decide, and the outcome is reported when it is back.

use linesman_tests::fleet::Fleet;
use serde_json::{Value, json};

/// In `linesman status`.
const WAITS: &str = "status updates are sent when it answers";

#[test]
fn a_change_completes_without_the_api_server_and_is_reported_later() {
    let fleet = Fleet::new("api-away", 1);
    let own = json!(["gateway", "dns"]);
    let cases = [
        ("host-only", Some(own), "committed", "Available"),
        ("nothing", Some(json!([])), "committed", "Available"),
        // It passed before, and does not pass again: nobody can say that all is as before.
        ("default", None, "incomplete", "Failing"),
    ];
    for (policy, probes, verdict, word) in cases {
        let (link, before) = (format!("br-{policy}"), fleet.network("n1"));
        fleet.replace_agent("n1", "applied");
        fleet.policy(policy, &spec(&link, probes));
        fleet.wait_failpoint("n1", "applied");
        fleet.cluster.stop_api_server().unwrap();
        fleet.pass_failpoint("n1", "applied");
        fleet.eventually("it ends without anybody", || fleet.verdicts("n1", policy) == [verdict]);
        fleet.wait_agent_status("n1", WAITS);
        assert_eq!(fleet.has_interface("n1", &link), verdict == "committed");
        fleet.cluster.start_api_server().unwrap();
        fleet.wait_enactment("n1", policy, word);
        fleet.eventually("the agent hears again", || !fleet.agent_status("n1").contains(WAITS));
        let recovered = fleet.agent_log("n1").matches("the API server answers again").count();
        assert_eq!(recovered, 1, "{}", fleet.agent_log("n1"));
        fleet.wait_policy(policy, if word == "Failing" { "Degraded" } else { word });
        assert_eq!(fleet.verdicts("n1", policy), [verdict], "once");
        let checks = match policy {
            "host-only" => "verified and probed (gateway:v4, gateway:v6, dns), in ",
            "nothing" => "verified; nothing was probed, in ",
            _ => "",
        };
        assert!(fleet.message("n1", policy, word).starts_with(checks), "{policy}");
        if word == "Failing" {
            let message = fleet.message("n1", policy, "Failing");
            assert!(message.contains("the rollback is incomplete: apiServer failed"), "{message}");
            assert_eq!(fleet.network("n1"), before);
        }
        let audit = fleet.audit();
        let begun = audit.iter().filter(|e| e.name == format!("n1.{policy}") && e.verb == "update").count();
        assert_eq!(begun, 1, "by the API server's own log");
        fleet.assert_settled("n1");
    }
}

fn spec(link: &str, probes: Option<Value>) -> Value {
    let state = json!({ "interfaces": [{ "name": link, "type": "linux-bridge", "state": "up" }] });
    let mut spec = json!({ "patience": 5, "desiredState": state });
    if let Some(probes) = probes {
        spec["probes"] = probes;
    }
    spec
}
