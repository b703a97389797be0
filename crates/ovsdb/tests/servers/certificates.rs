//! An authority, and what it vouched for. As in a hosted OVN, the name in the certificate is nobody's address.

use std::fs;
use std::path::PathBuf;

use linesman_ovsdb::Tls;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::TempDir;

pub const NAME: &str = "ovn.test";

pub struct Certificates {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Certificates {
    pub fn new() -> Self {
        let mut wish = CertificateParams::new(vec![]).unwrap();
        wish.distinguished_name.push(DnType::CommonName, "authority");
        wish.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(wish, KeyPair::generate().unwrap()).unwrap();
        let own = Self { folder: tempfile::tempdir().unwrap(), issuer };
        fs::write(own.path("ca.pem"), own.issuer.pem()).unwrap();
        own.issue();
        own
    }

    /// A new certificate with a new key, in the same files.
    pub fn issue(&self) {
        let key = KeyPair::generate().unwrap();
        let mut wish = CertificateParams::new(vec![NAME.to_owned()]).unwrap();
        wish.distinguished_name.push(DnType::CommonName, "ovn");
        let certificate = wish.signed_by(&key, &self.issuer).unwrap();
        fs::write(self.path("key.pem"), key.serialize_pem()).unwrap();
        fs::write(self.path("cert.pem"), certificate.pem()).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn tls(&self) -> Tls {
        Tls::new(self.path("ca.pem")).identity(self.path("cert.pem"), self.path("key.pem"))
    }

    pub fn arguments(&self) -> [String; 3] {
        [("private-key", "key.pem"), ("certificate", "cert.pem"), ("ca-cert", "ca.pem")]
            .map(|(option, file)| format!("--{option}={}", self.path(file).display()))
    }
}
