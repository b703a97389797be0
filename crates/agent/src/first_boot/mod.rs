//! The document that a host was installed with: applied at its first boot, once, and only compared afterwards.
//!
//! load (documents, identity, record) -> decide (pure) -> act (one transaction, or a comparison) -> report (record, flag).

mod act;
mod documents;
mod identity;
mod lock;
mod record_file;
mod wait;

use std::path::{Path, PathBuf};
use std::time::Duration;

use linesman_api::node_state::FirstBootStatus;
use linesman_api::time::Time;
use linesman_core::outcome::Outcome;
use linesman_core::plan::Plan;
use linesman_core::policy::Policy;
use linesman_core::reconcile::Ledger;
use linesman_core::state;
use linesman_daemon::clock;
use linesman_day1::first_boot::{
    Action, Adopted, Cause, DocumentState, Occasion, OnChange, Record, Renamed, Situation, decide,
    under_policies, with_names,
};
use linesman_day1::generate::DIRECTORY;
use linesman_day1::select::{Choice, Match};
use linesman_engine::transaction::{Settings, Step};
use serde_json::Value;
use tokio::sync::watch;

use crate::StateFile;
use crate::socket::{Asking, Question};
use documents::Document;
use record_file::{Nics, RecordFile};
use wait::Found;

#[derive(Debug, Clone)]
pub struct Options {
    /// Where the documents are.
    pub directory: PathBuf,
    pub occasion: Occasion,
    pub on_change: OnChange,
    /// After a failure, other programs may configure the host's bridges as if there were no document.
    pub fall_back: bool,
    /// How long NICs, a host name or another change are waited for.
    pub wait: Duration,
    /// None: what the transaction takes.
    pub patience: Option<Duration>,
    /// Only say what would be done.
    pub dry_run: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            directory: DIRECTORY.into(),
            occasion: Occasion::Boot,
            on_change: OnChange::Report,
            fall_back: false,
            wait: Duration::from_secs(30),
            patience: None,
            dry_run: false,
        }
    }
}

/// What goes on, for whoever watches.
#[derive(Debug)]
pub enum Progress {
    Line(String),
    Step(Box<Step>),
}

#[derive(Debug)]
pub struct Report {
    pub record: Record,
    pub end: End,
}

#[derive(Debug)]
pub enum End {
    /// There is no document, or none is to be applied now; the message says why.
    Idle,
    /// It is applied, and unchanged since.
    Kept,
    /// With `dry_run`: what would be done.
    Would(Action),
    Applied(Outcome),
    Compared(Plan),
    /// The document cannot be read, chosen or planned; nothing was changed.
    Refused(Outcome),
}

/// systemd does not watch the directory while the unit runs that it starts for a change: what changes meanwhile is looked
/// for here, not more often than this.
const MOST_ROUNDS: usize = 5;

/// Follows the document as it is, and as it is changed meanwhile.
pub async fn run(
    options: &Options,
    settings: &Settings,
    mut stop: watch::Receiver<bool>,
    say: &mut dyn FnMut(Progress),
) -> crate::Result<Report> {
    if options.dry_run {
        return Box::pin(follow(options, settings, stop, say)).await;
    }
    let _alone = lock::wait(&settings.run_dir, &mut stop, say).await?;
    let mut rounds = 1;
    loop {
        let seen = documents::fingerprint(&options.directory);
        let report = Box::pin(follow(options, settings, stop.clone(), say)).await?;
        let is_new = documents::fingerprint(&options.directory) != seen;
        if options.occasion == Occasion::Boot || !is_new || rounds == MOST_ROUNDS {
            return Ok(report);
        }
        say(Progress::Line("the files have changed again".to_owned()));
        rounds += 1;
    }
}

