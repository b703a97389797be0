//! Rollback: whatever died in between, the former state is restored from the snapshot and verified.

mod bystanders;
mod devices;
pub(crate) mod foreign;
pub(crate) mod mac_addresses;
pub(crate) mod metrics;
mod mtus;
mod profiles;
mod rules;
mod target;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use linesman_core::compare::{Difference, differences};
use linesman_core::foreign_port::of_touched_bridges;
use linesman_core::interface_name::InterfaceName;
use linesman_core::plan::{Plan, Subject, partner_within};
use serde_json::Value;
use tokio::time::Instant;

use bystanders::Bystanders;

use crate::keyfile::ProfileFile;
use crate::nm::Nm;
use crate::others::{self, Since};
use crate::ovs::{Others, Written};
use crate::snapshot::{Hostname, Kernel, Snapshot};
use crate::transaction::unmanaged;
use crate::verify::unmoved::Effort;
use crate::verify::{self, Scope, Verification};
use crate::watch::Watch;
use crate::{Error, Result, failpoint, keyfile, observe, ovs, primary_port, side_files};

/// How long a NetworkManager that died is waited for.
const RETURN: Duration = Duration::from_secs(30);
/// How long what was restored may take to be there, before it is helped along once more.
const ATTEMPTS: [Duration; 3] = [Duration::from_secs(6), Duration::from_secs(10), Duration::from_secs(20)];
/// How long it may take until what was set right is so.
const RIGHT: Duration = Duration::from_secs(5);

/// What a rollback achieved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// What is not as before; empty: all of it is.
    pub remaining: Vec<String>,
    /// NetworkManager or Open vSwitch did not come back, or the disk is full: the rest waits until that is over.
    pub unfinished: bool,
    pub notes: Vec<String>,
}

/// Puts the former files in place before NetworkManager starts, so that it boots into the former state.
pub fn offline(snapshot: &Snapshot, plan: &Plan) -> std::io::Result<()> {
    restore_files(snapshot)?;
    keyfile::remove_unfinished(Path::new(keyfile::ON_DISK))?;
    profiles::repair(&snapshot.profiles, &keyfile::read_all()?, plan).write_files()?;
    if concerns_hostname(plan) { snapshot.hostname.restore_file() } else { Ok(()) }
}

/// What others name the host meanwhile is theirs.
fn concerns_hostname(plan: &Plan) -> bool {
    plan.changes.iter().any(|change| change.subject == Subject::Hostname)
}

/// `known` is a connection to NetworkManager that was opened before the change, if there is one. `seen` is what the kernel
/// had once the change was applied, and `applied` the profiles then, if somebody looked.
pub async fn restore(
    known: Option<&Nm>,
    snapshot: &Snapshot,
    plan: &Plan,
    desired: &Value,
    checkpoint: Option<&str>,
    seen: Option<&Kernel>,
    applied: Option<&[ProfileFile]>,
) -> Restored {
    let since = since(known, snapshot, plan, desired, checkpoint, seen).await;
    let bystanders = bystanders(known, plan, checkpoint, applied).await;
    let snapshot = &since.former(snapshot);
    let mut left = Left::default();
    let mut notes = Vec::new();
    // NetworkManager runs the dispatcher's scripts when it brings a device back: the former ones.
    let files = restore_files(snapshot).err().map(|e| format!("files that nmstate wrote: {e}"));
    let others = others(snapshot, plan, desired).await;
    let rollback = Rollback { snapshot, plan, desired, checkpoint, others, came: &since.came };
    for (number, settle_for) in ATTEMPTS.into_iter().enumerate() {
        let nm = match networkmanager_within(known, RETURN).await {
            Ok(nm) => nm,
            Err(error) => {
                let why =
                    offline(snapshot, plan).err().map(|e| format!("profiles could not be written back: {e}"));
                let remaining = why.into_iter().chain([unreachable(&error)]).collect();
                return Restored { remaining, unfinished: true, notes };
            }
        };
        rollback.end_checkpoint(&nm).await;
        if number == 0 {
            failpoint::reach("checkpoint-rolled-back").await;
        }
        // What NetworkManager does not set on an interface that exists is right on one that is made anew.
        if number + 1 == ATTEMPTS.len() {
            Box::pin(rollback.make_anew(&nm, &left.differing)).await;
        }
        left = rollback.attempt(&nm, &left.interfaces, settle_for).await;
        notes.append(&mut left.notes);
        if left.remaining.is_empty() {
            break;
        }
    }
    let mut remaining = left.remaining;
    remaining.extend(files);
    let ovs = rollback.restore_ovs().await;
    let unfinished = ovs.is_err() || left.unwritten;
    remaining.extend(ovs.unwrap_or_else(|no_ovs| vec![no_ovs]));
    remaining.extend(unmanaged::restore_ports(plan, snapshot).await);
    remaining.extend(foreign::restore(snapshot).await);
    let lost = foreign::restore_what_came(&since.came).await;
    notes.extend(
        lost.iter().map(|what| format!("set by others during the change, was not preserved: {what}")),
    );
    // A power cut must not bring back what the journal records as rolled back.
    let synced = keyfile::read_all().and_then(|profiles| keyfile::sync(&profiles));
    remaining.extend(synced.err().map(|e| format!("profiles could not be synced to disk: {e}")));
    if let Ok(nm) = networkmanager_within(known, Duration::ZERO).await {
        notes.extend(bystanders.restore(&nm).await);
    }
    Restored { remaining, unfinished, notes }
}

