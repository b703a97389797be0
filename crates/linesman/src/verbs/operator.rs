//! `linesman operator`: the cluster's side.

use linesman_core::codes::commands;
use linesman_operator::{Config, Error};

use crate::cli::OperatorArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::logging;

pub async fn run(args: OperatorArgs) -> Exit {
    let format = args.logging.log_format;
    let listen = match super::listen(&args.listen) {
        Ok(listen) => listen,
        Err(why) => {
            logging::fatal(format, &why);
            return Failure::new(Exit::Usage, why).code(commands::USAGE).report_to_programs();
        }
    };
    let config = Config {
        kubeconfig: args.kubeconfig,
        namespace: args.namespace,
        identity: args.identity.unwrap_or_else(identity),
        listen,
        release_for: args.release_for,
        version: env!("CARGO_PKG_VERSION"),
    };
    match linesman_operator::run(config).await {
        Ok(()) => Exit::Done,
        Err(error) => {
            logging::fatal(format, &error);
            let exit = match &error {
                Error::Cluster(_) | Error::Listen { .. } => Exit::Environment,
                _ => Exit::Failed,
            };
            Failure::new(exit, error.to_string()).report_to_programs()
        }
    }
}

fn identity() -> String {
    let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    format!("{}-{}", host.as_deref().unwrap_or("operator"), std::process::id())
}
