//! What the operator says on standard error: one line per event.

pub fn line(text: impl AsRef<str>) {
    eprintln!("{}", text.as_ref());
}
