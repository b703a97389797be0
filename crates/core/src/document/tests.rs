use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::diagnostic::render;

fn parse(text: &str) -> Document {
    Document::parse("t.yaml", text).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn code(text: &str) -> &'static str {
    let faults = Document::parse("t.yaml", text).expect_err("is refused");
    for fault in &faults {
        render(fault, ("t.yaml", text), true);
    }
    faults[0].code
}

#[test]
fn reads_the_three_kinds_of_document() {
    let bare = parse("interfaces: []\n");
    let policy =
        parse("capture: {gw: routes.running.destination==\"0.0.0.0/0\"}\ndesired:\n  interfaces: []\n");
    let manifest = parse(
        "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: p}\n\
         spec: {desiredState: {interfaces: []}}\n",
    );
    for document in [&bare, &policy, &manifest] {
        assert_eq!(document.state, json!({"interfaces": []}));
    }
    assert!(policy.has_capture() && !bare.has_capture());
    assert_eq!(manifest.policy.as_deref(), Some("p"));
}

#[test]
fn reads_json() {
    assert_eq!(
        parse("{\"interfaces\": [{\"name\": \"eth0\", \"mtu\": 1500}]}").state["interfaces"][0]["mtu"],
        1500
    );
}

#[test]
fn knows_places_relative_to_the_desired_state() {
    let text = "desiredState:\n  interfaces:\n  - name: br1\n    ipv4:\n      enabled: yes\n";
    let document = parse(text);
    let interface = Path::root().key("interfaces").index(0);
    let span = |path: Path| document.span(&path).map(|span| (span.line, span.column, span.len));
    assert_eq!(span(interface.key("name")), Some((3, 11, 3)));
    assert_eq!(span(interface.key("ipv4").key("enabled")), Some((5, 16, 3)));
    assert_eq!(span(interface.key("ipv4")), Some((4, 5, 4)), "a mapping is pointed at by its key");
    assert_eq!(span(interface.clone()), Some((3, 5, 9)), "an item is pointed at by its first line");
    assert_eq!(span(Path::interface("br1").key("mtu").key("x")), Some((3, 5, 9)), "or by what holds it");
    let key = document.key_span(&interface.key("ipv4").key("enabled"));
    assert_eq!(key.map(|span| (span.line, span.column, span.len)), Some((5, 7, 7)));
}

#[test]
fn columns_count_characters_not_bytes() {
    let document = parse("interfaces:\n- {description: \"äöü\", name: x}\n");
    let span = document.span(&Path::root().key("interfaces").index(0).key("name"));
    assert_eq!(span.map(|span| span.column), Some(30));
}

#[test]
fn merges_and_aliases_unfold() {
    let text = "interfaces:\n- &a {name: eth0, mtu: 1400}\n- {<<: *a, name: eth1}\n";
    assert_eq!(parse(text).state["interfaces"][1], json!({"name": "eth1", "mtu": 1400}));
}

#[test]
fn a_trailing_separator_is_not_a_second_document() {
    assert_eq!(parse("---\ninterfaces: []\n---\n").state, json!({"interfaces": []}));
}

#[test]
fn refuses_what_is_too_large_at_once() {
    let text = "#".repeat(5_000_000);
    assert_eq!(code(&text), codes::TOO_LARGE);
}

#[test]
fn refuses_laughs_by_the_billion() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let previous = format!("*a{}, ", level - 1).repeat(10);
        text += &format!("a{level}: &a{level} [{previous}]\n");
    }
    assert_eq!(code(&text), codes::ALIASES);
}

#[test]
fn refuses_an_alias_inside_its_own_anchor() {
    assert_eq!(code("a: &a [1, *a]\n"), codes::ALIASES);
}

#[test]
fn bounds_depth_however_it_is_written() {
    assert_eq!(code(&"- ".repeat(100_000)), codes::TOO_DEEP);
    assert_eq!(code(&"[".repeat(100_000)), codes::TOO_DEEP);
    assert_eq!(code(&"{a: ".repeat(100_000)), codes::TOO_DEEP);
    let mut text = String::from("a0: &a0 [[[[[[[[1]]]]]]]]\n");
    for level in 1..20 {
        text += &format!("a{level}: &a{level} [[[[[[[[*a{}]]]]]]]]\n", level - 1);
    }
    assert_eq!(code(&text), codes::TOO_DEEP);
}

#[test]
fn shows_both_places_of_a_duplicate_key() {
    let faults = Document::parse("t", "a: 1\nb: 2\na: 3\nb: 4\n").expect_err("is refused");
    let lines: Vec<_> = faults.iter().filter_map(|fault| fault.span.map(|span| span.line)).collect();
    assert_eq!(lines, [3, 4]);
    assert!(faults[0].message.contains("line 1"), "{}", faults[0].message);
}

fn assert_every_place_known(document: &Document, value: &Value, path: &Path) {
    assert_eq!(path.find(&document.state), Some(value));
    let span = document.span(path).unwrap_or_else(|| panic!("no place for {path}"));
    assert!(span.line >= 1 && span.column >= 1 && span.len >= 1, "{path}: {span:?}");
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, child)| assert_every_place_known(document, child, &path.key(key)))
        }
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(i, child)| assert_every_place_known(document, child, &path.index(i))),
        _ => {}
    }
}

fn parse_anything(text: &str) {
    match Document::parse("t", text) {
        Ok(document) => assert_every_place_known(&document, &document.state, &Path::root()),
        Err(faults) => {
            assert!(!faults.is_empty());
            faults.iter().for_each(|fault| assert!(!render(fault, ("t", text), true).is_empty()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        parse_anything(&text);
    }

    /// Mostly the characters that mean something to YAML.
    #[test]
    fn any_punctuation_is_read_or_refused(text in "[-:?\\[\\]{}&*!|>'\"%@#,~<a1 \t\r\n.x]{0,80}") {
        parse_anything(&text);
    }

    #[test]
    fn any_damaged_document_is_read_or_refused(at in 0usize..400, cut in 0usize..30, with in "[-:\\[\\]{}&* \n'a]{0,4}") {
        let text = "interfaces:\n- name: br1\n  type: linux-bridge\n  mtu: 1500\n  ipv4:\n    enabled: true\n    address:\n\
                    \x20   - ip: 192.0.2.1\n      prefix-length: 24\n  bridge:\n    port: [{name: eth1}, {name: 'eth2'}]\n\
                    routes:\n  config:\n  - {destination: 10.0.0.0/8, next-hop-interface: br1}\n";
        let start = at.min(text.len());
        let end = (start + cut).min(text.len());
        parse_anything(&format!("{}{with}{}", &text[..start], &text[end..]));
    }
}
