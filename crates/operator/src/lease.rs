//! Leader election: one operator at a time has the Lease. It leads only as long as it surely has it, and gives it back at its end.

use std::fmt::Display;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::{Api, Client};
use tokio::sync::watch;

use crate::leadership::Leadership;
use crate::writer::created;

const NAME: &str = "linesman-operator";
/// Others take the Lease over when it was not renewed for this long, by their own clocks.
const DURATION: Duration = Duration::from_secs(15);
/// The leader steps down when it could not renew for this long: well before others take over.
const SURE: Duration = Duration::from_secs(10);
const RENEW: Duration = Duration::from_secs(4);
const RETRY: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(3);

pub struct LeaderElector {
    api: Api<Lease>,
    identity: String,
    until: watch::Sender<Option<Instant>>,
    /// The Lease as last seen, and since when it has been so.
    seen: Option<(Lease, Instant)>,
}

/// What the Lease allows this operator.
#[derive(Debug, PartialEq, Eq)]
enum LeaseDecision {
    Ours,
    Free,
    Taken,
}

impl LeaderElector {
    pub fn new(client: Client, namespace: &str, identity: &str) -> (Self, Leadership) {
        let (until, leadership) = Leadership::new();
        let api = Api::namespaced(client, namespace);
        (Self { api, identity: identity.into(), until, seen: None }, leadership)
    }

    /// Acquires the Lease and renews it, for ever.
    pub async fn run(&mut self) {
        loop {
            let began = Instant::now();
            let won = tokio::time::timeout(ANSWER, self.try_lease()).await;
            let pause = match won {
                Ok(Ok(true)) => {
                    self.lead(began);
                    RENEW
                }
                Ok(Ok(false)) => {
                    self.lose(&"another operator has the Lease");
                    RETRY
                }
                Ok(Err(error)) => self.unsure(&error),
                Err(_) => self.unsure(&"the API server does not answer"),
            };
            tokio::time::sleep(pause.saturating_sub(began.elapsed())).await;
        }
    }

    fn lead(&self, began: Instant) {
        if self.until.borrow().is_none() {
            tracing::info!(identity = %self.identity, "this operator leads");
        }
        self.until.send_replace(Some(began + SURE));
    }

    fn lose(&self, reason: &dyn Display) {
        let led = self.until.send_replace(None).is_some();
        if led {
            tracing::warn!(identity = %self.identity, %reason, "this operator no longer leads");
        }
    }

    /// The Lease cannot be read or written. Until its time is up, this operator still leads.
    fn unsure(&mut self, reason: &dyn Display) -> Duration {
        let over = self.until.borrow().is_some_and(|until| until <= Instant::now());
        if over {
            self.lose(reason);
        }
        Duration::from_secs(1)
    }

    /// Whether this operator has the Lease now.
    async fn try_lease(&mut self) -> kube::Result<bool> {
        let renewing = self.until.borrow().is_some();
        let known = self.seen.as_ref().filter(|_| renewing).map(|(lease, _)| lease.clone());
        let lease = match known {
            Some(lease) => Some(lease),
            None => self.api.get_opt(NAME).await?,
        };
        let Some(lease) = lease else { return self.write(None).await };
        match self.decide(&lease, Instant::now()) {
            LeaseDecision::Taken => Ok(false),
            LeaseDecision::Ours | LeaseDecision::Free => self.write(Some(lease)).await,
        }
    }

    fn decide(&mut self, lease: &Lease, now: Instant) -> LeaseDecision {
        let since = match &self.seen {
            Some((seen, since)) if seen.spec == lease.spec => *since,
            _ => now,
        };
        self.seen = Some((lease.clone(), since));
        let spec = lease.spec.clone().unwrap_or_default();
        let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let lasts = seconds.map_or(DURATION, Duration::from_secs);
        match spec.holder_identity.as_deref() {
            Some(holder) if holder == self.identity => LeaseDecision::Ours,
            None | Some("") => LeaseDecision::Free,
            Some(_) if now.saturating_duration_since(since) >= lasts => LeaseDecision::Free,
            Some(_) => LeaseDecision::Taken,
        }
    }

    /// Only for the version that was read: of two operators that try, one is refused.
    async fn write(&mut self, before: Option<Lease>) -> kube::Result<bool> {
        let lease = self.renewed(before.clone(), &self.identity);
        let params = created();
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
                // Whoever wrote it is read the next time.
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

    /// Releases the Lease, so that no other operator has to wait for its expiry.
    pub async fn resign(&mut self) {
        let led = self.until.send_replace(None).is_some();
        let Some((lease, _)) = self.seen.take().filter(|_| led) else { return };
        let lease = self.renewed(Some(lease), "");
        let params = created();
        let given = tokio::time::timeout(ANSWER, self.api.replace(NAME, &params, &lease)).await;
        if !matches!(given, Ok(Ok(_))) {
            tracing::warn!(
                lease = NAME,
                "cannot release the Lease; another operator takes over when it expires"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elector() -> LeaderElector {
        let service = tower_service();
        LeaderElector::new(Client::new(service, "nmstate"), "nmstate", "me").0
    }

    /// Never asked.
    fn tower_service() -> impl tower::Service<
        hyper::Request<kube::client::Body>,
        Response = hyper::Response<kube::client::Body>,
        Error = std::convert::Infallible,
        Future: Send,
    > + Send
    + 'static {
        tower::service_fn(|_| async { Ok(hyper::Response::new(kube::client::Body::empty())) })
    }

    fn lease_of(by: &str, renewed: i64) -> Lease {
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
        let (mut elector, start) = (elector(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        // However old it says it is: clocks differ.
        assert_eq!(elector.decide(&lease_of("other", 1), start), LeaseDecision::Taken);
        assert_eq!(elector.decide(&lease_of("other", 1), after(14)), LeaseDecision::Taken);
        assert_eq!(elector.decide(&lease_of("other", 2), after(15)), LeaseDecision::Taken);
        assert_eq!(elector.decide(&lease_of("other", 2), after(29)), LeaseDecision::Taken);
        assert_eq!(elector.decide(&lease_of("other", 2), after(30)), LeaseDecision::Free);
        assert_eq!(elector.decide(&lease_of("", 2), after(31)), LeaseDecision::Free);
        assert_eq!(elector.decide(&lease_of("me", 2), after(31)), LeaseDecision::Ours);
    }

    #[tokio::test]
    async fn transitions_are_counted_and_renewals_are_not() {
        let elector = elector();
        let taken = elector.renewed(Some(lease_of("other", 1)), "me");
        let spec = taken.spec.clone().unwrap();
        assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("me"), Some(1)));
        let renewed = elector.renewed(Some(taken), "me").spec.unwrap();
        assert_eq!((renewed.lease_transitions, renewed.acquire_time), (Some(1), spec.acquire_time));
    }

    #[tokio::test]
    async fn a_leader_that_cannot_renew_steps_down_before_the_lease_expires() {
        assert!(SURE + RETRY < DURATION);
        let (mut elector, leadership) =
            LeaderElector::new(Client::new(tower_service(), "nmstate"), "nmstate", "me");
        elector.lead(Instant::now());
        assert!(leadership.left().is_some_and(|left| left <= SURE));
        elector.unsure(&"the API server does not answer");
        assert!(leadership.left().is_some());
        elector.lead(Instant::now().checked_sub(SURE).unwrap());
        assert_eq!(leadership.left(), None);
    }
}
