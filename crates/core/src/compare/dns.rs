//! The resolver's configuration.

use serde_json::{Value, json};

use super::findings::Findings;
use super::view::View;
use crate::path::Path;
use crate::state::at;

const LISTS: [&str; 3] = ["server", "search", "options"];

/// Servers and searches in this order; options in any. An empty section empties all three; a list that is not
/// mentioned stays as it was before.
pub(super) fn compare(view: &View<'_>, found: &mut Findings) {
    let Some(want) = at(view.desired, &["dns-resolver", "config"]).filter(|want| want.is_object()) else {
        return;
    };
    let empty = json!([]);
    let said = |key: &str| want.get(key).filter(|list| !list.is_null());
    let purges = LISTS.iter().all(|key| said(key).is_none());
    let list = |state, key: &str| at(state, &["dns-resolver", "config", key]).unwrap_or(&empty);
    for key in LISTS {
        let want = said(key).unwrap_or(if purges { &empty } else { list(view.before, key) });
        let got = list(view.observed, key);
        let path = Path::root().key("dns-resolver").key("config").key(key);
        match key {
            "options" => found.same_set(&path, want, Some(got)),
            _ if same(want, got) => {}
            _ => found.add(path, want.clone(), got.clone()),
        }
    }
}

fn same(want: &Value, got: &Value) -> bool {
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(plain).collect()
    };
    texts(want) == texts(got)
}

/// IPv6 addresses are spelt in many ways; a zone may follow.
fn plain(server: &str) -> String {
    let (address, zone) = server.split_once('%').map_or((server, ""), |(address, zone)| (address, zone));
    match address.parse::<std::net::IpAddr>() {
        Ok(address) if zone.is_empty() => address.to_string(),
        Ok(address) => format!("{address}%{zone}"),
        Err(_) => server.to_owned(),
    }
}
