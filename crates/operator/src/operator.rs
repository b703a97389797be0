//! The loop: load, decide, act, report; then wait for something to happen.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use linesman_api::policy::PolicyStatus;
use linesman_fleet::rollout::{Action, Decision, Settings, Situation, decide, orphans};

use crate::act::{Hand, Written};
use crate::case::Case;
use crate::report::{Reported, report};
use crate::watch::{News, Watches};
use crate::world::{Concerns, World};
use crate::{Error, clock, say};

/// News come in flocks; they are looked at together.
const QUIET: Duration = Duration::from_millis(15);
const FLOCK: Duration = Duration::from_millis(100);
/// Writes between two looks, so that news are heard in between.
const BATCH: usize = 100;

pub struct Operator {
    pub world: Rc<RefCell<World>>,
    pub watches: Watches,
    pub hand: Hand,
    pub identity: String,
    pub settings: Settings,
    pub cases: BTreeMap<String, Case>,
    /// Policies or enactments came or went: some enactments may be nobody's.
    pub orphans: bool,
    pub led: bool,
    pub trouble: BTreeMap<String, String>,
}

impl Operator {
    pub async fn work(&mut self) {
        loop {
            let until = self.deadline();
            let news = tokio::select! {
                news = self.watches.next() => news,
                () = self.hand.leadership.changed() => None,
                () = sleep_until(until) => None,
            };
            self.load(news).await;
            self.lead();
            if self.led && self.world.borrow().is_complete() {
                self.pass().await;
            }
        }
    }

    /// Takes the news in, and those that come with them.
    async fn load(&mut self, first: Option<News>) {
        let end = Instant::now() + FLOCK;
        let mut next = first;
        while let Some(news) = next.take() {
            self.take(news);
            let left = QUIET.min(end.saturating_duration_since(Instant::now()));
            next = tokio::time::timeout(left, self.watches.next()).await.ok().flatten();
        }
        let wanted = self.world.borrow().wants_nics();
        if self.watches.want_nics(wanted) && !wanted {
            self.world.borrow_mut().forget_nics();
        }
    }

    fn take(&mut self, news: News) {
        let told = self.trouble.remove(&news.about());
        if let News::Trouble(what, why) = &news {
            if told.as_ref() != Some(why) {
                say::line(format!("cannot watch {what}: {why}{}", remedy(why)));
            }
            self.trouble.insert(what.clone(), why.clone());
        }
        self.orphans |= matches!(news, News::Policies(_) | News::Enactments(_));
        match self.world.borrow_mut().take(news) {
            Concerns::Nobody => {}
            Concerns::Policy(name) => {
                // Those that wait may wait for this one.
                let waiting = self.cases.values_mut().filter(|case| !case.settled);
                waiting.for_each(|case| case.dirty = true);
                self.cases.entry(name).or_default().dirty = true;
            }
            Concerns::Everybody => self.cases.values_mut().for_each(|case| case.dirty = true),
        }
    }

    /// Whoever begins to lead looks at everything.
    fn lead(&mut self) {
        let leads = self.hand.leadership.left().is_some();
        self.hand.metrics.leads(leads);
        if leads && !self.led {
            self.cases.values_mut().for_each(|case| case.dirty = true);
            self.orphans = true;
        }
        self.led = leads;
    }

    fn deadline(&self) -> Option<Instant> {
        let (now, time) = (Instant::now(), clock::now());
        let ready = self.led && self.world.borrow().is_complete();
        self.cases.values().filter(|_| ready).filter_map(|case| case.next(now, time)).min()
    }

    async fn pass(&mut self) {
        let known: BTreeSet<String> =
            self.world.borrow().policies.row().iter().map(|policy| policy.name.clone()).collect();
        for name in &known {
            self.cases.entry(name.clone()).or_insert_with(Case::fresh);
        }
        for gone in self.cases.keys().filter(|name| !known.contains(*name)) {
            self.hand.metrics.in_flight(gone, None);
        }
        for name in &known {
            self.look(name).await;
        }
        if std::mem::take(&mut self.orphans) {
            self.sweep().await;
        }
        // What waits for the end of its enactments is remembered until then.
        let (world, orphans, now) = (self.world.borrow(), self.orphans, Instant::now());
        self.cases.retain(|name, case| known.contains(name) || case.outlives(&world, orphans, now));
    }

