//! The metrics of the agent, the operator and the keeper of Open vSwitch.

use linesman_agent::metrics::TABLE;
use linesman_agent::status::PolicyPhase;

use super::NOTE;

const INTRO: &str = "\
The agent serves its metrics at `http://127.0.0.1:9473/metrics` in the OpenMetrics text format. Use
`linesman agent --listen` to change the address. See [how to monitor the agent](../howto/monitor-the-agent.md) for alerts.";

const OPERATOR: &str = "\
The operator serves its metrics at `http://127.0.0.1:9474/metrics`. Use `linesman operator --listen` to change the
address. Metrics whose names begin with `kubernetes_nmstate` have the same meaning as in kubernetes-nmstate.";

const KEEPER: &str = "\
The keeper of Open vSwitch serves its metrics at `http://127.0.0.1:9475/metrics`. Use `linesman ovs-keeper --listen` to
change the address. What ovs-vswitchd counts is read from it every minute.";

const OUTCOMES: &str = "\
The outcomes of `linesman_apply_total` are `unchanged` (already in the desired state), `committed`, `rolled-back`,
`incomplete` (the rollback is incomplete), `abandoned` (interrupted before any change was made) and `refused` (the policy
does not fit this host, or a prerequisite is missing).";

pub fn page() -> String {
    let phases: Vec<String> = PolicyPhase::ALL.iter().map(|phase| format!("`{}`", phase.as_str())).collect();
    format!(
        "{NOTE}\n\n# Metrics\n\n## The agent\n\n{INTRO}\n\n{}\n\
         The phases of `linesman_policies` are {}.\n{OUTCOMES}\n\n## The operator\n\n{OPERATOR}\n\n{}\n\
         ## The keeper of Open vSwitch\n\n{KEEPER}\n\n{}\n\
         ## Health\n\n| path | response |\n|---|---|\n\
         | `/healthz`, `/livez` | 200 while the process is running; of `ovs-keeper`: while it does its work and the daemons of \
         Open vSwitch have not been down or silent for a minute, otherwise 503 |\n\
         | `/readyz` | 200 if the agent can observe the host, or if the operator has synced with the cluster \
         (leader or standby), or if both daemons of Open vSwitch run and answer; otherwise 503. The body begins with a summary |\n",
        table(TABLE),
        phases.join(", "),
        table(linesman_operator::metrics::TABLE),
        table(linesman_ovs::metrics::TABLE),
    )
}

fn table(rows: &[(&str, &str, &[&str], &str)]) -> String {
    let row = |(name, kind, labels, meaning): &(&str, &str, &[&str], &str)| {
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        format!("| `{name}` | {kind} | {} | {meaning} |\n", labels.join(", "))
    };
    let rows: String = rows.iter().map(row).collect();
    format!("| metric | type | labels | meaning |\n|---|---|---|---|\n{rows}")
}
