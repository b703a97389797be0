//! nmstate collects the DNS servers of profiles in no order where these have the same priority.

use serde_json::Value;

/// As NetworkManager uses them. What is not in use keeps its place among its like.
pub(super) fn settle(state: &mut Value) {
    for list in ["server", "search"] {
        let running =
            state.pointer(&format!("/dns-resolver/running/{list}")).and_then(Value::as_array).cloned();
        let Some(running) = running else { continue };
        let config = state.pointer_mut(&format!("/dns-resolver/config/{list}")).and_then(Value::as_array_mut);
        let place = |entry: &Value| running.iter().position(|used| used == entry).unwrap_or(usize::MAX);
        config.into_iter().for_each(|config| config.sort_by_key(place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn servers_are_in_the_order_of_their_use() {
        let state = |config: Value| {
            json!({ "dns-resolver": {
                "running": { "server": ["10.9.0.1", "10.9.1.1", "10.0.0.1"], "search": [] },
                "config": { "server": config, "search": ["b.test", "a.test"] } } })
        };
        for config in [json!(["10.9.1.1", "10.9.0.1", "x", "w"]), json!(["10.9.0.1", "10.9.1.1", "x", "w"])] {
            let mut state = state(config);
            settle(&mut state);
            assert_eq!(state["dns-resolver"]["config"]["server"], json!(["10.9.0.1", "10.9.1.1", "x", "w"]));
            assert_eq!(state["dns-resolver"]["config"]["search"], json!(["b.test", "a.test"]));
        }
        let mut none = json!({ "dns-resolver": { "config": { "server": ["b", "a"] } } });
        settle(&mut none);
        assert_eq!(none["dns-resolver"]["config"]["server"], json!(["b", "a"]));
    }
}
