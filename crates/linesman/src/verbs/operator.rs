//! `linesman operator`: the cluster's side.

use linesman_operator::{Config, Error};

use crate::cli::OperatorArgs;
use crate::exit::Exit;
use crate::logging;

pub async fn run(args: OperatorArgs) -> Exit {
    let format = args.logging.log_format;
    let listen = match super::listen(&args.listen) {
        Ok(listen) => listen,
        Err(why) => {
            logging::fatal(format, why);
            return Exit::Usage;
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
            match error {
                Error::Cluster(_) | Error::Listen { .. } => Exit::Environment,
                _ => Exit::Failed,
            }
        }
    }
}

fn identity() -> String {
    let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    format!("{}-{}", host.as_deref().unwrap_or("operator"), std::process::id())
}
