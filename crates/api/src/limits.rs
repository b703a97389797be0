//! Limits of what is written to the cluster and read from it.

/// Levels of mappings and lists in a document. NMState needs about ten.
pub const DOCUMENT_DEPTH: usize = 24;
/// Levels that are read of any object. What is nested deeper is not read.
pub const READ_DEPTH: usize = 64;
/// Bytes of a document. An enactment holds it up to three times (spec, previous, status), and etcd stores 1.5 MB.
pub const DOCUMENT_SIZE: usize = 400_000;
/// Bytes of all documents of a policy, the hosts' included.
pub const POLICY_SIZE: usize = 600_000;
/// Interfaces of a document.
pub const INTERFACES: usize = 2_000;
/// Bytes of a state that a node reports; agents report at most a million bytes.
pub const STATE_SIZE: usize = 1_200_000;
/// Items that are read of a list in a status.
pub const ITEMS: usize = 10_000;
/// Bytes that are read of a text in a status.
pub const TEXT: usize = 4_096;
/// Bytes of all values of Secrets that one enactment needs, before they are sealed.
pub const SECRETS: usize = 65_536;
/// Characters of the same when they are sealed, in base64.
pub const SEALED_SECRETS: u64 = 90_000;
/// Of the lists in the status of a NodeOpenVSwitch; beside each is the number of all.
pub const OVS_BRIDGES: usize = 64;
pub const OVS_INTERFACE_ERRORS: usize = 32;
pub const OVS_SETTINGS: usize = 128;
/// Characters of its texts.
pub const OVS_NAME: usize = 256;
pub const OVS_TEXT: usize = 1_024;
/// Characters of a label's value.
pub const LABEL: usize = 63;
