//! Types of conditions, per kind. They are kubernetes-nmstate's, except where said otherwise.

use crate::words::words;

words! {
    PolicyCondition { Available, Degraded, Progressing, Ignored }
}

words! {
    EnactmentCondition {
        Available,
        Failing,
        Progressing,
        Pending,
        Aborted,
        /// An addition of Linesman's, there only while it is true: the host differs from what was applied.
        Drifted,
    }
}

impl EnactmentCondition {
    /// How the application of the policy goes; exactly one or two of them are true.
    pub const OF_APPLICATION: [Self; 5] =
        [Self::Available, Self::Failing, Self::Progressing, Self::Pending, Self::Aborted];
}

words! {
    NodeStateCondition { Available, Failing }
}

words! {
    /// Of NodeOpenVSwitch, with the meaning that they have in other operators.
    OpenVSwitchCondition { Available, Progressing, Degraded }
}

/// On a Node: whether Open vSwitch forwards and follows its database.
pub const NODE_OPEN_VSWITCH_READY: &str = "OpenVSwitchReady";

words! {
    NMStateCondition { Available, Degraded, Progressing }
}
