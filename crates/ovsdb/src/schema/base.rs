//! What one atom of a column may be (`<base-type>`).

use std::collections::BTreeSet;

use crate::value::{Atom, AtomKind};

#[derive(Debug, Clone, PartialEq)]
pub struct BaseType {
    pub kind: AtomKind,
    /// The only values that are allowed.
    pub choices: Option<BTreeSet<Atom>>,
    pub bounds: Bounds,
    /// Of a UUID: the row it must name.
    pub reference: Option<Reference>,
}

/// Both ends are allowed. Those of strings count characters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bounds {
    None,
    Integer { min: i64, max: i64 },
    Real { min: f64, max: f64 },
    Length { min: u64, max: u64 },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub table: String,
    /// The reference goes with the row, rather than keeping it.
    pub weak: bool,
}

impl BaseType {
    pub const fn of(kind: AtomKind) -> Self {
        BaseType { kind, choices: None, bounds: Bounds::None, reference: None }
    }

    /// Err: what is wrong with it.
    pub fn check(&self, atom: &Atom) -> Result<(), String> {
        if atom.kind() != self.kind {
            return Err(format!("{atom} is a {}, not a {}", atom.kind().as_str(), self.kind.as_str()));
        }
        if let Some(choices) = self.choices.as_ref().filter(|choices| !choices.contains(atom)) {
            let names: Vec<String> = choices.iter().map(ToString::to_string).collect();
            return Err(format!("{atom} is not one of {}", names.join(", ")));
        }
        self.bounds.check(atom)
    }
}

impl Bounds {
    fn check(&self, atom: &Atom) -> Result<(), String> {
        let fits = match (self, atom) {
            (Bounds::Integer { min, max }, Atom::Integer(integer)) => (min..=max).contains(&integer),
            (Bounds::Real { min, max }, Atom::Real(real)) => (min..=max).contains(&&real.0),
            (Bounds::Length { min, max }, Atom::String(text)) => {
                (*min..=*max).contains(&u64::try_from(text.chars().count()).unwrap_or(u64::MAX))
            }
            _ => true,
        };
        if fits { Ok(()) } else { Err(format!("{atom} is out of range ({self})")) }
    }
}

impl std::fmt::Display for Bounds {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bounds::None => write!(formatter, "any"),
            Bounds::Integer { min, max } => write!(formatter, "{min} to {max}"),
            Bounds::Real { min, max } => write!(formatter, "{min} to {max}"),
            Bounds::Length { min, max: u64::MAX } => write!(formatter, "at least {min} characters"),
            Bounds::Length { min, max } => write!(formatter, "{min} to {max} characters"),
        }
    }
}
