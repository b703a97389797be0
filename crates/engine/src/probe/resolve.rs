//! Names to addresses, in-process and bounded. The C library's resolver blocks a thread for as long as it likes, and a
//! process does not end before that thread does.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use futures_util::future::join;
use hickory_proto::{
    op::{Message, Query},
    rr::{Name, RData, RecordType},
};
use tokio::time::Instant;

use super::{
    dns::{ask, parse_name},
    failure::ProbeFailure,
    race::first_success,
    resolv_conf::{ResolvConf, scope_id},
};

pub(super) async fn resolve(
    host: &str,
    port: u16,
    deadline: Instant,
) -> Result<Vec<SocketAddr>, ProbeFailure> {
    if let Some(address) = literal(host, port) {
        return Ok(vec![address]);
    }
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let known = in_hosts(&hosts, host);
    let found = if known.is_empty() { by_dns(host, deadline).await? } else { known };
    Ok(found.into_iter().map(|ip| SocketAddr::new(ip, port)).collect())
}

fn literal(host: &str, port: u16) -> Option<SocketAddr> {
    match host.split_once('%') {
        Some((ip, scope)) => Some(SocketAddrV6::new(ip.parse().ok()?, port, 0, scope_id(scope)).into()),
        None => Some(SocketAddr::new(host.parse().ok()?, port)),
    }
}

fn in_hosts(hosts: &str, host: &str) -> Vec<IpAddr> {
    let line = |line: &str| {
        let mut words = line.split('#').next()?.split_whitespace();
        let ip = words.next()?.parse().ok()?;
        words.any(|name| name.eq_ignore_ascii_case(host)).then_some(ip)
    };
    hosts.lines().filter_map(line).collect()
}

async fn by_dns(host: &str, deadline: Instant) -> Result<Vec<IpAddr>, ProbeFailure> {
    let conf = ResolvConf::read();
    let servers = conf.addresses();
    if servers.is_empty() {
        return Err(ProbeFailure::NoDnsServer { host: host.to_owned() });
    }
    let mut last = ProbeFailure::All(vec![]);
    for name in candidates(host, &conf.search)? {
        let attempts = servers.iter().map(|server| addresses(*server, &name, deadline));
        match first_success(attempts).await {
            Ok(found) => return Ok(found),
            Err(failure) => last = failure,
        }
    }
    Err(ProbeFailure::NotFound { host: host.to_owned(), source: Box::new(last) })
}

/// A name with a dot is taken as it is; one without is looked for in the search domains first.
fn candidates(host: &str, search: &[String]) -> Result<Vec<Name>, ProbeFailure> {
    let plain = parse_name(host)?;
    let within: Vec<Name> =
        search.iter().filter_map(|domain| parse_name(&format!("{host}.{domain}")).ok()).collect();
    let dotted = host.contains('.');
    Ok(if dotted { vec![plain] } else { within.into_iter().chain([plain]).collect() })
}

async fn addresses(server: SocketAddr, name: &Name, deadline: Instant) -> Result<Vec<IpAddr>, ProbeFailure> {
    let v4 = Query::query(name.clone(), RecordType::A);
    let v6 = Query::query(name.clone(), RecordType::AAAA);
    let (v4, v6) = join(ask(server, &v4, deadline), ask(server, &v6, deadline)).await;
    let found: Vec<IpAddr> = [&v4, &v6].into_iter().flatten().flat_map(in_answer).collect();
    match (found.is_empty(), v4) {
        (false, _) => Ok(found),
        (true, Err(failure)) => Err(failure),
        (true, Ok(_)) => Err(ProbeFailure::UnknownName { server: server.ip() }),
    }
}

fn in_answer(answer: &Message) -> Vec<IpAddr> {
    let address = |data: &RData| match data {
        RData::A(a) => Some(IpAddr::V4(a.0)),
        RData::AAAA(aaaa) => Some(IpAddr::V6(aaaa.0)),
        _ => None,
    };
    answer.answers.iter().filter_map(|record| address(&record.data)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_no_server() {
        assert_eq!(literal("10.0.0.1", 22).unwrap().to_string(), "10.0.0.1:22");
        assert_eq!(literal("fd00::1", 22).unwrap().to_string(), "[fd00::1]:22");
        assert_eq!(literal("fe80::1%7", 22).unwrap().to_string(), "[fe80::1%7]:22");
        assert_eq!(literal("example.org", 22), None);
    }

    #[test]
    fn the_hosts_file_is_read_as_people_write_it() {
        let hosts = "127.0.0.1 localhost\n10.0.0.7\tdb db.lab.test # old\n#10.0.0.8 db\nfd00::7 DB\n";
        let found: Vec<String> = in_hosts(hosts, "db").iter().map(IpAddr::to_string).collect();
        assert_eq!(found, ["10.0.0.7", "fd00::7"]);
        assert!(in_hosts(hosts, "old").is_empty());
    }

    #[test]
    fn short_names_are_looked_for_where_the_host_lives() {
        let search = ["lab.test".to_owned()];
        let names = |host| candidates(host, &search).unwrap().iter().map(Name::to_string).collect::<Vec<_>>();
        assert_eq!(names("db"), ["db.lab.test.", "db."]);
        assert_eq!(names("db.example.org"), ["db.example.org."]);
    }
}
