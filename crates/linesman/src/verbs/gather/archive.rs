//! Parts to a compressed archive.

use std::io::{self, Write};
use std::time::SystemTime;

use flate2::Compression;
use flate2::write::GzEncoder;
use linesman_engine::gather::Part;
use tar::{Builder, Header};

/// Everything below one folder, the index first.
pub fn pack(folder: &str, parts: &[Part], now: SystemTime) -> io::Result<Vec<u8>> {
    let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    let stamp = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    add(&mut archive, &format!("{folder}/index.txt"), &index(parts), stamp)?;
    for part in parts {
        if let Ok(content) = &part.content {
            add(&mut archive, &format!("{folder}/{}", part.path), content, stamp)?;
        }
    }
    archive.into_inner()?.finish()
}

fn add(archive: &mut Builder<impl Write>, path: &str, content: &str, stamp: u64) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o600);
    header.set_mtime(stamp);
    archive.append_data(&mut header, path, content.as_bytes())
}

fn index(parts: &[Part]) -> String {
    let line = |part: &Part| match &part.content {
        Ok(content) => format!("{:>9}  {}\n", content.len(), part.path),
        Err(why) => format!("{:>9}  {}: {}\n", "missing", part.path, why.to_string().replace('\n', " ")),
    };
    parts.iter().map(line).collect()
}
