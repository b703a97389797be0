//! Writes YAML that readers of YAML 1.1 (PyYAML, go-yaml) and 1.2 read as the same value; [`crate::document`] reads it.

mod scalar;

use serde_json::Value;

/// In block style; lists are not indented below their key.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    node(&mut out, value, 0);
    out
}

/// The text so far ends where the node starts, at this column.
fn node(out: &mut String, value: &Value, column: usize) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (number, (key, value)) in fields.iter().enumerate() {
                if number > 0 {
                    indent(out, column);
                }
                *out += &scalar::key(key);
                out.push(':');
                field(out, value, column);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    indent(out, column);
                }
                *out += "- ";
                node(out, item, column + 2);
            }
        }
        leaf => {
            *out += &scalar::leaf(leaf, column);
            out.push('\n');
        }
    }
}

/// What follows the key at this column.
fn field(out: &mut String, value: &Value, column: usize) {
    let below = match value {
        Value::Object(fields) if !fields.is_empty() => Some(column + 2),
        Value::Array(items) if !items.is_empty() => Some(column),
        _ => None,
    };
    match below {
        Some(below) => {
            out.push('\n');
            indent(out, below);
            node(out, value, below);
        }
        None => {
            out.push(' ');
            node(out, value, column + 2);
        }
    }
}

fn indent(out: &mut String, column: usize) {
    out.extend(std::iter::repeat_n(' ', column));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::write;

    #[test]
    fn blocks_are_laid_out_as_people_write_them() {
        let value = json!({
            "interfaces": [{"name": "br1", "ipv4": {"address": [{"ip": "192.0.2.1"}], "dhcp": []}}, {}],
            "nested": [["a", ["b"]], []],
            "text": "one\n  two\n\nthree",
            "texts": ["a\nb\n"],
            "none": null,
        });
        let text = "\
interfaces:
- name: br1
  ipv4:
    address:
    - ip: 192.0.2.1
    dhcp: []
- {}
nested:
- - a
  - - b
- []
text: |-
  one
    two

  three
texts:
- |
  a
  b
none: null
";
        assert_eq!(write(&value), text);
    }
}
