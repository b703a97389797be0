//! One round: what the host holds is read, decided about, written, and remembered.

use std::collections::BTreeSet;
use std::path::PathBuf;

use linesman_ovsdb::Client;
use zbus::Connection;

use super::compose::Desired;
use super::decide::{Change, Decision, Stage, Standing, decide};
use super::key::{Daemon, Target};
use super::ledger::Ledger;
use super::observed::{Database, Observed, ObservedDaemon};
use super::refusal::{Cause, Refusal};
use super::restart::{Restart, Turn};
use super::source::Documents;
use super::store::LedgerFile;
use super::{database, log_levels, unit_properties};
use crate::units::observed::ObservedUnit;

/// How the daemons of this host are reached.
#[derive(Debug, Clone)]
pub struct Host {
    /// Of the database Open_vSwitch.
    pub database: Client,
    /// `/run/openvswitch`
    pub run_dir: PathBuf,
    /// None: systemd cannot be asked, and limits of units wait.
    pub bus: Option<Connection>,
    /// Another one after each boot.
    pub boot_id: String,
}

/// What became of the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    pub settings: Vec<Standing>,
    pub refusals: Vec<Refusal>,
    /// In words, once: what was changed in this round, and what was left to others.
    pub changed: Vec<String>,
    pub notes: Vec<String>,
    /// Settings for which ovs-vswitchd has to be restarted.
    pub needs_restart: Vec<String>,
    pub restart: Restart,
    /// Something could not be read or written: to be tried again.
    pub failures: Vec<String>,
}

#[derive(Debug)]
pub struct Settings {
    file: LedgerFile,
    ledger: Ledger,
    turn: Turn,
}

impl Settings {
    /// What was written earlier is read from the state directory.
    pub fn open(state_dir: &std::path::Path, turn: Turn) -> Result<Self, super::store::Error> {
        let file = LedgerFile::new(state_dir);
        Ok(Self { ledger: file.take()?, file, turn })
    }

    /// To be called whenever documents, units or the database have changed; a round without changes writes nothing.
    pub async fn reconcile(&mut self, documents: &Documents, units: &[ObservedUnit], host: &Host) -> Outcome {
        let mut failures = Vec::new();
        let observed = observe(units, host, &mut failures).await;
        let mut desired = Desired::compose(&documents.sources, observed.ovs_version);
        desired.refusals.extend(documents.refusals.iter().cloned());
        let decision = decide(&desired, &observed, &self.ledger, linesman_daemon::clock::now());
        let (done, refused) = self.act(&decision, &observed, host, &mut failures).await;
        let restart = self.restart(&decision, &observed, host, &mut failures).await;
        report(decision, &done, refused, restart, failures)
    }

    async fn act(
        &mut self,
        decision: &Decision,
        observed: &Observed,
        host: &Host,
        failures: &mut Vec<String>,
    ) -> (BTreeSet<Target>, Vec<Refusal>) {
        let (mut done, mut refused) = (BTreeSet::new(), Vec::new());
        if !decision.changes.is_empty()
            && let Err(error) = self.store(decision.ledger.clone())
        {
            // Without a record it could never be removed.
            failures.push(format!("{error}; no setting is changed"));
            return (done, refused);
        }
        for changes in batches(&decision.changes) {
            match write(&changes, observed, host).await {
                Ok(()) => done.extend(changes.iter().map(|change| change.target.clone())),
                Err(error) => {
                    failures.push(error.to_string());
                    refused.extend(error.refusals(&changes));
                }
            }
        }
        if let Err(error) = self.store(decision.after(&done)) {
            failures.push(error.to_string());
        }
        (done, refused)
    }

    /// A round that changes nothing writes nothing.
    fn store(&mut self, ledger: Ledger) -> Result<(), super::store::Error> {
        if self.ledger != ledger {
            self.file.write(&ledger)?;
            self.ledger = ledger;
        }
        Ok(())
    }

    async fn restart(
        &mut self,
        decision: &Decision,
        observed: &Observed,
        host: &Host,
        failures: &mut Vec<String>,
    ) -> Restart {
        let wanted = !decision.restart_for.is_empty() && observed.vswitchd().is_some();
        let restart = match &host.bus {
            Some(bus) if wanted && decision.may_restart => self.turn.restart(bus, host).await,
            _ => self.turn.end().await.map(|()| Restart::None),
        };
        restart.unwrap_or_else(|error| {
            failures.push(error.to_string());
            Restart::Waiting
        })
    }
}

