//! Profiles of virtual functions that their NIC has lost: nmstate is kept from them, since it would wait for interfaces that are
//! gone.

use linesman_core::plan;
use serde_json::Value;

use crate::Result;
use crate::keyfile::ProfileFile;
use crate::nm::Nm;

/// Called once nmstate is done.
pub async fn delete_profiles(
    nm: &Nm,
    profiles: &[ProfileFile],
    desired: &Value,
    before: &Value,
) -> Result<()> {
    let lost = plan::lost_functions(desired, before);
    let theirs = profiles.iter().filter(|p| p.interface().is_some_and(|name| lost.iter().any(|l| l == name)));
    for uuid in theirs.filter_map(ProfileFile::uuid) {
        nm.delete_profile(uuid).await?;
    }
    Ok(())
}
