//! The keys that Open vSwitch 3.0 to 4.0 know, what they accept, and who else writes them.

use super::key::{Column, Key, UnitProperty};
use super::value::ValueKind::{self, Boolean, CpuMask, Integer, Text, Word};
use super::version::Version;

/// When a change is in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// As soon as ovs-vswitchd has read it.
    Live,
    /// ovs-vswitchd reads it at its start only.
    Restart,
}

/// Programs that write a key by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    OvnController,
    OvnKubernetes,
    OvsCtl,
    UpgradeScripts,
    SriovOperator,
    TuningOperator,
    Libreswan,
}

impl Writer {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OvnController => "ovn-controller",
            Self::OvnKubernetes => "ovn-kubernetes or configure-ovs",
            Self::OvsCtl => "ovs-ctl",
            Self::UpgradeScripts => "ovs-ctl while it restarts ovs-vswitchd",
            Self::SriovOperator => "the SR-IOV operator or somebody else",
            Self::TuningOperator => "the Node Tuning Operator or somebody else",
            Self::Libreswan => "ovs-monitor-ipsec or somebody else",
        }
    }

    /// Whether the key may be handed to us.
    pub fn can_be_replaced(self) -> bool {
        self != Self::UpgradeScripts
    }

    /// What shows that this program writes the key on this host.
    pub fn sign(self) -> Sign {
        match self {
            Self::OvsCtl | Self::UpgradeScripts => Sign::Always,
            Self::OvnController | Self::OvnKubernetes => Sign::Ovn,
            Self::SriovOperator | Self::TuningOperator | Self::Libreswan => Sign::Value,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It does so on every host.
    Always,
    /// The database has keys of OVN.
    Ovn,
    /// The key has a value that we did not write.
    Value,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    pub column: Column,
    pub name: &'static str,
    pub value: ValueKind,
    pub effect: Effect,
    pub writer: Option<Writer>,
    /// The first and the last version that know it; none: all from 3.0.
    pub since: Option<Version>,
    pub until: Option<Version>,
    pub default: &'static str,
}

impl Known {
    const fn since(self, major: u32, minor: u32) -> Self {
        Self { since: Some(Version { major, minor }), ..self }
    }

    const fn until(self, major: u32, minor: u32) -> Self {
        Self { until: Some(Version { major, minor }), ..self }
    }

    const fn by(self, writer: Writer) -> Self {
        Self { writer: Some(writer), ..self }
    }

    const fn restart(self) -> Self {
        Self { effect: Effect::Restart, ..self }
    }

    pub fn is_in(&self, version: Version) -> bool {
        self.since.is_none_or(|since| version >= since) && self.until.is_none_or(|until| version <= until)
    }
}

const fn other(name: &'static str, value: ValueKind, default: &'static str) -> Known {
    Known {
        column: Column::OtherConfig,
        name,
        value,
        effect: Effect::Live,
        writer: None,
        since: None,
        until: None,
        default,
    }
}

const fn external(name: &'static str, value: ValueKind, default: &'static str) -> Known {
    Known { column: Column::ExternalIds, ..other(name, value, default) }
}

/// Of OVN, and so written by ovn-kubernetes where that runs.
const fn ovn(name: &'static str, value: ValueKind, default: &'static str) -> Known {
    external(name, value, default).by(Writer::OvnKubernetes)
}

/// Open vSwitch reads most numbers as `int`, and ignores or wraps what is larger.
const fn from(least: u64) -> ValueKind {
    Integer { least, most: i32::MAX as u64 }
}

/// Each is a thread with a stack of its own; a number that the host cannot make ends ovs-vswitchd at each start.
const THREADS: ValueKind = Integer { least: 1, most: 1024 };

const fn up_to(most: u64) -> ValueKind {
    Integer { least: 0, most }
}

const ASSIGN: &[&str] = &["cycles", "roundrobin", "group"];
const INIT: &[&str] = &["false", "true", "try"];
const POLICIES: &[&str] = &["none", "skip_sw", "skip_hw"];

/// In the order of the reference page. OVS itself accepts any value without a word.
pub const KNOWN: &[Known] = &[
    other("bundle-idle-timeout", from(1), "10 s").by(Writer::OvnKubernetes),
    other("explicit-sampled-drops", Boolean, "false").since(3, 4),
    other("flow-limit", from(0), "200000"),
    other("max-idle", from(500), "10000 ms"),
    other("max-revalidator", from(100), "500 ms"),
    other("min-revalidate-pps", from(0), "5"),
    other("n-handler-threads", THREADS, "by the datapath"),
    other("n-revalidator-threads", THREADS, "CPUs / 4 + 1"),
    other("offloaded-stats-delay", from(0), "2000 ms"),
    other("stats-update-interval", from(5000), "5000 ms"),
    other("enable-statistics", Boolean, "false"),
    other("vlan-limit", from(0), "1").by(Writer::OvnController),
    other("flow-restore-wait", Boolean, "false").by(Writer::UpgradeScripts),
    other("hw-offload", Boolean, "false").restart().by(Writer::SriovOperator),
    other("hw-offload-priority", Text, "tc,dpdk").restart().since(3, 7),
    other("n-offload-threads", Integer { least: 1, most: 10 }, "1").restart(),
    other("offload-rebalance", Boolean, "false").restart(),
    other("tc-policy", Word(POLICIES), "none").by(Writer::SriovOperator),
    other("emc-insert-inv-prob", up_to(4_294_967_295), "100"),
    other("smc-enable", Boolean, "false"),
    other("tx-flush-interval", up_to(1_000_000), "0 µs"),
    other("userspace-tso-enable", Boolean, "false").restart(),
    other("pmd-auto-lb", Boolean, "false"),
    other("pmd-auto-lb-improvement-threshold", up_to(100), "25 %"),
    other("pmd-auto-lb-load-threshold", up_to(100), "95 %"),
    other("pmd-auto-lb-rebal-interval", up_to(20_000), "1 min"),
    other("pmd-cpu-mask", CpuMask, "one thread per NUMA node").by(Writer::TuningOperator),
    other("pmd-maxsleep", up_to(10_000), "0 µs").since(3, 1).until(3, 1),
    other("pmd-perf-metrics", Boolean, "false"),
    other("pmd-rxq-assign", Word(ASSIGN), "cycles"),
    other("pmd-rxq-isolate", Boolean, "true"),
    other("pmd-sleep-max", Text, "0 µs").since(3, 2),
    other("dpdk-alloc-mem", from(0), "").restart().by(Writer::TuningOperator),
    other("dpdk-extra", Text, "").restart().by(Writer::TuningOperator),
    other("dpdk-hugepage-dir", Text, "/dev/hugepages").restart(),
    other("dpdk-init", Word(INIT), "false").restart().by(Writer::TuningOperator),
    other("dpdk-lcore-mask", CpuMask, "").restart().by(Writer::TuningOperator),
    other("dpdk-probe-at-init", Boolean, "false").restart().since(4, 0),
    other("dpdk-socket-limit", Text, "").restart(),
    other("dpdk-socket-mem", Text, "").restart().by(Writer::TuningOperator),
    other("per-port-memory", Boolean, "false").restart(),
    other("shared-mempool-config", Text, "").restart(),
    other("vhost-iommu-support", Boolean, "false").restart(),
    other("vhost-postcopy-support", Boolean, "false").restart(),
    other("vhost-sock-dir", Text, "").restart(),
    other("ca_cert", Text, "").by(Writer::Libreswan),
    other("certificate", Text, "").by(Writer::Libreswan),
    other("private_key", Text, "").by(Writer::Libreswan),
    other("ipsec_skb_mark", Text, "0/1").by(Writer::Libreswan),
    external("hostname", Text, "").by(Writer::OvsCtl),
    external("rundir", Text, "").by(Writer::OvsCtl),
    external("system-id", Text, "").by(Writer::OvsCtl),
    ovn("ovn-bridge", Text, "br-int"),
    ovn("ovn-bridge-datapath-type", Text, ""),
    ovn("ovn-bridge-mappings", Text, ""),
    external("ovn-chassis-mac-mappings", Text, ""),
    ovn("ovn-cms-options", Text, ""),
    ovn("ovn-enable-lflow-cache", Boolean, "true"),
    ovn("ovn-encap-csum", Boolean, "true"),
    ovn("ovn-encap-ip", Text, ""),
    external("ovn-encap-tos", Text, "0"),
    ovn("ovn-encap-type", Text, ""),
    ovn("ovn-is-interconn", Boolean, "false"),
    ovn("ovn-limit-lflow-cache", from(0), ""),
    external("ovn-match-northd-version", Boolean, "false"),
    ovn("ovn-memlimit-lflow-cache-kb", from(0), ""),
    ovn("ovn-monitor-all", Boolean, "false"),
    ovn("ovn-ofctrl-wait-before-clear", from(0), "0 ms"),
    ovn("ovn-openflow-probe-interval", from(0), "0 s"),
    ovn("ovn-remote", Text, ""),
    ovn("ovn-remote-probe-interval", from(0), "5000 ms"),
    ovn("ovn-set-local-ip", Boolean, "false"),
    external("ovn-transport-zones", Text, ""),
    external("ovn-trim-limit-lflow-cache", from(0), "10000"),
    external("ovn-trim-timeout-ms", from(0), "30000"),
    external("ovn-trim-wmark-perc-lflow-cache", up_to(100), "50"),
];

pub fn find(column: Column, name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.column == column && known.name == name)
}

