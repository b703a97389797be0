//! Stacks that people build, and links that are slow or fail: on a virtual machine whose NICs end in a switch with VLANs
//! and LACP.
//!
//! `cargo test` runs the first. LINESMAN_SOAK=1 runs all of them, LINESMAN_STORY=TEXT (or TEXT|TEXT) those whose name
//! contains the text. They share a machine as long as each leaves it as it was.

mod bonds;
mod br_ex;
mod derived;
mod documents;
mod links;
mod picture;
mod site;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use site::Site;

type Story = (&'static str, fn(&Site));

const STORIES: &[Story] = &[
    (
        "br-ex over a VLAN over a bond takes the address of the node, and gives it back",
        br_ex::takes_the_address,
    ),
    ("linesman brex on a bond beside VLANs", derived::on_a_bond),
    ("linesman brex on a VLAN on a bond, and back", derived::on_a_vlan_on_a_bond),
    ("br-ex over a VLAN that nobody knows is rolled back", br_ex::is_rolled_back),
    ("br-ex takes addresses of others beside somebody's VLAN", br_ex::takes_addresses_of_others),
    ("what is on a bond goes with it, profiles included", bonds::go_with_what_is_on_them),
    ("an LACP partner that comes late is waited for", links::lacp_is_waited_for),
    ("NICs that appear after the boot come up as declared", links::nics_that_appear_late),
    ("a cable that is pulled in mid-change is waited for", links::carrier_is_waited_for),
    ("br-ex waits for a lease that comes late", br_ex::waits_for_a_lease),
    ("spanning tree is waited for", links::spanning_tree_is_waited_for),
    ("networks beside br-ex are not disturbed", br_ex::moves_beside_other_networks),
    ("bonds exchange a NIC in one document", bonds::exchange_a_nic),
    ("the MTU of a stack is raised and lowered", bonds::change_their_mtu),
    ("a container on a MAC-VLAN on a VLAN on a bond runs on", bonds::carry_a_container),
    ("200 VLANs on a bond", bonds::carry_200_vlans),
];

#[test]
fn stacks_are_built_and_slow_links_are_waited_for() {
    let mut site = None;
    let failed: Vec<String> = chosen().into_iter().filter_map(|story| failure_of(story, &mut site)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn chosen() -> Vec<Story> {
    if let Ok(only) = std::env::var("LINESMAN_STORY") {
        let named = |name: &str| only.split('|').any(|text| name.contains(text));
        let chosen: Vec<Story> = STORIES.iter().filter(|(name, _)| named(name)).copied().collect();
        assert!(!chosen.is_empty(), "no story's name contains {only}");
        return chosen;
    }
    if std::env::var_os("LINESMAN_SOAK").is_some() {
        return STORIES.to_vec();
    }
    STORIES[..1].to_vec()
}

/// One story that fails does not keep the others from being tried, on another machine.
fn failure_of((name, story): Story, shared: &mut Option<Site>) -> Option<String> {
    println!("{name}");
    let begin = Instant::now();
    let left = shared.take();
    // Moved: if it panics, the machine prints the end of its logs.
    let run = AssertUnwindSafe(move || {
        let site = left.unwrap_or_else(Site::start);
        story(&site);
        site.assert_as_at_first();
        site
    });
    match catch_unwind(run) {
        Ok(site) => {
            println!("  {:.0} s", begin.elapsed().as_secs_f64());
            *shared = Some(site);
            None
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Some(format!("{name}: {}", text.unwrap_or_default()))
        }
    }
}
