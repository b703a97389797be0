//! Programs that Go builds from their source, exactly as a `go.sum` says: once, outside of the tree.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Doing, Error, Result};
use crate::lock;
use crate::progress::step;
use crate::tree::remove_tree;

pub(super) struct Source {
    /// Of all its programs together.
    pub name: &'static str,
    pub version: &'static str,
    pub module: &'static str,
    pub sums: &'static str,
    /// Name, and the package that it is built from.
    pub programs: &'static [(&'static str, &'static str)],
    pub link_flags: String,
    /// In words.
    pub duration: &'static str,
}

impl Source {
    /// The folder of the programs. They are built first if they are not there yet; by one process at a time.
    pub fn ensure(&self, place: &Path) -> Result<PathBuf> {
        let folder = place.join(self.edition(&go_version()?));
        if !folder.exists() {
            fs::create_dir_all(place).doing_to("create", place)?;
            let _one_at_a_time = lock::wait_for(&place.join("lock"))?;
            if !folder.exists() {
                self.make(&folder)?;
            }
        }
        Ok(folder)
    }

    /// Another source or another Go is another folder.
    fn edition(&self, go: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (self.module, self.sums, go).hash(&mut hasher);
        format!("{}-{:016x}", self.version, hasher.finish())
    }

    fn make(&self, folder: &Path) -> Result<()> {
        let Self { name, version, duration, .. } = self;
        step(&format!("building {name} {version} in {} (once; about {duration})", folder.display()));
        let unfinished = folder.with_extension("unfinished");
        let source = unfinished.join("source");
        remove_tree(&unfinished)?;
        fs::create_dir_all(&source).doing_to("create", &source)?;
        for (file, text) in [("go.mod", self.module), ("go.sum", self.sums)] {
            fs::write(source.join(file), text).doing_to("write", &source.join(file))?;
        }
        let log = folder.with_extension("log");
        for (program, package) in self.programs {
            step(&format!("building {program}"));
            self.build(program, package, &unfinished, &log)?;
        }
        fs::rename(&unfinished, folder).doing_to("put in place", folder)?;
        step(&format!("{name} is built"));
        Ok(())
    }

    fn build(&self, program: &str, package: &str, into: &Path, log: &Path) -> Result<()> {
        let output = File::create(log).doing_to("create", log)?;
        let errors = output.try_clone().doing_to("open", log)?;
        let status = super::dies_with_us("go")
            .args([
                "build",
                "-mod=readonly",
                "-trimpath",
                "-buildvcs=false",
                "-ldflags",
                &self.link_flags,
                "-o",
            ])
            .args([into.join(program).as_os_str(), package.as_ref()])
            .current_dir(into.join("source"))
            .env("CGO_ENABLED", "0")
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .status()
            .doing(|| "run go build".into())?;
        if status.success() {
            return Ok(());
        }
        Err(Error::Build { program: program.into(), log: log.into(), tail: super::tail(log) })
    }
}

fn go_version() -> Result<String> {
    let output = Command::new("go").args(["env", "GOVERSION"]).output().map_err(|_| Error::NoGo)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The version that a `go.mod` requires of one module.
pub(super) fn required(module: &'static str, name: &str) -> &'static str {
    let line = module.lines().find_map(|line| line.strip_prefix("require ")?.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()).unwrap_or("v0.0.0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_go_is_another_edition() {
        let source = Source {
            name: "a",
            version: "v1",
            module: "",
            sums: "",
            programs: &[],
            link_flags: String::new(),
            duration: "",
        };
        assert_ne!(source.edition("go1.25"), source.edition("go1.26"));
    }
}
