//! The netlink module against a real kernel, in a namespace of its own.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod netns;

use std::net::IpAddr;

use linesman_engine::netlink::{AddressFact, Error, EventKind, LinkEvents, LinkFact, Netlink};
use netns::{Peer, ip, privately};

fn parse(ip: &str) -> IpAddr {
    ip.parse().unwrap()
}

async fn link(name: &str) -> Option<LinkFact> {
    Netlink::open().unwrap().links().await.unwrap().into_iter().find(|link| link.name == name)
}

async fn address(wanted: &str) -> Option<AddressFact> {
    let all = Netlink::open().unwrap().addresses().await.unwrap();
    all.into_iter().find(|address| address.ip == parse(wanted))
}

/// Waits for events until `holds`; the test's own limit ends it otherwise.
async fn until(events: &mut LinkEvents, mut holds: impl FnMut(EventKind, bool, Option<&str>) -> bool) {
    loop {
        let event = events.next().await.unwrap();
        if holds(event.kind, event.gone, event.interface.as_deref()) {
            return;
        }
    }
}

#[test]
fn links_are_read_with_kind_and_controller() {
    privately("links_are_read_with_kind_and_controller", async || {
        ip("link add br7 type bridge");
        ip("link add near type veth peer name other");
        ip("link set near address 02:00:00:00:00:07 mtu 1400 master br7 up");
        let near = link("near").await.unwrap();
        assert_eq!(near.kind.as_deref(), Some("veth"));
        assert_eq!(near.controller.as_deref(), Some("br7"));
        assert_eq!(near.mac.as_deref(), Some("02:00:00:00:00:07"));
        assert_eq!(near.mtu, Some(1400));
        assert!(near.up && !near.carrier, "its other end is down: {near:?}");
        assert_eq!(link("br7").await.unwrap().kind.as_deref(), Some("bridge"));
        assert!(!link("br7").await.unwrap().up);
        Netlink::open().unwrap().set_link_up("br7").await.unwrap();
        assert!(link("br7").await.unwrap().up);
    });
}

#[test]
fn addresses_come_and_go() {
    privately("addresses_come_and_go", async || {
        ip("link add near type veth peer name other");
        let netlink = Netlink::open().unwrap();
        for (wanted, prefix) in [("10.1.0.1", 24), ("fd00::1", 64)] {
            netlink.add_address("near", parse(wanted), prefix).await.unwrap();
            netlink.add_address("near", parse(wanted), prefix).await.expect("a second time changes nothing");
            let found = address(wanted).await.unwrap();
            assert_eq!((found.interface.as_str(), found.prefix, found.permanent), ("near", prefix, true));
            assert!(netlink.delete_address("near", parse(wanted), prefix).await.unwrap());
            assert!(!netlink.delete_address("near", parse(wanted), prefix).await.unwrap());
            assert_eq!(address(wanted).await, None);
        }
    });
}

#[test]
fn an_address_comes_back_as_it_was() {
    privately("an_address_comes_back_as_it_was", async || {
        ip("link add near type veth peer name other");
        ip("link set near up");
        ip("addr add 10.1.0.5/24 brd 10.1.0.255 dev near label near:vip noprefixroute");
        ip("addr add 10.2.0.1 peer 10.2.0.2/32 dev near scope link");
        ip("addr add fd00::5/64 dev near nodad valid_lft 3500 preferred_lft 2500");
        let netlink = Netlink::open().unwrap();
        let mut was = vec![];
        for wanted in ["10.1.0.5", "10.2.0.1", "fd00::5"] {
            was.push(address(wanted).await.unwrap());
        }
        ip("addr flush dev near");
        for (fact, wanted) in was.iter_mut().zip(["10.1.0.5", "10.2.0.1", "fd00::5"]) {
            netlink.restore_address(fact).await.unwrap();
            let mut is = address(wanted).await.unwrap();
            // The kernel counts lifetimes down, and gives its own verdict on duplicates in its own time.
            for fact in [&mut *fact, &mut is] {
                fact.valid = fact.valid.map(|seconds| seconds / 1000);
                fact.preferred = fact.preferred.map(|seconds| seconds / 1000);
            }
            assert_eq!(is, *fact);
        }
        assert_eq!(was[0].label.as_deref(), Some("near:vip"));
        assert_eq!(was[1].peer, Some(parse("10.2.0.2")));
        assert_eq!((was[2].permanent, was[2].valid), (false, Some(3)));
    });
}

