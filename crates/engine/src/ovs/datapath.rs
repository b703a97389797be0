//! The datapaths that Open vSwitch could use on this host.

use std::collections::BTreeSet;

use linesman_ovsdb as ovsdb;

use super::{LIMIT, Ovsdb, SOCKET, Table};
use crate::netlink;

/// The one in the kernel.
pub const SYSTEM: &str = "system";

/// ovs-vswitchd lists what it was built with, `system` included, whatever the kernel can do: that must be asked. Where
/// nobody says, the datapath is taken to be there.
pub async fn has_datapath(datapath: &str) -> bool {
    let listed = types().await.unwrap_or_default();
    if !listed.is_empty() && !listed.contains(datapath) {
        return false;
    }
    datapath != SYSTEM || has_kernel_datapath().await
}

/// The kernel loads the module for the question, if there is one.
pub async fn has_kernel_datapath() -> bool {
    match netlink::has_family("ovs_datapath").await {
        Ok(known) => known,
        Err(error) => {
            tracing::warn!(%error, "cannot find out whether the kernel has an Open vSwitch datapath");
            true
        }
    }
}

/// None: nobody says.
pub async fn has_dpdk() -> Option<bool> {
    let mut db = Ovsdb::connect_within(SOCKET, LIMIT).await.ok()?;
    let rows = db.select_all(Table::OpenVSwitch, &["dpdk_initialized"]).await.ok()?;
    rows.first()?.raw("dpdk_initialized")?.as_bool()
}

/// Empty until ovs-vswitchd has started once.
async fn types() -> Result<BTreeSet<String>, ovsdb::Error> {
    let mut db = Ovsdb::connect_within(SOCKET, LIMIT).await?;
    let rows = db.select_all(Table::OpenVSwitch, &["datapath_types"]).await?;
    rows.first().map_or_else(|| Ok(BTreeSet::new()), |row| row.texts("datapath_types"))
}

/// Bridges in the database that need the kernel's datapath; none where it cannot be read.
pub async fn kernel_bridges() -> Vec<String> {
    let Ok(keys) = super::read_keys().await else { return Vec::new() };
    let in_kernel = |datapath: Option<&String>| datapath.is_none_or(|name| name == SYSTEM);
    let bridges = keys.bridges.into_iter().filter(|(_, bridge)| in_kernel(bridge.datapath_type.as_ref()));
    bridges.map(|(name, _)| name).collect()
}
