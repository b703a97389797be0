//! What must be seen in the watches before a policy is decided about again: what was just written to it, or why it was refused.

use std::time::{Duration, Instant};

use crate::world::World;

/// Whoever waits longer looks again without: a write that was done already is refused, and does no harm.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Echo {
    /// Of the policy itself, this version or a later one.
    Policy(u64),
    /// Of any enactment, this version or a later one: they are told in order.
    Enactments(u64),
    /// The enactment is no longer as it was seen.
    Enactment { name: String, was: Option<String> },
    /// The policy is no longer as it was seen.
    PolicyOther { name: String, was: String },
}

#[derive(Debug, Default)]
pub struct Echoes {
    awaited: Vec<Echo>,
    until: Option<Instant>,
}

impl Echoes {
    pub fn expect(&mut self, echo: Echo, now: Instant) {
        self.awaited.push(echo);
        self.until = Some(now + PATIENCE);
    }

    /// Whether everything was heard, or it is no use to wait.
    pub fn heard(&mut self, world: &World, now: Instant) -> bool {
        self.awaited.retain(|echo| !echo.is_in(world));
        if self.until.is_some_and(|until| until <= now) {
            self.awaited.clear();
        }
        if self.awaited.is_empty() {
            self.until = None;
        }
        self.awaited.is_empty()
    }

    pub fn until(&self) -> Option<Instant> {
        self.until
    }
}

impl Echo {
    fn is_in(&self, world: &World) -> bool {
        match self {
            Self::Policy(version) => world.heard.policies >= *version,
            Self::Enactments(version) => world.heard.enactments >= *version,
            Self::Enactment { name, was } => world.enactments.get(name).map(|e| &e.version) != was.as_ref(),
            Self::PolicyOther { name, was } => {
                world.papers.get(name).is_none_or(|papers| papers.version != *was)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use linesman_fleet::rollout::EnactmentFacts;

    use super::*;
    use crate::watch::{Change, News};

    fn put(world: &mut World, version: u64) {
        let thing = EnactmentFacts {
            version: version.to_string(),
            policy: "blue".into(),
            ..EnactmentFacts::default()
        };
        world.take(News::Enactments(Change::Put { name: "w1.blue".into(), version, thing }));
    }

    #[test]
    fn own_writes_are_awaited_and_so_is_what_refused_one() {
        let (mut world, mut echoes, now) = (World::default(), Echoes::default(), Instant::now());
        put(&mut world, 5);
        assert!(echoes.heard(&world, now));
        echoes.expect(Echo::Enactments(7), now);
        echoes.expect(Echo::Enactment { name: "w1.blue".into(), was: Some("5".into()) }, now);
        put(&mut world, 6);
        assert!(!echoes.heard(&world, now));
        put(&mut world, 7);
        assert!(echoes.heard(&world, now) && echoes.until().is_none());
    }

    #[test]
    fn nobody_waits_for_ever() {
        let (world, mut echoes, now) = (World::default(), Echoes::default(), Instant::now());
        echoes.expect(Echo::Policy(7), now);
        assert!(!echoes.heard(&world, now));
        assert!(echoes.heard(&world, now + PATIENCE));
    }
}
