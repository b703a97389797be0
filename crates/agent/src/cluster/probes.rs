//! Probes by way of the cluster: does the API server answer, is the node ready?

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::Api;
use linesman_engine::probe::{ClusterAnswer, ClusterError, ClusterProbe};
use tokio::time::Instant;

/// One request answers both questions if they are asked at the same time.
const SAME_TIME: Duration = Duration::from_millis(300);

#[derive(Debug, thiserror::Error)]
enum ProbeError {
    #[error(transparent)]
    Connect(#[from] linesman_daemon::cluster::Error),
    #[error("the API server does not answer: {0}")]
    Silent(#[from] kube::Error),
    #[error("node {node} is not ready")]
    NotReady { node: String },
}

/// Whether the cluster counts the node as ready.
type Readiness = Result<bool, Arc<ProbeError>>;

#[derive(Debug)]
pub struct ClusterProbes {
    kubeconfig: Option<PathBuf>,
    node: String,
    /// The API server has just answered, and a release says whether the node was ready: no need to ask before the change, too.
    assumed_ready: Mutex<bool>,
    seen: tokio::sync::Mutex<Option<(Instant, Readiness)>>,
}

impl ClusterProbes {
    pub fn new(kubeconfig: Option<PathBuf>, node: &str) -> Self {
        Self {
            kubeconfig,
            node: node.into(),
            assumed_ready: Mutex::default(),
            seen: tokio::sync::Mutex::default(),
        }
    }

    /// Whether what comes now is known to have been well.
    pub fn assume_ready(&self, well: bool) {
        *self.assumed_ready.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = well;
    }

    fn is_assumed_ready(&self) -> bool {
        *self.assumed_ready.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn look(&self) -> Readiness {
        if self.is_assumed_ready() {
            return Ok(true);
        }
        let mut seen = self.seen.lock().await;
        if let Some((at, answer)) = seen.as_ref().filter(|(at, _)| at.elapsed() < SAME_TIME) {
            tracing::debug!("the API server was asked {} ms ago", at.elapsed().as_millis());
            return answer.clone();
        }
        let answer = self.ask().await.map_err(Arc::new);
        *seen = Some((Instant::now(), answer.clone()));
        answer
    }

    /// By a connection of its own: one from before the change may live on where no new one can be made.
    async fn ask(&self) -> Result<bool, ProbeError> {
        let client = linesman_daemon::cluster::connect(self.kubeconfig.as_deref()).await?;
        let nodes: Api<Node> = Api::all(client);
        let node = nodes.get(&self.node).await?;
        let conditions = node.status.and_then(|status| status.conditions).unwrap_or_default();
        Ok(conditions.iter().any(|c| c.type_ == "Ready" && c.status == "True"))
    }
}

impl ClusterProbe for ClusterProbes {
    fn api_server(&self) -> ClusterAnswer<'_> {
        Box::pin(async { self.look().await.map(drop).map_err(|error| error as ClusterError) })
    }

    fn node_ready(&self) -> ClusterAnswer<'_> {
        Box::pin(async {
            match self.look().await.map_err(|error| error as ClusterError)? {
                true => Ok(()),
                false => Err(Arc::new(ProbeError::NotReady { node: self.node.clone() }) as ClusterError),
            }
        })
    }
}
