//! The kinds: what a client must know to find them.

/// Of kubernetes-nmstate, with whose kinds those of this group are compatible.
pub const GROUP: &str = "nmstate.io";
/// Of Linesman's own kinds.
pub const OWN_GROUP: &str = "linesman.dev";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub group: &'static str,
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
        format!("{}/{}", self.group, self.version())
    }

    /// As the documentation of `apiVersion` has it.
    pub(crate) fn example(&self) -> String {
        if self.group == GROUP { format!("{GROUP}/v1") } else { self.api_version() }
    }

    /// `nmstates.nmstate.io`
    pub fn crd_name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }
}

pub const NMSTATE: Kind = Kind {
    group: GROUP,
    kind: "NMState",
    plural: "nmstates",
    singular: "nmstate",
    short_names: &[],
    versions: &["v1", "v1beta1"],
};

pub const POLICY: Kind = Kind {
    group: GROUP,
    kind: "NodeNetworkConfigurationPolicy",
    plural: "nodenetworkconfigurationpolicies",
    singular: "nodenetworkconfigurationpolicy",
    short_names: &["nncp"],
    versions: &["v1", "v1beta1"],
};

pub const ENACTMENT: Kind = Kind {
    group: GROUP,
    kind: "NodeNetworkConfigurationEnactment",
    plural: "nodenetworkconfigurationenactments",
    singular: "nodenetworkconfigurationenactment",
    short_names: &["nnce"],
    versions: &["v1beta1"],
};

pub const NODE_STATE: Kind = Kind {
    group: GROUP,
    kind: "NodeNetworkState",
    plural: "nodenetworkstates",
    singular: "nodenetworkstate",
    short_names: &["nns"],
    versions: &["v1beta1"],
};

pub const NODE_OPEN_VSWITCH: Kind = Kind {
    group: OWN_GROUP,
    kind: "NodeOpenVSwitch",
    plural: "nodeopenvswitches",
    singular: "nodeopenvswitch",
    short_names: &["novs"],
    versions: &["v1alpha1"],
};
