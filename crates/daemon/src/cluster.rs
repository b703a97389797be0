//! Connecting to the API server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::Client;
use kube::config::{Config, InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};

/// An API server that does not take a connection by then does not take one at all.
const CONNECT: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot use the kubeconfig {path}: {source}")]
    Kubeconfig { path: String, source: KubeconfigError },
    #[error(
        "no cluster is configured: specify a kubeconfig with --kubeconfig or KUBECONFIG, or run in a Pod ({0})"
    )]
    NoCluster(#[from] InClusterError),
    #[error("cannot connect to the API server at {address}: {source}")]
    Client { address: String, source: Box<kube::Error> },
}

/// By `kubeconfig`, else KUBECONFIG, else the Pod's own account.
pub async fn connect(kubeconfig: Option<&Path>) -> Result<Client, Error> {
    let mut config = match kubeconfig.map(PathBuf::from).or_else(named) {
        Some(path) => read(&path).await?,
        None => Config::incluster()?,
    };
    config.connect_timeout = Some(CONNECT);
    let address = config.cluster_url.to_string();
    Client::try_from(config).map_err(|e| Error::Client { address, source: e.into() })
}

fn named() -> Option<PathBuf> {
    std::env::var_os("KUBECONFIG").filter(|name| !name.is_empty()).map(PathBuf::from)
}

async fn read(path: &Path) -> Result<Config, Error> {
    let failed = |source| Error::Kubeconfig { path: path.display().to_string(), source };
    let kubeconfig = Kubeconfig::read_from(path).map_err(failed)?;
    let options = KubeConfigOptions::default();
    Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(failed)
}
