//! The fuzzers' corpus, made from the golden cases.

use std::fs;
use std::path::Path;

use linesman_golden::{TARGETS, seeds};

pub fn run() -> Result<(), Box<dyn std::error::Error>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for target in TARGETS {
        let (folder, seeds) = (corpus.join(target), seeds(target));
        fs::create_dir_all(&folder)?;
        for (name, seed) in &seeds {
            fs::write(folder.join(name), seed)?;
        }
        println!("{target}: {} seeds", seeds.len());
    }
    Ok(())
}
