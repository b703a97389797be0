//! Desired settings, what the host holds and what we wrote there give changes, and what is said of each setting. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::catalogue::{self, Effect, Sign, Writer};
use super::compose::{Desired, Setting};
use super::document::Place;
use super::key::{ANY, Column, Daemon, Destination, Key, Target, UnitProperty};
use super::ledger::{Ledger, Written};
use super::observed::{Holds, Observed};
use super::refusal::{Cause, Refusal};
use super::value::{INFINITY, size};

/// How often a value that others change is written again…
pub const REWRITES: u32 = 3;
/// …until it has held for a day, in seconds.
pub const FORGIVEN: u64 = 24 * 3600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub target: Target,
    /// What it holds, which must still be so when it is written.
    pub from: Option<String>,
    /// None: the key is removed.
    pub to: Option<String>,
}

/// What is said of a setting that is not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// In effect.
    Applied,
    /// Written by the changes of this decision.
    Applying,
    /// Is in the database; ovs-vswitchd has to be restarted for it.
    NeedsRestart,
    /// The daemon or the database does not answer.
    Waiting,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub key: String,
    pub value: String,
    pub place: Place,
    pub stage: Stage,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    pub changes: Vec<Change>,
    /// To be stored before the changes are made; `after` is what is stored then.
    pub ledger: Ledger,
    pub settings: Vec<Standing>,
    pub refusals: Vec<Refusal>,
    /// What else is worth saying, of keys that are left to others.
    pub notes: Vec<String>,
    /// Settings for which ovs-vswitchd has to be restarted, and whether that is allowed.
    pub restart_for: Vec<String>,
    pub may_restart: bool,
}

/// `now`: seconds since 1970.
pub fn decide(desired: &Desired, observed: &Observed, ledger: &Ledger, now: u64) -> Decision {
    let mut decision = Decision {
        refusals: desired.refusals.clone(),
        may_restart: desired.may_restart,
        ..Decision::default()
    };
    let mut kept = refused_targets(desired, observed, ledger);
    let mut wishes = Wishes::default();
    for setting in &desired.settings {
        match refuse(setting, observed, ledger) {
            Some(refusal) => {
                if refusal.cause != Cause::OwnedByAnother {
                    kept.extend(targets_of(&setting.key, observed, ledger));
                }
                decision.refusals.push(refusal);
            }
            None => wishes.add(setting, observed),
        }
    }
    for (setting, targets) in wishes.into_settings(&desired.settings) {
        apply(&mut decision, setting, &targets, observed, ledger, now);
    }
    for (target, written) in &ledger.written {
        if decision.ledger.written.contains_key(target) {
            continue;
        }
        match kept.contains(target) {
            true => decision.keep(target, written),
            false => remove(&mut decision, target, written, observed),
        }
    }
    await_restart(&mut decision, observed, ledger);
    decision.refusals.sort();
    decision
}

impl Decision {
    /// The ledger once these targets hold what their changes say.
    pub fn after(&self, done: &BTreeSet<Target>) -> Ledger {
        let mut ledger = self.ledger.clone();
        for change in self.changes.iter().filter(|change| done.contains(&change.target)) {
            match ledger.written.get_mut(&change.target) {
                Some(written) if change.to.as_ref() == Some(&written.value) => written.pending = false,
                _ => {
                    ledger.written.remove(&change.target);
                }
            }
        }
        ledger
    }

    fn keep(&mut self, target: &Target, written: &Written) {
        self.ledger.written.insert(target.clone(), written.clone());
    }
}

/// What each setting sets on this host, where others are not more specific.
#[derive(Default)]
struct Wishes<'a> {
    targets: BTreeMap<Target, (Rank, &'a Setting)>,
}

/// A log level of a module outranks that of all modules, one of a destination that of all, one of a daemon that of both.
type Rank = (bool, bool, bool);

impl<'a> Wishes<'a> {
    fn add(&mut self, setting: &'a Setting, observed: &Observed) {
        let rank = match &setting.key {
            Key::Database { .. } => (false, false, false),
            Key::LogLevel { daemon, module, destination } => {
                (module != ANY, destination.is_some(), daemon.is_some())
            }
            Key::Unit { daemon, .. } => (false, false, daemon.is_some()),
        };
        for target in targets_of(&setting.key, observed, &Ledger::default()) {
            let wish = self.targets.entry(target).or_insert((rank, setting));
            if rank > wish.0 {
                *wish = (rank, setting);
            }
        }
    }

