//! The probes on real sockets, in a namespace of their own.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod netns;

use std::time::Duration;

use hickory_proto::op::ResponseCode;
use linesman_engine::{
    netlink::LinkEvents,
    probe::{Probe, ProbeResult, ProbeStatus, assess, run_once, wait_until_pass},
};
use netns::{
    Peer, ip, privately, replace_file,
    servers::Manner::{self, AfterAForgery, Answers, KnowsOnly, NoAnswer, Truncates},
};

/// So long that a wait for it fails the test by its own limit.
const FOR_EVER: Duration = Duration::from_secs(3600);

async fn never() {
    std::future::pending().await
}

fn probes(texts: &[&str]) -> Vec<Probe> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Tries one probe and says how it went, without how long it took.
async fn tried(text: &str) -> String {
    let results = run_once(&probes(&[text]), &None).await;
    assert_eq!(results.len(), 1);
    in_words(&results[0])
}

fn in_words(result: &ProbeResult) -> String {
    match &result.status {
        ProbeStatus::Passed { note: None, .. } => "passed".to_owned(),
        ProbeStatus::Passed { note: Some(note), .. } => format!("passed: {note}"),
        other => other.to_string(),
    }
}

#[test]
fn a_gateway_that_answers_passes() {
    privately("a_gateway_that_answers_passes", async || {
        let _peer = Peer::with_ipv4();
        assert_eq!(tried("gateway:v4").await, "not applicable: there is no IPv4 default route");
        ip("route add default via 10.1.0.2");
        assert_eq!(tried("gateway:v4").await, "passed");
        let both: Vec<String> = run_once(&probes(&["gateway"]), &None).await.iter().map(in_words).collect();
        assert_eq!(both, ["passed", "not applicable: there is no IPv6 default route"]);
    });
}

#[test]
fn a_link_local_gateway_is_found_on_its_link() {
    privately("a_link_local_gateway_is_found_on_its_link", async || {
        let _peer = Peer::with_ipv6();
        ip("-6 route add default via fe80::2 dev near");
        assert_eq!(tried("gateway:v6").await, "passed");
        assert_eq!(tried("ping:fe80::2%near").await, "passed");
    });
}

#[test]
fn a_silent_gateway_of_the_route_in_use_is_remarked() {
    privately("a_silent_gateway_of_the_route_in_use_is_remarked", async || {
        let _peer = Peer::with_ipv4();
        ip("route add default nexthop via 10.1.0.9 dev near nexthop via 10.1.0.2 dev near");
        let remark = "passed: 10.1.0.9 does not answer; other gateways of the default route do";
        assert_eq!(tried("gateway:v4").await, remark);
    });
}

#[test]
fn a_gateway_that_drops_icmp_passes_at_layer_2() {
    privately("a_gateway_that_drops_icmp_passes_at_layer_2", async || {
        let peer = Peer::with_ipv4();
        ip("addr add fe80::1/64 dev near");
        peer.ip("addr add fe80::2/64 dev far");
        ip("route add default via 10.1.0.2");
        ip("-6 route add default via fe80::2 dev near");
        peer.set("ipv4/icmp_echo_ignore_all", "1");
        peer.set("ipv6/icmp/echo_ignore_all", "1");
        assert_eq!(tried("gateway:v4").await, "passed: 10.1.0.2 answers at layer 2 only, not to ICMP");
        assert_eq!(tried("gateway:v6").await, "passed: fe80::2 answers at layer 2 only, not to ICMP");
        assert_eq!(tried("ping:10.1.0.2,timeout=400ms").await, "failed: 10.1.0.2 does not answer");
    });
}

#[test]
fn a_remembered_neighbour_is_no_gateway() {
    privately("a_remembered_neighbour_is_no_gateway", async || {
        let peer = Peer::with_ipv4();
        ip("route add default via 10.1.0.2");
        assert_eq!(tried("gateway:v4").await, "passed");
        // From now on it answers nothing at all, but the neighbour table still calls it reachable.
        peer.set("ipv4/icmp_echo_ignore_all", "1");
        peer.set("ipv4/conf/all/arp_ignore", "8");
        assert_eq!(tried("gateway:v4").await, "failed: 10.1.0.2 does not answer");
    });
}

