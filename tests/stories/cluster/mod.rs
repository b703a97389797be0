//! Stories on a real API server.

mod columns;
mod editing;
mod hostile_node;
mod hostile_policy;
mod large_state;
mod manifests;
mod operator_failure;
mod operator_hosts;
mod operator_killed;
mod operator_lost;
mod operator_revert;
mod operator_rollout;
mod operator_soak;
mod operator_undo;
mod sealed_secrets;
mod tokens;
mod validation;
mod versions;
