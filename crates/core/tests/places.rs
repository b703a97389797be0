//! Whatever is broken in a good document, the typed parse's complaint is shown at the broken place.

use std::fs;
use std::path::Path as File;

use linesman_core::check::check;
use linesman_core::document::Document;
use linesman_core::path::Path;
use nmstate::NetworkState;
use serde_json::{Value, json};

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
}

fn good_documents() -> Vec<Value> {
    let root = File::new(env!("CARGO_MANIFEST_DIR")).join("cases/check");
    let cases = ["valid-bridge", "valid-br-ex", "valid-many-kinds"];
    let texts = cases
        .map(|case| fs::read_to_string(root.join(case).join("input.yaml")).expect("a case has an input"));
    texts.iter().map(|text| Document::parse("good", text).expect("is good").state).collect()
}

fn places(value: &Value, path: Path, found: &mut Vec<Path>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, child)| places(child, path.key(key), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, child)| places(child, path.index(i), found))
        }
        _ => {}
    }
    if !path.is_root() {
        found.push(path);
    }
}

/// The pointer of RFC 6901, as `serde_json` takes it.
fn pointer(path: &Path) -> String {
    use linesman_core::path::PathStep::{Index, Item, Key};
    let step = |step: &_| match step {
        Key(key) | Item(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Index(index) => format!("/{index}"),
    };
    path.steps().iter().map(step).collect()
}

#[test]
fn every_parse_error_is_shown_where_the_document_was_broken() {
    let wrong = [
        json!(7),
        json!(-7),
        json!("wrong"),
        json!(true),
        json!([]),
        json!({}),
        json!([{"x": 1}]),
        json!({"x": 1}),
    ];
    let mut complaints = 0;
    for good in good_documents() {
        let mut broken_places = Vec::new();
        places(&good, Path::root(), &mut broken_places);
        for (place, value) in
            broken_places.iter().flat_map(|place| wrong.iter().map(move |value| (place, value)))
        {
            let mut broken = good.clone();
            *broken.pointer_mut(&pointer(place)).expect("the place exists") = value.clone();
            let text = broken.to_string();
            let document = Document::parse("broken", &text).expect("is still JSON");
            let found = check(&document, &schema);
            assert!(found.iter().all(|diagnostic| diagnostic.span.is_some()));
            let Err(complaint) = schema(&document.state) else { continue };
            complaints += 1;
            let is_near = |path: &Path| path.starts_with(place) || place.parent().as_ref() == Some(path);
            let near = found.iter().filter_map(|diagnostic| diagnostic.path.as_ref()).any(is_near);
            assert!(near, "{place} = {value}: {complaint}\n{found:#?}");
        }
    }
    assert!(complaints > 500, "only {complaints} of the broken documents were complained about");
}
