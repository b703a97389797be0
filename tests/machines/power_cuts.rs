//! For `make soak`: the power fails, or the clock jumps, at any moment while a stack of interfaces is made or removed. What
//! was not yet on disk is lost; the units of `deploy/host` recover.

use std::time::{Duration, Instant};

use linesman_lab::documents::{NO_STACK, STACK};
use linesman_lab::{Node, Running};
use linesman_tests::agent_host::install_units;
use linesman_tests::campaign::{Campaign, Chance, Ending, Fault};
use linesman_tests::{Host, observe};
use serde_json::{Value, json};

use crate::full_kernel::{PATIENT, expected, stack};

/// What NetworkManager finds at boot, and whatever else is there.
const FILES: &str = "cd /etc/NetworkManager/system-connections && find . -type f -printf '%f %s\\n' | sort";
const PROFILES: &str =
    "grep -hs '^interface-name=' /etc/NetworkManager/system-connections/*.nmconnection | sort || :";
const WARNINGS: &str = "journalctl --boot --unit NetworkManager --no-pager --output cat | grep -E '<(warn|error)>.*(keyfile|settings)' || :";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strike {
    PowerCut,
    ClockAhead,
    ClockBehind,
}

/// Milliseconds after `linesman apply` was started: emulated, a change takes half a minute.
#[derive(Clone, Copy, Debug)]
struct Cell {
    strike: Strike,
    makes: bool,
    after: Duration,
}

impl Cell {
    fn draw(chance: &mut Chance) -> Self {
        let strike = match chance.below(8) {
            0 => Strike::ClockAhead,
            1 => Strike::ClockBehind,
            _ => Strike::PowerCut,
        };
        let (makes, after) = (chance.below(2) == 0, Duration::from_millis(chance.milliseconds(0..30_000)));
        Self { strike, makes, after }
    }

    fn fault(&self, step: &str) -> Fault {
        let name = match self.strike {
            Strike::PowerCut => "power cut",
            Strike::ClockAhead => "clock an hour ahead",
            Strike::ClockBehind => "clock an hour behind",
        };
        let change = if self.makes { "stack made" } else { "stack removed" };
        Fault { name: name.into(), step: step.into(), change: change.into() }
    }
}

#[test]
#[ignore = "minutes for each: make soak"]
fn power_cuts() {
    let campaign = Campaign::open("machines", "power_cuts", 200, 1);
    let mut bed = None;
    for number in campaign.numbers(0, 1) {
        let cell = Cell::draw(&mut campaign.chance(number));
        let start = Instant::now();
        let mut step = "during the change";
        let attempt =
            std::panic::AssertUnwindSafe(|| bed.get_or_insert_with(Bed::make).run(&cell, &mut step));
        let result = std::panic::catch_unwind(attempt).unwrap_or_else(|panic| {
            Err(panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_string()))
        });
        let result = result.map_err(|why| {
            let evidence = bed.take().map(|bed| bed.evidence()).unwrap_or_default();
            format!("{cell:?}: {why}\n{evidence}")
        });
        println!("{cell:?}: {:.0} s", start.elapsed().as_secs_f64());
        campaign.record(number, &cell.fault(step), &result);
    }
    campaign.assert_clean();
}

/// A virtual machine, and what its profiles are without and with the stack.
struct Bed {
    host: Host,
    profiles: [String; 2],
}

impl Bed {
    fn make() -> Self {
        let host = Host::built("power-cuts", |node| node.vm(true));
        install_units(&host.node);
        let enable = ["systemctl", "enable", "linesman-recover-boot", "linesman-recover"];
        host.node.run(enable).expect("units are enabled");
        let bed = Self { host, profiles: [String::new(), String::new()] };
        // Twice: NICs without a profile of their own are as good as absent, and get one once they were ports.
        let profiles = [STACK, NO_STACK, STACK].map(|document| {
            bed.must_apply(document).expect("nothing strikes yet");
            bed.host.node.sh(PROFILES).expect("profiles can be read")
        });
        let [_, without, with] = profiles;
        Self { profiles: [without, with], ..bed }
    }

    fn must_apply(&self, document: &str) -> Result<(), String> {
        let output = self.host.try_apply(document, PATIENT);
        let report = || format!("apply failed ({})\n{}{}", output.status, output.stdout, output.stderr);
        if output.success() { Ok(()) } else { Err(report()) }
    }

    fn run(&self, cell: &Cell, step: &mut &'static str) -> Result<Ending, String> {
        let (document, former) = if cell.makes { (STACK, NO_STACK) } else { (NO_STACK, STACK) };
        self.must_apply(former).map_err(|why| format!("before the fault: {why}"))?;
        self.settled(!cell.makes).map_err(|why| format!("before the fault: {why}"))?;
        self.host.node.run(["sync"]).map_err(|e| e.to_string())?;
        let earlier = self.last_record();
        let watch = self.host.lab.hub().watch(self.host.node.mgmt_ipv4()).map_err(|e| e.to_string())?;
        let running = self.host.start_apply(document, PATIENT, "");
        std::thread::sleep(cell.after);
        if running.status().is_some() {
            *step = "after the change";
        }
        let transcript = self.strike(cell.strike, running)?;
        let with_report = |why: String| format!("{why}\n{transcript}");
        let verdict = self.verdict(&earlier).map_err(with_report)?;
        let has_stack = (verdict == "committed") == cell.makes;
        self.settled(has_stack).map_err(|why| with_report(format!("{verdict}, but {why}")))?;
        let silence = watch.stop().longest_outage();
        self.goes_on(document, cell.makes).map_err(|why| with_report(format!("{verdict}, then {why}")))?;
        self.set_clock(0)?;
        Ok(Ending { verdict, silence })
    }

