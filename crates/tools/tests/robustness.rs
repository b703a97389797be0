//! Foreign text never brings linesman down: no panic, no hang, no memory without end.
//!
//! The entry points are those of `fuzz/`; mutations of its seeds run here on a stable compiler. `LINESMAN_SOAK=1`
//! runs for minutes, `LINESMAN_SEED` repeats a run.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../../fuzz/entries.rs"]
mod entries;
mod mutation;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use mutation::Mutator;

type Entry = fn(&[u8]);
const TARGETS: [(&str, Entry); 5] = [
    ("parse", entries::parse),
    ("check", entries::check),
    ("keyfile", entries::keyfile),
    ("netplan", entries::netplan),
    ("ovsdb", entries::ovsdb),
];

/// A debug build on a busy machine; anything quadratic on these sizes takes minutes.
const LIMIT: Duration = Duration::from_secs(10);

fn corpus(target: &str) -> Vec<Vec<u8>> {
    linesman_golden::seeds(target).into_iter().map(|(_, seed)| seed).collect()
}

fn survives(target: &str, entry: Entry, input: &[u8], what: &str) {
    let started = Instant::now();
    let survived = catch_unwind(AssertUnwindSafe(|| entry(input))).is_ok();
    let took = started.elapsed();
    if survived && took < LIMIT {
        return;
    }
    let kept = std::env::temp_dir().join(format!("linesman-{target}-{}", std::process::id()));
    fs::write(&kept, input).ok();
    panic!("{target}: {what} made it fall over (survived: {survived}, {took:?}); kept in {}", kept.display());
}