async fn follow(
    options: &Options,
    settings: &Settings,
    mut stop: watch::Receiver<bool>,
    say: &mut dyn FnMut(Progress),
) -> crate::Result<Report> {
    let mut file = RecordFile::take(settings, options)?;
    let found = wait::settle(options, &file.record, &mut stop, say).await?;
    say(Progress::Line(found.choice.to_string()));
    let (policies, options) = &policies(options, settings, say);
    let kept = still_applied(options, &found, &file.record);
    let inconclusive = found.is_inconclusive(&file.record, kept.is_some());
    let loaded = match kept {
        Some(document) => {
            say(Progress::Line(format!(
                "{} is applied and counts, whatever this host is called",
                document.file
            )));
            Loaded::Document(document)
        }
        None => load(options, &found),
    };
    let is_unchanged =
        inconclusive.is_none() && matches!(&loaded, Loaded::Document(document) if file.is_applied(document));
    follow_names(options, settings, stop.clone(), say, &mut file, &found, policies, is_unchanged).await?;
    if let Some(reason) = inconclusive {
        return Ok(Report { record: file.record, end: End::Refused(crate::act::hindered(reason)) });
    }
    let document = match loaded {
        Loaded::Document(document) => document,
        Loaded::None { reason } => {
            let action = decide(&situation(options, &file.record, None, &Host::default()));
            return conclude_without(options, settings, file, action, reason).await;
        }
        Loaded::Wrong { state, outcome } => {
            let reason = outcome.why().unwrap_or_default();
            if !file.falls_back(options) {
                file.select(&found, None, options)?;
            }
            if state == DocumentState::Failed {
                file.record.succeeded = Some(false);
            }
            let reason = file.fallen_back(reason, options);
            file.record.turn(state, reason, clock::now());
            return end(options, settings, file, End::Refused(outcome)).await;
        }
    };
    let host = Host {
        renamed: found.renamed_since_applied(&file.record),
        lost: lost(&document.policy.state)?,
        adopted: adopted(&document.policy.state, policies),
    };
    let action = decide(&situation(options, &file.record, Some(&document), &host));
    for change in found.other_names(&document.policy.state, &file.record) {
        say(Progress::Line(format!("the NIC {} is called {} on this host", change.from, change.to)));
    }
    if options.dry_run {
        return Ok(Report { record: file.record, end: End::Would(action) });
    }
    let (state, nics) = on_this_host(&document, &found, &file.record);
    let state = without_policies_own(state, policies);
    file.select(&found, Some(&document), options)?;
    let ended = match action {
        Action::Nothing | Action::Withdraw | Action::Keep => {
            file.keep();
            End::Kept
        }
        Action::Wait => End::Idle,
        Action::Apply(cause) => {
            say(Progress::Line(why_applied(&cause).to_owned()));
            file.begin(&document)?;
            let state = under_policies(&state, &found.as_called_here(policies, &file.record));
            let request = act::request(&document, state, options);
            let outcome = act::apply(&request, options, settings, stop, say).await;
            file.applied(&document, nics, &found, &outcome, options);
            End::Applied(outcome)
        }
        Action::Compare(cause) => {
            let request = act::request(&document, state, options);
            match act::compare(&request).await {
                Ok(plan) => {
                    file.compared(&document, nics, &found, &plan, &cause, options);
                    End::Compared(plan)
                }
                Err(outcome) => {
                    let why = outcome.why().unwrap_or_default();
                    let message = format!("written, not live; it cannot be compared with this host: {why}");
                    file.record.turn(DocumentState::NotLive, message, clock::now());
                    End::Refused(*outcome)
                }
            }
        }
    };
    end(options, settings, file, ended).await
}

/// What the host says to a document.
#[derive(Debug, Default)]
struct Host {
    renamed: Vec<Renamed>,
    lost: Vec<String>,
    adopted: Vec<Adopted>,
}

/// The document with the names of this host, and the NICs that it is about.
fn on_this_host(document: &Document, found: &Found, record: &Record) -> (Value, Nics) {
    let declared = &document.policy.state;
    let renamed = found.other_names(declared, record);
    let state = with_names(declared, &renamed, &found.identity.nics);
    let nics = Nics { names: found.nics_in(&state), called: found.called_in(declared, &renamed) };
    (state, nics)
}

