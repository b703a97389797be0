//! Profiles of interfaces that go with another one, without being declared: nmstate deletes those of VLANs, and leaves others,
//! which NetworkManager would bring back with what they were on. From virtual functions that their NIC loses it is kept, since it
//! would wait for interfaces that are gone.

use linesman_core::plan::{self, Plan};
use linesman_core::state::{interfaces, name};
use serde_json::Value;

use crate::keyfile::ProfileFile;
use crate::nm::Nm;
use crate::{Result, observe};

/// Called once nmstate is done.
pub async fn delete(nm: &Nm, plan: &Plan, desired: &Value, before: &Value) -> Result<()> {
    let lost = lost(plan, desired, before);
    if lost.is_empty() {
        return Ok(());
    }
    let profiles = observe::profiles()?;
    let theirs = profiles.iter().filter(|p| p.interface().is_some_and(|name| lost.iter().any(|l| l == name)));
    for uuid in theirs.filter_map(ProfileFile::uuid) {
        nm.delete_profile(uuid).await?;
    }
    Ok(())
}

/// Pure.
fn lost(plan: &Plan, desired: &Value, before: &Value) -> Vec<String> {
    let declared = |interface: &str| interfaces(desired).iter().any(|i| name(i) == interface);
    let follow = plan.removed.iter().map(ToString::to_string).filter(|removed| !declared(removed));
    follow.chain(plan::lost_functions(desired, before)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_goes_with_its_base_and_is_not_declared() {
        let plan = Plan { removed: ["bond0", "vx1"].map(Into::into).into(), ..Plan::default() };
        let desired = json!({"interfaces": [{"name": "bond0", "type": "bond", "state": "absent"}]});
        assert_eq!(lost(&plan, &desired, &json!({"interfaces": []})), ["vx1"]);
    }
}
