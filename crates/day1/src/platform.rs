//! What is known of hosts before a platform has made them.

/// Platforms that make hosts and name them when they do: nobody can declare anything by name before.
const NAMELESS: [&str; 6] = ["alibabacloud", "aws", "azure", "gcp", "ibmcloud", "powervs"];

/// Whether hosts have names of their own before they exist. A platform that nobody here knows is taken to be one where a
/// deployer names hosts.
pub fn names_hosts(platform: &str) -> bool {
    !NAMELESS.contains(&platform)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clouds_name_their_hosts_late() {
        assert!(["baremetal", "none", "vsphere", "external", "somethingnew"].iter().all(|p| names_hosts(p)));
        assert!(["aws", "azure", "gcp"].iter().all(|p| !names_hosts(p)));
    }
}
