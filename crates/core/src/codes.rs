//! Every code a diagnostic can carry. Codes are stable: they are never renumbered or used again for something else.

mod page;

pub use page::Explanation;

/// The codes and their table; the text of each is `codes/pages/CODE.txt`, as `linesman explain` prints it.
macro_rules! codes {
    ($($name:ident = $code:literal;)*) => {
        $(pub const $name: &str = $code;)*

        /// In order.
        pub const TABLE: &[$crate::codes::Explanation] = &[$($crate::codes::Explanation {
            code: $code,
            page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/codes/pages/", $code, ".txt")),
        }),*];
    };
}
pub(crate) use codes;

pub mod commands;
pub mod day1;
pub mod failures;

/// Every entry there is: what is wrong with a document, why a host refuses it, how a change ended badly.
pub fn all() -> impl Iterator<Item = &'static Explanation> {
    let documents = TABLE.iter().chain(day1::TABLE);
    documents.chain(crate::plan::codes::TABLE).chain(failures::TABLE).chain(commands::TABLE)
}

/// The first code of ours that a text names in brackets, as in `no such port [LM1001]`.
pub fn named_in(text: &str) -> Option<&'static str> {
    let starts = text.match_indices("[LM").filter_map(|(at, _)| text.get(at + 1..at + 8));
    let mut words = starts.filter_map(|word| word.strip_suffix(']'));
    words.find_map(|word| all().find(|entry| entry.code == word)).map(|entry| entry.code)
}

/// The entry of `code`, also without its zeros or its letters: `lm401` and `401` are LM0401.
pub fn explain(code: &str) -> Option<&'static Explanation> {
    let number = number(code)?;
    all().find(|entry| entry.code[2..] == number)
}

fn number(code: &str) -> Option<String> {
    let digits = code.trim_start_matches(['L', 'l']).trim_start_matches(['M', 'm']);
    let is_number = !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| format!("{digits:0>4}"))
}

/// What somebody may have meant who wrote an unknown `code`: one digit is wrong, or it is part of a title.
pub fn near(code: &str) -> Vec<&'static Explanation> {
    match number(code) {
        Some(number) => {
            let slips = |known: &str| known.bytes().zip(number.bytes()).filter(|(a, b)| a != b).count();
            all().filter(|entry| slips(&entry.code[2..]) == 1).collect()
        }
        None => {
            let word = code.to_lowercase();
            all().filter(|entry| word.len() >= 3 && entry.title().to_lowercase().contains(&word)).collect()
        }
    }
}

