//! The profiles that OpenShift's configure-ovs makes, known by their names.
//!
//! configure-ovs deletes profiles of these names wherever they are stored: whoever wants to keep one gives it another name.

/// `ovs-if-phys0`, `ovs-port-br-ex`, `NAME-slave-ovs-clone`. The bridge's profile is called as its interface, which others
/// do, too: then its port's, among `others`, tells.
pub fn is_named_by_it<'a>(id: &str, kind: &str, mut others: impl Iterator<Item = &'a str>) -> bool {
    let is_of_port =
        id.starts_with("ovs-if-") || id.starts_with("ovs-port-") || id.ends_with("-slave-ovs-clone");
    is_of_port || (kind == "ovs-bridge" && others.any(|other| other.strip_prefix("ovs-port-") == Some(id)))
}