/// What ovs-vswitchd needs to run at all.
const LEAST_MEMORY: u64 = 64 << 20;
const LEAST_TASKS: u64 = 64;

impl UnitProperty {
    pub fn value(self) -> ValueKind {
        match self {
            Self::CpuQuota => ValueKind::Percent,
            Self::CpuWeight => ValueKind::Count { least: 1, most: 10_000 },
            Self::MemoryHigh | Self::MemoryMax => ValueKind::Bytes { least: LEAST_MEMORY },
            Self::MemoryLow | Self::MemorySwapMax => ValueKind::Bytes { least: 0 },
            Self::TasksMax => ValueKind::Count { least: LEAST_TASKS, most: 1 << 22 },
        }
    }
}

/// The names that people may have meant.
pub fn similar(key: &Key) -> Option<&'static str> {
    let Key::Database { column, name } = key else { return None };
    let names = KNOWN.iter().filter(|known| known.column == *column).map(|known| known.name);
    let near = names.map(|known| (strsim::osa_distance(known, name), known)).min()?;
    (near.0 <= 2).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_there_once() {
        for known in KNOWN {
            let same = |other: &&Known| (other.column, other.name) == (known.column, known.name);
            assert_eq!(KNOWN.iter().filter(same).count(), 1, "{}", known.name);
        }
    }

    #[test]
    fn a_misspelt_key_is_recognised() {
        let of = |key: &str| similar(&key.parse().unwrap());
        assert_eq!(of("other_config:max-idel"), Some("max-idle"));
        assert_eq!(of("other_config:maxidle"), Some("max-idle"));
        assert_eq!(of("other_config:something-else"), None);
    }
}
