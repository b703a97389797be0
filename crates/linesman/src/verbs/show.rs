//! `linesman show`: the state of this host.

use linesman_engine::observe::{self, NetworkState};
use serde_json::{Value, json};

use crate::cli::{Format, ShowArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub async fn run(args: ShowArgs, format: Format) -> Exit {
    let (secrets, running) = (args.show_secrets, args.running_config);
    let configure = move |state: &mut NetworkState| {
        state.set_include_secrets(secrets).set_running_config_only(running);
    };
    let read = if args.kernel { observe::kernel(configure).await } else { observe::show(configure).await };
    let state = match read {
        Ok(state) => state,
        Err(error) => return Failure::from(&error).report(),
    };
    super::note_what_root_would_see();
    let state = match &args.interface {
        None => state,
        Some(name) => match of_interface(&state, name) {
            Some(part) => part,
            None => {
                let failure = Failure::new(Exit::Failed, format!("interface {name} not found on this host"));
                return failure.hint("`linesman show` lists the interfaces").report();
            }
        },
    };
    output::document(format, &state);
    Exit::Done
}

/// The interface (an OVS bridge and its port share a name) and the routes through it.
fn of_interface(state: &Value, name: &str) -> Option<Value> {
    let pick = |pointer: &str, key: &str| -> Vec<Value> {
        let list = state.pointer(pointer).and_then(Value::as_array);
        list.into_iter().flatten().filter(|v| v[key] == name).cloned().collect()
    };
    let interfaces = pick("/interfaces", "name");
    if interfaces.is_empty() {
        return None;
    }
    let running = pick("/routes/running", "next-hop-interface");
    let config = pick("/routes/config", "next-hop-interface");
    Some(json!({ "routes": { "running": running, "config": config }, "interfaces": interfaces }))
}
