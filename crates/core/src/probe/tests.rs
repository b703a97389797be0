use super::*;

fn probe(text: &str) -> Probe {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_is_written_is_what_is_read() {
    let texts = [
        "gateway",
        "gateway:v4",
        "gateway:v6,timeout=5s",
        "dns",
        "dns:example.org",
        "dns:example.org,server=10.0.0.53,server=fd00::53,timeout=500ms",
        "dns,server=10.0.0.53",
        "tcp:10.0.0.1:22",
        "tcp:[fd00::1]:22",
        "tcp:db.example.org:5432,timeout=7s",
        "http://10.0.0.1/",
        "https://[fd00::1]:6443/healthz,insecure,timeout=10s",
        "http://example.org/?list=1,2,3",
        "ping:10.0.0.1",
        "ping:fe80::1%eth0",
        "tcp:[fe80::1%eth0]:22",
        "dns:example.org.",
        "http://user@10.0.0.1:8080/a",
        "apiServer",
        "nodeReady,timeout=4s",
    ];
    for text in texts {
        assert_eq!(probe(text).to_string(), text);
        let json = serde_json::to_string(&probe(text)).unwrap();
        assert_eq!(serde_json::from_str::<Probe>(&json).unwrap(), probe(text), "{json}");
    }
}

#[test]
fn options_are_told_from_the_commas_of_a_url() {
    let Probe { spec, timeout, .. } = probe("https://example.org/a,timeout=3/b,c,insecure,timeout=1m");
    let url = "https://example.org/a,timeout=3/b,c".to_owned();
    assert_eq!(spec, ProbeSpec::Http { url, insecure: true });
    assert_eq!(timeout, Duration::from_secs(60));
}

#[test]
fn mistakes_are_named_and_the_forms_listed() {
    let cases = [
        ("", "there is no kind"),
        ("gatway", "there is no kind \"gatway\""),
        ("gateway:v5", "neither v4 nor v6"),
        ("gateway,timeout=soon", "not a duration"),
        ("gateway,timeout=0s", "no time to wait"),
        ("gateway,timeout=-1s", "not a duration"),
        ("gateway,timeout=5h", "not a unit"),
        ("gateway,insecure", "no option \"insecure\""),
        ("http://example.org/,insecure", "no option \"insecure\""),
        ("tcp:10.0.0.1", "a port is missing"),
        ("tcp::22", "a host is missing"),
        ("tcp:10.0.0.1:ssh", "\"ssh\" is not a port"),
        ("tcp:10.0.0.1:70000", "\"70000\" is not a port"),
        ("tcp:10.0.0.1:0", "\"0\" is not a port"),
        ("tcp:999.1.1.1:22", "\"999.1.1.1\" is not an IP address"),
        ("tcp:[fd00::x]:22", "\"fd00::x\" is not an IP address"),
        ("tcp:[10.0.0.1]:22", "\"[10.0.0.1]\" is not an IP address"),
        ("tcp:[fe80::1]:22", "needs its interface: fe80::1%eth0"),
        ("tcp:two words:22", "\"two words\" is not a name in DNS"),
        ("gateway,timout=5s", "no option \"timout=5s\""),
        ("gateway:", "neither v4 nor v6"),
        ("gateway,timeout=61s", "too long; the longest is 60s"),
        ("gateway,timeout=99999999999999999999999m", "too long"),
        ("gateway,timeout=1e300s", "not a duration"),
        ("gateway,timeout=5s,timeout=6s", "given twice"),
        ("dns:", "a name is missing"),
        ("dns:two..dots", "\"two..dots\" is not a name in DNS"),
        ("ping:999.1.1.1", "\"999.1.1.1\" is not an IP address"),
        ("ping:fe80::1", "needs its interface"),
        ("ping:10.0.0.1%", "the name of an interface is empty"),
        ("http://999.1.1.1/", "\"999.1.1.1\" is not an IP address"),
        ("http://10.0.0.1:70000/", "\"70000\" is not a port"),
        ("tcp:fd00::1:22", "brackets"),
        ("ping:example.org", "not an IP address"),
        ("dns,server=resolver", "not an IP address"),
        ("http://", "URL"),
        ("http://:80/", "names no host"),
        ("http://10.0.0.1:http/", "\"http\" is not a port"),
        ("http://exämple.org/", "written with %"),
        ("apiServer:10.0.0.1", "nothing follows apiServer"),
        ("nodeReady,insecure", "no option \"insecure\""),
        ("api-server", "there is no kind \"api-server\""),
        ("ftp://example.org", "there is no kind \"ftp\""),
    ];
    for (text, why) in cases {
        let error = text.parse::<Probe>().expect_err(text).to_string();
        assert!(error.contains(why) && error.contains("ping:ADDRESS"), "{text}: {error}");
    }
}

#[test]
fn a_document_may_leave_out_what_is_usual() {
    let written: Probe = serde_json::from_str(r#"{"type": "tcp", "host": "10.0.0.1", "port": 22}"#).unwrap();
    assert_eq!(written, probe("tcp:10.0.0.1:22"));
    assert_eq!(written.timeout, DEFAULT_TIMEOUT);
    assert_eq!(
        serde_json::from_str::<Probe>(r#"{"type": "gateway", "timeout": "5s"}"#).unwrap(),
        probe("gateway,timeout=5s")
    );
}

#[test]
fn a_gateway_probe_is_one_per_family() {
    let names = |in_cluster| -> Vec<String> {
        default_probes(in_cluster).iter().flat_map(Probe::expand).map(|probe| probe.to_string()).collect()
    };
    assert_eq!(names(false), ["gateway:v4", "gateway:v6", "dns"]);
    assert_eq!(names(true), ["gateway:v4", "gateway:v6", "dns", "apiServer", "nodeReady"]);
}

#[test]
fn only_a_question_without_a_name_takes_the_usual_one() {
    let asked = |text: &str| probe(text).asking(Some("root-servers.net")).to_string();
    assert_eq!(asked("dns,timeout=5s"), "dns:root-servers.net,timeout=5s");
    assert_eq!(asked("dns:example.org"), "dns:example.org");
    assert_eq!(asked("gateway"), "gateway");
    assert_eq!(probe("dns").asking(None), probe("dns"));
}