fn run(target: &str, entry: Entry) {
    let soak = std::env::var_os("LINESMAN_SOAK").is_some();
    let seed = std::env::var("LINESMAN_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(0x1f2e_3d4c_5b6a_7988);
    let (rounds, time) =
        if soak { (10_000_000, Duration::from_secs(300)) } else { (4_000, Duration::from_secs(15)) };
    let corpus = corpus(target);
    assert!(corpus.len() >= 10, "{target}: there are only {} seeds", corpus.len());
    let mut mutator = Mutator::new(seed);
    let started = Instant::now();
    for round in 0..rounds {
        if started.elapsed() > time {
            break;
        }
        survives(target, entry, &mutator.mutate(&corpus), &format!("round {round} of seed {seed}"));
    }
}

#[test]
fn mutated_documents_are_parsed_or_refused() {
    run("parse", entries::parse);
}

#[test]
fn mutated_documents_are_checked() {
    run("check", entries::check);
}

#[test]
fn mutated_profiles_are_imported_or_refused() {
    run("keyfile", entries::keyfile);
}

#[test]
fn mutated_netplan_files_are_imported_or_refused() {
    run("netplan", entries::netplan);
}

#[test]
fn mutated_conversations_of_databases_are_read_or_refused() {
    run("ovsdb", entries::ovsdb);
}

/// Texts that were made to hurt, in every target.
#[test]
fn hostile_texts_are_survived() {
    let scale = if std::env::var_os("LINESMAN_SOAK").is_some() { 10 } else { 1 };
    for (name, text) in hostile(scale) {
        for (target, entry) in TARGETS {
            let started = Instant::now();
            survives(target, entry, text.as_bytes(), name);
            if started.elapsed() > LIMIT / 10 {
                println!("{target}: {name} took {:?}", started.elapsed());
            }
        }
    }
    let peak = peak_memory_mib();
    assert!(peak < 1500, "it took {peak} MiB");
}

/// Sizes grow with `scale`, up to what is refused unread.
fn hostile(scale: usize) -> Vec<(&'static str, String)> {
    let many = |count: usize, item: fn(usize) -> String| (0..count * scale).map(item).collect::<String>();
    let aliases = (1..12).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", ")));
    let merges = (1..12)
        .map(|n| format!("m{n}: &m{n} {{<<: [{}], k{n}: 1}}\n", vec![format!("*m{}", n - 1); 10].join(", ")));
    vec![
        ("nothing", String::new()),
        ("brackets", "[".repeat(100_000)),
        ("braces", "{a: ".repeat(50_000)),
        ("dashes", "- ".repeat(100_000)),
        ("questions", "? ".repeat(100_000)),
        ("indentation", (0..1_500).map(|n| format!("{}a:\n", " ".repeat(n))).collect()),
        ("alias bomb", format!("a0: &a0 [x, x]\n{}", aliases.collect::<String>())),
        ("merge bomb", format!("m0: &m0 {{k: 1}}\n{}", merges.collect::<String>())),
        ("self alias", "a: &a [*a]\n".to_owned()),
        ("tags", "!!binary ".repeat(10_000)),
        ("anchors", many(50_000, |n| format!("k{n}: &x{n} 1\n"))),
        ("an open quote", format!("a: \"{}", "x ".repeat(200_000))),
        ("a block scalar", format!("a: |\n{}", " x\n".repeat(200_000))),
        ("one long line", "x".repeat(1_000_000)),
        ("zero bytes", "\0".repeat(10_000)),
        ("byte order marks", "\u{feff}".repeat(1_000)),
        ("carriage returns", "a: 1\r".repeat(10_000)),
        (
            "interfaces",
            format!(
                "interfaces:\n{}",
                many(3_000, |n| format!(
                    "- {{name: e{n}, type: vlan, vlan: {{base-iface: e{}, id: 5}}}}\n",
                    n + 1
                ))
            ),
        ),
        (
            "one bridge with many ports",
            format!(
                "interfaces:\n- name: b\n  type: linux-bridge\n  bridge:\n    port:\n{}",
                many(5_000, |n| format!("    - name: p{n}\n"))
            ),
        ),
        (
            "routes",
            format!(
                "routes:\n  config:\n{}",
                many(4_000, |n| format!(
                    "  - {{destination: 10.{}.{}.0/24, next-hop-interface: e}}\n",
                    n / 256 % 256,
                    n % 256
                ))
            ),
        ),
        ("duplicate keys", format!("interfaces:\n{}", "- name: a\n  name: b\n".repeat(20_000))),
        (
            "netplan devices",
            format!(
                "network:\n  ethernets:\n{}",
                many(20_000, |n| format!("    e{n}: {{addresses: [10.0.0.1/8]}}\n"))
            ),
        ),
        (
            "netplan ports",
            format!(
                "network:\n  bridges:\n    b:\n      interfaces:\n{}      parameters:\n        path-cost:\n{}",
                many(20_000, |n| format!("      - e{n}\n")),
                many(15_000, |n| format!("          e{n}: 5\n"))
            ),
        ),
        (
            "netplan routes",
            format!(
                "network:\n  vrfs:\n    v:\n      table: 1\n      interfaces: [a, b]\n      routes:\n{}",
                many(15_000, |n| format!(
                    "      - {{to: 10.0.0.0/8, via: 10.0.{}.{}}}\n",
                    n / 256 % 256,
                    n % 256
                ))
            ),
        ),
        (
            "profile sections",
            format!("[connection]\ntype=ethernet\n{}", many(60_000, |n| format!("[s{n}]\n"))),
        ),
        (
            "profile routes",
            format!(
                "[connection]\ntype=ethernet\ninterface-name=e\n[ipv4]\nmethod=auto\n{}",
                many(12_000, |n| format!("route{n}=10.0.0.0/8,10.1.1.1\nroute{n}_options=table={n}\n"))
            ),
        ),
        (
            "profile keys",
            format!(
                "[connection]\ntype=ethernet\ninterface-name=e\n{}",
                many(50_000, |n| format!("k{n}={n}\n"))
            ),
        ),
        ("profile repetition", format!("[connection]\ntype=ethernet\n{}", "id=a\n".repeat(60_000))),
    ]
}

/// The most this process ever held.
fn peak_memory_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() / 1024
}