    fn into_settings(self, all: &'a [Setting]) -> impl Iterator<Item = (&'a Setting, Vec<Target>)> {
        let wishes = self.targets;
        // What was refused has none; one that others outrank everywhere has none either, and nothing is to be said of it.
        all.iter().filter_map(move |setting| {
            let mine = wishes.iter().filter(|(_, (_, by))| std::ptr::eq(*by, setting));
            let targets: Vec<Target> = mine.map(|(target, _)| target.clone()).collect();
            (!targets.is_empty()).then_some((setting, targets))
        })
    }
}

/// Where a key sets something: log levels wherever a daemon has the module, or did.
fn targets_of(key: &Key, observed: &Observed, ledger: &Ledger) -> Vec<Target> {
    let daemons = |named: &Option<Daemon>| match named {
        Some(daemon) => vec![*daemon],
        None => Daemon::ALL.to_vec(),
    };
    match key {
        Key::Database { column, name } => vec![Target::Database { column: *column, name: name.clone() }],
        Key::Unit { daemon, property } => {
            let target = |daemon| Target::Unit { daemon, property: *property };
            daemons(daemon).into_iter().map(target).collect()
        }
        Key::LogLevel { daemon, module, destination } => {
            let destinations = destination.map_or(Destination::ALL.to_vec(), |one| vec![one]);
            let mut targets = BTreeSet::new();
            for daemon in daemons(daemon) {
                for name in modules(daemon, observed, ledger).filter(|name| module == ANY || name == module) {
                    for destination in &destinations {
                        let (module, destination) = (name.clone(), *destination);
                        targets.insert(Target::LogLevel { daemon, module, destination });
                    }
                }
            }
            // Shown as waiting.
            if targets.is_empty() && !answers(daemon, observed) {
                let waiting = daemons(daemon).into_iter().flat_map(|daemon| {
                    let module = module.clone();
                    destinations.iter().map(move |destination| Target::LogLevel {
                        daemon,
                        module: module.clone(),
                        destination: *destination,
                    })
                });
                targets.extend(waiting);
            }
            targets.into_iter().collect()
        }
    }
}

fn modules(daemon: Daemon, observed: &Observed, ledger: &Ledger) -> impl Iterator<Item = String> {
    let levels = observed.daemons.get(&daemon).and_then(|daemon| daemon.levels.as_ref());
    let mut names: BTreeSet<String> = levels.into_iter().flat_map(|levels| levels.keys().cloned()).collect();
    names.extend(ledger.written.keys().filter_map(|target| match target {
        Target::LogLevel { daemon: of, module, .. } if *of == daemon => Some(module.clone()),
        _ => None,
    }));
    names.into_iter()
}

fn has_module(daemon: Daemon, module: &str, observed: &Observed) -> bool {
    let levels = observed.daemons.get(&daemon).and_then(|daemon| daemon.levels.as_ref());
    levels.is_some_and(|levels| levels.contains_key(module))
}

fn answers(daemon: &Option<Daemon>, observed: &Observed) -> bool {
    let tells = |daemon: &Daemon| observed.daemons.get(daemon).is_some_and(|it| it.levels.is_some());
    daemon.as_ref().map_or_else(|| Daemon::ALL.iter().all(tells), tells)
}

/// What an edit that is refused had set before stays as it is.
fn refused_targets(desired: &Desired, observed: &Observed, ledger: &Ledger) -> BTreeSet<Target> {
    let keys = desired.refusals.iter().filter_map(|refusal| refusal.key.parse::<Key>().ok());
    // A key that is misspelt now may have been spelt well before.
    let meant = |key: &Key| {
        let Key::Database { column, .. } = key else { return None };
        Some(Key::Database { column: *column, name: catalogue::similar(key)?.to_owned() })
    };
    let mut kept: BTreeSet<Target> = keys
        .flat_map(|key| meant(&key).into_iter().chain([key]))
        .flat_map(|key| targets_of(&key, observed, ledger))
        .collect();
    // A document that cannot be read may have asked for any of them.
    if desired.refusals.iter().any(|refusal| refusal.cause == Cause::Unreadable) {
        kept.extend(ledger.written.keys().cloned());
    }
    kept
}

