//! What this host looks like: the state in nmstate's words, and the facts that plan needs beside it.

mod dns_order;
mod glance;
mod lacking;
pub mod live;
mod methods;
pub mod quick;
mod schedule;

use linesman_core::facts::{Facts, ProfileFact};
use linesman_core::foreign_port;
pub use nmstate::NetworkState;
use serde_json::Value;

use crate::error::Source;
use crate::keyfile::{self, ProfileFile};
use crate::nm::{Nm, NmView};
pub use lacking::complete;

use crate::{Error, Result, ifcfg, ovs};

/// The whole state, secrets included: it is compared, never shown as it is.
pub async fn retrieve(nm: &Nm) -> Result<Value> {
    let mut state = retrieve_with(|s| {
        s.set_include_secrets(true);
    })
    .await?;
    methods::correct(&mut state, nm).await;
    mark_foreign_ports(&mut state, nm).await?;
    Ok(state)
}

/// A host without bridges need not be asked.
async fn mark_foreign_ports(state: &mut Value, nm: &Nm) -> Result<()> {
    if !foreign_port::of_bridges(state).is_empty() {
        let view = nm.view().await?;
        foreign_port::mark(state, |port| view.runs_profile_on(port));
    }
    Ok(())
}

/// The state for people, as `configure` asks for it. NetworkManager is asked first: nmstate does not say that it is
/// missing, but reports a bug.
pub async fn show(configure: impl FnOnce(&mut NetworkState) + Send + 'static) -> Result<Value> {
    let nm = Nm::connect().await?;
    let mut state = retrieve_with(configure).await?;
    methods::correct(&mut state, &nm).await;
    Ok(state)
}

/// What the kernel alone knows; needs no NetworkManager.
pub async fn kernel(configure: impl FnOnce(&mut NetworkState) + Send + 'static) -> Result<Value> {
    retrieve_with(|state| {
        configure(state);
        state.set_kernel_only(true);
    })
    .await
}

/// The state without secrets, and the facts beside it.
pub async fn host() -> Result<(Value, Facts)> {
    let nm = Nm::connect().await?;
    let mut state = retrieve_with(|_| ()).await?;
    methods::correct(&mut state, &nm).await;
    let facts = facts(&nm, &nm.view().await?, &profiles()?).await?;
    Ok((state, facts))
}

/// The state as `configure` asks for it.
///
/// nmstate's blocking calls start a runtime of their own and panic inside another one, and its async
/// ones cannot leave their thread: a thread of its own is the one place where it is at ease.
async fn retrieve_with(configure: impl FnOnce(&mut NetworkState) + Send + 'static) -> Result<Value> {
    let read = move || -> Result<Value, Source> {
        let mut state = NetworkState::new();
        configure(&mut state);
        state.retrieve()?;
        let mut state = serde_json::to_value(&state)?;
        dns_order::settle(&mut state);
        Ok(state)
    };
    tokio::task::spawn_blocking(read).await.map_err(|e| Error::Observe(e.into()))?.map_err(Error::Observe)
}

/// What the plan must know about profiles and daemons.
pub async fn facts(nm: &Nm, view: &NmView, profiles: &[ProfileFile]) -> Result<Facts> {
    let version = nm.version().await?;
    Ok(Facts {
        protect: None,
        profiles: profile_facts(view, profiles),
        ifcfg: ifcfg::profiles(view),
        unmanaged: view.devices.iter().filter(|d| d.unmanaged()).map(|d| d.interface.clone()).collect(),
        ovs_running: ovs::running().await,
        nm_version: Some(version),
        filters_vlans: lacking::filters_vlans().await,
        // The rest is known once there is a document to ask for.
        ..Facts::default()
    })
}

pub fn profile_facts(view: &NmView, profiles: &[ProfileFile]) -> Vec<ProfileFact> {
    profiles.iter().map(|p| p.fact(p.uuid().and_then(|u| view.active_on(u)))).collect()
}

/// Profiles as they are on disk and in memory now.
pub fn profiles() -> Result<Vec<ProfileFile>> {
    keyfile::read_all().map_err(|e| Error::Observe(format!("reading NetworkManager's profiles: {e}").into()))
}
