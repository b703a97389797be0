//! ovs-vswitchd's control socket. Its main loop answers there, so whoever answers forwards.

use linesman_ovsdb::unixctl::{self, Daemon};

use super::{DEADLINE, Places, ProbeFailure, Running, state_of};
use crate::units::observed::Unit;

pub async fn probe(places: &Places, running: &Running) -> Result<(), ProbeFailure> {
    running.invocation(Unit::OvsVswitchd)?;
    let daemon = Daemon::new(&places.run_dir, "ovs-vswitchd").proc(Some(places.proc.clone()));
    match daemon.call("version", &[], DEADLINE).await {
        Ok(_) => Ok(()),
        Err(unixctl::Error::NoAnswer { .. }) => {
            let state = daemon.pid().ok().and_then(|pid| state_of(&places.proc, pid));
            Err(ProbeFailure::Silent { state })
        }
        Err(error) => Err(ProbeFailure::Refused(error.to_string())),
    }
}
