//! Every code a diagnostic can carry. Codes are stable: they are never renumbered or used again for something else.

/// What a code means, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    pub code: &'static str,
    pub title: &'static str,
    pub text: &'static str,
}

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $text:literal;)*) => {
        $(#[doc = $title] pub const $name: &str = $code;)*

        /// The whole table, in order.
        pub const TABLE: &[Explanation] = &[$(Explanation { code: $code, title: $title, text: $text }),*];
    };
}

/// The entry of `code`.
pub fn explain(code: &str) -> Option<&'static Explanation> {
    TABLE.iter().find(|entry| entry.code.eq_ignore_ascii_case(code))
}

codes! {
    NOT_YAML = "LM0001", "not valid YAML",
        "The text is neither YAML nor JSON, so nothing in it can be trusted. The place shown is where the reader \
         gave up; the mistake is there or on the line above. Most often it is an indentation that does not match, a \
         missing space after a colon, or a value with ': ' or a special character at its start that needs quotes.";
    TOO_LARGE = "LM0002", "document too large",
        "Documents above 4 MiB are refused before they are read. A state of that size cannot be applied in \
         reasonable time either. Split it, and apply the parts that build on each other in order.";
    EMPTY = "LM0003", "document empty",
        "The file holds nothing, or only comments. An empty document is refused rather than taken for 'change \
         nothing', because it usually comes from a template that went wrong.";
    SEVERAL_DOCUMENTS = "LM0004", "several documents in one file",
        "A file may hold one document. Which of several was meant cannot be guessed, and applying them one by one \
         would not be one transaction. Keep one per file, or merge them into one state.";
    DUPLICATE_KEY = "LM0005", "key given twice",
        "YAML forbids the same key twice in one mapping; tools differ in which of the two they drop. Keep one.";
    TOO_DEEP = "LM0006", "nested too deeply",
        "The document has more levels than any network state. Check the indentation and the brackets.";
    ALIASES = "LM0007", "too many values, or aliases that unfold without end",
        "The number of values is bounded after aliases (*name) are followed, so that a small text cannot grow to \
         fill the memory. An alias inside its own anchor has no end at all. Write out what is repeated, or split the \
         document.";
    TAB = "LM0008", "tab used for indentation",
        "YAML allows only spaces for indentation. Replace the tab; most editors can do so for a whole file.";
    NOT_A_KEY = "LM0009", "key is not plain text",
        "Keys in a network state are plain words. A list, a mapping or an alias as a key is usually a missing pair \
         of quotes.";
    UNSUPPORTED_VALUE = "LM0010", "value or tag without a meaning here",
        "Infinity, not-a-number and YAML tags other than the basic ones (!!str, !!int, !!float, !!bool, !!null) do \
         not occur in a network state. Quote the value if it is meant as text, and leave the tag out.";
    NOT_A_STATE = "LM0011", "not a mapping",
        "A network state is a mapping: 'interfaces', 'routes', 'dns-resolver' and so on, each with its content. A \
         bare list of interfaces needs the key 'interfaces:' above it.";
    WRONG_KIND = "LM0012", "Kubernetes object of another kind",
        "Of Kubernetes manifests only NodeNetworkConfigurationPolicy holds a desired state. To use the state that a \
         NodeNetworkState reports, copy its 'currentState' into a file of its own.";
    NO_STATE = "LM0013", "policy without a desired state",
        "A policy says what should be in 'desired' (NMPolicy, also spelt 'desiredState') or in 'spec.desiredState' \
         (NodeNetworkConfigurationPolicy). It is missing, empty, or given twice.";
    UNKNOWN_KEY = "LM0101", "unknown key at the top",
        "The top of a state has only a few keys: interfaces, routes, route-rules, dns-resolver, hostname, ovs-db, \
         ovn and description. Anything else would be ignored, so it is refused.";
}
