//! `linesman generate`: the network of hosts before they exist.

mod directory;
mod report;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use linesman_day1::generate::{Generated, OutputFormat, SpecVersion};
use linesman_day1::input::{Input, clusters};
use linesman_engine::desired;

use crate::cli::{Format, GenerateArgs, GeneratedForm, IgnitionVersion};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::read;
use report::Report;

/// What is to be written, and where.
struct Prepared {
    directory: Option<PathBuf>,
    generated: Generated,
}

pub fn run(args: &GenerateArgs, format: Format) -> Exit {
    match generate(args) {
        Ok(report) => report.print(format),
        Err(exit) => exit,
    }
}

/// Every cluster is checked before the first file is written.
fn generate(args: &GenerateArgs) -> Result<Report, Exit> {
    let inputs = inputs(&args.files).map_err(|failure| failure.report())?;
    let clusters = clusters(inputs);
    let apart = clusters.len() > 1;
    let output = output_format(args);
    let (mut prepared, mut wrong) = (Vec::new(), Vec::new());
    for inputs in &clusters {
        let below = inputs.first().filter(|_| apart).map(Input::stem);
        let directory = args.dir.as_ref().map(|dir| below.map_or_else(|| dir.clone(), |stem| dir.join(stem)));
        if directory.is_some() && prepared.iter().any(|other: &Prepared| other.directory == directory) {
            return Err(same_name(below.unwrap_or_default()).report());
        }
        let checked = linesman_day1::load(inputs, &desired::schema);
        match checked.and_then(|cluster| cluster.generate(&output)) {
            Ok(generated) => prepared.push(Prepared { directory, generated }),
            Err(faults) => wrong.push((faults, inputs.as_slice())),
        }
    }
    if !wrong.is_empty() {
        return Err(report::refuse(&wrong));
    }
    directory::write(prepared).map_err(Failure::report)
}

fn same_name(stem: &str) -> Failure {
    let message = format!("two of the files are called {stem}, and would be written to the same directory");
    Failure::new(Exit::Usage, message).hint("generate from one at a time")
}

fn output_format(args: &GenerateArgs) -> OutputFormat {
    let version = match args.ignition_version {
        IgnitionVersion::V3_2 => SpecVersion::V3_2,
        IgnitionVersion::V3_3 => SpecVersion::V3_3,
        IgnitionVersion::V3_4 => SpecVersion::V3_4,
        IgnitionVersion::V3_5 => SpecVersion::V3_5,
    };
    match args.form {
        GeneratedForm::Ignition => OutputFormat::Ignition(version),
        GeneratedForm::MachineConfig => OutputFormat::MachineConfig { version, roles: args.roles.clone() },
        GeneratedForm::Files => OutputFormat::Files,
    }
}

fn inputs(given: &[PathBuf]) -> Result<Vec<Input>, Failure> {
    let unreadable = |why: read::Unreadable| Failure::new(Exit::Input, why.message);
    let (mut inputs, mut known) = (Vec::new(), BTreeSet::new());
    for path in read::files(given).map_err(unreadable)? {
        // Named twice, or below a directory that is named as well.
        if path.canonicalize().is_ok_and(|real| !known.insert(real)) {
            continue;
        }
        // The index that was generated beside documents is no document.
        if path.extension().is_some_and(|ending| ending == "json") && !is_given(given, &path) {
            continue;
        }
        let (name, text) = read::text(&path).map_err(unreadable)?;
        inputs.push(Input::new(name, &text));
    }
    Ok(inputs)
}

fn is_given(given: &[PathBuf], path: &Path) -> bool {
    given.iter().any(|given| given == path)
}
