//! The default gateways of one family.

use std::{
    net::{IpAddr, SocketAddr, SocketAddrV6},
    pin::pin,
};

use futures_util::future::{Either, join_all, select};
use tokio::time::{Instant, sleep_until, timeout_at};

use linesman_core::probe::Family;

use super::{
    failure::ProbeFailure,
    icmp::{self, echo},
    race::first_success,
    run::{Finding, Trouble},
};
use crate::netlink::{AddressFact, DefaultRoute, Netlink, NextHop};
use crate::snapshot::is_local;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Gateway {
    ip: IpAddr,
    index: u32,
    interface: String,
}

/// The gateways of the default route in use, and those of others that have a higher metric.
#[derive(Debug, PartialEq, Eq)]
struct Gateways {
    preferred: Vec<Gateway>,
    others: Vec<Gateway>,
}

/// It is the preferred default route that traffic takes: that the gateway of another one answers does not make up for it, and is
/// said. With several gateways of equal preference traffic takes each of them, so that one which does not answer is said, too.
pub(super) async fn check(family: Family, not_from: &[IpAddr], deadline: Instant) -> Finding {
    let netlink = Netlink::open()?;
    let routes = netlink.default_routes().await?;
    let Gateways { preferred, others } = gateways(&routes, family)?;
    let reach = |gateway: &'_ Gateway| reach(&netlink, gateway.clone(), not_from, deadline);
    let mut preferred = pin!(async { together(join_all(preferred.iter().map(reach)).await) });
    let mut others = pin!(async {
        match others.is_empty() {
            true => std::future::pending().await,
            false => {
                first_success(others.iter().map(async |gateway| reach(gateway).await.map(|_| gateway.ip)))
                    .await
            }
        }
    });
    let failure = match select(preferred.as_mut(), others.as_mut()).await {
        Either::Left((outcome, _)) => match outcome {
            Ok(note) => return Ok(note),
            Err(failure) => failure,
        },
        Either::Right((other, preferred)) => match (preferred.await, other) {
            (Ok(note), _) => return Ok(note),
            (Err(failure), Ok(ip)) => return Ok(Some(unpreferred(&failure, ip))),
            (Err(failure), Err(_)) => return Err(failure.into()),
        },
    };
    match timeout_at(deadline, others).await {
        Ok(Ok(ip)) => Ok(Some(unpreferred(&failure, ip))),
        _ => Err(failure.into()),
    }
}

/// As long as one answers, there is a way; a remark that was not there before a change speaks against it.
fn together(outcomes: Vec<Result<Option<String>, ProbeFailure>>) -> Result<Option<String>, ProbeFailure> {
    let (answered, failed): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    let failures: Vec<ProbeFailure> = failed.into_iter().filter_map(Result::err).collect();
    if answered.is_empty() {
        return Err(ProbeFailure::All(failures));
    }
    let partly = (!failures.is_empty())
        .then(|| format!("{}; other gateways of the default route do", ProbeFailure::All(failures)));
    let notes: Vec<String> = answered.into_iter().flatten().flatten().chain(partly).collect();
    Ok((!notes.is_empty()).then(|| notes.join("; ")))
}

fn unpreferred(failure: &ProbeFailure, ip: IpAddr) -> String {
    format!("{failure}; {ip} answers, the gateway of a default route that is not in use")
}

fn gateways(routes: &[DefaultRoute], family: Family) -> Result<Gateways, Trouble> {
    let wanted = family == Family::V6;
    let of_family: Vec<&DefaultRoute> = routes.iter().filter(|route| route.ipv6 == wanted).collect();
    let Some(least) = of_family.iter().map(|route| route.metric).min() else {
        return Err(Trouble::NotApplicable(format!("there is no {family} default route")));
    };
    let of = |is_meant: &dyn Fn(&DefaultRoute) -> bool| -> Vec<Gateway> {
        let routes = of_family.iter().filter(|route| is_meant(route));
        let mut gateways: Vec<Gateway> =
            routes.flat_map(|route| &route.next_hops).filter_map(Gateway::of).collect();
        gateways.dedup();
        gateways
    };
    let preferred = of(&|route| route.metric == least);
    if preferred.is_empty() {
        return Err(Trouble::NotApplicable(format!("the {family} default route has no gateway")));
    }
    Ok(Gateways { preferred, others: of(&|route| route.metric != least) })
}

