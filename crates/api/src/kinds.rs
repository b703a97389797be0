//! The kinds of `nmstate.io`: what a client must know to find them.

pub const GROUP: &str = "nmstate.io";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub kind: &'static str,
    pub plural: &'static str,
    pub singular: &'static str,
    pub short_names: &'static [&'static str],
    /// The first one is stored; what Linesman speaks.
    pub versions: &'static [&'static str],
}

impl Kind {
    pub fn version(&self) -> &'static str {
        self.versions[0]
    }

    /// `nmstate.io/v1`
    pub fn api_version(&self) -> String {
        format!("{GROUP}/{}", self.version())
    }

    /// `nmstates.nmstate.io`
    pub fn crd_name(&self) -> String {
        format!("{}.{GROUP}", self.plural)
    }
}

pub const NMSTATE: Kind = Kind {
    kind: "NMState",
    plural: "nmstates",
    singular: "nmstate",
    short_names: &[],
    versions: &["v1", "v1beta1"],
};

pub const POLICY: Kind = Kind {
    kind: "NodeNetworkConfigurationPolicy",
    plural: "nodenetworkconfigurationpolicies",
    singular: "nodenetworkconfigurationpolicy",
    short_names: &["nncp"],
    versions: &["v1", "v1beta1"],
};

pub const ENACTMENT: Kind = Kind {
    kind: "NodeNetworkConfigurationEnactment",
    plural: "nodenetworkconfigurationenactments",
    singular: "nodenetworkconfigurationenactment",
    short_names: &["nnce"],
    versions: &["v1beta1"],
};

pub const NODE_STATE: Kind = Kind {
    kind: "NodeNetworkState",
    plural: "nodenetworkstates",
    singular: "nodenetworkstate",
    short_names: &["nns"],
    versions: &["v1beta1"],
};