#[test]
fn default_routes_of_both_families_are_found() {
    privately("default_routes_of_both_families_are_found", async || {
        let _peer = Peer::with_ipv4();
        let netlink = Netlink::open().unwrap();
        assert_eq!(netlink.default_routes().await.unwrap(), []);
        ip("route add default via 10.1.0.2 dev near metric 200");
        ip(
            "route add default proto static metric 100 nexthop via 10.1.0.2 dev near nexthop via 10.1.0.3 dev near",
        );
        ip("route add default via 10.1.0.4 dev near table 77");
        ip("route add unreachable default metric 9999");
        ip("-6 route add default via fe80::2 dev near metric 50");
        let routes = netlink.default_routes().await.unwrap();
        let gateways: Vec<Vec<String>> = routes
            .iter()
            .map(|route| {
                route
                    .next_hops
                    .iter()
                    .map(|hop| format!("{}%{}", hop.gateway.unwrap(), hop.interface))
                    .collect()
            })
            .collect();
        assert_eq!(gateways[0], ["10.1.0.2%near", "10.1.0.3%near"]);
        assert_eq!(gateways[1], ["10.1.0.2%near"]);
        assert_eq!(gateways[2], ["fe80::2%near"]);
        let metrics: Vec<(bool, u32)> = routes.iter().map(|route| (route.ipv6, route.metric)).collect();
        assert_eq!(metrics, [(false, 100), (false, 200), (true, 50)]);
    });
}

#[test]
fn a_subscription_reports_what_changed() {
    privately("a_subscription_reports_what_changed", async || {
        let mut events = LinkEvents::subscribe().await.unwrap();
        ip("link add near type veth peer name other");
        until(&mut events, |kind, gone, name| kind == EventKind::Link && !gone && name == Some("near")).await;
        ip("link set near up");
        ip("addr add 10.1.0.1/24 dev near");
        until(&mut events, |kind, gone, name| kind == EventKind::Address && !gone && name == Some("near"))
            .await;
        ip("link set other up");
        ip("route add default via 10.1.0.2 dev near");
        until(&mut events, |kind, gone, name| kind == EventKind::Route && !gone && name == Some("near"))
            .await;
        ip("rule add from 10.9.9.9 table 77");
        until(&mut events, |kind, gone, _| kind == EventKind::Rule && !gone).await;
        ip("addr del 10.1.0.1/24 dev near");
        until(&mut events, |kind, gone, name| kind == EventKind::Address && gone && name == Some("near"))
            .await;
        assert!(Netlink::open().unwrap().delete_link("near").await.unwrap());
        until(&mut events, |kind, gone, name| kind == EventKind::Link && gone && name == Some("near")).await;
    });
}

#[test]
fn a_port_that_leaves_its_bridge_is_not_removed() {
    privately("a_port_that_leaves_its_bridge_is_not_removed", async || {
        ip("link add br7 type bridge");
        ip("link add near type veth peer name other");
        ip("link set near master br7");
        let mut events = LinkEvents::subscribe().await.unwrap();
        ip("link set near nomaster");
        ip("link del br7");
        until(&mut events, |kind, gone, name| {
            assert!(!(gone && name == Some("near")), "near is still there");
            kind == EventKind::Link && gone && name == Some("br7")
        })
        .await;
    });
}

#[test]
fn an_overrun_is_reported_once() {
    privately("an_overrun_is_reported_once", async || {
        let mut events = LinkEvents::subscribe().await.unwrap();
        ip("link add near type veth peer name other");
        let netlink = Netlink::open().unwrap();
        for host in 0..=255 {
            for subnet in 0..8 {
                netlink.add_address("near", IpAddr::from([10, 7, subnet, host]), 32).await.unwrap();
            }
        }
        assert_eq!(events.next().await.unwrap().kind, EventKind::Lost);
        assert_eq!(events.drain().await.unwrap(), 0);
        ip("link set other up");
        until(&mut events, |kind, _, name| kind == EventKind::Link && name == Some("other")).await;
    });
}

#[test]
fn a_link_that_is_not_there_is_named() {
    privately("a_link_that_is_not_there_is_named", async || {
        let netlink = Netlink::open().unwrap();
        assert!(!netlink.delete_link("near").await.unwrap());
        assert!(!netlink.delete_address("near", parse("10.1.0.1"), 24).await.unwrap());
        let error = netlink.add_address("near", parse("10.1.0.1"), 24).await.unwrap_err();
        assert!(matches!(error, Error::NoInterface { .. }) && error.to_string().contains("near"));
        let refused = netlink.delete_link("lo").await.unwrap_err();
        assert!(refused.to_string().contains("delete lo"), "{refused}");
    });
}

#[test]
fn supported_kinds_are_detected_without_creating_interfaces() {
    privately("supported_kinds_are_detected_without_creating_interfaces", async || {
        let netlink = Netlink::open().unwrap();
        let before = netlink.links().await.unwrap().len();
        for kind in ["bridge", "veth"] {
            assert!(netlink.can_make(kind).await.unwrap(), "{kind}: the other tests make them");
        }
        assert!(!netlink.can_make("nosuchkind").await.unwrap());
        let others = [
            "bond", "dummy", "hsr", "ipvlan", "macvlan", "macvtap", "macsec", "vlan", "vrf", "vxlan", "xfrm",
        ];
        for kind in others {
            netlink.can_make(kind).await.unwrap();
        }
        assert_eq!(netlink.links().await.unwrap().len(), before);
    });
}