/// Some gateways drop echo requests. One that answers ARP or neighbour discovery, asked anew, is there all the same.
async fn reach(
    netlink: &Netlink,
    gateway: Gateway,
    not_from: &[IpAddr],
    deadline: Instant,
) -> Result<Option<String>, ProbeFailure> {
    let halfway = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
    let echo = pin!(echo_from_own(netlink, &gateway, not_from, deadline));
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

/// The kernel may choose a virtual IP that is to stay on this interface, whatever becomes of the host's own address.
async fn echo_from_own(
    netlink: &Netlink,
    gateway: &Gateway,
    not_from: &[IpAddr],
    deadline: Instant,
) -> Result<(), ProbeFailure> {
    let to_gateway = |source| echo(gateway.address(), source, Some(&gateway.interface), deadline);
    let chosen = icmp::source_to(gateway.address(), &gateway.interface).ok();
    if !chosen.is_some_and(|chosen| not_from.contains(&chosen)) {
        return to_gateway(None).await;
    }
    let own = own_addresses(&netlink.addresses().await?, gateway, not_from);
    if own.is_empty() {
        return to_gateway(None).await;
    }
    first_success(own.into_iter().map(|own| to_gateway(Some(own)))).await
}

fn own_addresses(addresses: &[AddressFact], gateway: &Gateway, not_from: &[IpAddr]) -> Vec<IpAddr> {
    let here = addresses.iter().filter(|held| held.index == gateway.index).map(|held| held.ip);
    here.filter(|ip| ip.is_ipv4() == gateway.ip.is_ipv4() && !is_local(*ip) && !not_from.contains(ip))
        .collect()
}

/// The addresses from which this host reaches its gateways now.
pub async fn sources() -> Vec<IpAddr> {
    let routes = async { Netlink::open()?.default_routes().await }.await.unwrap_or_default();
    let gateways = routes.iter().flat_map(|route| &route.next_hops).filter_map(Gateway::of);
    gateways.filter_map(|gateway| icmp::source_to(gateway.address(), &gateway.interface).ok()).collect()
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
        assert_eq!(gateways(&routes, Family::V4).unwrap().preferred.len(), 2);
        let v6 = gateways(&routes, Family::V6).unwrap().preferred;
        assert_eq!(v6[0].address().to_string(), "[fe80::1%3]:0");
    }

    #[test]
    fn the_route_with_the_lowest_metric_is_in_use() {
        let spare = DefaultRoute { metric: 102, ..route(false, &[Some("10.1.0.1")]) };
        let found = gateways(&[spare, route(false, &[Some("10.0.0.1")])], Family::V4).unwrap();
        let ips = |gateways: &[Gateway]| gateways.iter().map(|g| g.ip.to_string()).collect::<Vec<_>>();
        assert_eq!(
            (ips(&found.preferred), ips(&found.others)),
            (vec!["10.0.0.1".into()], vec!["10.1.0.1".into()])
        );
    }

    #[test]
    fn every_gateway_of_the_preferred_route_counts() {
        let silent = |ip: &str| Err(ProbeFailure::NoAnswer { peer: ip.to_owned() });
        let layer_2 = || Ok(Some("10.0.0.2 answers at layer 2 only, not to ICMP".to_owned()));
        assert_eq!(together(vec![Ok(None), Ok(None)]).unwrap(), None);
        assert_eq!(
            together(vec![silent("10.0.0.250"), Ok(None)]).unwrap().unwrap(),
            "10.0.0.250 does not answer; other gateways of the default route do"
        );
        assert_eq!(
            together(vec![layer_2(), silent("10.0.0.250")]).unwrap().unwrap(),
            "10.0.0.2 answers at layer 2 only, not to ICMP; 10.0.0.250 does not answer; other gateways of the default route do"
        );
        let all = together(vec![silent("10.0.0.1"), silent("10.0.0.250")]).unwrap_err();
        assert_eq!(all.to_string(), "10.0.0.1 does not answer; 10.0.0.250 does not answer");
    }

    #[test]
    fn a_virtual_ip_is_not_an_own_address() {
        let gateway = Gateway { ip: "10.0.0.1".parse().unwrap(), index: 1, interface: "eth0".into() };
        let held = ["10.0.0.9", "10.0.0.2", "169.254.0.1", "fd00::2"].map(|ip| AddressFact::test("eth0", ip));
        let held = held.map(|held| AddressFact { index: 1, ..held });
        let elsewhere = AddressFact { index: 2, ..AddressFact::test("eth1", "10.0.0.3") };
        let all: Vec<AddressFact> = held.into_iter().chain([elsewhere]).collect();
        let own = own_addresses(&all, &gateway, &["10.0.0.9".parse().unwrap()]);
        assert_eq!(own, ["10.0.0.2".parse::<IpAddr>().unwrap()]);
    }

    #[test]
    fn a_family_without_gateway_says_why() {
        assert_eq!(why(&[route(true, &[Some("fe80::1")])], Family::V4), "there is no IPv4 default route");
        assert_eq!(why(&[route(false, &[None])], Family::V4), "the IPv4 default route has no gateway");
    }
}
