//! Who leads: one operator at a time holds the Lease. It leads only as long as it surely does, and says so when it goes.

use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::watch;

use crate::say;

const NAME: &str = "linesman-operator";
/// Others take a Lease over that was not renewed for so long, by their own clocks.
const DURATION: Duration = Duration::from_secs(15);
/// Without a renewal for so long, the leader steps down: well before the others move.
const SURE: Duration = Duration::from_secs(10);
const RENEW: Duration = Duration::from_secs(4);
const RETRY: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(3);

/// Until when this operator surely leads.
#[derive(Debug, Clone)]
pub struct Leadership(watch::Receiver<Option<Instant>>);

impl Leadership {
    /// How long it surely leads from now on.
    pub fn left(&self) -> Option<Duration> {
        let until = (*self.0.borrow())?;
        until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// When it is renewed, won or lost.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }

    /// One that leads for an hour.
    #[cfg(test)]
    pub fn settled() -> Self {
        Self(watch::channel(Some(Instant::now() + Duration::from_secs(3600))).1)
    }

    #[cfg(test)]
    pub fn lost() -> Self {
        Self(watch::channel(None).1)
    }
}

pub struct Candidate {
    api: Api<Lease>,
    identity: String,
    until: watch::Sender<Option<Instant>>,
    /// The Lease as last seen, and since when it has been so.
    seen: Option<(Lease, Instant)>,
}

/// What a look at the Lease says.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Ours,
    Free,
    Taken,
}

impl Candidate {
    pub fn new(client: Client, namespace: &str, identity: &str) -> (Self, Leadership) {
        let (until, receiver) = watch::channel(None);
        let api = Api::namespaced(client, namespace);
        (Self { api, identity: identity.into(), until, seen: None }, Leadership(receiver))
    }

    /// Runs for it, for ever.
    pub async fn run(&mut self) {
        loop {
            let began = Instant::now();
            let won = tokio::time::timeout(ANSWER, self.step()).await;
            let pause = match won {
                Ok(Ok(true)) => {
                    self.lead(began);
                    RENEW
                }
                Ok(Ok(false)) => {
                    self.lose("another operator leads");
                    RETRY
                }
                Ok(Err(error)) => self.unsure(&error.to_string()),
                Err(_) => self.unsure("the API server does not answer"),
            };
            tokio::time::sleep(pause.saturating_sub(began.elapsed())).await;
        }
    }

    fn lead(&self, began: Instant) {
        if self.until.borrow().is_none() {
            say::line(format!("{} leads", self.identity));
        }
        self.until.send_replace(Some(began + SURE));
    }

    fn lose(&self, why: &str) {
        let led = self.until.send_replace(None).is_some();
        if led {
            say::line(format!("{} does not lead any more: {why}", self.identity));
        }
    }

    /// Nobody knows who leads; until the time is up, this one still does.
    fn unsure(&mut self, why: &str) -> Duration {
        let over = self.until.borrow().is_some_and(|until| until <= Instant::now());
        if over {
            self.lose(why);
        }
        Duration::from_secs(1)
    }

    /// Whether this operator has the Lease now.
    async fn step(&mut self) -> kube::Result<bool> {
        let renewing = self.until.borrow().is_some();
        let known = self.seen.as_ref().filter(|_| renewing).map(|(lease, _)| lease.clone());
        let lease = match known {
            Some(lease) => Some(lease),
            None => self.api.get_opt(NAME).await?,
        };
        let Some(lease) = lease else { return self.write(None).await };
        match self.judge(&lease, Instant::now()) {
            Verdict::Taken => Ok(false),
            Verdict::Ours | Verdict::Free => self.write(Some(lease)).await,
        }
    }

    fn judge(&mut self, lease: &Lease, now: Instant) -> Verdict {
        let since = match &self.seen {
            Some((seen, since)) if seen.spec == lease.spec => *since,
            _ => now,
        };
        self.seen = Some((lease.clone(), since));
        let spec = lease.spec.clone().unwrap_or_default();
        let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let lasts = seconds.map_or(DURATION, Duration::from_secs);
        match spec.holder_identity.as_deref() {
            Some(holder) if holder == self.identity => Verdict::Ours,
            None | Some("") => Verdict::Free,
            Some(_) if now.saturating_duration_since(since) >= lasts => Verdict::Free,
            Some(_) => Verdict::Taken,
        }
    }