/// Once NetworkManager has rolled back by itself, what others had done is gone, and nothing tells what it was.
async fn bystanders(
    known: Option<&Nm>,
    plan: &Plan,
    checkpoint: Option<&str>,
    applied: Option<&[ProfileFile]>,
) -> Bystanders {
    let Ok(nm) = networkmanager_within(known, Duration::ZERO).await else { return Bystanders::default() };
    match ours(checkpoint, &nm.checkpoints().await.unwrap_or_default()) {
        Some(_) => Bystanders::observe(&nm, applied, &plan.touched).await,
        None => Bystanders::default(),
    }
}

/// Read before anything is rolled back: what others did in the kernel meanwhile. As long as the checkpoint is open,
/// NetworkManager has taken nothing away since the change was applied.
async fn since(
    known: Option<&Nm>,
    snapshot: &Snapshot,
    plan: &Plan,
    desired: &Value,
    checkpoint: Option<&str>,
    seen: Option<&Kernel>,
) -> Since {
    let names = plan.touched.iter().map(ToString::to_string).collect();
    let (Ok(nm), Ok(now)) = (networkmanager_within(known, Duration::ZERO).await, Kernel::read(&names).await)
    else {
        return Since::default();
    };
    let is_open = ours(checkpoint, &nm.checkpoints().await.unwrap_or_default()).is_some();
    let withdrawn = match seen.filter(|_| is_open) {
        Some(seen) => Since::withdrawn(&others::Others::before(snapshot), seen, &now),
        None => Since::default(),
    };
    match (nm.view().await, observe::profiles()) {
        (Ok(view), Ok(profiles)) => withdrawn.and_came(snapshot, plan, desired, &now, &view, &profiles),
        _ => withdrawn,
    }
}

/// Read before anything is rolled back: what others wrote into rows that NetworkManager is about to make anew.
async fn others<'a>(snapshot: &'a Snapshot, plan: &'a Plan, desired: &Value) -> Option<Others<'a>> {
    let before = snapshot.ovs.as_ref()?;
    let written = Written::of(desired, plan);
    Some(Others { before, during: ovs::read_keys().await.ok(), touched: &plan.touched, written })
}

fn restore_files(snapshot: &Snapshot) -> std::io::Result<()> {
    snapshot.files.as_ref().map_or(Ok(()), |files| side_files::restore(files))
}

/// One rollback; attempted again if something died in between.
struct Rollback<'a> {
    snapshot: &'a Snapshot,
    plan: &'a Plan,
    desired: &'a Value,
    checkpoint: Option<&'a str>,
    others: Option<Others<'a>>,
    /// What others added in the kernel since the snapshot.
    came: &'a others::Others,
}

/// What is not as before after one attempt.
#[derive(Default)]
struct Left {
    remaining: Vec<String>,
    interfaces: BTreeSet<InterfaceName>,
    differing: Vec<Difference>,
    notes: Vec<String>,
    /// The former profiles could not be written.
    unwritten: bool,
}

