use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Doing, Error, Result};
use crate::progress::step;
use crate::{lock, places};

/// Program, and the Debian package that brings it.
const NEEDED: &[(&str, &str)] = &[
    ("mmdebstrap", "mmdebstrap"),
    ("ip", "iproute2"),
    ("unshare", "util-linux"),
    ("mount", "mount"),
    ("mkfs.ext4", "e2fsprogs"),
];

const NEEDED_FOR_VMS: &[(&str, &str)] = &[("mmdebstrap", "mmdebstrap"), ("mke2fs", "e2fsprogs")];

const DIRECTORIES: &[&str] = &["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"];

pub(super) fn install_missing() -> Result<()> {
    install_missing_of(NEEDED)
}

pub(super) fn install_missing_for_vms() -> Result<()> {
    install_missing_of(NEEDED_FOR_VMS)
}

fn install_missing_of(needed: &[(&'static str, &'static str)]) -> Result<()> {
    let missing = missing(needed);
    if missing.is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(places::cache()).doing_to("create", &places::cache())?;
    let _one_at_a_time = lock::wait_for(&places::cache().join("packages.lock"))?;
    let packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    step(&format!("installing Debian packages: {}", packages.join(", ")));
    apt(&["update"])?;
    apt(&[&["install", "--yes", "--no-install-recommends"], packages.as_slice()].concat())?;
    match self::missing(needed).first() {
        Some((program, package)) => {
            Err(Error::Missing { program: (*program).into(), package: (*package).into() })
        }
        None => Ok(()),
    }
}

fn missing(needed: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let there =
        |program: &str| DIRECTORIES.iter().any(|directory| Path::new(directory).join(program).exists());
    needed.iter().filter(|(program, _)| !there(program)).copied().collect()
}

fn apt(arguments: &[&str]) -> Result<()> {
    let output = Command::new("apt-get")
        .arg("-q")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .output()
        .doing(|| "run apt-get (the lab sets itself up on Debian only)".into())?;
    // One unreachable third-party source must not stop us: what is missing is looked for again afterwards.
    if !output.status.success() && arguments.first() != Some(&"update") {
        return Err(Error::Failed {
            command: format!("apt-get {}", arguments.join(" ")),
            place: "this machine".into(),
            status: output.status.to_string(),
            stdout: String::from_utf8_lossy(&output.stdout).into(),
            stderr: String::from_utf8_lossy(&output.stderr).into(),
        });
    }
    Ok(())
}
