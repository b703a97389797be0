//! Profiles of interfaces that go with another one, without being declared: nmstate deletes those of VLANs, and leaves others,
//! which NetworkManager would bring back with what they were on. From virtual functions that their NIC loses it is kept, since it
//! would wait for interfaces that are gone. What is declared absent and was not there keeps none either.

use linesman_core::plan::{self, Plan};
use linesman_core::state::{interfaces, is_absent, name};
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
    // A NIC that has another name by now: its profiles would configure whatever gets the old one.
    let exists = |interface: &Value| interfaces(before).iter().any(|i| name(i) == name(interface));
    let gone = interfaces(desired).iter().filter(|interface| is_absent(interface) && !exists(interface));
    let gone = gone.map(|interface| name(interface).to_owned());
    follow.chain(plan::lost_functions(desired, before)).chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_goes_with_its_base_and_is_not_declared() {
        let plan = Plan { removed: ["bond0", "vx1"].map(Into::into).into(), ..Plan::default() };
        let desired = json!({"interfaces": [{"name": "bond0", "type": "bond", "state": "absent"}]});
        let before = json!({"interfaces": [{"name": "bond0", "type": "bond"}]});
        assert_eq!(lost(&plan, &desired, &before), ["vx1"]);
    }

    #[test]
    fn what_is_declared_absent_and_has_only_profiles() {
        let desired = json!({"interfaces": [{"name": "eth1", "type": "ethernet", "state": "absent"}, {"name": "eth2"}]});
        assert_eq!(lost(&Plan::default(), &desired, &json!({"interfaces": []})), ["eth1"]);
    }
}
