//! The policies of a directory.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use linesman_core::check::{check, unnamed_among_several, without_cluster};
use linesman_core::diagnostic::{Diagnostic, Source, render};
use linesman_core::document::{Document, decode};
use linesman_core::policy::Policy;
use linesman_core::reconcile::Ledger;
use linesman_engine::desired;

/// Everything that was found, right or wrong.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub policies: Vec<Policy>,
    /// By name of the policy, as far as it is known: why it cannot be read.
    pub wrong: BTreeMap<String, String>,
    /// Where each policy is written.
    pub files: BTreeMap<String, PathBuf>,
    /// Files that are so wrong that the name of their policy is unknown, and why.
    pub unnamed: BTreeMap<PathBuf, String>,
    /// Why the directory cannot be read: the rest is what was in it before.
    pub directory_error: Option<String>,
}

impl Sources {
    pub fn unreadable(&self) -> BTreeSet<String> {
        self.wrong.keys().cloned().collect()
    }

    fn knows(&self, name: &str) -> bool {
        self.wrong.contains_key(name) || self.policies.iter().any(|policy| policy.name == name)
    }

    /// Whether other policies are declared than before, or another state.
    pub fn differs(&self, earlier: &Self) -> bool {
        self.policies != earlier.policies || self.wrong != earlier.wrong
    }

    /// A file without metadata is named like its policy, so one of unknown content is listed by its name as well.
    fn list(&mut self, file: PathBuf, why: String) {
        let name = |name: Option<&OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
        let stem = name(file.file_stem());
        let name = if self.knows(&stem) { name(file.file_name()) } else { stem };
        self.wrong.insert(name.clone(), why);
        self.files.insert(name, file);
    }

    /// A policy that is not found may be in a file of unknown content: it is not gone.
    pub fn keep_unaccounted(&mut self, ledger: &Ledger) {
        let Some(file) = self.unnamed.keys().next() else { return };
        let why =
            format!("not found, but {} cannot be read and may contain it; it stays applied", file.display());
        let unaccounted: Vec<String> = ledger.0.keys().filter(|name| !self.knows(name)).cloned().collect();
        self.wrong.extend(unaccounted.into_iter().map(|name| (name, why.clone())));
    }
}

/// Reads them all. An error means that nothing is known: no policy is gone because of it.
pub fn read(dir: &Path) -> std::io::Result<Sources> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(dir)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.retain(|path| has_policy_name(path));
    files.sort();
    let (files, others): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(|path| may_be_file(path));
    let mut sources = Sources::default();
    for file in files {
        add(&mut sources, &file);
    }
    for (file, why) in sources.unnamed.clone() {
        sources.list(file, why);
    }
    for file in others {
        let why = format!("{} is not a file; move it to another directory, or rename it", file.display());
        sources.list(file, why);
    }
    Ok(sources)
}

/// A link whose target is missing, or a file that the disk does not give now, is a file that cannot be read: its policy is not
/// gone. Directories, sockets and pipes are no policies: nobody waits for what they contain.
fn may_be_file(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.is_file())
}

/// Editors leave their own files about, and mounted volumes hidden directories.
pub fn has_policy_name(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with(['.', '#']));
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    !hidden && matches!(extension, "yaml" | "yml" | "json")
}

fn add(sources: &mut Sources, file: &Path) {
    for read in read_file(file) {
        match read {
            Ok(policy) => add_named(sources, file, policy.name.clone(), Ok(policy)),
            Err(Wrong { name: Some(name), why }) => add_named(sources, file, name, Err(why)),
            Err(Wrong { name: None, why }) => {
                let reasons = sources.unnamed.entry(file.to_owned()).or_default();
                *reasons = [reasons.as_str(), &why].join("\n").trim_start().to_owned();
            }
        }
    }
}

fn add_named(sources: &mut Sources, file: &Path, name: String, result: Result<Policy, String>) {
    if let Some(other) = sources.files.get(&name) {
        let place = match other == file {
            true => format!("{} contains two policies", file.display()),
            false => format!("{} and {} both contain a policy", other.display(), file.display()),
        };
        let why = format!("{place} named {name}; give one of them another name");
        sources.policies.retain(|p| p.name != name);
        sources.wrong.insert(name, why);
        return;
    }
    sources.files.insert(name.clone(), file.to_owned());
    match result {
        Ok(policy) => sources.policies.push(policy),
        Err(why) => {
            sources.wrong.insert(name, why);
        }
    }
}

