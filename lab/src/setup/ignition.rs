//! Ignition's own validator, built from its source by Go: exactly what `lab/ignition/go.sum` says.

use std::path::PathBuf;

use super::go::{Source, required};
use crate::error::Result;
use crate::places;

const MODULE: &str = include_str!("../../ignition/go.mod");
const SUMS: &str = include_str!("../../ignition/go.sum");
const PROGRAM: &str = "ignition-validate";

/// The program, built first if it is not there yet.
pub fn ignition_validate() -> Result<PathBuf> {
    let source = Source {
        name: "Ignition's validator",
        version: required(MODULE, "github.com/coreos/ignition/v2 "),
        module: MODULE,
        sums: SUMS,
        programs: &[(PROGRAM, "github.com/coreos/ignition/v2/validate")],
        link_flags: "-s -w".into(),
        duration: "a minute",
    };
    Ok(source.ensure(&places::ignition())?.join(PROGRAM))
}
