//! What agent and operator count.

use linesman_agent::metrics::TABLE;
use linesman_agent::status::Phase;

use super::NOTE;

const INTRO: &str = "\
The agent serves them at `http://127.0.0.1:9473/metrics` (`linesman agent --listen` chooses another place) in the
OpenMetrics text format. [How to watch the agent](../howto/watch-the-agent.md) has alerts by example.";

const OPERATOR: &str = "\
The operator serves them at `http://127.0.0.1:9474/metrics` (`linesman operator --listen` chooses another place). Names that begin with
`kubernetes_nmstate` mean what they mean there.";

const OUTCOMES: &str = "\
`linesman_apply_total` has the outcomes `unchanged` (it held already), `committed`, `rolled-back`, `incomplete` (rolled
back, but something is not as before), `abandoned` (interrupted before anything was touched) and `refused` (it does not
fit this host, or the host lacks something).";

pub fn page() -> String {
    let phases: Vec<String> = Phase::ALL.iter().map(|phase| format!("`{}`", phase.word())).collect();
    format!(
        "{NOTE}\n\n# Metrics\n\n## The agent\n\n{INTRO}\n\n{}\n\
         `linesman_policies` has the phases {}.\n{OUTCOMES}\n\n## The operator\n\n{OPERATOR}\n\n{}\n\
         ## Health\n\n| path | answers |\n|---|---|\n\
         | `/healthz` | 200 as long as the process lives |\n\
         | `/readyz` | 200 once the agent has looked at the host and while it can, or the operator knows the cluster (whether it leads or stands by); else 503; \
         the body tells the story in a line |\n",
        table(&TABLE),
        phases.join(", "),
        table(&linesman_operator::metrics::TABLE),
    )
}

fn table(rows: &[(&str, &str, &str, &str)]) -> String {
    let row = |(name, kind, labels, meaning): &(&str, &str, &str, &str)| {
        let labels =
            if labels.is_empty() { String::new() } else { format!("`{}`", labels.replace(", ", "`, `")) };
        format!("| `{name}` | {kind} | {labels} | {meaning} |\n")
    };
    let rows: String = rows.iter().map(row).collect();
    format!("| metric | kind | label | what it says |\n|---|---|---|---|\n{rows}")
}
