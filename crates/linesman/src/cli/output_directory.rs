//! `linesman generate --output DIR`, as other generators have it: `--output` is the format of what a command prints, so a value
//! that is no format is the directory.

use std::ffi::OsString;

use clap::ValueEnum;

use super::Format;

const VERB: &str = "generate";

pub fn accepted(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = arguments.collect();
    if words.get(1).is_none_or(|verb| verb != VERB) {
        return words;
    }
    let is_format = |value: &str| Format::from_str(value, false).is_ok();
    for index in 2..words.len() {
        let value = words.get(index + 1).map(|value| value.to_string_lossy().into_owned());
        let word = words[index].to_string_lossy().into_owned();
        if word == "--" {
            break;
        }
        let names_directory = value.is_some_and(|value| !value.starts_with('-') && !is_format(&value));
        if word == "--output" && names_directory {
            words[index] = "--dir".into();
        } else if let Some(value) = word.strip_prefix("--output=").filter(|value| !is_format(value)) {
            words[index] = format!("--dir={value}").into();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_no_format_is_a_directory() {
        let read = |line: &str| {
            let words = accepted(line.split(' ').map(OsString::from));
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(read("linesman generate a.yaml --output out"), "linesman generate a.yaml --dir out");
        assert_eq!(read("linesman generate --output=out"), "linesman generate --dir=out");
        for unchanged in [
            "linesman generate -o out a.yaml",
            "linesman generate --output json a.yaml",
            "linesman show -o out",
            "linesman generate --output",
        ] {
            assert_eq!(read(unchanged), unchanged);
        }
    }
}
