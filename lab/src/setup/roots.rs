use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::error::{Doing, Error, Result};
use crate::progress::step;
use crate::tree::remove_tree;
use crate::{lock, places};

/// Raised whenever the recipe below changes, so that a cached root of an older recipe is not used.
const RECIPE: u32 = 1;

const EVERYWHERE: &str = "systemd,systemd-sysv,udev,dbus,network-manager,iproute2,iputils-ping,kmod,procps,\
                          nftables,ethtool,tcpdump,jq,dnsmasq-base,polkitd";

/// The file system a node boots from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// Debian testing: NetworkManager 1.58 with its OVS plugin, Open vSwitch 4.0.
    Forky,
    /// Debian 12: NetworkManager 1.42, no Open vSwitch.
    Bookworm,
}

impl Root {
    pub fn suite(self) -> &'static str {
        match self {
            Self::Forky => "forky",
            Self::Bookworm => "bookworm",
        }
    }

    pub fn has_ovs(self) -> bool {
        self == Self::Forky
    }

    fn packages(self) -> String {
        match self {
            Self::Forky => format!("{EVERYWHERE},network-manager-ovs,openvswitch-switch"),
            Self::Bookworm => EVERYWHERE.into(),
        }
    }

    pub(crate) fn path(self) -> PathBuf {
        places::roots().join(format!("{}-{RECIPE}", self.suite()))
    }

    /// The root's folder; made first if it is not there yet.
    pub fn ensure(self) -> Result<PathBuf> {
        let path = self.path();
        if path.exists() {
            return Ok(path);
        }
        super::require_root()?;
        super::packages::install_missing()?;
        fs::create_dir_all(places::roots()).doing_to("create", &places::roots())?;
        let _one_at_a_time = lock::wait_for(&places::roots().join(format!("{}.lock", self.suite())))?;
        if !path.exists() {
            self.make(&path)?;
        }
        Ok(path)
    }

    fn make(self, path: &Path) -> Result<()> {
        step(&format!(
            "installing Debian {} for nodes in {} (once; a minute or two)",
            self.suite(),
            path.display()
        ));
        let unfinished = path.with_extension("unfinished");
        let log = path.with_extension("log");
        remove_tree(&unfinished)?;
        bootstrap(self.suite(), "minbase", &self.packages(), &unfinished, &log)?;
        fs::rename(&unfinished, path).doing_to("put in place", path)?;
        step(&format!("Debian {} for nodes is ready", self.suite()));
        Ok(())
    }
}

/// Debian packages and what they depend on, as mmdebstrap's `variant` unpacks or configures them. The Release file's expiry
/// date is not checked, for mirrors that lag behind; its signature is.
pub(super) fn bootstrap(suite: &str, variant: &str, packages: &str, target: &Path, log: &Path) -> Result<()> {
    let output = File::create(log).doing_to("create", log)?;
    let errors = output.try_clone().doing_to("open", log)?;
    let status = super::dies_with_us("mmdebstrap")
        .args(["--mode=root", &format!("--variant={variant}")])
        .arg("--aptopt=APT::Install-Recommends \"false\"")
        .arg("--aptopt=Acquire::Check-Valid-Until \"false\"")
        .args(
            ["man", "doc", "locale", "info"].map(|dir| format!("--dpkgopt=path-exclude=/usr/share/{dir}/*")),
        )
        .arg(format!("--include={packages}"))
        .arg(suite)
        .arg(target)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .status()
        .doing(|| "run mmdebstrap".into())?;
    if status.success() { Ok(()) } else { Err(failure(suite, log)) }
}

fn failure(suite: &str, log: &Path) -> Error {
    Error::Root { root: suite.into(), log: log.into(), tail: super::tail(log) }
}
