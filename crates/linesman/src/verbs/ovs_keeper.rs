//! `linesman ovs-keeper`: the daemon that keeps Open vSwitch.

use linesman_core::codes::{commands, failures};
use linesman_engine::transaction::Settings;
use linesman_ovs::control::Source;
use linesman_ovs::keeper::{self, Config};
use linesman_ovs::logs::LogStyle;
use linesman_ovs::probes::Places;
use linesman_ovs::units::decide::Options;

use crate::cli::OvsKeeperArgs;
use crate::exit::Exit;
use crate::failure::{self, Failure};
use crate::logging::{self, LogFormat};

pub async fn run(args: OvsKeeperArgs, settings: Settings) -> Exit {
    let format = args.logging.log_format;
    let listen = match super::listen(&args.listen) {
        Ok(listen) => listen,
        Err(why) => {
            logging::fatal(format, &why);
            return Failure::new(Exit::Usage, why).code(commands::USAGE).report_to_programs();
        }
    };
    if !failure::is_root() {
        let error = linesman_engine::Error::NotRoot;
        logging::fatal(format, &error);
        return Failure::from(&error).report_to_programs();
    }
    let config = Config {
        options: Options { restart_hung: args.restart_hung, hung_after: args.hung_after },
        listen,
        state_dir: settings.state_dir,
        logs: (!args.no_logs).then(|| style(format)),
        source: source(&args),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        places: Places { run_dir: args.ovs_run_dir, ..Places::default() },
    };
    match keeper::run(config).await {
        Ok(()) => Exit::Done,
        Err(error) => {
            logging::fatal(format, &error);
            Failure::new(Exit::Environment, error.to_string()).code(failures::HINDERED).report_to_programs()
        }
    }
}

fn source(args: &OvsKeeperArgs) -> Source {
    match &args.node_name {
        Some(node) => Source::Cluster {
            kubeconfig: args.kubeconfig.clone(),
            namespace: args.namespace.clone(),
            node: node.clone(),
            remove_taint: args.remove_taint,
        },
        None => Source::File(args.settings.clone()),
    }
}

fn style(format: LogFormat) -> LogStyle {
    match format {
        LogFormat::Json => LogStyle::Json,
        LogFormat::Text if logging::is_journal(&std::io::stdout()) => LogStyle::Priority,
        LogFormat::Text => LogStyle::Text,
    }
}
