//! A round trip to the database, and whether ovs-vswitchd has caught up with it.

use std::time::{Duration, Instant};

use linesman_ovsdb::{Client, Condition, Membership, Mutation, Op, OpResult, Remote};
use serde_json::Value;

use super::{DEADLINE, Places, ProbeFailure, Running, state_of};
use crate::units::observed::Unit;

/// Adding a port to a large switch takes its time.
const MAY_LAG: Duration = Duration::from_secs(5);

/// So that a connection that was lost is told from a daemon that hangs.
const CALL: Duration = Duration::from_millis(1200);

type Outcome = Result<(), ProbeFailure>;

/// A connection that nothing else uses.
pub struct DatabaseProbe {
    places: Places,
    client: Option<Client>,
    lag: Lag,
}

impl DatabaseProbe {
    pub fn new(places: &Places) -> Self {
        Self { places: places.clone(), client: None, lag: Lag::default() }
    }

    /// Whether the database answers, and whether the switch has caught up.
    pub async fn probe(&mut self, running: &Running) -> (Outcome, Outcome) {
        if let Err(failure) = running.invocation(Unit::OvsdbServer) {
            self.client = None;
            return (Err(failure.clone()), Err(failure));
        }
        // Once in each life of ovs-vswitchd it is asked to confirm the configuration; afterwards a look is enough.
        let switch = running.invocation(Unit::OvsVswitchd).map(|invocation| invocation.map(str::to_owned));
        let ask = switch.as_ref().is_ok_and(|invocation| self.lag.is_new(invocation.as_deref()));
        match tokio::time::timeout(DEADLINE, self.numbers(ask)).await {
            Ok(Ok((current, wanted))) => {
                let configuration =
                    switch.and_then(|invocation| self.lag.judge(invocation, current, wanted, Instant::now()));
                (Ok(()), configuration)
            }
            Ok(Err(failure)) => {
                self.client = None;
                (Err(failure.clone()), Err(failure))
            }
            Err(_) => {
                self.client = None;
                let failure = ProbeFailure::Silent { state: state(&self.places) };
                (Err(failure.clone()), Err(failure))
            }
        }
    }

    /// `cur_cfg` and `next_cfg`, which is one higher afterwards if the switch is asked to confirm.
    async fn numbers(&mut self, ask: bool) -> Result<(i64, i64), ProbeFailure> {
        let places = &self.places;
        let refused = |error: linesman_ovsdb::Error| match error {
            linesman_ovsdb::Error::NoAnswer { .. } | linesman_ovsdb::Error::Dead { .. } => {
                ProbeFailure::Silent { state: state(places) }
            }
            error => ProbeFailure::Refused(error.to_string()),
        };
        let client = match &self.client {
            Some(client) => client.clone(),
            None => {
                let client = Client::builder([Remote::unix(self.places.database())], "Open_vSwitch")
                    .call_timeout(CALL)
                    .membership(Membership::Unchecked)
                    .probe_interval(None)
                    .connect()
                    .await
                    .map_err(refused)?;
                self.client = Some(client.clone());
                client
            }
        };
        let ask = ask.then(|| Op::mutate("Open_vSwitch", Condition::all(), [Mutation::add("next_cfg", 1)]));
        let select = Op::select("Open_vSwitch", Condition::all(), ["cur_cfg", "next_cfg"]);
        let ops: Vec<Op> = ask.into_iter().chain([select]).collect();
        let results = client.transact(&ops).await.map_err(refused)?;
        let Some(OpResult::Rows(rows)) = results.last() else {
            return Err(ProbeFailure::Refused("the database gave no rows".into()));
        };
        let row = rows.first().ok_or_else(|| {
            ProbeFailure::Refused("the database is empty: it has no row in the table Open_vSwitch".into())
        })?;
        let number = |column: &str| row.get(column).and_then(Value::as_i64).unwrap_or_default();
        Ok((number("cur_cfg"), number("next_cfg")))
    }
}

/// Of the process.
fn state(places: &Places) -> Option<String> {
    let pid = std::fs::read_to_string(places.run_dir.join("ovsdb-server.pid")).ok()?;
    state_of(&places.proc, pid.trim().parse().ok()?)
}

/// How the two numbers have moved.
#[derive(Debug, Default)]
struct Lag {
    /// The life of ovs-vswitchd that was asked to confirm, and the number that it has to reach.
    asked: Option<(Option<String>, i64)>,
    confirmed: bool,
    /// Since when the number is wanted that has not been reached.
    behind: Option<(i64, Instant)>,
}

impl Lag {
    fn is_new(&self, invocation: Option<&str>) -> bool {
        self.asked.as_ref().is_none_or(|(asked, _)| asked.as_deref() != invocation)
    }

    fn judge(&mut self, invocation: Option<String>, current: i64, wanted: i64, now: Instant) -> Outcome {
        if self.is_new(invocation.as_deref()) {
            *self = Self { asked: Some((invocation, wanted)), ..Self::default() };
        }
        let asked = self.asked.as_ref().map_or(wanted, |(_, number)| *number);
        self.confirmed |= current >= asked;
        if !self.confirmed {
            return Err(ProbeFailure::Unconfirmed { current, wanted: asked });
        }
        if current >= wanted {
            self.behind = None;
            return Ok(());
        }
        // A number that it has reached meanwhile no longer counts, though the next one is wanted already.
        let behind = self.behind.filter(|(number, _)| current < *number).unwrap_or((wanted, now));
        self.behind = Some(behind);
        let lag = now.saturating_duration_since(behind.1);
        if lag < MAY_LAG {
            return Ok(());
        }
        Err(ProbeFailure::Behind { current, wanted: behind.0, seconds: lag.as_secs() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_life_of_the_switch_has_to_confirm_the_configuration_once() {
        let (mut lag, now) = (Lag::default(), Instant::now());
        assert!(lag.is_new(Some("a")));
        assert_eq!(
            lag.judge(Some("a".into()), 4, 5, now),
            Err(ProbeFailure::Unconfirmed { current: 4, wanted: 5 })
        );
        assert!(!lag.is_new(Some("a")));
        assert_eq!(lag.judge(Some("a".into()), 5, 5, now), Ok(()));
        assert!(lag.is_new(Some("b")));
        assert!(lag.judge(Some("b".into()), 5, 6, now).is_err());
    }

    #[test]
    fn a_switch_may_lag_for_a_while_and_not_for_ever() {
        let (mut lag, start) = (Lag::default(), Instant::now());
        let mut at = |seconds, current, wanted| {
            lag.judge(Some("a".into()), current, wanted, start + Duration::from_secs(seconds))
        };
        assert_eq!(at(0, 5, 5), Ok(()));
        assert_eq!(at(2, 5, 6), Ok(()));
        assert_eq!(at(6, 6, 7), Ok(()), "it moves");
        assert_eq!(at(8, 6, 9), Ok(()));
        assert_eq!(at(11, 6, 9), Err(ProbeFailure::Behind { current: 6, wanted: 7, seconds: 5 }));
        assert_eq!(at(13, 9, 9), Ok(()));
    }
}
