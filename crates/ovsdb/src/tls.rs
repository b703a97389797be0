//! TLS as Open vSwitch does it: both sides show certificates, the chain counts, the host name does not unless asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Where the certificates are, as PEM files. They are read for each connection, so that renewed ones are used from the
/// next one on; while they do not fit each other (a renewal in progress), the last ones that did are used.
#[derive(Debug)]
pub struct Tls {
    ca: PathBuf,
    identity: Option<Identity>,
    verify_host_name: bool,
    last: Mutex<Option<Arc<ClientConfig>>>,
}

#[derive(Debug)]
struct Identity {
    certificate: PathBuf,
    key: PathBuf,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum TlsError {
    #[error("no certificates are configured for it; give the client a `Tls`")]
    NotConfigured,
    #[error("{host:?} is neither a host name nor an address")]
    BadHost { host: String },
    #[error("cannot read {}: {what}; it must be PEM", path.display())]
    File { path: PathBuf, what: String },
    #[error("certificate {} and key {} cannot be used: {what}", certificate.display(), key.display())]
    Identity { certificate: PathBuf, key: PathBuf, what: String },
    #[error("the handshake failed: {0}; compare the certificates of both sides and their authorities")]
    Handshake(String),
    #[error("{0}")]
    Library(rustls::Error),
}

impl Tls {
    /// `ca`: one or more certificates that servers' certificates must descend from.
    pub fn new(ca: impl Into<PathBuf>) -> Self {
        Tls { ca: ca.into(), identity: None, verify_host_name: false, last: Mutex::new(None) }
    }

    /// What this client shows; Open vSwitch's servers demand it by default.
    #[must_use]
    pub fn identity(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.identity = Some(Identity { certificate: certificate.into(), key: key.into() });
        self
    }

    /// Open vSwitch itself does not: any certificate of the authority will do.
    #[must_use]
    pub fn verify_host_name(mut self, verify: bool) -> Self {
        self.verify_host_name = verify;
        self
    }

    /// From the files as they are now.
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match (self.load(), &*last) {
            (Ok(config), _) => Ok(last.insert(Arc::new(config)).clone()),
            (Err(_), Some(config)) => Ok(config.clone()),
            (Err(error), None) => Err(error),
        }
    }

    fn load(&self) -> Result<ClientConfig, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.ca)? {
            roots.add(certificate).map_err(|error| file(&self.ca, error))?;
        }
        let verifier: Arc<dyn ServerCertVerifier> = if self.verify_host_name {
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                .build()
                .map_err(|error| file(&self.ca, error))?
        } else {
            Arc::new(ChainVerifier { roots, provider: provider.clone() })
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Library)?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let Some(Identity { certificate, key }) = &self.identity else {
            return Ok(builder.with_no_client_auth());
        };
        let chain = certificates(certificate)?;
        let private = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| file(key, error))?;
        builder.with_client_auth_cert(chain, private).map_err(|error| TlsError::Identity {
            certificate: certificate.clone(),
            key: key.clone(),
            what: error.to_string(),
        })
    }
}

/// The name that goes into the handshake; as SNI only if it is no address.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(host.to_owned()).map_err(|_| TlsError::BadHost { host: host.to_owned() })
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|error| file(path, error))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read(path)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match all {
        Ok(all) if all.is_empty() => Err(file(path, "no certificate in it")),
        Ok(all) => Ok(all),
        Err(error) => Err(file(path, error)),
    }
}

fn file(path: &Path, what: impl ToString) -> TlsError {
    TlsError::File { path: path.to_owned(), what: what.to_string() }
}

/// Checks everything but the host name.
#[derive(Debug)]
struct ChainVerifier {
    roots: RootCertStore,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for ChainVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let algorithms = self.provider.signature_verification_algorithms.all;
        rustls::client::verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &self.roots,
            intermediates,
            now,
            algorithms,
        )?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
