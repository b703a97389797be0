//! Why no br-ex can be derived.

use linesman_core::codes::day1::{
    BRIDGE_NAME_TAKEN, BRIDGE_UNUSABLE, NO_DEFAULT_ROUTE, OTHER_UPLINK, UNKNOWN_UPLINK, UNSUITABLE_UPLINK,
    UPLINK_IN_USE,
};
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::interface_name::BadName;

use super::Bridge;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrexError {
    #[error("no interface has a default route, so none can be chosen as the uplink of {bridge}")]
    NoDefaultRoute { bridge: Bridge },
    #[error("{bridge} has the default route but is not complete: it has no uplink")]
    NoUplink { bridge: Bridge },
    #[error("{other} is already there and has the default route, so no uplink can be chosen for {bridge}")]
    OtherBridge { bridge: Bridge, other: Bridge },
    #[error("{0}")]
    BadName(BadName),
    #[error("this host has no interface '{interface}'")]
    NoInterface { interface: String, known: Vec<String> },
    #[error("{interface} cannot be the uplink of {bridge}: {reason}")]
    Unsuitable { interface: String, bridge: Bridge, reason: String, hint: String },
    #[error("{interface} cannot be the uplink of {bridge}: it is a port of the {kind} {controller}")]
    InUse { interface: String, bridge: Bridge, controller: String, kind: InterfaceKind },
    #[error("{bridge} is already on {uplink}, not on {wanted}")]
    OtherUplink { bridge: Bridge, uplink: String, wanted: String },
    #[error("{bridge} exists and is of type {kind}, not a bridge of Open vSwitch")]
    NameTaken { bridge: Bridge, kind: InterfaceKind },
    #[error("{bridge} is on {uplink}, but cannot be used: {reason}")]
    Unusable { bridge: Bridge, uplink: String, reason: String },
}

impl BrexError {
    /// Of `linesman explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoDefaultRoute { .. } | Self::NoUplink { .. } | Self::OtherBridge { .. } => {
                NO_DEFAULT_ROUTE
            }
            Self::BadName(_) | Self::NoInterface { .. } => UNKNOWN_UPLINK,
            Self::Unsuitable { .. } => UNSUITABLE_UPLINK,
            Self::InUse { .. } => UPLINK_IN_USE,
            Self::OtherUplink { .. } => OTHER_UPLINK,
            Self::NameTaken { .. } => BRIDGE_NAME_TAKEN,
            Self::Unusable { .. } => BRIDGE_UNUSABLE,
        }
    }

    pub fn hint(&self) -> String {
        match self {
            Self::NoDefaultRoute { .. } | Self::NoUplink { .. } => {
                "name the uplink with --interface".to_owned()
            }
            Self::OtherBridge { bridge, other } => {
                format!("{other} needs nothing more; name another NIC for {bridge} with --interface")
            }
            Self::BadName(_) => "use the name that `linesman show` prints".to_owned(),
            Self::NoInterface { known, .. } if known.is_empty() => "run `linesman show`".to_owned(),
            Self::NoInterface { known, .. } => format!("it has {}", known.join(", ")),
            Self::Unsuitable { hint, .. } => hint.clone(),
            Self::InUse { controller, kind: InterfaceKind::Bond, .. } => {
                format!("use the bond: --interface {controller}")
            }
            Self::InUse { interface, controller, .. } => {
                format!("remove {interface} from {controller} first")
            }
            Self::OtherUplink { bridge, uplink, wanted } => {
                format!(
                    "to move it, apply a document that has {wanted} instead of {uplink} in the ports of {bridge}"
                )
            }
            Self::NameTaken { bridge, .. } => format!("rename or remove {bridge} first"),
            Self::Unusable { bridge, .. } => format!(
                "run `linesman recover`; then activate it with `nmcli connection up {bridge}-if`, or remove a bridge that \
                 nobody uses with `ovs-vsctl del-br {bridge}`"
            ),
        }
    }

    /// The fault is in the command line, not in the host.
    pub fn is_about_the_name(&self) -> bool {
        matches!(self, Self::BadName(_))
    }
}