    /// One policy: decide, act, report.
    async fn look(&mut self, name: &str) {
        let (now, time) = (Instant::now(), clock::now());
        let Some(case) = self.cases.get_mut(name) else { return };
        if !case.wants_a_look(now, time) || !case.echoes.heard(&self.world.borrow(), now) {
            return;
        }
        let Some(decision) = self.decide(name) else { return };
        if let Some(case) = self.cases.get_mut(name) {
            case.decided(&decision);
        }
        let in_flight = decision.status.unavailable_node_count_map.values().sum();
        self.hand.metrics.in_flight(name, Some(in_flight));
        let outcome = match self.act(name, &decision.actions).await {
            Ok(true) => self.report(name, decision.status).await,
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        self.end(name, outcome);
    }

    fn decide(&self, name: &str) -> Option<Decision> {
        let world = self.world.borrow();
        let situation = Situation {
            policy: world.policies.get(name)?,
            policies: world.policies.row(),
            nodes: world.nodes.row(),
            enactments: world.enactments.row(),
            settings: self.settings,
            now: clock::now(),
        };
        Some(decide(&situation))
    }

    /// Whether everything was written. After a refusal the rest is void.
    #[allow(clippy::await_holding_refcell_ref)] // Only this loop changes the world, and it is here.
    async fn act(&mut self, name: &str, actions: &[Action]) -> Result<bool, Error> {
        let world = self.world.borrow();
        let case = self.cases.entry(name.into()).or_default();
        for action in actions.iter().take(BATCH) {
            match self.hand.perform(name, action, &world, clock::now()).await? {
                Written::Done(echo) => case.echoes.expect(echo, Instant::now()),
                Written::Refused(echo) => {
                    case.echoes.expect(echo, Instant::now());
                    case.dirty = true;
                    return Ok(false);
                }
            }
        }
        case.dirty |= !actions.is_empty();
        Ok(true)
    }

    #[allow(clippy::await_holding_refcell_ref)] // As above.
    async fn report(&mut self, name: &str, status: PolicyStatus) -> Result<(), Error> {
        let world = self.world.borrow();
        let (Some(policy), Some(papers)) = (world.policies.get(name), world.papers.get(name)) else {
            return Ok(());
        };
        let Some(case) = self.cases.get_mut(name) else { return Ok(()) };
        let told =
            report(&self.hand, &self.identity, policy, papers, status, case.written, clock::now()).await?;
        match told {
            Reported::Nothing => {}
            Reported::Later(due) => case.due = Some(due),
            Reported::Written(echo) => {
                case.written = Some(Instant::now());
                case.echoes.expect(echo, Instant::now());
            }
            Reported::Refused(echo) => {
                case.echoes.expect(echo, Instant::now());
                case.dirty = true;
            }
        }
        Ok(())
    }

    fn end(&mut self, name: &str, outcome: Result<(), Error>) {
        let Some(case) = self.cases.get_mut(name) else { return };
        match outcome {
            Ok(()) => case.went_well(),
            Err(Error::NotLeading) => case.dirty = true,
            Err(error) => {
                let pause = case.went_wrong(Instant::now());
                say::line(format!("{name}: {error}; tried again in {} s", pause.as_secs()));
            }
        }
    }

    /// Enactments whose policy is gone.
    async fn sweep(&mut self) {
        let mut found: BTreeMap<String, Vec<Action>> = BTreeMap::new();
        {
            let world = self.world.borrow();
            for (policy, action) in orphans(world.policies.row(), world.enactments.row()) {
                found.entry(policy.into()).or_default().push(action);
            }
        }
        for (policy, actions) in found {
            let outcome = self.orphaned(&policy, &actions).await;
            self.orphans |= !matches!(outcome, Ok(true));
            self.end(&policy, outcome.map(|_| ()));
        }
    }

    /// Whether nothing is left to do.
    async fn orphaned(&mut self, policy: &str, actions: &[Action]) -> Result<bool, Error> {
        let (now, time) = (Instant::now(), clock::now());
        let case = self.cases.entry(policy.into()).or_insert_with(Case::fresh);
        if !case.wants_a_look(now, time) || !case.echoes.heard(&self.world.borrow(), now) {
            return Ok(false);
        }
        case.dirty = false;
        // The watch of policies may be behind that of enactments.
        match self.hand.is_there(policy).await? {
            true => Ok(true),
            false => Ok(self.act(policy, actions).await? && actions.len() <= BATCH),
        }
    }
}

fn remedy(why: &str) -> &'static str {
    let unknown = why.contains("404") || why.contains("could not find the requested resource");
    if unknown {
        "; does the cluster know Linesman's kinds? linesman crds | kubectl apply --server-side -f -"
    } else {
        ""
    }
}

async fn sleep_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until.into()).await,
        None => std::future::pending().await,
    }
}