#[test]
fn an_unreachable_target_fails_with_its_reason() {
    privately("an_unreachable_target_fails_with_its_reason", async || {
        let _peer = Peer::with_ipv4();
        let texts =
            ["ping:10.1.0.9,timeout=400ms", "ping:10.77.0.1,timeout=400ms", "tcp:10.1.0.9:22,timeout=400ms"];
        let words: Vec<String> = run_once(&probes(&texts), &None).await.iter().map(in_words).collect();
        assert_eq!(words[0], "failed: 10.1.0.9 does not answer");
        assert!(words[1].contains("unreachable"), "{}", words[1]);
        assert_eq!(words[2], "failed: 10.1.0.9:22 does not answer");
    });
}

#[test]
fn a_port_is_open_or_it_is_not() {
    privately("a_port_is_open_or_it_is_not", async || {
        let peer = Peer::with_ipv4();
        let _listener = peer.listen(4000);
        assert_eq!(tried("tcp:10.1.0.2:4000").await, "passed");
        let refused = tried("tcp:10.1.0.2:4001").await;
        assert!(refused.contains("10.1.0.2:4001: Connection refused"), "{refused}");
    });
}

#[test]
fn a_name_is_looked_up_where_the_host_would() {
    privately("a_name_is_looked_up_where_the_host_would", async || {
        let peer = Peer::with_ipv4();
        let _listener = peer.listen(4000);
        replace_file("/etc/resolv.conf", "");
        replace_file("/etc/hosts", "10.1.0.2 web.lab.test\n");
        assert_eq!(tried("tcp:web.lab.test:4000").await, "passed");
        let unknown = tried("tcp:db.lab.test:4000").await;
        assert_eq!(unknown, "failed: db.lab.test cannot be looked up: no DNS server is configured");
        replace_file("/etc/resolv.conf", "nameserver 10.1.0.2\n");
        peer.serve_dns(Answers(ResponseCode::NXDomain));
        let unknown = tried("tcp:db.lab.test:4000").await;
        assert_eq!(unknown, "failed: db.lab.test was not found: 10.1.0.2 returned no address");
    });
}

fn dns(test: &str, manner: Manner, probe: &'static str, expected: &'static str) {
    privately(test, async || {
        let peer = Peer::with_ipv4();
        replace_file("/etc/resolv.conf", "nameserver 10.1.0.2\nsearch lab.test\n");
        peer.serve_dns(manner);
        assert_eq!(tried(probe).await, expected);
    });
}

#[test]
fn a_server_that_answers_is_alive() {
    dns("a_server_that_answers_is_alive", Answers(ResponseCode::NoError), "dns", "passed");
}

#[test]
fn a_name_that_does_not_exist_proves_the_server() {
    let manner = Answers(ResponseCode::NXDomain);
    dns("a_name_that_does_not_exist_proves_the_server", manner, "dns:nowhere.test", "passed");
}

#[test]
fn a_server_that_cannot_reach_its_own_fails() {
    let expected = "failed: 10.1.0.2 answers Server Failure";
    dns("a_server_that_cannot_reach_its_own_fails", Answers(ResponseCode::ServFail), "dns", expected);
}

#[test]
fn a_server_that_refuses_a_name_fails() {
    let expected = "failed: 10.1.0.2 is reachable but refuses to answer";
    dns("a_server_that_refuses_a_name_fails", Answers(ResponseCode::Refused), "dns:example.org", expected);
}

#[test]
fn a_server_that_refuses_everything_is_at_least_there() {
    let expected = "passed: 10.1.0.2 is reachable but refuses to answer";
    dns(
        "a_server_that_refuses_everything_is_at_least_there",
        Answers(ResponseCode::Refused),
        "dns",
        expected,
    );
}

#[test]
fn a_server_of_its_own_zone_is_asked_for_that() {
    dns("a_server_of_its_own_zone_is_asked_for_that", KnowsOnly("lab.test."), "dns", "passed");
}

#[test]
fn a_long_answer_comes_over_tcp() {
    dns("a_long_answer_comes_over_tcp", Truncates, "dns:example.org", "passed");
}

#[test]
fn a_forged_answer_is_passed_over() {
    dns("a_forged_answer_is_passed_over", AfterAForgery, "dns:example.org", "passed");
}

