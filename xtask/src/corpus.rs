//! The fuzzers' corpus, made from the golden cases.

use std::fs;
use std::path::{Path, PathBuf};

/// Larger cases are about size, which fuzzers find by themselves.
const LARGEST: u64 = 4096;

pub fn run() -> Result<(), Box<dyn std::error::Error>> {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let corpus = tree.join("fuzz/corpus");
    let mut count = 0;
    for case in folders(&tree.join("crates/core/cases/check"))? {
        for target in ["parse", "check"] {
            count += take(&corpus.join(target), &case, &files(&case, |name| name == "input.yaml")?)?;
        }
    }
    for case in folders(&tree.join("crates/tools/cases/import"))? {
        let profiles = files(&case, |name| name.ends_with(".nmconnection"))?;
        count += take(&corpus.join("keyfile"), &case, &profiles)?;
        let others = ["state.yaml", "observed.yaml", "facts.yaml"];
        let netplan = files(&case, |name| name.ends_with(".yaml") && !others.contains(&name))?;
        count += take(&corpus.join("netplan"), &case, &netplan)?;
    }
    println!("{count} entries in {}", corpus.display());
    Ok(())
}

/// Several files of a case become one entry, with zero bytes between them.
fn take(into: &Path, case: &Path, files: &[PathBuf]) -> std::io::Result<usize> {
    let texts: Vec<Vec<u8>> = files.iter().map(fs::read).collect::<Result<_, _>>()?;
    let entry = texts.join(&0);
    if files.is_empty() || entry.len() as u64 > LARGEST {
        return Ok(0);
    }
    fs::create_dir_all(into)?;
    fs::write(into.join(case.file_name().unwrap_or_default()), entry)?;
    Ok(1)
}

fn folders(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

fn files(case: &Path, wanted: impl Fn(&str) -> bool) -> std::io::Result<Vec<PathBuf>> {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(folders(case)?.into_iter().filter(|path| wanted(&name(path))).collect())
}
