//! `linesman crds`: what a cluster must know before Linesman can work in it.

use linesman_api::{admission, crd};
use serde_json::{Value, json};

use crate::cli::{CrdsArgs, Format};
use crate::exit::Exit;
use crate::output;

pub fn run(args: &CrdsArgs, format: Format) -> Exit {
    let objects = if args.admission { admission::all(&args.namespace) } else { crd::all() };
    match format {
        // One object for `kubectl apply -f -`: JSON knows no stream of documents there.
        Format::Json => {
            output::document(format, &json!({ "apiVersion": "v1", "kind": "List", "items": objects }))
        }
        Format::Text | Format::Yaml => objects.iter().enumerate().for_each(|(n, object)| document(n, object)),
    }
    Exit::Done
}

fn document(position: usize, object: &Value) {
    if position > 0 {
        output::raw("---");
    }
    output::document(Format::Yaml, object);
}
