//! One request over HTTP or HTTPS; any answer below 500 means that somebody is at home.

use std::{net::SocketAddr, sync::Arc};

use http_body_util::Empty;
use hyper::{
    Request, StatusCode, Uri,
    body::Bytes,
    header::HOST,
    http::uri::{InvalidUri, Scheme},
};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{Connect, HttpConnector},
    },
    rt::TokioExecutor,
};
use rustls::{
    ClientConfig, DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use tokio::time::{Instant, timeout_at};

use super::{failure::ProbeFailure, run::Finding, tcp::reachable};

pub(super) async fn check(url: &str, insecure: bool, deadline: Instant) -> Finding {
    let status = match timeout_at(deadline, get(url, insecure, deadline)).await {
        Ok(status) => status?,
        Err(_) => return Err(ProbeFailure::HttpSilent.into()),
    };
    if status.is_server_error() { Err(ProbeFailure::HttpStatus(status).into()) } else { Ok(None) }
}

async fn get(url: &str, insecure: bool, deadline: Instant) -> Result<StatusCode, ProbeFailure> {
    let url: Uri = url.parse().map_err(|error: InvalidUri| ProbeFailure::Url(error.into()))?;
    let host = url.host().ok_or(ProbeFailure::UrlWithoutHost)?.trim_matches(['[', ']']).to_owned();
    let secure = url.scheme() == Some(&Scheme::HTTPS);
    let port = url.port_u16().unwrap_or(if secure { 443 } else { 80 });
    let address = reachable(&host, port, deadline).await?;
    let request = request(&url, address)?;
    if secure {
        send(request, tls_connector(host, insecure)?).await
    } else {
        send(request, HttpConnector::new()).await
    }
}

/// The connection goes to the address that was found to answer; the request carries the name that was given.
fn request(url: &Uri, address: SocketAddr) -> Result<Request<Empty<Bytes>>, ProbeFailure> {
    let wrong = |error: hyper::http::Error| ProbeFailure::Url(error.into());
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let target = Uri::builder()
        .scheme(url.scheme_str().unwrap_or("http"))
        .authority(address.to_string())
        .path_and_query(path)
        .build()
        .map_err(wrong)?;
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit('@').next().unwrap_or_default();
    Request::get(target).header(HOST, host).header("user-agent", "linesman").body(Empty::new()).map_err(wrong)
}

async fn send(
    request: Request<Empty<Bytes>>,
    connector: impl Connect + Clone + Send + Sync + 'static,
) -> Result<StatusCode, ProbeFailure> {
    let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector);
    Ok(client.request(request).await?.status())
}

fn tls_connector(host: String, insecure: bool) -> Result<HttpsConnector<HttpConnector>, ProbeFailure> {
    let name = ServerName::try_from(host.clone()).map_err(|_| ProbeFailure::CertificateName { host })?;
    Ok(HttpsConnectorBuilder::new()
        .with_tls_config(tls_config(insecure)?)
        .https_only()
        .with_server_name_resolver(FixedServerNameResolver::new(name))
        .enable_http1()
        .build())
}

fn tls_config(insecure: bool) -> Result<ClientConfig, ProbeFailure> {
    use hyper_rustls::ConfigBuilderExt;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    if insecure {
        let verifier = Arc::new(AnyCertificate(provider));
        return Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth());
    }
    let trusting = builder.with_native_roots().map_err(ProbeFailure::NoCertificates)?;
    Ok(trusting.with_no_client_auth())
}

/// For probes that ask whether somebody answers, not who.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
