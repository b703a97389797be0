//! `linesman agent`: the daemon.

use linesman_agent::{Config, Error};
use linesman_engine::transaction::Settings;

use crate::cli::AgentArgs;
use crate::exit::Exit;
use crate::output;

pub async fn run(args: AgentArgs, settings: Settings) -> Exit {
    let listen = match super::listen(&args.listen) {
        Ok(listen) => listen,
        Err(why) => {
            output::error(format!("linesman: {why}"));
            return Exit::Usage;
        }
    };
    if !nix::unistd::geteuid().is_root() {
        output::error(format!("linesman: {}", linesman_engine::Error::NotRoot));
        return Exit::Environment;
    }
    let config = Config { policy_dir: args.policy_dir, settings, listen, version: env!("CARGO_PKG_VERSION") };
    match linesman_agent::run(config).await {
        Ok(()) => Exit::Done,
        Err(error) => {
            output::error(format!("linesman: {error}"));
            match &error {
                Error::Host(host) => host.into(),
                Error::Another { .. } => Exit::Busy,
                _ => Exit::Environment,
            }
        }
    }
}
