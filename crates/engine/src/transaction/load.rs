//! Everything that is read before anything is decided.

use std::time::Duration;

use linesman_core::facts::Facts;
use linesman_core::state::interfaces;
use serde_json::Value;

use super::foreign;
use crate::keyfile::ProfileFile;
use crate::nm::{self, Nm, NmView};
use crate::{Error, Result, observe, ovs};

/// How long ovs-vswitchd may take to answer that it follows.
const VSWITCHD: Duration = Duration::from_secs(12);

#[derive(Debug)]
pub struct Loaded {
    pub nm: Nm,
    pub observed: Value,
    pub view: NmView,
    pub profiles: Vec<ProfileFile>,
    pub facts: Facts,
}

pub async fn load() -> Result<Loaded> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::NotRoot);
    }
    let nm = Nm::connect().await?;
    let version = nm.version().await?;
    if !nm::at_least(&version, nm::OLDEST) {
        let needed = format!("{}.{}", nm::OLDEST.0, nm::OLDEST.1);
        return Err(Error::OldNetworkManager { found: version, needed });
    }
    let (observed, view) = tokio::join!(observe::retrieve(&nm), nm.view());
    let (observed, view) = (observed?, view?);
    let profiles = observe::profiles()?;
    let facts = observe::facts(&nm, &view, &profiles).await?;
    Ok(Loaded { nm, observed, view, profiles, facts })
}

/// What must be in place before a checkpoint is made.
pub async fn preconditions(loaded: &Loaded, desired: &Value) -> Result<()> {
    if wants_ovs(desired) {
        if !loaded.facts.ovs_running {
            return Err(Error::NoOpenVSwitch { socket: ovs::SOCKET.to_string() });
        }
        if !loaded.nm.has_ovs_plugin().await {
            return Err(Error::NoOvsPlugin);
        }
        match ovs::followed(VSWITCHD).await {
            Ok(true) => {}
            Ok(false) => return Err(Error::VswitchdHangs),
            Err(e) => return Err(Error::call("asking Open vSwitch", e)),
        }
    }
    foreign::refuse(&loaded.nm).await
}

/// `ovs-db` alone is written to the database directly and needs no plugin.
fn wants_ovs(desired: &Value) -> bool {
    interfaces(desired)
        .iter()
        .any(|i| matches!(i["type"].as_str(), Some("ovs-bridge" | "ovs-interface")) && i["state"] != "absent")
}