impl Rollback<'_> {
    async fn end_checkpoint(&self, nm: &Nm) {
        devices::await_ovs(self.snapshot, self.plan).await;
        if let Some(checkpoint) = ours(self.checkpoint, &nm.checkpoints().await.unwrap_or_default()) {
            // What a device misses is seen afterwards, where it can still be mended.
            nm.rollback(checkpoint).await.ok();
        }
    }

    /// Interfaces that an earlier attempt left wrong are activated again.
    async fn attempt(&self, nm: &Nm, wrong: &BTreeSet<InterfaceName>, settle_for: Duration) -> Left {
        let Self { snapshot, plan, .. } = self;
        let watch = Watch::start(Some(nm)).await;
        let mut left = Left::default();
        let mut again = wrong.clone();
        match restore_profiles(nm, snapshot, plan).await {
            Ok(rewritten) => again.extend(rewritten),
            Err(e) => {
                left.remaining.push(format!(
                    "profiles: {e}; `linesman recover` completes the rollback once they can be written"
                ));
                left.unwritten = true;
            }
        }
        devices::reactivate(nm, snapshot, &again).await;
        devices::remove_created(nm, snapshot, plan).await;
        left.notes.extend(devices::remove_from_ovs(snapshot, plan).await);
        devices::calm(snapshot, plan).await;
        restore_dns(nm, snapshot).await;
        if concerns_hostname(plan) {
            snapshot.hostname.restore(nm).await;
        }
        let goal = self.goal();
        match self.settle(nm, &watch, settle_for, &goal).await {
            Verification::Holds => {}
            Verification::Differs(differing) => {
                left.interfaces = interfaces_of(&differing, plan);
                left.remaining.extend(differing.iter().map(ToString::to_string));
                left.differing = differing;
            }
            Verification::Unobservable(why) => left.remaining.push(why),
        }
        left
    }

    async fn make_anew(&self, nm: &Nm, differing: &[Difference]) {
        verify::unmoved::set_again(nm, &self.goal(), differing, Effort::MakeAnew).await;
    }

    fn goal(&self) -> Value {
        target::without_foreign_ports(&target::target(self.snapshot, self.plan), &self.foreign_ports())
    }

    /// First what NetworkManager brings back by itself; then what it gets wrong, and what it does not know, is set right.
    async fn settle(&self, nm: &Nm, watch: &Watch, settle_for: Duration, goal: &Value) -> Verification {
        let ports = self.foreign_ports();
        let loose = target::loose(goal, self.snapshot, &ports);
        let seen = RefCell::default();
        let compare = |now: &Value| {
            let now = target::without_foreign_ports(now, &ports);
            let differing = differences(&loose, &now);
            *seen.borrow_mut() = now;
            differing
        };
        let mut verification = verify::settle(nm, watch, settle_for, Scope::Whole, compare).await;
        // Activated again, a bond would begin anew to agree with its partner.
        if let Verification::Differs(missing) = &verification
            && let Some(partner) = partner_within(goal, missing)
        {
            verification = verify::settle(nm, watch, partner, Scope::Whole, compare).await;
        }
        if matches!(verification, Verification::Differs(_)) {
            // Others set options of the bridge as well, which the state shows and NetworkManager does not know.
            self.restore_rows_of_others().await;
            let moved = mtus::wrong(goal, &seen.borrow());
            mtus::set_right(&moved).await;
            verification = verify::settle(nm, watch, RIGHT, Scope::Whole, compare).await;
        }
        let seen = seen.into_inner();
        if !matches!(verification, Verification::Holds) {
            return verification;
        }
        primary_port::clear(&primary_port::left_over(goal, &seen));
        mac_addresses::set_right(&mac_addresses::wrong(&self.snapshot.state, &seen)).await;
        rules::remove(&rules::surplus(goal, &seen)).await;
        let own = target::without_foreign_routes(goal, self.snapshot, &ports);
        self.restore_what_others_had(&seen).await;
        let wrong = metrics::wrong(&own, &seen);
        if !wrong.is_empty() {
            metrics::set_right(nm, &wrong, watch, Instant::now() + settle_for).await;
            // A metric is set by applying the device's profile again, which takes routes of others away.
            self.restore_what_others_had(&seen).await;
        }
        if differences(goal, &seen).is_empty() {
            return verification;
        }
        let compare = |now: &Value| differences(goal, &target::without_foreign_ports(now, &ports));
        verify::settle(nm, watch, RIGHT, Scope::Whole, compare).await
    }

    fn foreign_ports(&self) -> BTreeSet<String> {
        let in_ovs = self.others.as_ref().map(Others::ports).unwrap_or_default();
        let in_linux = of_touched_bridges(self.plan, &self.snapshot.state).into_iter().map(|(port, _)| port);
        in_ovs.into_iter().chain(in_linux).collect()
    }

    /// What is missing still is reported when all attempts are over.
    async fn restore_what_others_had(&self, now: &Value) {
        self.restore_rows_of_others().await;
        foreign::restore_alternative_names(&self.snapshot.state, self.desired, now).await;
        foreign::restore(self.snapshot).await;
        foreign::restore_what_came(self.came).await;
    }

    async fn restore_rows_of_others(&self) {
        if let Some(others) = &self.others
            && let Err(e) = others.restore().await
        {
            tracing::warn!(error = %e, "cannot restore what others have in the Open vSwitch database");
        }
    }

    /// What of others' rows is not as it was; an error: the database did not come back.
    async fn restore_ovs(&self) -> Result<Vec<String>, String> {
        let Some(others) = &self.others else { return Ok(Vec::new()) };
        let mut last = String::new();
        for _ in 0..20 {
            match others.restore().await {
                Ok(left) => return Ok(left),
                Err(e) => last = e.to_string(),
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        Err(format!(
            "Open vSwitch did not start again ({last}); `linesman recover` completes the rollback once it is running"
        ))
    }
}

/// Which of the open checkpoints is the change's own. Pure.
///
/// A name is good only within one life of NetworkManager, and an interrupted change may never have
/// learnt it. None was open when the change began: a single one can only be its.
fn ours<'a>(known: Option<&str>, open: &'a [String]) -> Option<&'a str> {
    match (known, open) {
        (Some(known), _) => open.iter().map(String::as_str).find(|c| *c == known),
        (None, [only]) => Some(only),
        _ => None,
    }
}

