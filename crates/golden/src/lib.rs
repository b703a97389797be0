//! Golden cases: folders of what goes in and what should come out.
//!
//! A case is a folder without folders in it. An input that it lacks is taken from the nearest folder above, so that what several
//! cases share is written once. An output that is empty needs no file. `UPDATE_GOLDEN=1` writes what comes out.

// Only tests use this: a case that cannot be read has to fail with its name.
#![allow(clippy::panic)]

mod seeds;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use seeds::{TARGETS, seeds};

/// All cases of one kind.
#[derive(Debug)]
pub struct Tree {
    pub root: &'static str,
    /// Files that hold what should come out. They are never taken from a folder above.
    pub outputs: &'static [&'static str],
    /// Fewer mean that cases are no longer found.
    pub at_least: usize,
}

#[derive(Debug)]
pub struct Case<'t> {
    tree: &'t Tree,
    folder: PathBuf,
}

impl Tree {
    pub fn cases(&self) -> Vec<Case<'_>> {
        let mut found = Vec::new();
        self.collect(Path::new(self.root), &mut found);
        assert!(found.len() >= self.at_least, "{} has only {} cases", self.root, found.len());
        found
    }

    fn collect<'t>(&'t self, folder: &Path, found: &mut Vec<Case<'t>>) {
        let (folders, files): (Vec<_>, Vec<_>) = entries(folder).into_iter().partition(|path| path.is_dir());
        if folders.is_empty() {
            return found.push(Case { tree: self, folder: folder.to_owned() });
        }
        let unread = files.iter().find(|file| self.is_output(file));
        assert!(unread.is_none(), "{unread:?} has folders beside it and is never compared");
        folders.iter().for_each(|folder| self.collect(folder, found));
    }

    fn is_output(&self, file: &Path) -> bool {
        self.outputs.contains(&name_of(file).as_str())
    }

    /// Compares all outputs, in the order in which the tree names them, of all cases.
    pub fn compare<const N: usize>(&self, produce: impl Fn(&Case<'_>) -> [String; N]) {
        let update = std::env::var_os("UPDATE_GOLDEN").is_some();
        let (cases, mut wrong) = (self.cases(), Vec::new());
        for case in &cases {
            for (file, now) in self.outputs.iter().zip(produce(case)) {
                if update {
                    case.write(file, &now);
                }
                let then = case.output(file);
                if then != now {
                    wrong.push(format!("{}/{file}\n--- golden\n{then}--- now\n{now}", case.folder.display()));
                }
            }
        }
        println!("{} cases in {}", cases.len(), self.root);
        assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    }
}

impl Case<'_> {
    /// The path below the root of all cases: `bridge/options/differs`.
    pub fn name(&self) -> String {
        self.folder.strip_prefix(self.tree.root).unwrap_or(&self.folder).display().to_string()
    }

    /// The text of an input, if this case has it.
    pub fn input(&self, file: &str) -> Option<String> {
        let path = self.folders().map(|folder| folder.join(file)).find(|path| path.is_file())?;
        Some(read(&path))
    }

    /// The text of an input that this case must have.
    pub fn text(&self, file: &str) -> String {
        self.input(file).unwrap_or_else(|| panic!("{} has no {file}", self.folder.display()))
    }

    /// All inputs by name.
    pub fn inputs(&self) -> BTreeMap<String, String> {
        let files = self.folders().flat_map(entries).filter(|path| path.is_file());
        let mut inputs = BTreeMap::new();
        for file in files.filter(|file| !self.tree.is_output(file)) {
            inputs.entry(name_of(&file)).or_insert_with(|| read(&file));
        }
        inputs
    }

    /// What should come out; nothing without a file.
    pub fn output(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap_or_default()
    }

    /// This folder and those above, up to the root.
    fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folder.ancestors().take_while(|folder| folder.starts_with(self.tree.root))
    }

    /// A folder with nothing else in it keeps an empty file: git keeps no empty folders.
    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        let is_alone = entries(&self.folder).iter().all(|other| *other == path);
        let done = match text.is_empty() && !is_alone {
            true => fs::remove_file(&path).or(Ok(())),
            false => fs::write(&path, text),
        };
        done.unwrap_or_else(|error: std::io::Error| panic!("{}: {error}", path.display()));
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let list = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = list.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