/// What only the host can tell.
fn refuse(setting: &Setting, observed: &Observed, ledger: &Ledger) -> Option<Refusal> {
    let refusal = |cause, message: String, remedy: &str| {
        Some(Refusal::new(&setting.key, Some(setting.place.clone()), cause, message, remedy))
    };
    match &setting.key {
        Key::Database { column, name } => {
            let writer = setting.known?.writer?;
            let target = Target::Database { column: *column, name: name.clone() };
            let taken_over = setting.take_over;
            if taken_over && writer.can_be_replaced()
                || !writes(writer, &target, &setting.value, observed, ledger)
            {
                return None;
            }
            let message = match writer.sign() {
                Sign::Value => format!("it has another value on this host, written by {}", writer.as_str()),
                _ => format!("{} writes this key on this host", writer.as_str()),
            };
            let remedy = match writer.can_be_replaced() {
                true => format!("configure it there, or add {} to take-over in this document", setting.key),
                false => "remove the setting: with it, ovs-vswitchd forwards nothing".to_owned(),
            };
            refusal(Cause::OwnedByAnother, message, &remedy)
        }
        Key::LogLevel { daemon, module, .. } if module != ANY => {
            let has = |daemon: &Daemon| has_module(*daemon, module, observed);
            if daemon.as_ref().map_or_else(|| Daemon::ALL.iter().any(has), has) || !answers(daemon, observed)
            {
                return None;
            }
            let who = daemon.map_or("ovsdb-server nor ovs-vswitchd", Daemon::as_str);
            let message = match daemon {
                Some(_) => format!("{who} has no module {module}"),
                None => format!("neither {who} has a module {module}"),
            };
            refusal(Cause::UnknownKey, message, "list the modules with ovs-appctl vlog/list")
        }
        Key::LogLevel { .. } => None,
        Key::Unit { daemon, property } => {
            let (UnitProperty::MemoryMax, Ok(limit)) = (property, setting.value.parse::<u64>()) else {
                return None;
            };
            let of = |one: &Daemon| Some((*one, observed.daemons.get(one)?.memory?));
            let daemons = daemon.map_or(Daemon::ALL.to_vec(), |one| vec![one]);
            let (one, used) = daemons.iter().filter_map(of).find(|(_, used)| *used > limit)?;
            let target = Target::Unit { daemon: one, property: *property };
            if ledger.written.get(&target).is_some_and(|written| written.value == setting.value) {
                return None;
            }
            let message = format!(
                "{} uses {} MiB now, and the kernel would kill it at {}",
                one.as_str(),
                used.div_ceil(1 << 20),
                size(limit)
            );
            refusal(
                Cause::InvalidValue,
                message,
                "set a higher limit, or memory-high, which slows it down instead",
            )
        }
    }
}

/// Whether somebody else writes that key here.
fn writes(writer: Writer, target: &Target, value: &str, observed: &Observed, ledger: &Ledger) -> bool {
    let Some(database) = &observed.database else { return writer.sign() == Sign::Always };
    match writer.sign() {
        Sign::Always => true,
        Sign::Ovn => database.external_ids.keys().filter(|key| key.starts_with("ovn-")).any(|key| {
            let target = Target::Database { column: Column::ExternalIds, name: key.clone() };
            !ledger.written.contains_key(&target)
        }),
        Sign::Value => {
            let Target::Database { column, name } = target else { return false };
            let foreign = !ledger.written.contains_key(target);
            foreign && database.column(*column).get(name).is_some_and(|there| there != value)
        }
    }
}

fn apply(
    decision: &mut Decision,
    setting: &Setting,
    targets: &[Target],
    observed: &Observed,
    ledger: &Ledger,
    now: u64,
) {
    let (mut stage, mut contested) = (Stage::Applied, Vec::new());
    for target in targets {
        let written = ledger.written.get(target);
        let Some(holds) = observed.holds(target) else {
            stage = stage.max(Stage::Waiting);
            written.into_iter().for_each(|written| decision.keep(target, written));
            continue;
        };
        match compare(setting, written, &holds, now) {
            Step::Leave(entry) => entry.iter().for_each(|entry| decision.keep(target, entry)),
            Step::Write(entry) => {
                stage = stage.max(Stage::Applying);
                decision.keep(target, &entry);
                let (from, to) = (holds.value, Some(setting.value.clone()));
                decision.changes.push(Change { target: target.clone(), from, to });
            }
            Step::GiveUp(entry) => {
                contested.push(holds.value);
                decision.keep(target, &entry);
            }
        }
    }
    if let Some(found) = contested.first() {
        let found = found.as_deref().map_or("is removed".to_owned(), |value| format!("is set to {value}"));
        let message =
            format!("somebody else keeps changing it: it {found}, and was written {} times", REWRITES + 1);
        let remedy = "find out who writes it, then remove this setting or edit its value";
        let place = Some(setting.place.clone());
        return decision.refusals.push(Refusal::new(&setting.key, place, Cause::Contested, message, remedy));
    }
    decision.settings.push(Standing {
        key: setting.key.to_string(),
        value: setting.value.clone(),
        place: setting.place.clone(),
        stage,
    });
}

