//! `linesman agent`: the daemon.

use linesman_agent::{Config, Source, cluster};
use linesman_core::codes::commands;
use linesman_engine::transaction::Settings;
use linesman_fleet::report::Glob;

use crate::cli::AgentArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::logging;

pub async fn run(args: AgentArgs, settings: Settings) -> Exit {
    let format = args.logging.log_format;
    let listen = match super::listen(&args.listen) {
        Ok(listen) => listen,
        Err(why) => {
            logging::fatal(format, &why);
            return Failure::new(Exit::Usage, why).code(commands::USAGE).report_to_programs();
        }
    };
    if !nix::unistd::geteuid().is_root() {
        let error = linesman_engine::Error::NotRoot;
        logging::fatal(format, &error);
        return Failure::from(&error).report_to_programs();
    }
    // A manifest sets the variable whether or not somebody chose a name.
    let dns_name = args.probe_dns_host.filter(|name| !name.is_empty());
    let settings = Settings {
        dns_name,
        limit: args.timeout,
        settle: args.settle,
        worker_arguments: logging::worker_arguments(format),
        roll_back_foreign: args.roll_back_checkpoints,
        ..settings
    };
    let source = match (args.standalone, args.node_name) {
        (false, Some(node)) => Source::Cluster(cluster::Config {
            node,
            kubeconfig: args.kubeconfig,
            filter: args.interface_filter.iter().map(|glob| Glob::new(glob)).collect(),
            handler_lock: args.handler_lock,
            namespace: args.namespace,
        }),
        _ => Source::Directory(args.policy_dir),
    };
    let config = Config { source, settings, listen, version: env!("CARGO_PKG_VERSION") };
    match Box::pin(linesman_agent::run(config)).await {
        Ok(()) => Exit::Done,
        Err(error) => {
            logging::fatal(format, &error);
            Failure::from(&error).report_to_programs()
        }
    }
}
