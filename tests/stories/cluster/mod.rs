//! Stories on a real API server.

mod columns;
mod editing;
mod manifests;
mod tokens;
mod validation;
mod versions;
