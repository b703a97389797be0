//! Messages that one node alone can read: HPKE (RFC 9180) in its base mode, with X25519, HKDF-SHA256 and ChaCha20-Poly1305.
//! What a message is for is authenticated with it: in another place it cannot be opened.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hpke::aead::ChaCha20Poly1305;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable, Kem, OpModeR, OpModeS, Serializable, single_shot_open, single_shot_seal};

type Suite = X25519HkdfSha256;

/// Distinguishes these messages from any others to the same key.
const PURPOSE: &[u8] = b"linesman.dev/sealed-secrets/v1";
/// Bytes of a key, public, private or of one message.
const KEY: usize = 32;
/// Bytes that a message is longer than what it says, before base64.
const OVERHEAD: usize = KEY + 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("it is no X25519 public key in base64")]
    InvalidKey,
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    #[error("it was sealed to another key or for another purpose, or is damaged")]
    NotOpened,
}

#[derive(Clone)]
pub struct PrivateKey(<Suite as Kem>::PrivateKey);

#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(<Suite as Kem>::PublicKey);

impl PrivateKey {
    pub fn generate() -> Self {
        Self(Suite::gen_keypair().0)
    }

    pub fn public(&self) -> PublicKey {
        PublicKey(Suite::sk_to_pk(&self.0))
    }

    /// To be kept where nobody else can read it.
    pub fn reveal(&self) -> String {
        BASE64.encode(self.0.to_bytes())
    }

    /// None: it is not what `reveal` gave.
    pub fn read(text: &str) -> Option<Self> {
        Deserializable::from_bytes(&BASE64.decode(text).ok()?).ok().map(Self)
    }

    /// What was sealed to this key in this context, of at most so many bytes.
    pub fn open(&self, sealed: &str, context: &[u8], longest: usize) -> Result<Vec<u8>, Error> {
        if sealed.len() > encoded(longest) {
            return Err(Error::TooLong(longest));
        }
        let bytes = BASE64.decode(sealed).map_err(|_| Error::NotOpened)?;
        let (key, text) = bytes.split_at_checked(KEY).ok_or(Error::NotOpened)?;
        let key = Deserializable::from_bytes(key).map_err(|_| Error::NotOpened)?;
        single_shot_open::<ChaCha20Poly1305, HkdfSha256, Suite>(
            &OpModeR::Base,
            &self.0,
            &key,
            PURPOSE,
            text,
            context,
        )
        .map_err(|_| Error::NotOpened)
    }
}

impl PublicKey {
    /// Only the owner of the key can open it, and only in the same context. In base64.
    pub fn seal(&self, text: &[u8], context: &[u8], longest: usize) -> Result<String, Error> {
        if text.len() > longest {
            return Err(Error::TooLong(longest));
        }
        let (key, sealed) = single_shot_seal::<ChaCha20Poly1305, HkdfSha256, Suite>(
            &OpModeS::Base,
            &self.0,
            PURPOSE,
            text,
            context,
        )
        // A key that gives everybody the same secret.
        .map_err(|_| Error::InvalidKey)?;
        Ok(BASE64.encode([&key.to_bytes()[..], &sealed].concat()))
    }
}

/// The length in base64 of a message that says so many bytes.
pub const fn encoded(bytes: usize) -> usize {
    (bytes + OVERHEAD).div_ceil(3) * 4
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64.encode(self.0.to_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey(of {})", self.public())
    }
}

impl FromStr for PublicKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = BASE64.decode(text).map_err(|_| Error::InvalidKey)?;
        Deserializable::from_bytes(&bytes).map(Self).map_err(|_| Error::InvalidKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: &[u8] = b"w1, blue, 3";
    const LONGEST: usize = 100;

    #[test]
    fn only_its_own_key_opens_it_and_only_in_its_context() {
        let (own, other) = (PrivateKey::generate(), PrivateKey::generate());
        let sealed = own.public().seal(b"sesame", CONTEXT, LONGEST).unwrap();
        assert_eq!(own.open(&sealed, CONTEXT, LONGEST).unwrap(), b"sesame");
        assert_eq!(other.open(&sealed, CONTEXT, LONGEST), Err(Error::NotOpened), "another key");
        for context in [&b"w2, blue, 3"[..], b"w1, blue, 4", b""] {
            assert_eq!(own.open(&sealed, context, LONGEST), Err(Error::NotOpened), "another context");
        }
        assert_ne!(sealed, own.public().seal(b"sesame", CONTEXT, LONGEST).unwrap(), "never twice the same");
    }

    #[test]
    fn damaged_short_and_long_messages_are_errors() {
        let key = PrivateKey::generate();
        let sealed = key.public().seal(b"sesame", CONTEXT, LONGEST).unwrap();
        let bytes = BASE64.decode(&sealed).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let opened = key.open(&BASE64.encode(damaged), CONTEXT, LONGEST);
            assert_eq!(opened, Err(Error::NotOpened), "byte {at}");
        }
        for length in 0..bytes.len() {
            let opened = key.open(&BASE64.encode(&bytes[..length]), CONTEXT, LONGEST);
            assert_eq!(opened, Err(Error::NotOpened), "{length} bytes");
        }
        assert_eq!(key.open("not base64", CONTEXT, LONGEST), Err(Error::NotOpened));
        assert_eq!(key.public().seal(&[0; 101], CONTEXT, LONGEST), Err(Error::TooLong(LONGEST)));
        let longest = key.public().seal(&[0; LONGEST], CONTEXT, LONGEST).unwrap();
        assert_eq!(
            (longest.len(), key.open(&longest, CONTEXT, LONGEST)),
            (encoded(LONGEST), Ok(vec![0; LONGEST]))
        );
        let long = key.public().seal(&[0; 200], CONTEXT, 200).unwrap();
        assert_eq!(key.open(&long, CONTEXT, LONGEST), Err(Error::TooLong(LONGEST)));
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        let key = PrivateKey::generate();
        let again = PrivateKey::read(&key.reveal()).unwrap();
        assert_eq!(again.public(), key.public());
        assert_eq!(key.public().to_string().parse(), Ok(key.public()));
        assert_eq!(key.public().to_string().len(), 44);
        assert!(!format!("{key:?}").contains(&key.reveal()), "{key:?}");
        for wrong in ["", "AAAA", "not base64", &"A".repeat(1000)] {
            assert_eq!(wrong.parse::<PublicKey>(), Err(Error::InvalidKey), "{wrong}");
            assert!(PrivateKey::read(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn nothing_is_sealed_to_a_key_that_everybody_could_open() {
        let zero: PublicKey = BASE64.encode([0; KEY]).parse().unwrap();
        assert_eq!(zero.seal(b"sesame", CONTEXT, LONGEST), Err(Error::InvalidKey));
    }
}