    /// Returns what linesman reported.
    fn strike(&self, strike: Strike, running: Running) -> Result<String, String> {
        let node = &self.host.node;
        match strike {
            Strike::PowerCut => {
                node.power_cut().map_err(|e| e.to_string())?;
                let report = format!("{}{}", running.stdout(), running.stderr());
                node.boot().map_err(|e| e.to_string())?;
                return Ok(report);
            }
            Strike::ClockAhead => self.set_clock(3600)?,
            Strike::ClockBehind => self.set_clock(-3600)?,
        }
        let output = running.wait().map_err(|e| e.to_string())?;
        Ok(format!("{}{}", output.stdout, output.stderr))
    }

    /// Of the guest alone; so many seconds away from the right time.
    fn set_clock(&self, off: i64) -> Result<(), String> {
        let now = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        let seconds = now.map_err(|e| e.to_string())?.as_secs().cast_signed() + off;
        let set = ["date", "--set", &format!("@{seconds}")];
        self.host.node.run(set).map(drop).map_err(|e| e.to_string())
    }

    fn last_record(&self) -> String {
        self.host.history().last().map(|record| record["id"].to_string()).unwrap_or_default()
    }

    /// From the journal, once the units have recovered. A change that is not in it had not begun.
    fn verdict(&self, earlier: &str) -> Result<String, String> {
        let open = || self.host.history().iter().any(|record| record["outcome"].is_null());
        let deadline = Instant::now() + LIMIT;
        while open() {
            if Instant::now() > deadline {
                return Err("unfinished in the journal".into());
            }
            std::thread::sleep(PAUSE);
        }
        if self.last_record() == earlier {
            return Ok("abandoned".into());
        }
        match self.host.last_verdict() {
            verdict if ["committed", "rolled-back", "abandoned"].contains(&verdict.as_str()) => Ok(verdict),
            other => Err(format!("the journal says {other}")),
        }
    }

    fn settled(&self, has_stack: bool) -> Result<(), String> {
        let deadline = Instant::now() + LIMIT;
        while let Some(trouble) = self.trouble(has_stack) {
            if Instant::now() > deadline {
                return Err(trouble);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn trouble(&self, has_stack: bool) -> Option<String> {
        let (host, node) = (&self.host, &self.host.node);
        if !host.reachable() || !host.lab.hub().ping(node.mgmt_ipv6()) {
            return Some("the node is not reachable from the hub".into());
        }
        if host.open_checkpoints() != 0 {
            return Some("a checkpoint was left open".into());
        }
        let (seen, wanted) = (stack(node), if has_stack { expected(node) } else { without_stack(node) });
        if seen != wanted {
            return Some(format!("the state is {seen} instead of {wanted}"));
        }
        let leftover = |line: &&str| !line.contains(".nmconnection ") || line.ends_with(" 0");
        let files = node.sh(FILES).unwrap_or_else(|e| e.to_string());
        if let Some(file) = files.lines().find(leftover) {
            return Some(format!("a file is left among the profiles: {file}"));
        }
        let (profiles, known) =
            (node.sh(PROFILES).unwrap_or_default(), &self.profiles[usize::from(has_stack)]);
        if !known.is_empty() && profiles != *known {
            return Some(format!("the profiles are:\n{profiles}instead of:\n{known}"));
        }
        let warnings = node.sh(WARNINGS).unwrap_or_else(|e| e.to_string());
        (!warnings.is_empty()).then(|| format!("NetworkManager warns:\n{warnings}"))
    }

    /// The next apply works, so does the next change, which is the last in the journal; and nothing is left to do.
    fn goes_on(&self, document: &str, makes: bool) -> Result<(), String> {
        self.must_apply(document)?;
        self.settled(makes)?;
        let (former, earlier) = (if makes { NO_STACK } else { STACK }, self.last_record());
        self.must_apply(former)?;
        self.settled(!makes)?;
        if self.last_record() == earlier || self.host.last_verdict() != "committed" {
            return Err("the last change in the journal is not the last one".into());
        }
        let plan = self.host.linesman(&["plan", &self.host.document(former)]);
        if plan.code() == Some(0) { Ok(()) } else { Err(format!("it does not hold:\n{}", plan.stdout)) }
    }

    fn evidence(&self) -> String {
        const LOOK: &str = "
            echo '-- history'; linesman history | tail -n 12 || :
            echo '-- addresses'; ip -br address || :
            echo '-- profiles'; ls -la /etc/NetworkManager/system-connections || :
            echo '-- devices'; nmcli device || :
            echo '-- journal'; journalctl --boot --no-pager --unit NetworkManager --unit 'linesman*' | tail -n 120 || :";
        match self.host.node.exec(["sh", "-c", LOOK]) {
            Ok(output) => format!("{}{}", output.stdout, output.stderr),
            Err(e) => format!("no evidence: {e}"),
        }
    }
}

const LIMIT: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(500);

fn without_stack(node: &Node) -> Value {
    json!({
        "mode": null,
        "miimon": null,
        "ports": [null, null],
        "tag": null,
        "bridge": null,
        "address": [],
        "path": observe::addresses(node, "eth0"),
    })
}
