//! What the kernel takes away with an interface: whatever is built on it.

use std::path::Path;

/// Whether something is on `interface`, or that cannot be known.
pub fn has_any(interface: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(Path::new("/sys/class/net").join(interface)) else { return true };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("upper_"))
}