#[test]
fn a_server_without_an_answer_fails_by_the_deadline() {
    dns(
        "a_server_without_an_answer_fails_by_the_deadline",
        NoAnswer,
        "dns,timeout=900ms",
        "failed: 10.1.0.2 does not answer",
    );
}

#[test]
fn one_live_server_is_enough() {
    privately("one_live_server_is_enough", async || {
        let peer = Peer::with_ipv4();
        replace_file("/etc/resolv.conf", "");
        assert_eq!(tried("dns").await, "not applicable: no DNS server is configured");
        replace_file("/etc/resolv.conf", "nameserver 10.1.0.9\nnameserver 127.0.0.1\nnameserver 10.1.0.2\n");
        peer.serve_dns(Answers(ResponseCode::NoError));
        assert_eq!(tried("dns").await, "passed");
        let refused = tried("dns,server=127.0.0.1").await;
        assert!(refused.contains("127.0.0.1: Connection refused"), "{refused}");
    });
}

#[test]
fn http_statuses_below_500_pass() {
    privately("http_statuses_below_500_pass", async || {
        let peer = Peer::with_ipv4();
        replace_file("/etc/hosts", "10.1.0.2 web.lab.test\n");
        peer.serve_http(80, "404 Not Found");
        peer.serve_http(8080, "200 OK");
        peer.serve_http(8081, "503 Service Unavailable");
        let _mute = peer.listen(8082);
        assert_eq!(tried("http://10.1.0.2").await, "passed");
        assert_eq!(tried("http://web.lab.test:8080/health?x=1").await, "passed");
        assert_eq!(tried("http://10.1.0.2:8081/").await, "failed: it answers 503 Service Unavailable");
        let mute = tried("http://10.1.0.2:8082/,timeout=400ms").await;
        assert_eq!(mute, "failed: it accepts connections but does not answer");
    });
}

#[test]
fn a_certificate_must_match_the_name_unless_insecure() {
    privately("a_certificate_must_match_the_name_unless_insecure", async || {
        let peer = Peer::with_ipv4();
        replace_file("/etc/hosts", "10.1.0.2 web.lab.test\n10.1.0.2 other.lab.test\n");
        peer.serve_https(443, "200 OK");
        assert_eq!(tried("https://web.lab.test/").await, "passed");
        assert_eq!(tried("https://10.1.0.2/").await, "passed");
        let wrong = tried("https://other.lab.test/").await;
        assert!(wrong.contains("not valid for name"), "{wrong}");
        let unasked = tried("https://other.lab.test/,insecure").await;
        assert_eq!(
            unasked, "failed: it answers 500 Internal Server Error",
            "it got through, to the wrong host"
        );
    });
}

#[test]
fn waiting_ends_at_once_when_all_pass() {
    privately("waiting_ends_at_once_when_all_pass", async || {
        let _peer = Peer::with_ipv4();
        ip("route add default via 10.1.0.2");
        let results =
            wait_until_pass(&probes(&["gateway:v4", "ping:10.1.0.2"]), &[], &None, FOR_EVER, never).await;
        assert!(results.iter().all(|result| result.status.passed()), "{results:?}");
    });
}

#[test]
fn a_probe_that_failed_before_costs_no_patience() {
    privately("a_probe_that_failed_before_costs_no_patience", async || {
        let _peer = Peer::with_ipv4();
        ip("route add default via 10.1.0.2");
        let all = probes(&["gateway", "ping:10.1.0.9,timeout=400ms"]);
        let before = run_once(&all, &None).await;
        let after = wait_until_pass(&all, &before, &None, FOR_EVER, never).await;
        let words: Vec<String> = after.iter().map(in_words).collect();
        assert_eq!(words[0], "passed");
        assert_eq!(words[1], "not applicable: there is no IPv6 default route");
        assert!(words[2].starts_with("failed"), "{}", words[2]);
        assert!(assess(&before, &after).holds());
    });
}

