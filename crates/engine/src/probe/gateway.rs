//! The default gateways of one family.

use std::{
    net::{IpAddr, SocketAddr, SocketAddrV6},
    pin::pin,
};

use futures_util::future::{Either, select};
use tokio::time::{Instant, sleep_until};

use linesman_core::probe::Family;

use super::{
    failure::ProbeFailure,
    icmp::echo,
    race::first_success,
    run::{Finding, Trouble},
};
use crate::netlink::{DefaultRoute, Netlink, NextHop};

#[derive(Debug, Clone, PartialEq, Eq)]
struct Gateway {
    ip: IpAddr,
    index: u32,
    interface: String,
}

pub(super) async fn check(family: Family, deadline: Instant) -> Finding {
    let netlink = Netlink::open()?;
    let routes = netlink.default_routes().await?;
    let gateways = gateways(&routes, family)?;
    let attempts = gateways.iter().map(|gateway| reach(&netlink, gateway, deadline));
    Ok(first_success(attempts).await?)
}

fn gateways(routes: &[DefaultRoute], family: Family) -> Result<Vec<Gateway>, Trouble> {
    let wanted = family == Family::V6;
    let mut hops =
        routes.iter().filter(|route| route.ipv6 == wanted).flat_map(|route| &route.next_hops).peekable();
    if hops.peek().is_none() {
        return Err(Trouble::NotApplicable(format!("there is no {family} default route")));
    }
    let mut gateways: Vec<Gateway> = hops.filter_map(Gateway::of).collect();
    gateways.dedup();
    if gateways.is_empty() {
        return Err(Trouble::NotApplicable(format!("the {family} default route has no gateway")));
    }
    Ok(gateways)
}

/// Some gateways drop echo requests. One that answers ARP or neighbour discovery, asked anew, is there all the same.
async fn reach(
    netlink: &Netlink,
    gateway: &Gateway,
    deadline: Instant,
) -> Result<Option<String>, ProbeFailure> {
    let halfway = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
    let echo = pin!(echo(gateway.address(), Some(&gateway.interface), deadline));
    let below = pin!(async {
        sleep_until(halfway).await;
        netlink.confirm_neighbour(gateway.ip, gateway.index, deadline).await
    });
    match select(echo, below).await {
        Either::Left((outcome, _)) => outcome.map(|()| None),
        Either::Right((Ok(true), _)) => {
            Ok(Some(format!("{} answers at layer 2 only, not to ICMP", gateway.ip)))
        }
        Either::Right((_, echo)) => echo.await.map(|()| None),
    }
}

impl Gateway {
    fn of(hop: &NextHop) -> Option<Self> {
        Some(Self { ip: hop.gateway?, index: hop.index, interface: hop.interface.clone() })
    }

    fn address(&self) -> SocketAddr {
        match self.ip {
            IpAddr::V6(ip) if ip.is_unicast_link_local() => SocketAddrV6::new(ip, 0, 0, self.index).into(),
            ip => SocketAddr::new(ip, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(ipv6: bool, gateways: &[Option<&str>]) -> DefaultRoute {
        let hop = |gateway: &Option<&str>| NextHop {
            gateway: gateway.map(|ip| ip.parse().unwrap()),
            index: 3,
            interface: "eth0".to_owned(),
        };
        DefaultRoute { ipv6, metric: 0, next_hops: gateways.iter().map(hop).collect() }
    }

    fn why(routes: &[DefaultRoute], family: Family) -> String {
        match gateways(routes, family).unwrap_err() {
            Trouble::NotApplicable(why) => why,
            Trouble::Failed(failure) => panic!("{failure}"),
        }
    }

    #[test]
    fn each_family_has_its_own_gateways() {
        let routes = [route(false, &[Some("10.0.0.1"), Some("10.0.0.2")]), route(true, &[Some("fe80::1")])];
        assert_eq!(gateways(&routes, Family::V4).unwrap().len(), 2);
        let v6 = gateways(&routes, Family::V6).unwrap();
        assert_eq!(v6[0].address().to_string(), "[fe80::1%3]:0");
    }

    #[test]
    fn a_family_without_gateway_says_why() {
        assert_eq!(why(&[route(true, &[Some("fe80::1")])], Family::V4), "there is no IPv4 default route");
        assert_eq!(why(&[route(false, &[None])], Family::V4), "the IPv4 default route has no gateway");
    }
}
