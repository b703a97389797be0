//! `linesman check`: validates documents offline.

use std::collections::BTreeSet;

use linesman_core::codes::CONFLICT;
use linesman_core::compose::compose;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::policy::Policy;

use crate::cli::{CheckArgs, Format};
use crate::exit::Exit;
use crate::read::{self, Checked};
use crate::{output, verbs};

pub fn run(args: &CheckArgs, format: Format) -> Exit {
    let mut checked = match read::check_all(&args.files) {
        Ok(checked) => checked,
        Err(why) => return read::report_unreadable(&why, format),
    };
    if !args.apart {
        same_names(&mut checked);
        conflicts(&mut checked);
    }
    match format {
        Format::Text => checked.iter().for_each(Checked::print),
        other => output::data(other, &checked.iter().flat_map(Checked::findings).collect::<Vec<_>>()),
    }
    if checked.iter().all(Checked::is_right) {
        return Exit::Done;
    }
    if format == Format::Text {
        output::error(summary(&checked));
    }
    Exit::Input
}

/// The agent rejects both, so neither is ok.
fn same_names(checked: &mut [Checked]) {
    let pairs = (0..checked.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let same = |&(one, other): &(usize, usize)| checked.get(one)?.same_name(checked.get(other)?);
    let found: Vec<_> = pairs.filter_map(|pair| same(&pair).map(|problem| (pair, problem))).collect();
    for ((one, other), problem) in found {
        for document in [one, other] {
            checked.get_mut(document).into_iter().for_each(|document| document.add(problem.clone()));
        }
    }
}

/// Composes the documents as policies of one host.
fn conflicts(checked: &mut [Checked]) {
    let policies: Vec<Policy> = checked.iter().filter_map(Checked::policy).collect();
    let Err(conflicts) = compose(&policies.iter().collect::<Vec<_>>()) else { return };
    for conflict in conflicts {
        let newer = checked.iter().position(|c| c.policy().is_some_and(|p| p.name == conflict.other.policy));
        let Some(document) = newer.and_then(|at| checked.get_mut(at)) else { continue };
        let hint = "set it in one document only, or make both agree; use --apart if the documents are for different hosts";
        document.add(
            Diagnostic::new(CONFLICT, format!("conflict: {conflict}")).at(conflict.path.clone()).hint(hint),
        );
    }
}

fn summary(checked: &[Checked]) -> String {
    let files: BTreeSet<&str> = checked.iter().map(Checked::file).collect();
    let wrong: BTreeSet<&str> = checked.iter().filter(|c| !c.is_right()).map(Checked::file).collect();
    let errors: usize = checked.iter().map(|file| file.findings().len()).sum();
    let code = checked.iter().flat_map(Checked::findings).find_map(|finding| finding.code);
    let more = code.map(|code| format!("; run `linesman explain {code}` for details")).unwrap_or_default();
    let errors = verbs::count(errors, "error");
    match files.len() {
        1 => format!("{errors}{more}"),
        files => format!("{errors} in {} of {}{more}", wrong.len(), verbs::count(files, "file")),
    }
}