pub struct Wrong {
    name: Option<String>,
    pub why: String,
}

fn read_file(file: &Path) -> Vec<Result<Policy, Wrong>> {
    match fs::read(file) {
        Ok(bytes) => read_bytes(file, bytes),
        Err(error) => {
            vec![Err(Wrong { name: None, why: format!("cannot read {}: {error}", file.display()) })]
        }
    }
}

/// What a file contains, checked.
pub fn read_bytes(file: &Path, bytes: Vec<u8>) -> Vec<Result<Policy, Wrong>> {
    let called = file.display().to_string();
    let unnamed = |why: String| Wrong { name: None, why };
    let text = match decode(bytes) {
        Ok(text) => text,
        Err(why) => return vec![Err(unnamed(format!("{called} {why}")))],
    };
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let policy = |read: Result<Document, Vec<Diagnostic>>| match read {
        Ok(document) => policy(&document, &stem),
        Err(problems) => Err(unnamed(rendered(&problems, (called.as_str(), text.as_str()).into()))),
    };
    Document::parse_all(&called, &text).into_iter().map(policy).collect()
}

/// A document that is alone in its file may be named by that.
fn policy(document: &Document, stem: &str) -> Result<Policy, Wrong> {
    let named_by_file = document.begins.is_none().then(|| stem.to_owned());
    let name = document.policy.clone().or(named_by_file);
    let problems =
        [check(document, &desired::schema), without_cluster(document), unnamed_among_several(document)];
    let problems = problems.concat();
    if !problems.is_empty() {
        return Err(Wrong { name, why: rendered(&problems, document.into()) });
    }
    Ok(document.to_policy(stem))
}

