//! What the lab and its virtual machines say to each other: frames over a virtio-serial port.
//!
//! The port outlives both ends: a frame may come from a boot, or for a test, that is over. So each frame begins with a
//! mark that can be searched for, and names the session that it belongs to. The lab begins a session with `Hello`; the
//! guest ends everything of the session before, and answers with the same.

pub mod frame;
pub mod list;
pub mod request;

/// Port 0 is the owner's; the others are for `cargo xtask lab exec` and the like, one session at a time each.
pub const PORTS: u8 = 4;

/// As qemu names the port, and as the guest finds it again.
pub fn port_name(port: u8) -> String {
    format!("linesman.lab.{port}")
}
