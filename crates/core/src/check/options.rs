//! Settings of a policy that came from a cluster: admission sees them first, but not all that is wrong with them.

use crate::codes::WRONG_OPTION;
use crate::diagnostic::Diagnostic;
use crate::path::Path;
use crate::policy::Options;
use crate::probe::{FORMS, LONGEST_PATIENCE, Probe};

pub fn check_options(options: &Options) -> Vec<Diagnostic> {
    let probes = options.probes.iter().flatten().enumerate().filter_map(|(index, text)| {
        let error = text.parse::<Probe>().err()?;
        let place = Path::root().key("probes").index(index);
        Some(Diagnostic::new(WRONG_OPTION, error.brief()).at(place).hint(format!("use one of {FORMS}")))
    });
    let longest = LONGEST_PATIENCE.as_secs();
    let message = match options.patience {
        Some(0) => Some("it is at least 1 second and cannot be 0: no probe can answer in no time".to_owned()),
        Some(seconds) if seconds > longest => {
            Some(format!("it is at most {longest} seconds and cannot be {seconds}"))
        }
        _ => None,
    };
    let patience =
        message.map(|message| Diagnostic::new(WRONG_OPTION, message).at(Path::root().key("patience")));
    probes.chain(patience).collect()
}