fn rendered(problems: &[Diagnostic], source: Source<'_>) -> String {
    let all: Vec<String> = problems.iter().map(|p| render(p, source, false)).collect();
    all.join("\n").trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use linesman_core::reconcile::Entry;
    use serde_json::Value;

    use super::*;

    fn dir(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    const STATE: &str = "interfaces:\n- name: br1\n  type: linux-bridge\n  state: up\n";

    #[test]
    fn valid_and_invalid_files_are_distinguished() {
        let nncp = "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata:\n  name: storage\n\
            spec:\n  onDelete: Revert\n  desiredState:\n    interfaces:\n    - name: br2\n      type: linux-bridge\n";
        let dir = dir(&[
            ("plain.yaml", STATE),
            ("nncp.yml", nncp),
            ("broken.yaml", "interfaces: ["),
            (".hidden.yaml", "x"),
            ("notes.txt", "x"),
        ]);
        let sources = read(dir.path()).unwrap();
        let names: Vec<&str> = sources.policies.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["storage", "plain"]);
        assert_eq!(sources.policies[0].options.on_delete, linesman_core::policy::OnDelete::Revert);
        assert_eq!(sources.unreadable().into_iter().collect::<Vec<_>>(), ["broken"]);
        assert!(sources.wrong["broken"].contains("broken.yaml:1"), "{}", sources.wrong["broken"]);
    }

    #[test]
    fn what_is_no_file_is_listed_and_hides_no_policy() {
        let dir = dir(&[("plain.yaml", STATE)]);
        fs::create_dir(dir.path().join("old.yaml")).unwrap();
        let sources = read(dir.path()).unwrap();
        assert!(sources.wrong["old"].contains("old.yaml is not a file"), "{:?}", sources.wrong);
        assert!(sources.unnamed.is_empty(), "no policy can be in it");
        assert!(!sources.differs(&read(dir.path()).unwrap()));
        fs::write(dir.path().join(".plain.yaml.swp"), "x").unwrap();
        assert!(!sources.differs(&read(dir.path()).unwrap()), "an editor's file");
        fs::write(dir.path().join("more.yaml"), STATE).unwrap();
        assert!(read(dir.path()).unwrap().differs(&sources));
    }

    #[test]
    fn a_policy_may_be_in_a_file_that_cannot_be_read() {
        let plain = |name: &str| Document::parse(name, STATE).unwrap().to_policy(name);
        let entry = |name: &str| (name.to_owned(), Entry::returning(&plain(name), Value::Null, None, 0));
        let ledger = Ledger([entry("storage"), entry("plain")].into());
        for text in ["kind: [", ""] {
            let dir = dir(&[("10-storage.yaml", text), ("plain.yaml", STATE), ("plain.json", "{{{")]);
            let mut sources = read(dir.path()).unwrap();
            sources.keep_unaccounted(&ledger);
            let names: Vec<&str> = sources.policies.iter().map(|p| p.name.as_str()).collect();
            assert_eq!(names, ["plain"], "a broken file does not disturb one that it shares its name with");
            let wrong: Vec<&str> = sources.wrong.keys().map(String::as_str).collect();
            assert_eq!(wrong, ["10-storage", "plain.json", "storage"]);
            assert!(
                sources.wrong["storage"].contains("10-storage.yaml cannot be read"),
                "{:?}",
                sources.wrong
            );
        }
        let dir = dir(&[("plain.yaml", STATE)]);
        let link = dir.path().join("storage.yaml");
        std::os::unix::fs::symlink("../gone/storage.yaml", &link).unwrap();
        let mut sources = read(dir.path()).unwrap();
        sources.keep_unaccounted(&ledger);
        assert!(sources.wrong["storage"].contains("No such file"), "{:?}", sources.wrong);
        fs::remove_file(link).unwrap();
        fs::create_dir(dir.path().join("folder.yaml")).unwrap();
        let mut sources = read(dir.path()).unwrap();
        sources.keep_unaccounted(&ledger);
        assert!(!sources.wrong.contains_key("storage"), "every file is read, so the other policy is gone");
    }

    #[test]
    fn probes_are_refused_at_their_place() {
        let nncp = |probe: &str| {
            format!(
                "kind: NodeNetworkConfigurationPolicy\nmetadata: {{name: a}}\nspec:\n  probes:\n  - dns\n  - {probe}\n  \
                 desiredState:\n    interfaces: [{{name: br1, type: linux-bridge}}]\n"
            )
        };
        for (probe, code) in [("nodeReady", "LM0020"), ("gatwy", "LM0018")] {
            let dir = dir(&[("a.yaml", &nncp(probe))]);
            let why = read(dir.path()).unwrap().wrong["a"].clone();
            assert!(why.contains(&format!("a.yaml:6:5: error[{code}]")), "{why}");
        }
    }

    #[test]
    fn two_files_with_one_name_are_both_refused() {
        let dir = dir(&[("a.yaml", STATE), ("a.yml", STATE)]);
        let sources = read(dir.path()).unwrap();
        assert!(sources.policies.is_empty());
        assert!(sources.wrong["a"].contains("a.yml"), "{}", sources.wrong["a"]);
    }

    #[test]
    fn a_file_may_contain_several_policies_that_have_names() {
        let nncp = |name: &str, bridge: &str| {
            format!(
                "kind: NodeNetworkConfigurationPolicy\nmetadata: {{name: {name}}}\nspec:\n  desiredState:\n    \
                 interfaces: [{{name: {bridge}, type: linux-bridge}}]\n---\n"
            )
        };
        let dir = dir(&[
            ("both.yaml", &(nncp("one", "br1") + "\n# nothing\n---\n" + &nncp("two", "br2"))),
            ("mixed.yaml", &(nncp("three", "br3") + STATE)),
            ("twice.yaml", &(nncp("four", "br4") + &nncp("four", "br5"))),
            ("broken.yaml", &(nncp("five", "br6") + "kind: [")),
        ]);
        let sources = read(dir.path()).unwrap();
        let names: Vec<&str> = sources.policies.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["one", "two", "five", "three"]);
        let wrong: Vec<&str> = sources.wrong.keys().map(String::as_str).collect();
        assert_eq!(wrong, ["broken", "four", "mixed"]);
        assert!(
            sources.wrong["mixed"].contains("mixed.yaml:7:1: error[LM0004]"),
            "{}",
            sources.wrong["mixed"]
        );
        assert!(sources.wrong["four"].contains("twice.yaml contains two policies named four"));
    }

    #[test]
    fn text_from_other_systems_is_read() {
        let dir = dir(&[("windows.yaml", &format!("\u{feff}{}", STATE.replace('\n', "\r\n")))]);
        fs::write(dir.path().join("wide.yaml"), b"\xff\xfea\0").unwrap();
        let sources = read(dir.path()).unwrap();
        assert_eq!(sources.policies[0].state["interfaces"][0]["name"], "br1");
        assert!(sources.wrong["wide"].contains("UTF-16"), "{}", sources.wrong["wide"]);
    }

    #[test]
    fn a_directory_that_cannot_be_read_says_nothing_about_its_policies() {
        assert!(read(Path::new("/nonexistent/policies")).is_err());
    }
}
