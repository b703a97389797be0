//! What the agent counts.

use linesman_agent::metrics::TABLE;
use linesman_agent::status::Phase;

use super::NOTE;

const INTRO: &str = "\
The agent serves them at `http://127.0.0.1:9473/metrics` (`linesman agent --listen` chooses another place) in the
OpenMetrics text format. [How to watch the agent](../howto/watch-the-agent.md) has alerts by example.";

const OUTCOMES: &str = "\
`linesman_apply_total` has the outcomes `unchanged` (it held already), `committed`, `rolled-back`, `incomplete` (rolled
back, but something is not as before), `abandoned` (interrupted before anything was touched) and `refused` (it does not
fit this host, or the host lacks something).";

pub fn page() -> String {
    let row = |(name, kind, labels, meaning): &(&str, &str, &str, &str)| {
        let labels = if labels.is_empty() { String::new() } else { format!("`{labels}`") };
        format!("| `{name}` | {kind} | {labels} | {meaning} |\n")
    };
    let rows: String = TABLE.iter().map(row).collect();
    let phases: Vec<String> = Phase::ALL.iter().map(|phase| format!("`{}`", phase.word())).collect();
    format!(
        "{NOTE}\n\n# Metrics\n\n{INTRO}\n\n| metric | kind | label | what it says |\n|---|---|---|---|\n{rows}\n\
         `linesman_policies` has the phases {}.\n{OUTCOMES}\n\n\
         ## Health\n\n| path | answers |\n|---|---|\n\
         | `/healthz` | 200 as long as the agent lives |\n\
         | `/readyz` | 200 once it has looked at the host and while it can; else 503; the body is the story that `linesman status` begins with |\n",
        phases.join(", ")
    )
}
