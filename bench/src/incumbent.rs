//! nmstate as everybody else uses it, inside a node: apply with its own verification, and retrieve.

use std::time::Instant;

use nmstate::NetworkState;

use crate::Fallible;

pub fn main(arguments: &[String]) -> Fallible<()> {
    let start = Instant::now();
    match arguments {
        [verb, file] if verb == "apply" => {
            let state = NetworkState::new_from_yaml(&std::fs::read_to_string(file)?)?;
            state.apply()?;
        }
        [verb] if verb == "retrieve" => {
            NetworkState::new().retrieve()?;
        }
        _ => return Err("incumbent apply FILE | incumbent retrieve".into()),
    }
    println!("{}", serde_json::json!({ "milliseconds": start.elapsed().as_secs_f64() * 1e3 }));
    Ok(())
}
