//! What several policies that are applied as one change require together.

use std::time::Duration;

use super::{DEFAULT_PATIENCE, ParseError, Probe, default_probes};
use crate::policy::Options;

#[derive(Debug, Clone, PartialEq)]
pub struct RequiredProbes {
    /// One per thing that passes or fails by itself.
    pub probes: Vec<Probe>,
    /// How long they may take to pass after the change.
    pub patience: Duration,
    /// Somebody leaves that to us: it is longer if the change itself makes something slow.
    pub patience_grows: bool,
}

/// The probes of all of them, and the longest patience. A policy that says nothing stands for the defaults: it must not
/// lose them because another one is applied with it. `probes: []` asks for nothing and takes nothing away.
pub fn required<'a>(
    policies: impl IntoIterator<Item = &'a Options>,
    in_cluster: bool,
) -> Result<RequiredProbes, ParseError> {
    let (mut probes, mut patience, mut patience_grows) = (Vec::new(), None, false);
    for options in policies {
        for probe in probes_of(options, in_cluster)?.iter().flat_map(Probe::expand) {
            add(&mut probes, probe);
        }
        let own = options.patience.map_or(DEFAULT_PATIENCE, Duration::from_secs);
        patience = patience.max(Some(own));
        patience_grows |= options.patience.is_none();
    }
    Ok(RequiredProbes { probes, patience: patience.unwrap_or(DEFAULT_PATIENCE), patience_grows })
}

fn probes_of(options: &Options, in_cluster: bool) -> Result<Vec<Probe>, ParseError> {
    match &options.probes {
        Some(named) => named.iter().map(|text| text.parse()).collect(),
        None => Ok(default_probes(in_cluster)),
    }
}

/// Once, with the longest timeout that somebody gives it.
fn add(probes: &mut Vec<Probe>, probe: Probe) {
    match probes.iter_mut().find(|known| known.spec == probe.spec) {
        Some(known) => {
            known.timeout = known.timeout.max(probe.timeout);
            // Who names a family wants that one.
            known.alternative &= probe.alternative;
        }
        None => probes.push(probe),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(probes: Option<&[&str]>, patience: Option<u64>) -> Options {
        let probes = probes.map(|probes| probes.iter().map(ToString::to_string).collect());
        Options { probes, patience, ..Options::default() }
    }

    fn together(policies: &[Options]) -> (String, u64) {
        let RequiredProbes { probes, patience, .. } = required(policies, false).unwrap();
        let names: Vec<String> = probes.iter().map(ToString::to_string).collect();
        (names.join(" "), patience.as_secs())
    }

    #[test]
    fn every_policy_keeps_its_probes_and_its_patience() {
        let (usual, none) = (policy(None, None), policy(Some(&[]), None));
        let own = policy(Some(&["tcp:10.0.0.1:22", "gateway:v4,timeout=5s"]), Some(5));
        let patient = policy(None, Some(60));
        let defaults = "gateway:v4 gateway:v6 dns";
        let cases = [
            (vec![usual.clone()], defaults, 20),
            (vec![none.clone()], "", 20),
            (vec![own.clone()], "tcp:10.0.0.1:22 gateway:v4,timeout=5s", 5),
            // One that asks for nothing does not speak for the other.
            (vec![none.clone(), usual.clone()], defaults, 20),
            (vec![usual.clone(), none.clone()], defaults, 20),
            // Nor does one that names its own.
            (vec![own.clone(), usual], "tcp:10.0.0.1:22 gateway:v4,timeout=5s gateway:v6 dns", 20),
            (vec![none, own.clone()], "tcp:10.0.0.1:22 gateway:v4,timeout=5s", 20),
            (vec![own, patient], "tcp:10.0.0.1:22 gateway:v4,timeout=5s gateway:v6 dns", 60),
        ];
        for (policies, probes, patience) in cases {
            assert_eq!(together(&policies), (probes.to_owned(), patience), "{policies:?}");
        }
        assert_eq!(together(&[policy(None, Some(0))]).1, 0);
        let grows = |policies: &[Options]| required(policies, false).unwrap().patience_grows;
        assert!(grows(&[policy(None, None), policy(None, Some(5))]) && !grows(&[policy(None, Some(5))]));
    }

    #[test]
    fn a_family_that_somebody_names_is_no_alternative() {
        let of = |policies: &[Options]| -> Vec<bool> {
            required(policies, false).unwrap().probes.iter().map(|probe| probe.alternative).collect()
        };
        let (usual, v6) = (policy(None, None), policy(Some(&["gateway:v6"]), None));
        assert_eq!(of(std::slice::from_ref(&usual)), [true, true, false], "IPv4, IPv6, DNS");
        assert_eq!(of(&[usual.clone(), v6.clone()]), [true, false, false]);
        assert_eq!(of(&[v6, usual]), [false, true, false], "IPv6, IPv4, DNS");
    }

    #[test]
    fn one_that_cannot_be_read_is_never_left_out() {
        let wrong = policy(Some(&["gateway,timout=5s"]), None);
        let error = required(&[policy(None, None), wrong], true).unwrap_err();
        assert!(error.to_string().contains("no option \"timout=5s\""), "{error}");
    }
}