    /// Only over what was seen: of two who try, one is refused.
    async fn write(&mut self, before: Option<Lease>) -> kube::Result<bool> {
        let lease = self.renewed(before.clone(), &self.identity);
        let params = PostParams::default();
        let written = match before {
            None => self.api.create(&params, &lease).await,
            Some(_) => self.api.replace(NAME, &params, &lease).await,
        };
        match written {
            Ok(lease) => {
                self.seen = Some((lease, Instant::now()));
                Ok(true)
            }
            Err(kube::Error::Api(status)) if status.is_conflict() || status.is_already_exists() => {
                // Whoever it was, the next look tells.
                self.seen = None;
                let holder = self.api.get(NAME).await?.spec.and_then(|spec| spec.holder_identity);
                Ok(holder.as_deref() == Some(&self.identity))
            }
            Err(error) => Err(error),
        }
    }

    fn renewed(&self, before: Option<Lease>, holder: &str) -> Lease {
        let now = MicroTime(Timestamp::now());
        let fresh =
            Lease { metadata: ObjectMeta { name: Some(NAME.into()), ..ObjectMeta::default() }, spec: None };
        let mut lease = before.unwrap_or(fresh);
        let old = lease.spec.take().unwrap_or_default();
        let same = old.holder_identity.as_deref() == Some(holder);
        lease.spec = Some(LeaseSpec {
            holder_identity: Some(holder.into()),
            acquire_time: old.acquire_time.filter(|_| same).or_else(|| Some(now.clone())),
            renew_time: Some(now),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            lease_transitions: Some(old.lease_transitions.unwrap_or_default() + i32::from(!same)),
            ..LeaseSpec::default()
        });
        lease
    }

    /// Gives the Lease back, so that nobody has to wait for its end.
    pub async fn resign(&mut self) {
        let held = self.until.send_replace(None).is_some();
        let Some((lease, _)) = self.seen.take().filter(|_| held) else { return };
        let lease = self.renewed(Some(lease), "");
        let params = PostParams::default();
        let given = tokio::time::timeout(ANSWER, self.api.replace(NAME, &params, &lease)).await;
        if !matches!(given, Ok(Ok(_))) {
            say::line("the Lease could not be given back; it ends by itself");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate() -> Candidate {
        let service = tower_service();
        Candidate::new(Client::new(service, "nmstate"), "nmstate", "me").0
    }

    /// Nobody is asked here.
    fn tower_service() -> impl tower::Service<
        hyper::Request<kube::client::Body>,
        Response = hyper::Response<kube::client::Body>,
        Error = std::convert::Infallible,
        Future: Send,
    > + Send
    + 'static {
        tower::service_fn(|_| async { Ok(hyper::Response::new(kube::client::Body::empty())) })
    }

    fn held(by: &str, renewed: i64) -> Lease {
        let spec = LeaseSpec {
            holder_identity: Some(by.into()),
            lease_duration_seconds: Some(15),
            renew_time: Timestamp::from_second(renewed).ok().map(MicroTime),
            ..LeaseSpec::default()
        };
        Lease { spec: Some(spec), ..Lease::default() }
    }

    #[tokio::test]
    async fn a_lease_is_free_when_it_has_not_moved_for_its_time_by_our_clock() {
        let (mut candidate, start) = (candidate(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        // However old it says it is: clocks differ.
        assert_eq!(candidate.judge(&held("other", 1), start), Verdict::Taken);
        assert_eq!(candidate.judge(&held("other", 1), after(14)), Verdict::Taken);
        assert_eq!(candidate.judge(&held("other", 2), after(15)), Verdict::Taken);
        assert_eq!(candidate.judge(&held("other", 2), after(29)), Verdict::Taken);
        assert_eq!(candidate.judge(&held("other", 2), after(30)), Verdict::Free);
        assert_eq!(candidate.judge(&held("", 2), after(31)), Verdict::Free);
        assert_eq!(candidate.judge(&held("me", 2), after(31)), Verdict::Ours);
    }

    #[tokio::test]
    async fn transitions_are_counted_and_renewals_are_not() {
        let candidate = candidate();
        let taken = candidate.renewed(Some(held("other", 1)), "me");
        let spec = taken.spec.clone().unwrap();
        assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("me"), Some(1)));
        let renewed = candidate.renewed(Some(taken), "me").spec.unwrap();
        assert_eq!((renewed.lease_transitions, renewed.acquire_time), (Some(1), spec.acquire_time));
    }

    #[tokio::test]
    async fn who_cannot_renew_steps_down_before_others_move() {
        assert!(SURE + RETRY < DURATION);
        let (mut candidate, leadership) =
            Candidate::new(Client::new(tower_service(), "nmstate"), "nmstate", "me");
        candidate.lead(Instant::now());
        assert!(leadership.left().is_some_and(|left| left <= SURE));
        candidate.unsure("silence");
        assert!(leadership.left().is_some());
        candidate.lead(Instant::now().checked_sub(SURE).unwrap());
        assert_eq!(leadership.left(), None);
    }
}
