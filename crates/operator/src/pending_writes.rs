//! Writes that the watches must show before a policy is decided on again, or the change by somebody else that refused one.

use std::time::{Duration, Instant};

use crate::cache::Cache;

/// After this time the policy is decided on without: a write that was made already is refused, and does no harm.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingWrite {
    /// Seen once the policies' watch is at this version.
    Policy(u64),
    /// Seen once the enactments' watch is at this version: it delivers them in order.
    Enactments(u64),
    /// Seen once the enactment has another version.
    EnactmentChanged { name: String, was: Option<String> },
    /// Seen once the policy has another version.
    PolicyChanged { name: String, was: String },
}

#[derive(Debug, Default)]
pub struct PendingWrites {
    pending: Vec<PendingWrite>,
    until: Option<Instant>,
}

impl PendingWrites {
    pub fn expect(&mut self, write: PendingWrite, now: Instant) {
        self.pending.push(write);
        self.until = Some(now + TIMEOUT);
    }

    /// Whether the cache shows all of them, or the time is up.
    pub fn are_seen(&mut self, cache: &Cache, now: Instant) -> bool {
        self.pending.retain(|write| !write.is_seen(cache));
        if self.until.is_some_and(|until| until <= now) {
            self.pending.clear();
        }
        if self.pending.is_empty() {
            self.until = None;
        }
        self.pending.is_empty()
    }

    pub fn until(&self) -> Option<Instant> {
        self.until
    }
}

impl PendingWrite {
    fn is_seen(&self, cache: &Cache) -> bool {
        match self {
            Self::Policy(version) => cache.latest.policies >= *version,
            Self::Enactments(version) => cache.latest.enactments >= *version,
            Self::EnactmentChanged { name, was } => {
                cache.enactments.get(name).map(|enactment| &enactment.version) != was.as_ref()
            }
            Self::PolicyChanged { name, was } => {
                cache.policy_objects.get(name).is_none_or(|object| object.version != *was)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use linesman_fleet::rollout::EnactmentFacts;

    use super::*;
    use crate::watch::{Change, WatchEvent};

    fn put(cache: &mut Cache, version: u64) {
        let object = EnactmentFacts {
            version: version.to_string(),
            policy: "blue".into(),
            ..EnactmentFacts::default()
        };
        cache.apply(WatchEvent::Enactments(Change::Put { name: "w1.blue".into(), version, object }));
    }

    #[test]
    fn own_writes_are_awaited_and_so_is_what_refused_one() {
        let (mut cache, mut writes, now) = (Cache::default(), PendingWrites::default(), Instant::now());
        put(&mut cache, 5);
        assert!(writes.are_seen(&cache, now));
        writes.expect(PendingWrite::Enactments(7), now);
        writes.expect(PendingWrite::EnactmentChanged { name: "w1.blue".into(), was: Some("5".into()) }, now);
        put(&mut cache, 6);
        assert!(!writes.are_seen(&cache, now));
        put(&mut cache, 7);
        assert!(writes.are_seen(&cache, now) && writes.until().is_none());
    }

    #[test]
    fn no_write_is_awaited_for_ever() {
        let (cache, mut writes, now) = (Cache::default(), PendingWrites::default(), Instant::now());
        writes.expect(PendingWrite::Policy(7), now);
        assert!(!writes.are_seen(&cache, now));
        assert!(writes.are_seen(&cache, now + TIMEOUT));
    }
}
