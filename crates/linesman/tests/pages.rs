//! Links between pages resolve, and ARCHITECTURE.md names only paths that exist.

use std::path::{Path, PathBuf};

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read").flatten().map(|e| e.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let pages = files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "md"));
    pages.chain(folders.iter().flat_map(|folder| self::pages(folder))).collect()
}

/// The texts between `open` and `close`.
fn between<'a>(text: &'a str, open: &'a str, close: char) -> impl Iterator<Item = &'a str> {
    text.split(open).skip(1).filter_map(move |rest| Some(rest.split_once(close)?.0))
}

#[test]
fn relative_links_resolve() {
    let tree = tree();
    let roots =
        ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "examples/README.md"].map(|file| tree.join(file));
    for page in pages(&tree.join("docs")).into_iter().chain(roots) {
        let text = std::fs::read_to_string(&page).expect("the page can be read");
        for link in between(&text, "](", ')').filter(|link| !link.contains("://")) {
            let (file, _) = link.split_once('#').unwrap_or((link, ""));
            let target = page.parent().expect("a page is in a folder").join(file);
            assert!(target.exists(), "{} links to {link}", page.display());
        }
    }
}

#[test]
fn architecture_names_existing_paths() {
    let tree = tree();
    let text = std::fs::read_to_string(tree.join("ARCHITECTURE.md")).expect("the page can be read");
    let tops = ["crates/", "lab/", "xtask/", "tests/", "bench/", "fuzz/", "deploy/", "docs/", "examples/"];
    let paths: Vec<&str> =
        text.split('`').filter(|word| tops.iter().any(|top| word.starts_with(top))).collect();
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths.iter().filter(|path| !path.contains(['*', '<', ' '])) {
        assert!(tree.join(path).exists(), "ARCHITECTURE.md names {path}");
    }
}
