//! The cluster's certificate authority, and who it vouches for.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose,
};

use crate::error::{Error, Result};
use crate::{gateway_v4, gateway_v6};

#[derive(Debug)]
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// PEM both.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl Authority {
    pub(super) fn new() -> Result<Self> {
        let mut wish = CertificateParams::new(vec![]).map_err(failed)?;
        wish.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        wish.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        wish.distinguished_name = subject("lab", None);
        let key = KeyPair::generate().map_err(failed)?;
        Ok(Self { issuer: CertifiedIssuer::self_signed(wish, key).map_err(failed)? })
    }

    pub(super) fn certificate(&self) -> String {
        self.issuer.pem()
    }

    /// Of the API server, under every name by which it is reached.
    pub(super) fn server(&self) -> Result<Identity> {
        let names = ["localhost", "gateway.lab.test", "kubernetes.default.svc", "127.0.0.1", "::1"];
        let names = names.map(str::to_owned).into_iter();
        let names = names.chain([gateway_v4(0).to_string(), gateway_v6(0).to_string()]);
        let wish = CertificateParams::new(names.collect::<Vec<_>>()).map_err(failed)?;
        self.vouch(wish, subject("kube-apiserver", None), ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Kubernetes takes the common name for the user, the organisation for its group.
    pub(super) fn client(&self, user: &str, group: Option<&str>) -> Result<Identity> {
        let wish = CertificateParams::new(vec![]).map_err(failed)?;
        self.vouch(wish, subject(user, group), ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn vouch(
        &self,
        mut wish: CertificateParams,
        subject: DistinguishedName,
        usage: ExtendedKeyUsagePurpose,
    ) -> Result<Identity> {
        wish.distinguished_name = subject;
        wish.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        wish.extended_key_usages = vec![usage];
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = wish.signed_by(&key, &self.issuer).map_err(failed)?;
        Ok(Identity { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

/// What service-account tokens are signed with, and what they are checked with.
pub(super) fn signing_keys() -> Result<(String, String)> {
    let key = KeyPair::generate().map_err(failed)?;
    Ok((key.serialize_pem(), key.public_key_pem()))
}

fn subject(name: &str, group: Option<&str>) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    if let Some(group) = group {
        subject.push(DnType::OrganizationName, group);
    }
    subject
}

fn failed(error: rcgen::Error) -> Error {
    Error::refused(format!("make the cluster's certificates: {error}"))
}