codes! {
    NOT_YAML = "LM0001";
    TOO_LARGE = "LM0002";
    EMPTY = "LM0003";
    SEVERAL_DOCUMENTS = "LM0004";
    DUPLICATE_KEY = "LM0005";
    TOO_DEEP = "LM0006";
    ALIASES = "LM0007";
    TAB = "LM0008";
    NOT_A_KEY = "LM0009";
    UNSUPPORTED_VALUE = "LM0010";
    NOT_A_STATE = "LM0011";
    WRONG_KIND = "LM0012";
    NO_STATE = "LM0013";
    NOT_IMPORTABLE = "LM0014";
    NOT_A_PROFILE = "LM0015";
    NOT_NETPLAN = "LM0016";
    BAD_SETTING = "LM0017";
    WRONG_OPTION = "LM0018";
    CONFLICT = "LM0019";
    NEEDS_CLUSTER = "LM0020";
    CLEAR_SECRET = "LM0021";
    SECRET_NEEDS_CLUSTER = "LM0022";
    POLICY_TWICE = "LM0023";
    UNKNOWN_KEY = "LM0101";
    UNKNOWN_FIELD = "LM0102";
    WRONG_TYPE = "LM0103";
    MISSING_FIELD = "LM0104";
    UNNAMED = "LM0201";
    BAD_NAME = "LM0202";
    LONG_NAME = "LM0203";
    INTERFACE_TWICE = "LM0204";
    UNKNOWN_TYPE = "LM0205";
    RESERVED = "LM0206";
    BAD_MAC = "LM0207";
    BAD_MTU = "LM0208";
    IDENTIFIER = "LM0209";
    ONLY_SHOWN = "LM0210";
    NO_PREFIX = "LM0301";
    BAD_ADDRESS = "LM0302";
    BAD_PREFIX = "LM0303";
    WRONG_FAMILY = "LM0304";
    ADDRESS_TWICE = "LM0305";
    PORT_TWICE = "LM0401";
    PORT_SHARED = "LM0402";
    OWN_PORT = "LM0403";
    CYCLE = "LM0404";
    PORT_WITH_IP = "LM0405";
    PORT_ABSENT = "LM0406";
    CONTROLLER = "LM0407";
    BOND_OPTIONS = "LM0408";
    BAD_VLAN_ID = "LM0501";
    NO_BASE = "LM0502";
    BASE_ABSENT = "LM0503";
    BAD_VXLAN_ID = "LM0504";
    VETH_PEER = "LM0505";
    MAC_VLAN_MODE = "LM0506";
    VRF_TABLE = "LM0507";
    BAD_BRIDGE_VLAN = "LM0508";
    IPVLAN_FLAGS = "LM0509";
    COLLISION = "LM0510";
    BAD_DESTINATION = "LM0601";
    HOST_BITS = "LM0602";
    BAD_NEXT_HOP = "LM0603";
    NEXT_HOP_FAMILY = "LM0604";
    NO_WAY_OUT = "LM0605";
    ROUTES_OVERLAP = "LM0606";
    WAY_OUT_CLOSED = "LM0607";
    NO_DESTINATION = "LM0608";
    RULE_PRIORITY = "LM0701";
    RULE_FAMILY = "LM0702";
    RULE_NETWORK = "LM0703";
    RULE_WITHOUT_FAMILY = "LM0704";
    BAD_DNS_SERVER = "LM0801";
    BAD_HOSTNAME = "LM0802";
    DNS_TWICE = "LM0803";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        paths
            .flat_map(|path| match path.is_dir() {
                true => files(&path, ending),
                false if path.to_string_lossy().ends_with(ending) => vec![path],
                false => Vec::new(),
            })
            .collect()
    }

    /// Every `LMnnnn` in the files below `dir`.
    fn mentioned(dir: &str, ending: &str) -> BTreeSet<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
        let texts = files(&root, ending).into_iter().filter_map(|path| std::fs::read_to_string(path).ok());
        texts.flat_map(|text| codes_in(&text)).collect()
    }

    fn codes_in(text: &str) -> Vec<String> {
        let starts = text.match_indices("LM").filter_map(|(at, _)| text.get(at..at + 6));
        starts.filter(|word| word[2..].bytes().all(|byte| byte.is_ascii_digit())).map(str::to_owned).collect()
    }

    fn table() -> BTreeSet<String> {
        all().map(|entry| entry.code.to_owned()).collect()
    }

    #[test]
    fn codes_are_unique_and_explained() {
        assert_eq!(table().len(), all().count());
        for entry in all() {
            assert_eq!(explain(entry.code), Some(entry));
            assert!(entry.text().len() > 40 && !entry.title().ends_with('.'), "{}", entry.code);
        }
    }

    #[test]
    fn codes_are_found_as_people_write_them() {
        for written in ["LM0401", "lm0401", "LM401", "401", "0401"] {
            assert_eq!(explain(written).map(|entry| entry.code), Some(PORT_TWICE), "{written}");
        }
        for written in ["", "LM", "lm04011", "lm04o1", "PORT_TWICE", "lmé401"] {
            assert_eq!(explain(written), None, "{written}");
        }
    }

    #[test]
    fn unknown_codes_have_neighbours() {
        let codes = |written| near(written).iter().map(|entry| entry.code).collect::<Vec<_>>();
        assert_eq!(codes("lm0411"), [NOT_A_STATE, PORT_TWICE, day1::COPY_MAC]);
        assert!(codes("vlan").contains(&BAD_VLAN_ID));
        assert!(codes("xy").is_empty() && codes("lm9999").is_empty());
    }

    #[test]
    fn every_code_that_is_used_exists() {
        let made_up = ["LM0000".to_owned()];
        let unknown: Vec<_> = mentioned("src", ".rs").difference(&table()).cloned().collect();
        assert_eq!(unknown, made_up, "only the tests' own code is not in the table");
    }

    #[test]
    fn every_code_has_a_golden_case() {
        let cases = ["cases", "../day1/cases", "../fleet/cases", "../tools/cases"];
        let mut shown: BTreeSet<String> = cases.iter().flat_map(|dir| mentioned(dir, ".txt")).collect();
        // What takes several files is in the transcript.
        shown.extend(mentioned("../linesman/tests/transcripts", "check.txt"));
        // What a command refuses depends on who runs it, and where.
        shown.extend(mentioned("../linesman/tests", "command_line.rs"));
        shown.extend(mentioned("../../tests/stories/agent", "unprivileged.rs"));
        assert_eq!(table().difference(&shown).cloned().collect::<Vec<_>>(), Vec::<String>::new());
    }
}