#[test]
fn less_than_before_is_not_enough() {
    privately("less_than_before_is_not_enough", async || {
        let peer = Peer::with_ipv4();
        ip("route add default via 10.1.0.2");
        let all = probes(&["gateway:v4,timeout=2s"]);
        let before = run_once(&all, &None).await;
        peer.set("ipv4/icmp_echo_ignore_all", "1");
        let after = run_once(&all, &None).await;
        let reason = assess(&before, &after).reason();
        assert!(
            reason.as_deref().is_some_and(|why| why.contains("only in part after it: 10.1.0.2")),
            "{reason:?}"
        );
        let waited = wait_until_pass(&all, &before, &None, Duration::from_secs(1), never).await;
        assert!(!assess(&before, &waited).holds(), "{waited:?}");
        let content = wait_until_pass(&all, &after, &None, FOR_EVER, never).await;
        assert!(assess(&after, &content).holds(), "{content:?}");
    });
}

#[test]
fn a_gateway_that_is_not_in_use_does_not_make_up_for_the_one_that_is() {
    privately("a_gateway_that_is_not_in_use_does_not_make_up_for_the_one_that_is", async || {
        let _peer = Peer::with_ipv4();
        ip("route add default via 10.1.0.2 metric 50");
        ip("route add default via 10.1.0.9 metric 100");
        let all = probes(&["gateway:v4,timeout=2s"]);
        let before = run_once(&all, &None).await;
        assert_eq!(in_words(&before[0]), "passed");
        ip("route del default via 10.1.0.2 metric 50");
        ip("route add default via 10.1.0.2 metric 150");
        let after = run_once(&all, &None).await;
        let reason = assess(&before, &after).reason().unwrap_or_default();
        assert!(
            reason.contains("10.1.0.9 does not answer; 10.1.0.2 answers, the gateway of a default route that is not in use"),
            "{reason}"
        );
    });
}

#[test]
fn patience_runs_out() {
    privately("patience_runs_out", async || {
        let _peer = Peer::with_ipv4();
        let required = probes(&["ping:10.1.0.9", "gateway:v4"]);
        let results = wait_until_pass(&required, &[], &None, Duration::from_millis(700), never).await;
        assert_eq!(in_words(&results[0]), "failed: 10.1.0.9 does not answer");
        assert_eq!(in_words(&results[1]), "not applicable: there is no IPv4 default route");
    });
}

/// The far end comes alive while the near end waits.
async fn while_waiting(change: impl FnOnce() + Send + 'static, required: &[&str], wake: impl AsyncFnMut()) {
    let required = probes(required);
    let (failed, has_failed) = tokio::sync::oneshot::channel();
    let first = required.clone();
    tokio::spawn(async move {
        let results = run_once(&first, &None).await;
        failed.send(results.iter().all(|result| !result.status.passed())).unwrap();
        tokio::task::spawn_blocking(change).await.unwrap();
    });
    let results = wait_until_pass(&required, &[], &None, FOR_EVER, wake).await;
    assert!(results.iter().all(|result| result.status.passed()), "{results:?}");
    assert!(has_failed.await.unwrap(), "it should not pass before the change");
}

#[test]
fn what_comes_late_still_passes() {
    privately("what_comes_late_still_passes", async || {
        let peer = Peer::with_ipv4();
        peer.ip("addr del 10.1.0.2/24 dev far");
        ip("route add default via 10.1.0.2");
        let change = || Peer.ip("addr add 10.1.0.2/24 dev far");
        while_waiting(change, &["gateway:v4,timeout=400ms", "ping:10.1.0.2,timeout=400ms"], never).await;
    });
}

#[test]
fn events_wake_those_who_wait() {
    privately("events_wake_those_who_wait", async || {
        let _peer = Peer::with_ipv4();
        let mut events = LinkEvents::subscribe().await.unwrap();
        let change = || ip("route add default via 10.1.0.2");
        while_waiting(change, &["gateway:v4"], async || events.changed().await).await;
    });
}

#[test]
fn constant_change_starves_no_slow_answer() {
    privately("constant_change_starves_no_slow_answer", async || {
        let peer = Peer::with_ipv4();
        // Every attempt takes longer than the pause between two of them.
        peer.set("ipv4/icmp_echo_ignore_all", "1");
        ip("route add default via 10.1.0.2");
        let required = probes(&["gateway:v4"]);
        let restless = async || tokio::time::sleep(Duration::from_millis(10)).await;
        let results = wait_until_pass(&required, &[], &None, FOR_EVER, restless).await;
        assert_eq!(in_words(&results[0]), "passed: 10.1.0.2 answers at layer 2 only, not to ICMP");
    });
}