/// What is done about one target.
enum Step {
    /// None: it holds the value, and somebody else wrote it.
    Leave(Option<Written>),
    Write(Written),
    GiveUp(Written),
}

fn compare(setting: &Setting, written: Option<&Written>, holds: &Holds, now: u64) -> Step {
    let value = &setting.value;
    let fresh = |before: Option<String>, rewrites| Written {
        value: value.clone(),
        before,
        run: holds.run.clone(),
        pending: true,
        rewrites,
        at: now,
    };
    let is_there = holds.value.as_ref() == Some(value);
    let Some(written) = written else {
        return if is_there { Step::Leave(None) } else { Step::Write(fresh(holds.value.clone(), 0)) };
    };
    // A process that ended, or a boot, took with it what was written; what it has now is its own default.
    let same_run = written.run == holds.run;
    let before = if same_run { written.before.clone() } else { holds.value.clone() };
    if is_there {
        let forgiven = now.saturating_sub(written.at) >= FORGIVEN;
        let rewrites = if forgiven { 0 } else { written.rewrites };
        let entry = Written {
            value: value.clone(),
            run: holds.run.clone(),
            pending: false,
            rewrites,
            before: if same_run { before } else { written.before.clone() },
            ..written.clone()
        };
        return Step::Leave(Some(entry));
    }
    let changed_by_another = same_run && !written.pending && written.value == *value;
    match changed_by_another {
        true if written.rewrites >= REWRITES && now.saturating_sub(written.at) < FORGIVEN => {
            Step::GiveUp(written.clone())
        }
        true => {
            let rewrites = if written.rewrites >= REWRITES { 1 } else { written.rewrites + 1 };
            Step::Write(fresh(before, rewrites))
        }
        // The same write once more, because somebody else was quicker, or because it failed.
        false if same_run && written.value == *value => Step::Write(fresh(before, written.rewrites)),
        false => Step::Write(fresh(before, 0)),
    }
}

/// We wrote it, and nobody asks for it any more.
fn remove(decision: &mut Decision, target: &Target, written: &Written, observed: &Observed) {
    let Some(holds) = observed.holds(target) else {
        // It cannot be removed now, so it is not forgotten.
        if !observed.lacks(target) {
            decision.keep(target, written);
        }
        return;
    };
    let Some(value) = holds.value.filter(|_| holds.run == written.run) else { return };
    if is_left_to_its_owner(decision, target) {
        return decision.notes.push(format!("{target} is left to its other writer"));
    }
    let is_of_others = match target {
        // What was about to be written may never have been: then it holds what others wrote.
        Target::Database { .. } => value != written.value,
        _ => value != written.value && !written.pending,
    };
    if is_of_others && written.pending && written.before.as_ref() == Some(&value) {
        return;
    }
    if is_of_others {
        return decision.notes.push(format!("{target} is left at {value}, which somebody else set"));
    }
    let to = match target {
        Target::Database { .. } => None,
        _ => Some(written.before.clone().unwrap_or_else(|| INFINITY.to_owned())),
    };
    if to.as_ref() != Some(&value) {
        decision.keep(target, &Written { pending: true, ..written.clone() });
        decision.changes.push(Change { target: target.clone(), from: Some(value), to });
    }
}

fn is_left_to_its_owner(decision: &Decision, target: &Target) -> bool {
    let key = target.to_string();
    decision.refusals.iter().any(|refusal| refusal.cause == Cause::OwnedByAnother && refusal.key == key)
}

/// Changes that the process that is ovs-vswitchd now has not seen at its start.
fn await_restart(decision: &mut Decision, observed: &Observed, ledger: &Ledger) {
    let Some(vswitchd) = observed.vswitchd() else {
        decision.ledger.awaiting_restart = ledger.awaiting_restart.clone();
        return;
    };
    let earlier = ledger.awaiting_restart.iter().filter(|(_, process)| *process == vswitchd);
    let mut awaiting: BTreeMap<Target, String> =
        earlier.map(|(target, process)| (target.clone(), process.clone())).collect();
    let changed = decision.changes.iter().filter(|change| needs_restart(&change.target));
    awaiting.extend(changed.map(|change| (change.target.clone(), vswitchd.to_owned())));
    decision.restart_for = awaiting.keys().map(ToString::to_string).collect();
    decision.ledger.awaiting_restart = awaiting;
    for setting in &mut decision.settings {
        if decision.restart_for.contains(&setting.key) {
            setting.stage = setting.stage.max(Stage::NeedsRestart);
        }
    }
}

fn needs_restart(target: &Target) -> bool {
    let Target::Database { column, name } = target else { return false };
    catalogue::find(*column, name).is_some_and(|known| known.effect == Effect::Restart)
}
