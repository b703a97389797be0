//! The codes of commands that could not do their work; no change was begun.

codes! {
    NOT_ROOT = "LM2033";
    NO_AGENT = "LM2034";
    USAGE = "LM2035";
    NOT_OURS = "LM2036";
}
