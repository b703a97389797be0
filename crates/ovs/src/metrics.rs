//! What the keeper counts. The reference page is generated from [`TABLE`], and a test proves that each one moves.

use std::path::Path;
use std::time::Duration;

use linesman_ovsdb::unixctl;

use crate::settings::reconcile::Outcome;
use crate::units::observed::UnitReport;

linesman_daemon::metrics! {
    build: gauge "linesman_ovs_build_info" ["version"] "Always 1";
    restarts: gauge "linesman_ovs_unit_restarts" ["unit"] "Restarts of a unit since the host booted";
    active: gauge "linesman_ovs_unit_active" ["unit"] "1 while the unit is active";
    unit_memory: gauge "linesman_ovs_unit_memory_bytes" ["unit"] "Memory that the unit uses, as systemd counts it";
    settings: gauge "linesman_ovs_settings" ["state"] "Settings for this node, by state: applied, refused or pending";
    changes: counter "linesman_ovs_setting_changes_total" [] "Changes that were made for settings";
    lag: gauge "linesman_ovs_configuration_lag" []
        "Configurations in the database that ovs-vswitchd has not applied yet (next_cfg - cur_cfg)";
    flows: gauge "linesman_ovs_datapath_flows" ["datapath"] "Flows in the datapath";
    lookups: gauge "linesman_ovs_datapath_lookups" ["datapath", "result"]
        "Lookups in the datapath since it was made, by result: hit, missed or lost (an upcall that found no room)";
    flow_limit: gauge "linesman_ovs_flow_limit" ["datapath"] "Flows that ovs-vswitchd allows in the datapath now";
    flow_dump: gauge "linesman_ovs_flow_dump_milliseconds" ["datapath"] "Duration of the last dump of the flows";
    events: gauge "linesman_ovs_coverage" ["event"] "How often ovs-vswitchd has counted an event since its start";
    memory: gauge "linesman_ovs_memory_use" ["object"] "What ovs-vswitchd holds, as `memory/show` counts it";
}

/// For each call.
const LIMIT: Duration = Duration::from_secs(2);
/// Counters of ovs-vswitchd that tell of upcalls and of what was lost.
const EVENTS: [&str; 6] = [
    "upcall_ukey_contention",
    "dumped_new_flow",
    "handler_duplicate_upcall",
    "netlink_overflow",
    "upcall_flow_limit_hit",
    "upcall_ukey_replace",
];

impl Metrics {
    pub fn new(version: &str) -> Self {
        let metrics = Self::register();
        metrics.build.with([version]).set(1);
        metrics
    }

    pub fn units(&self, units: &[UnitReport]) {
        for report in units {
            let name = report.observed.unit.name();
            self.restarts.with([name]).set(report.restarts.into());
            self.active.with([name]).set(report.observed.is_running().into());
            self.unit_memory.with([name]).set(whole(report.observed.memory_current.unwrap_or_default()));
        }
    }

    pub fn settings(&self, outcome: &Outcome) {
        use crate::settings::decide::Stage;
        let applied = outcome.settings.iter().filter(|setting| setting.stage == Stage::Applied).count();
        let numbers = [
            ("applied", applied),
            ("refused", outcome.refusals.len()),
            ("pending", outcome.settings.len() - applied),
        ];
        for (state, number) in numbers {
            self.settings.with([state]).set(whole(number as u64));
        }
        self.changes.inc_by(outcome.changed.len() as u64);
    }

    pub fn configuration(&self, next: i64, current: i64) {
        self.lag.set(next.saturating_sub(current).max(0));
    }

    /// Asks ovs-vswitchd; what it does not answer keeps its last value.
    pub async fn read_vswitchd(&self, run_dir: &Path) -> Result<(), unixctl::Error> {
        let daemon = unixctl::Daemon::new(run_dir, "ovs-vswitchd");
        self.datapaths(&daemon.call("dpctl/show", &[], LIMIT).await?);
        self.upcalls(&daemon.call("upcall/show", &[], LIMIT).await?);
        self.memory(&daemon.call("memory/show", &[], LIMIT).await?);
        for event in EVENTS {
            // A version that does not count it refuses the name.
            if let Ok(text) = daemon.call("coverage/read-counter", &[event], LIMIT).await {
                self.counted(event, &text);
            }
        }
        Ok(())
    }

    fn counted(&self, event: &str, text: &str) {
        if let Ok(number) = text.trim().parse() {
            self.events.with([event]).set(number);
        }
    }

