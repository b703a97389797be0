//! What a host remembers of its document. Each fact is kept by itself: a document that was selected need not be applied,
//! one that was applied may have been edited since, and one that failed is still the one that its deployer chose.

use std::collections::BTreeMap;
use std::fmt;

use linesman_core::mac_address::MacAddress;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// The document that is for this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<Selected>,
    /// The host's bridges are declared: no other program shall make them. Others see it by the flag beside the documents.
    pub in_use: bool,
    /// The document that this host was last brought to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// Whether the last attempt to apply the selected document succeeded; none: it was not attempted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<bool>,
    /// The above in one word, and in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<DocumentState>,
    pub message: String,
    /// Seconds since 1970.
    pub since: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected {
    pub file: String,
    pub hash: Hash,
    /// In words.
    pub why: String,
    /// Chosen while a host name or a NIC that comes later could have led to another document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub provisional: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    pub file: String,
    pub hash: Hash,
    /// The NICs of the document as they were called then: firmware and kernels rename them.
    #[serde(default)]
    pub nics: BTreeMap<String, MacAddress>,
    /// Those that the document calls otherwise, by its names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub called: BTreeMap<String, MacAddress>,
    /// Chosen while a host name or a NIC that comes later could have led to another document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub provisional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DocumentState {
    Applied,
    /// The attempt was rolled back, or did not begin. The next boot tries again.
    Failed,
    /// Edited since it was applied, or not applied yet: the host does not follow it.
    NotLive,
    /// Policies declare its interfaces by now.
    Superseded,
    /// No document can be selected though there are some.
    Ambiguous,
    /// There is no document for this host any more. Its network stays.
    Withdrawn,
}

impl DocumentState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "Applied",
            Self::Failed => "Failed",
            Self::NotLive => "NotLive",
            Self::Superseded => "Superseded",
            Self::Ambiguous => "Ambiguous",
            Self::Withdrawn => "Withdrawn",
        }
    }
}

/// As sha256sum prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hash(String);

impl Hash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Record {
    /// The time is that of the state; another reason for the same state does not change it.
    pub fn turn(&mut self, state: DocumentState, message: impl Into<String>, now: u64) {
        if self.state != Some(state) {
            self.since = now;
        }
        (self.state, self.message) = (Some(state), message.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_sha256sum() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Hash::of(b"").to_string(), empty);
    }

    #[test]
    fn records_of_other_versions_are_read() {
        let read: Record = serde_json::from_str(r#"{"inUse": true, "later": 1}"#).unwrap();
        assert_eq!(read, Record { in_use: true, ..Record::default() });
        let record = Record {
            selected: Some(Selected {
                file: "a.yml".into(),
                hash: Hash::of(b""),
                why: "it is".into(),
                provisional: true,
            }),
            applied: Some(Applied {
                file: "a.yml".into(),
                hash: Hash::of(b""),
                nics: [("eth0".to_owned(), "52:54:00:00:00:0a".parse().unwrap())].into(),
                called: [("uplink".to_owned(), "52:54:00:00:00:0a".parse().unwrap())].into(),
                provisional: true,
            }),
            succeeded: Some(true),
            state: Some(DocumentState::NotLive),
            ..Record::default()
        };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
    }

    #[test]
    fn a_state_has_the_time_of_its_beginning() {
        let mut record = Record::default();
        record.turn(DocumentState::Failed, "one", 5);
        record.turn(DocumentState::Failed, "two", 9);
        assert_eq!((record.since, record.message.as_str()), (5, "two"));
        record.turn(DocumentState::Applied, "", 11);
        assert_eq!(record.since, 11);
    }
}