async fn observe(units: &[ObservedUnit], host: &Host, failures: &mut Vec<String>) -> Observed {
    let mut observed = Observed { boot: host.boot_id.clone(), ..Observed::default() };
    match database::read(&host.database).await {
        Ok((keys, version)) => (observed.database, observed.ovs_version) = (Some(keys), version),
        Err(error) => failures.push(format!("the keys of the database cannot be read: {error}")),
    }
    for daemon in Daemon::ALL {
        let unit = units.iter().find(|unit| unit.unit.name() == daemon.unit());
        let Some(unit) = unit.filter(|unit| unit.is_installed()) else { continue };
        let mut state = ObservedDaemon { memory: unit.memory_current, ..ObservedDaemon::default() };
        if let Some(run) = unit.invocation_id.clone().filter(|_| unit.main_pid.is_some()) {
            state.run = run;
            match log_levels::read(&host.run_dir, daemon).await {
                Ok(levels) => state.levels = Some(levels),
                Err(error) => {
                    failures.push(format!("the log levels of {} cannot be read: {error}", daemon.as_str()))
                }
            }
        }
        if let Some(bus) = &host.bus {
            match unit_properties::read(bus, daemon).await {
                Ok(properties) => state.properties = Some(properties),
                Err(error) => failures.push(format!("{} cannot be read: {error}", daemon.unit())),
            }
        }
        observed.daemons.insert(daemon, state);
    }
    observed
}

/// Changes that are written together: those of the database, and those of each daemon and unit.
fn batches(changes: &[Change]) -> Vec<Vec<&Change>> {
    let mut batches: Vec<Vec<&Change>> = Vec::new();
    for change in changes {
        match batches.iter_mut().find(|batch| destination(&batch[0].target) == destination(&change.target)) {
            Some(batch) => batch.push(change),
            None => batches.push(vec![change]),
        }
    }
    batches
}

fn destination(target: &Target) -> (u8, Option<Daemon>) {
    match target {
        Target::Database { .. } => (0, None),
        Target::LogLevel { daemon, .. } => (1, Some(*daemon)),
        Target::Unit { daemon, .. } => (2, Some(*daemon)),
    }
}

#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error("the keys of the database cannot be written: {0}")]
    Database(#[from] database::Error),
    #[error("log levels cannot be set: {0}")]
    LogLevels(#[from] linesman_ovsdb::unixctl::Error),
    #[error("systemd did not set the properties of the unit: {0}")]
    Unit(#[from] zbus::Error),
    #[error("systemd cannot be asked")]
    NoBus,
}

impl WriteError {
    /// What no later round would write either, unless something else changes.
    fn refusals(&self, changes: &[&Change]) -> Vec<Refusal> {
        let Self::Unit(error @ zbus::Error::MethodError(..)) = self else { return Vec::new() };
        let refusal = |change: &&Change| {
            let message = format!("systemd does not accept it: {error}");
            Refusal::new(
                &change.target,
                None,
                Cause::NotAccepted,
                message,
                "correct the value or remove the setting",
            )
        };
        changes.iter().map(refusal).collect()
    }
}

async fn write(changes: &[&Change], observed: &Observed, host: &Host) -> Result<(), WriteError> {
    let Some(first) = changes.first() else { return Ok(()) };
    match &first.target {
        Target::Database { .. } => {
            let nothing = Database::default();
            let seen = observed.database.as_ref().unwrap_or(&nothing);
            database::write(&host.database, seen, changes).await?;
        }
        Target::LogLevel { daemon, .. } => log_levels::write(&host.run_dir, *daemon, changes).await?,
        Target::Unit { daemon, .. } => {
            let bus = host.bus.as_ref().ok_or(WriteError::NoBus)?;
            unit_properties::write(bus, *daemon, changes).await?;
        }
    }
    Ok(())
}

fn report(
    decision: Decision,
    done: &BTreeSet<Target>,
    refused: Vec<Refusal>,
    restart: Restart,
    failures: Vec<String>,
) -> Outcome {
    let all_done = decision.changes.iter().all(|change| done.contains(&change.target));
    let mut settings = decision.settings;
    for setting in settings.iter_mut().filter(|setting| setting.stage == Stage::Applying && all_done) {
        setting.stage = Stage::Applied;
    }
    settings.retain(|setting| !refused.iter().any(|refusal| refusal.key.ends_with(&setting.key)));
    let in_words = |change: &Change| {
        let from = change.from.as_deref().unwrap_or("absent");
        match &change.to {
            Some(to) => format!("{} = {to} (was {from})", change.target),
            None => format!("{} removed (was {from})", change.target),
        }
    };
    let changed =
        decision.changes.iter().filter(|change| done.contains(&change.target)).map(in_words).collect();
    Outcome {
        settings,
        refusals: decision.refusals.into_iter().chain(refused).collect(),
        changed,
        notes: decision.notes,
        needs_restart: decision.restart_for,
        restart,
        failures,
    }
}