    /// `system@ovs-system:`, below it `lookups: hit:12 missed:3 lost:0` and `flows: 4`.
    fn datapaths(&self, text: &str) {
        self.flows.clear();
        self.lookups.clear();
        let mut datapath = "";
        for line in text.lines() {
            match line.split_once(':') {
                Some((name, "")) if !line.starts_with(' ') => datapath = name,
                Some((key, rest)) if key.trim() == "flows" => {
                    set(&self.flows.with([datapath]), rest);
                }
                Some((key, rest)) if key.trim() == "lookups" => {
                    for (result, number) in rest.split_whitespace().filter_map(|word| word.split_once(':')) {
                        set(&self.lookups.with([datapath, result]), number);
                    }
                }
                _ => {}
            }
        }
    }

    /// `system@ovs-system:`, below it `flows : (current 4) (avg 3) (max 9) (limit 200000)` and `dump duration : 1ms`.
    fn upcalls(&self, text: &str) {
        let mut datapath = "";
        for line in text.lines() {
            match line.split_once(':') {
                Some((name, "")) if !line.starts_with(' ') => datapath = name,
                Some((key, rest)) if key.trim() == "flows" => {
                    let limit = rest.split(['(', ')']).find_map(|part| part.strip_prefix("limit "));
                    set(&self.flow_limit.with([datapath]), limit.unwrap_or_default());
                }
                Some((key, rest)) if key.trim() == "dump duration" => {
                    set(&self.flow_dump.with([datapath]), rest.trim().trim_end_matches("ms"));
                }
                _ => {}
            }
        }
    }

    /// `handlers:1 ports:3 revalidators:1 rules:9`, in one or more lines.
    fn memory(&self, text: &str) {
        for (object, number) in text.split_whitespace().filter_map(|word| word.split_once(':')) {
            set(&self.memory.with([object]), number);
        }
    }

    pub fn text(&self) -> String {
        self.encode()
    }
}

fn set(gauge: &linesman_daemon::metrics::Gauge, text: &str) {
    if let Ok(number) = text.trim().parse() {
        gauge.set(number);
    }
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::observed::{ActiveState, LoadState, ObservedUnit, Unit, UnitFileState};

    const DATAPATHS: &str =
        "netdev@ovs-netdev:\n  lookups: hit:12 missed:3 lost:1\n  flows: 4\n  port 0: ovs-netdev (tap)\n";
    const UPCALLS: &str = "netdev@ovs-netdev:\n  flows         : (current 4) (avg 3) (max 9) (limit 200000)\n  dump duration : 5ms\n  ufid enabled : true\n";

    fn unit() -> UnitReport {
        let observed = ObservedUnit {
            unit: Unit::OvsVswitchd,
            load_state: LoadState::Loaded,
            active_state: ActiveState::Active,
            sub_state: "running".into(),
            unit_file_state: UnitFileState::Enabled,
            main_pid: Some(7),
            invocation_id: None,
            started_at: None,
            systemd_restarts: 0,
            result: String::new(),
            exit: None,
            memory_current: Some(5),
        };
        UnitReport { observed, restarts: 2, last_restart: None }
    }

    #[test]
    fn every_metric_of_the_table_is_there_and_moves() {
        let metrics = Metrics::new("1.2.3");
        let before = metrics.text();
        metrics.units(&[unit()]);
        metrics.settings(&Outcome { changed: vec!["a".into()], ..Outcome::default() });
        metrics.configuration(7, 4);
        metrics.datapaths(DATAPATHS);
        metrics.upcalls(UPCALLS);
        metrics.memory("handlers:1 ports:3 revalidators:1 rules:9\n");
        metrics.counted("netlink_overflow", "8\n");
        let after = metrics.text();
        for line in [
            "linesman_ovs_datapath_lookups{datapath=\"netdev@ovs-netdev\",result=\"lost\"} 1",
            "linesman_ovs_datapath_flows{datapath=\"netdev@ovs-netdev\"} 4",
            "linesman_ovs_flow_limit{datapath=\"netdev@ovs-netdev\"} 200000",
            "linesman_ovs_flow_dump_milliseconds{datapath=\"netdev@ovs-netdev\"} 5",
            "linesman_ovs_memory_use{object=\"rules\"} 9",
            "linesman_ovs_configuration_lag 3",
            "linesman_ovs_unit_restarts{unit=\"ovs-vswitchd.service\"} 2",
        ] {
            assert!(after.lines().any(|it| it == line), "{line}\n{after}");
        }
        for &(name, ..) in TABLE {
            let lines = |text: &str| -> Vec<String> {
                text.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect()
            };
            assert!(!lines(&after).is_empty(), "{name} is missing:\n{after}");
            if name != "linesman_ovs_build_info" {
                assert_ne!(lines(&before), lines(&after), "{name} does not move");
            }
        }
    }
}
