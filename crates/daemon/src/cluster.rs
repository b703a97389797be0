//! Connecting to the API server. A connection that is cut without a word is noticed within seconds.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::Client;
use kube::client::retry::RetryPolicy;
use kube::client::{Body, ClientBuilder, ConfigExt};
use kube::config::{Config, InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use tower::retry::RetryLayer;
use tower::util::option_layer;
use tower::{BoxError, ServiceExt};

use crate::renewal::{RenewableConnector, Renewal};

/// An API server that does not take a connection by then does not take one at all.
const CONNECT: Duration = Duration::from_secs(5);
/// The kernel asks after the other side of a connection on which nothing comes…
const ASK_AFTER: Duration = Duration::from_secs(4);
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// …and closes it when nothing that was sent is answered for so long.
const NO_ANSWER: Duration = Duration::from_secs(10);
/// A watch gets a bookmark about every minute: what brings nothing for so long leads to a server that is gone, behind a
/// load balancer that is not.
const NOTHING_READ: Duration = Duration::from_secs(150);

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
    connect_renewable(kubeconfig, &Renewal::default()).await
}

/// The same; its connections end with every renewal.
pub async fn connect_renewable(kubeconfig: Option<&Path>, renewal: &Renewal) -> Result<Client, Error> {
    let mut config = match kubeconfig.map(PathBuf::from).or_else(named) {
        Some(path) => read(&path).await?,
        None => Config::incluster()?,
    };
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(NOTHING_READ);
    let address = config.cluster_url.to_string();
    client(config, renewal).map_err(|e| Error::Client { address, source: e.into() })
}

/// As kube's own, but for the connections.
fn client(config: Config, renewal: &Renewal) -> kube::Result<Client> {
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_keepalive(Some(ASK_AFTER));
    tcp.set_keepalive_interval(Some(ASK_AGAIN));
    tcp.set_tcp_user_timeout(Some(NO_ANSWER));
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(tcp)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(true);
    let connector = RenewableConnector { connector, renewal: renewal.clone() };
    let http: HttpClient<_, Body> = HttpClient::builder(TokioExecutor::new()).build(connector);
    let retry = config.default_retry.then(|| RetryLayer::new(RetryPolicy::server_retry()));
    let builder = ClientBuilder::new(http.map_err(BoxError::from), config.default_namespace.clone())
        .with_layer(&config.extra_headers_layer()?)
        .with_layer(&option_layer(config.auth_layer()?))
        .with_layer(&option_layer(retry))
        .with_layer(&config.base_uri_layer());
    Ok(builder.build())
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
