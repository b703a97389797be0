//! `linesman brex`: br-ex on the uplink of this host, as a document or applied.

use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::yaml;
use linesman_day1::brex::{BrexDocument, BrexError, Bridge, Derived, Options, derive};
use linesman_engine::transaction::{Refusal, Session, Settings};
use linesman_engine::{observe, ovs, uplink_choice};
use serde_json::json;

use super::apply::{self, Mode};
use super::documents::Documents;
use crate::cli::{BrexArgs, BridgeName, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// What the change is called in `linesman history`.
const SOURCE: &str = "linesman brex";

pub async fn run(args: BrexArgs, format: Format, settings: &Settings) -> Exit {
    let bridge = match args.bridge {
        BridgeName::BrEx => Bridge::BrEx,
        BridgeName::BrEx1 => Bridge::BrEx1,
    };
    let own = uplink_choice::read(&settings.state_dir, bridge.name());
    let foreign = || uplink_choice::of_configure_ovs().filter(|_| bridge == Bridge::BrEx);
    let options = Options {
        bridge,
        interface: args.interface.clone(),
        earlier: own.or_else(foreign),
        userspace_datapath: !ovs::has_kernel_datapath().await,
    };
    let derived = match look(&options).await {
        // What looks wrong, or made already, may be half of an interrupted change.
        Ok(Ok(Derived::Already { .. }) | Err(_)) if args.apply => {
            if let Err(Refusal::Host(error)) = Box::pin(Session::begin(settings)).await {
                return Failure::from(&error).report();
            }
            look(&options).await
        }
        derived => derived,
    };
    let derived = match derived {
        Ok(derived) => derived,
        Err(error) => return Failure::from(&error).report(),
    };
    match derived {
        Ok(Derived::Document(document)) if args.apply => make(&document, &args, format, settings).await,
        Ok(Derived::Document(document)) => print(&document, format),
        Ok(Derived::Already { uplink }) => {
            already(&format!("{bridge} is already on {uplink}"), &args, format)
        }
        Err(error) => refuse(&error),
    }
}

async fn look(options: &Options) -> linesman_engine::Result<Result<Derived, BrexError>> {
    let (observed, facts) = observe::host().await?;
    Ok(derive(&observed, &facts, options))
}

fn print(document: &BrexDocument, format: Format) -> Exit {
    match format {
        Format::Json => output::document(format, &document.state),
        Format::Text | Format::Yaml => output::raw(text(document).trim_end()),
    }
    Exit::Done
}

fn text(document: &BrexDocument) -> String {
    document.header() + &yaml::write(&document.state)
}

async fn make(document: &BrexDocument, args: &BrexArgs, format: Format, settings: &Settings) -> Exit {
    if format == Format::Text && !args.change.quiet {
        document.notes.iter().for_each(|note| output::line(format!("note: {note}")));
    }
    let documents = match Documents::of([(SOURCE, text(document).as_str())].into_iter()) {
        Ok(documents) => documents,
        Err(exit) => return exit,
    };
    apply::warn(&documents, settings);
    match apply::change(&documents, &args.change, Mode::default(), format, settings).await {
        Ok(verdict) => {
            if matches!(verdict, Verdict::Committed | Verdict::Unchanged) {
                keep_choice(document, settings);
            }
            verdict.into()
        }
        Err(exit) => exit,
    }
}

/// For the next run. That it is missing does no harm today.
fn keep_choice(document: &BrexDocument, settings: &Settings) {
    let (bridge, uplink) = (document.bridge.name(), &document.choice.interface);
    if let Err(error) = uplink_choice::write(&settings.state_dir, bridge, uplink) {
        output::error(format!("warning: the choice of {uplink} cannot be saved: {error}"));
    }
}

/// As a document, it says nothing, and whoever applies it changes nothing.
fn already(message: &str, args: &BrexArgs, format: Format) -> Exit {
    match format {
        Format::Text if args.apply && args.change.quiet => {}
        Format::Text if args.apply => output::line(format!("{message}; no changes made")),
        other if args.apply => {
            let outcome = Outcome { notes: vec![message.to_owned()], ..Outcome::new(Verdict::Unchanged) };
            output::data(other, &outcome);
        }
        Format::Json => output::document(format, &json!({ "interfaces": [] })),
        Format::Text | Format::Yaml => {
            output::raw(format!("# {message}; nothing to do."));
            output::document(Format::Yaml, &json!({ "interfaces": [] }));
        }
    }
    Exit::Done
}

fn refuse(error: &BrexError) -> Exit {
    let exit = if error.is_about_the_name() { Exit::Usage } else { Exit::Failed };
    Failure::new(exit, error.to_string()).code(error.code()).hint(error.hint()).report()
}