fn unreachable(error: &Error) -> String {
    match error {
        Error::NoDescriptors(_) => {
            format!("{error}; `linesman recover` completes the rollback after that")
        }
        _ => {
            "NetworkManager did not start again; `linesman recover` completes the rollback once it is running"
                .to_string()
        }
    }
}

/// By the connection that is known, as long as it works: the bus, too, may have been restarted.
pub(crate) async fn networkmanager_within(known: Option<&Nm>, limit: Duration) -> Result<Nm> {
    let end = std::time::Instant::now() + limit;
    loop {
        if let Some(nm) = known
            && nm.version().await.is_ok()
        {
            return Ok(nm.clone());
        }
        match Nm::connect().await {
            Err(error) if std::time::Instant::now() > end => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
            connected => return connected,
        }
    }
}

/// Returns the interfaces whose profile had to be restored: they still run with the wrong one.
async fn restore_profiles(nm: &Nm, snapshot: &Snapshot, plan: &Plan) -> Result<BTreeSet<InterfaceName>> {
    let now = observe::profiles()?;
    let repair = profiles::repair(&snapshot.profiles, &now, plan);
    if repair.is_empty() {
        return Ok(BTreeSet::new());
    }
    // Asked first: NetworkManager takes the device down with the profile; a file alone would linger.
    for uuid in repair.remove.iter().filter_map(|p| p.uuid()) {
        nm.delete_profile(uuid).await.ok();
    }
    repair.write_files().map_err(|e| crate::Error::call("writing profiles back", e))?;
    let paths: Vec<&str> = repair.write.iter().filter_map(|p| p.path.to_str()).collect();
    if !paths.is_empty() {
        nm.load_profiles(&paths).await?;
    }
    if !repair.remove.is_empty() {
        nm.reload_profiles().await?;
    }
    devices::reclaim(nm, snapshot, &repair.usurped()).await;
    Ok(repair.interfaces())
}

async fn restore_dns(nm: &Nm, snapshot: &Snapshot) {
    if nm.global_dns().await.is_ok_and(|now| now != snapshot.dns)
        && let Err(e) = nm.set_global_dns(&snapshot.dns).await
    {
        tracing::warn!(error = %e, "cannot restore the global DNS configuration");
    }
}

fn interfaces_of(differing: &[Difference], plan: &Plan) -> BTreeSet<InterfaceName> {
    let text: Vec<String> = differing.iter().map(|d| d.path.to_string()).collect();
    // Routes, DNS and the like have no interface in their path: then all that was touched is.
    if text.iter().any(|t| !t.starts_with("interfaces[")) {
        return plan.touched.clone();
    }
    plan.touched
        .iter()
        .filter(|n| text.iter().any(|t| t.starts_with(&format!("interfaces[{n}]"))))
        .cloned()
        .collect()
}

impl Hostname {
    async fn restore(&self, nm: &Nm) {
        let now = Self::read();
        if now.fixed != self.fixed
            && nm.save_hostname(self.fixed.as_deref().unwrap_or_default()).await.is_err()
        {
            self.restore_file().ok();
        }
        if now.running != self.running {
            nix::unistd::sethostname(&self.running).ok();
        }
    }

    fn restore_file(&self) -> std::io::Result<()> {
        if Self::read().fixed == self.fixed {
            return Ok(());
        }
        match &self.fixed {
            Some(name) => crate::atomic_file::write(
                std::path::Path::new("/etc/hostname"),
                format!("{name}\n").as_bytes(),
                0o644,
            ),
            None => std::fs::remove_file("/etc/hostname"),
        }
    }
}
