//! Why a probe failed.

use std::io;
use std::net::IpAddr;

use hickory_proto::{ProtoError, op::ResponseCode, serialize::binary::DecodeError};
use hyper::StatusCode;

use crate::error::Source;

#[derive(Debug, thiserror::Error)]
pub(super) enum ProbeFailure {
    #[error("{peer} does not answer")]
    NoAnswer { peer: String },
    #[error("{peer} does not answer this host's own address {own}")]
    NoAnswerTo { peer: String, own: IpAddr },
    #[error("{peer}: {source}")]
    Io { peer: String, source: io::Error },
    #[error("{server}: {source}")]
    DnsExchange { server: IpAddr, source: DnsError },
    #[error("{server} answers {code}")]
    DnsCode { server: IpAddr, code: ResponseCode },
    #[error("{server} is reachable but refuses to answer")]
    DnsRefused { server: IpAddr },
    #[error("\"{name}\" is not a domain name: {source}")]
    DomainName { name: String, source: ProtoError },
    #[error("{host} cannot be looked up: no DNS server is configured")]
    NoDnsServer { host: String },
    #[error("{server} returned no address")]
    UnknownName { server: IpAddr },
    #[error("{host} was not found: {source}")]
    NotFound { host: String, source: Box<ProbeFailure> },
    #[error("invalid URL: {0}")]
    Url(#[source] Source),
    #[error("the URL has no host")]
    UrlWithoutHost,
    #[error("{host} is not a valid name for a certificate")]
    CertificateName { host: String },
    #[error("no trusted certificates: {0}")]
    NoCertificates(#[source] io::Error),
    #[error(transparent)]
    Tls(#[from] rustls::Error),
    #[error("{}", chain(.0))]
    Http(#[from] hyper_util::client::legacy::Error),
    #[error("it accepts connections but does not answer")]
    HttpSilent,
    #[error("it answers {0}")]
    HttpStatus(StatusCode),
    #[error(transparent)]
    Netlink(#[from] crate::netlink::Error),
    #[error("no family was chosen")]
    NoFamily,
    #[error("the API server does not answer")]
    ApiServerSilent,
    /// As the client of the API server words it.
    #[error("{0}")]
    Cluster(String),
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    All(Vec<ProbeFailure>),
}

#[derive(Debug, thiserror::Error)]
pub(super) enum DnsError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Message(#[from] ProtoError),
    #[error("over TCP: {0}")]
    Tcp(#[source] io::Error),
    #[error("a malformed answer over TCP: {0}")]
    Malformed(#[source] DecodeError),
    #[error("over TCP: an answer to another question")]
    OtherQuestion,
}

/// The libraries say only the outermost thing that went wrong.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = inner.source();
    }
    text
}