/// Profiles that name NICs as they are no longer called connect nobody, whatever is to become of the document that is there
/// now, or whether it can be read at all: the one that was applied is applied again, with the names of today. One that is
/// there unchanged is not taken twice.
#[expect(clippy::too_many_arguments)]
async fn follow_names(
    options: &Options,
    settings: &Settings,
    stop: watch::Receiver<bool>,
    say: &mut dyn FnMut(Progress),
    file: &mut RecordFile,
    found: &Found,
    policies: &[Policy],
    is_unchanged: bool,
) -> crate::Result<()> {
    let is_boot = options.occasion == Occasion::Boot && !options.dry_run;
    if !is_boot || found.renamed_since_applied(&file.record).is_empty() {
        return Ok(());
    }
    let Some(kept) = file.kept() else {
        let lost = "its NICs have other names now, and the document that was applied was not kept";
        say(Progress::Line(lost.to_owned()));
        return Ok(());
    };
    let is_the_same = file.is_applied(&kept);
    if is_unchanged && is_the_same {
        return Ok(());
    }
    let (state, nics) = on_this_host(&kept, found, &file.record);
    let state = without_policies_own(state, policies);
    let state = under_policies(&state, &found.as_called_here(policies, &file.record));
    say(Progress::Line(format!("{} as it was applied: {}", kept.file, why_applied(&Cause::Renamed))));
    let request = act::request(&kept, state, options);
    let outcome = act::apply(&request, options, settings, stop, say).await;
    if !outcome.succeeded() {
        say(Progress::Line(format!("it was not applied: {}", outcome.why().unwrap_or_default())));
    } else if is_the_same || !is_unchanged {
        file.followed(nics, found);
        file.store()?;
    }
    Ok(())
}

/// What policies have applied. If that is not known, they may have changed anything: a document that has changed is only
/// compared.
fn policies(options: &Options, settings: &Settings, say: &mut dyn FnMut(Progress)) -> (Vec<Policy>, Options) {
    match StateFile::ledger(&settings.state_dir).read::<Ledger>() {
        Ok(ledger) => (ledger.applied(), options.clone()),
        Err(error) => {
            say(Progress::Line(format!("it is not known what policies have applied: {error}")));
            (Vec::new(), Options { on_change: OnChange::Report, ..options.clone() })
        }
    }
}

fn situation<'a>(
    options: &Options,
    record: &'a Record,
    document: Option<&'a Document>,
    host: &'a Host,
) -> Situation<'a> {
    Situation {
        record,
        hash: document.map(|document| &document.hash),
        renamed: &host.renamed,
        lost: &host.lost,
        adopted: &host.adopted,
        occasion: options.occasion,
        on_change: options.on_change,
    }
}

enum Loaded {
    Document(Document),
    None { reason: String },
    Wrong { state: DocumentState, outcome: Outcome },
}

fn load(options: &Options, found: &Found) -> Loaded {
    let file = match &found.choice {
        Choice::File { file, .. } => file,
        Choice::None { reason } => return Loaded::None { reason: reason.clone() },
        Choice::Ambiguous { reason } => {
            let outcome = act::unfit(reason.clone());
            return Loaded::Wrong { state: DocumentState::Ambiguous, outcome };
        }
    };
    match Document::read(&options.directory, file) {
        Ok(document) => Loaded::Document(document),
        Err(why) => Loaded::Wrong { state: DocumentState::Failed, outcome: act::unfit(why) },
    }
}

/// A host may get another name, also from its document: the one that it has applied is still its own if it is there as it
/// was and nothing but the cluster-wide one is for the new name.
fn still_applied(options: &Options, found: &Found, record: &Record) -> Option<Document> {
    let is_open =
        matches!(&found.choice, Choice::None { .. } | Choice::File { why: Match::ClusterWide { .. }, .. });
    let applied = record.applied.as_ref().filter(|applied| is_open && !applied.provisional)?;
    let document = Document::read(&options.directory, &applied.file).ok()?;
    (document.hash == applied.hash).then_some(document)
}

