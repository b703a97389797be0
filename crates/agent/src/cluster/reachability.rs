//! Whether the API server answers this node. A refusal is an answer: a node that hears one is not cut off.

use std::time::Duration;

use kube::runtime::watcher;
use tokio::time::Instant;

#[derive(Debug, Default)]
pub struct Reachability {
    /// Why it cannot be asked, as a sentence.
    pub error: Option<String>,
    /// Since when nothing is heard of it.
    silent_since: Option<Instant>,
}

impl Reachability {
    /// True if it did not answer before.
    pub fn answered(&mut self) -> bool {
        self.silent_since = None;
        self.error.take().is_some()
    }

    /// True if that is new.
    pub fn failed(&mut self, error: String, is_answer: bool, now: Instant) -> bool {
        let was_silent = self.silent_since.is_some();
        self.silent_since = if is_answer { None } else { self.silent_since.or(Some(now)) };
        let known = self.error.replace(error).is_some();
        !known || was_silent == is_answer
    }

    pub fn silent_for(&self, now: Instant) -> Option<Duration> {
        self.silent_since.map(|since| now.duration_since(since))
    }
}

/// Whether the API server itself said no, as it does to a token that is revoked.
pub fn is_answer(error: &watcher::Error) -> bool {
    let code = match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status)) => status.code,
        watcher::Error::WatchError(status) => status.code,
        _ => return false,
    };
    (400..500).contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api_error(code: u16) -> watcher::Error {
        let status = kube::core::Status { code, ..kube::core::Status::default() };
        watcher::Error::InitialListFailed(kube::Error::Api(Box::new(status)))
    }

    #[test]
    fn a_refusal_is_an_answer_and_an_outage_is_none() {
        assert!(is_answer(&api_error(401)) && is_answer(&api_error(403)));
        assert!(!is_answer(&api_error(503)));
        assert!(!is_answer(&watcher::Error::NoResourceVersion));
    }

    #[test]
    fn silence_begins_with_the_first_error_and_ends_with_any_answer() {
        let (mut server, now) = (Reachability::default(), Instant::now());
        let later = |seconds| now + Duration::from_secs(seconds);
        assert!(server.failed("forbidden".into(), true, now), "it is new");
        assert_eq!(server.silent_for(later(60)), None, "a refusal is no silence");
        assert!(server.failed("timeout".into(), false, later(60)), "that it fell silent is new");
        assert!(!server.failed("timeout".into(), false, later(70)));
        assert_eq!(server.silent_for(later(90)), Some(Duration::from_secs(30)));
        assert!(server.failed("unauthorized".into(), true, later(90)));
        assert_eq!(server.silent_for(later(99)), None);
        assert!(server.answered() && !server.answered() && server.error.is_none());
    }
}
