//! Probes that ask the cluster about this host. The engine knows no cluster: a client of the API server implements [`ClusterProbe`].

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use super::failure::ProbeFailure;
use super::run::{Finding, Trouble};

/// Well, or why not, in words for people.
pub type ClusterAnswer<'a> = Pin<Box<dyn Future<Output = Result<(), ClusterError>> + Send + 'a>>;

/// Shared, since one request may answer several probes.
pub type ClusterError = Arc<dyn std::error::Error + Send + Sync>;

/// Asked anew each time: an answer from a cache says nothing about the network. Bounded by whoever asks.
pub trait ClusterProbe: fmt::Debug + Send + Sync {
    /// The API server answers this host.
    fn api_server(&self) -> ClusterAnswer<'_>;

    /// The cluster counts this node as ready.
    fn node_ready(&self) -> ClusterAnswer<'_>;
}

/// None on a host that belongs to no cluster.
pub type Cluster = Option<Arc<dyn ClusterProbe>>;

#[derive(Debug, Clone, Copy)]
pub(super) enum Question {
    ApiServer,
    NodeReady,
}

pub(super) async fn check(cluster: &Cluster, question: Question, deadline: Instant) -> Finding {
    let Some(cluster) = cluster else {
        return Err(Trouble::NotApplicable("this host is not in a cluster".to_owned()));
    };
    let answer = match question {
        Question::ApiServer => cluster.api_server(),
        Question::NodeReady => cluster.node_ready(),
    };
    match timeout_at(deadline, answer).await {
        Ok(answer) => answer.map(|()| None).map_err(|error| ProbeFailure::Cluster(error.to_string()).into()),
        Err(_) => Err(ProbeFailure::ApiServerSilent.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::probe::{Probe, assess, run_once, wait_until_pass};

    /// Gives a fixed answer; without one it never answers.
    #[derive(Debug)]
    struct FixedAnswer(Option<Result<(), &'static str>>);

    impl FixedAnswer {
        fn cluster(answer: Option<Result<(), &'static str>>) -> Cluster {
            Some(Arc::new(FixedAnswer(answer)))
        }

        fn answer(&self) -> ClusterAnswer<'_> {
            match self.0 {
                Some(answer) => Box::pin(std::future::ready(
                    answer.map_err(|why| Arc::new(std::io::Error::other(why)) as ClusterError),
                )),
                None => Box::pin(std::future::pending()),
            }
        }
    }

    impl ClusterProbe for FixedAnswer {
        fn api_server(&self) -> ClusterAnswer<'_> {
            self.answer()
        }

        fn node_ready(&self) -> ClusterAnswer<'_> {
            self.answer()
        }
    }

    fn probes(timeout: &str) -> Vec<Probe> {
        ["apiServer", "nodeReady"].map(|name| format!("{name},timeout={timeout}").parse().unwrap()).into()
    }

    async fn in_words(cluster: &Cluster) -> Vec<String> {
        let results = run_once(&probes("150ms"), cluster).await;
        results.iter().map(|result| result.to_string().replace(" in 0 ms", "")).collect()
    }

    #[tokio::test]
    async fn what_the_cluster_answers_is_reported() {
        let well = in_words(&FixedAnswer::cluster(Some(Ok(())))).await;
        assert_eq!(well, ["apiServer passed", "nodeReady passed"]);
        let ill = in_words(&FixedAnswer::cluster(Some(Err("the node is NotReady")))).await;
        assert_eq!(ill[1], "nodeReady failed: the node is NotReady");
        let silent = in_words(&FixedAnswer::cluster(None)).await;
        assert_eq!(silent[0], "apiServer failed: the API server does not answer");
        assert_eq!(in_words(&None).await[0], "apiServer not applicable: this host is not in a cluster");
    }

    #[tokio::test]
    async fn a_cluster_that_stops_answering_fails_the_change() {
        let probes = probes("50ms");
        let before = run_once(&probes, &FixedAnswer::cluster(Some(Ok(())))).await;
        let patience = Duration::from_millis(100);
        let after =
            wait_until_pass(&probes, &before, &FixedAnswer::cluster(None), patience, std::future::pending)
                .await;
        let reason = assess(&before, &after).reason().unwrap();
        assert!(reason.starts_with("apiServer failed: the API server does not answer"), "{reason}");
    }

    /// However many do not answer, they cost one timeout before the change and a moment after it.
    #[tokio::test]
    async fn no_answer_before_the_change_costs_one_timeout_in_total() {
        const FOR_EVER: Duration = Duration::from_secs(3600);
        let silent = FixedAnswer::cluster(None);
        let probes: Vec<Probe> = (0..20).flat_map(|_| probes("200ms")).collect();
        let started = Instant::now();
        let before = run_once(&probes, &silent).await;
        let after = wait_until_pass(&probes, &before, &silent, FOR_EVER, std::future::pending).await;
        assert!(assess(&before, &after).holds());
        assert!(started.elapsed() < Duration::from_millis(200) * 20, "{:?}", started.elapsed());
    }
}