async fn conclude_without(
    options: &Options,
    settings: &Settings,
    mut file: RecordFile,
    action: Action,
    reason: String,
) -> crate::Result<Report> {
    if options.dry_run {
        return Ok(Report { record: file.record, end: End::Would(action) });
    }
    if action == Action::Nothing {
        file.record.message = reason;
        return Ok(Report { record: file.record, end: End::Idle });
    }
    file.withdraw(&reason)?;
    end(options, settings, file, End::Idle).await
}

/// On disk, and known to the agent, which reports it to the cluster.
async fn end(options: &Options, settings: &Settings, file: RecordFile, end: End) -> crate::Result<Report> {
    if !options.dry_run {
        file.store()?;
        if let Ok(mut asking) = Asking::ask(&settings.run_dir, &Question::Look).await {
            asking.answer().await;
        }
    }
    Ok(Report { record: file.record, end })
}

/// What a host has once, beside interfaces. Routes and rules of several documents stand side by side.
const SECTIONS: [&str; 2] = ["dns-resolver", "hostname"];

/// What applied policies declare of these is theirs.
fn without_policies_own(mut state: Value, policies: &[Policy]) -> Value {
    for section in SECTIONS {
        let declares = |policy: &Policy| policy.state.get(section).is_some_and(|own| !own.is_null());
        if let Some(state) = state.as_object_mut().filter(|_| policies.iter().any(declares)) {
            state.shift_remove(section);
        }
    }
    state
}

/// Bridges, bonds and the like that the document makes, if no profile brings up any of them, as after an installation that
/// keeps /var. Where others are there, somebody has removed the one that is not.
fn lost(document: &Value) -> crate::Result<Vec<String>> {
    let profiles = linesman_engine::observe::profiles()?;
    let is_made = |interface: &&Value| state::is_up(interface) && state::kind(interface).is_virtual();
    let made = state::interfaces(document).iter().filter(is_made).map(state::name);
    // What a capture finds is not known here.
    let made = made.filter(|name| !name.contains("{{"));
    let mut made: Vec<String> = made.map(str::to_owned).collect();
    made.dedup();
    let has_profile = |name: &String| profiles.iter().any(|profile| profile.interface() == Some(name));
    Ok(if made.iter().any(has_profile) { Vec::new() } else { made })
}

/// Interfaces that the document declares and applied policies declare, too.
///
/// Also those whose last version failed: what they applied before that is still there.
fn adopted(document: &Value, policies: &[Policy]) -> Vec<Adopted> {
    let mut adopted = Vec::new();
    for policy in policies {
        for interface in state::interfaces(document).iter().map(state::name) {
            let declares = |declared: &Value| state::name(declared) == interface;
            let is_known = adopted.iter().any(|known: &Adopted| known.interface == interface);
            if state::interfaces(&policy.state).iter().any(declares) && !is_known {
                adopted.push(Adopted { interface: interface.to_owned(), policy: policy.name.clone() });
            }
        }
    }
    adopted
}

fn why_applied(cause: &Cause) -> &'static str {
    match cause {
        Cause::Lost(_) => "applying it again: profiles that it had brought are gone",
        Cause::First => "applying it for the first time",
        Cause::Again => "applying it again: an earlier attempt did not succeed",
        Cause::Changed => "applying it: it has changed since it was applied",
        Cause::Named => "applying it: the document that was applied was chosen without the name of this host",
        Cause::Renamed => "applying it again: its NICs have other names now",
        Cause::Adopted(_) => "applying it",
    }
}

/// What an agent reports of the document of its host; none if there never was one.
pub fn status(state_dir: &Path) -> Option<FirstBootStatus> {
    let record: Record = StateFile::first_boot(state_dir).read().ok()?;
    let (document, hash) = record.selected.map(|selected| (selected.file, selected.hash.to_string())).unzip();
    Some(FirstBootStatus {
        state: record.state?.as_str().to_owned(),
        message: record.message,
        document,
        hash,
        applied_hash: record.applied.map(|applied| applied.hash.to_string()),
        since: Some(Time(record.since)),
    })
}
