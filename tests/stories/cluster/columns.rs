//! What `kubectl get` shows is what it shows with kubernetes-nmstate.

use std::path::Path;

use linesman_lab::transcript::{self, CommandResult};
use linesman_tests::api::{Api, accepted, conditions, enactment, node_state, policy};
use serde_json::json;

const POLICY: [&str; 4] = ["Available", "Degraded", "Progressing", "Ignored"];
const ENACTMENT: [&str; 5] = ["Available", "Failing", "Progressing", "Pending", "Aborted"];

#[test]
fn kubectl_prints_the_columns_that_people_know() {
    let api = Api::shared();
    let (operator, agent) = (api.operator(), api.node("shown"));
    api.cluster.apply(&policy("columns", &json!({})).to_string()).unwrap();
    api.cluster.apply(&policy("columns-new", &json!({})).to_string()).unwrap();
    let degraded = json!({ "conditions": conditions(&POLICY, "Degraded", "FailedToConfigure") });
    accepted(&api.report(&operator, "nncp/columns", &degraded));
    accepted(&api.create(&operator, &enactment("shown", "columns")));
    let failing = json!({ "conditions": conditions(&ENACTMENT, "Failing", "FailedToConfigure") });
    accepted(&api.report(&agent, "nnce/shown.columns", &failing));
    accepted(&api.create(&agent, &node_state("shown")));
    let keeper = api.cluster.node_token("shown", "linesman-ovs-keeper").unwrap();
    let novs = json!({ "apiVersion": "linesman.dev/v1alpha1", "kind": "NodeOpenVSwitch", "metadata": { "name": "shown" } });
    accepted(&api.create(&keeper, &novs));
    let status = json!({
        "versions": { "ovs": "3.5.0" }, "bridgeCount": 2, "interfaceErrorCount": 0, "restarts": 1,
        "settings": { "appliedCount": 3, "refusedCount": 1 },
        "conditions": [{ "type": "Available", "status": "True", "reason": "AsExpected" },
                       { "type": "Degraded", "status": "True", "reason": "SettingsRefused" }],
    });
    accepted(&api.report(&keeper, "novs/shown", &status));

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts/cluster");
    transcript::assert_true(&folder, |command| {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let output = api.cluster.kubectl(&words).unwrap();
        CommandResult { code: output.code().unwrap_or(-1), output: masked(&(output.stdout + &output.stderr)) }
    });
}

/// Ages masked, and every column where it was.
fn masked(text: &str) -> String {
    text.split('\n').map(masked_line).collect::<Vec<_>>().join("\n")
}

fn masked_line(line: &str) -> String {
    let mut masked = String::new();
    let mut place = 0;
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let start = place + line[place..].find(word).unwrap_or(0);
        masked.push_str(&" ".repeat(start.saturating_sub(masked.len())));
        masked.push_str(if is_age(word) { "AGE" } else { word });
        place = start + word.len();
    }
    masked
}

fn is_age(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    digits > 0 && word.ends_with(['s', 'm', 'h', 'd']) && word.chars().all(|c| "0123456789ysmhd".contains(c))
}
