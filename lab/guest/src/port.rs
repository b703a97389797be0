//! A virtio-serial port.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use linesman_lab_guest::frame::{Frame, Kind};
use linesman_lab_guest::port_name;

const PORTS: &str = "/sys/class/virtio-ports";
/// How soon somebody who connects is noticed; a port without a host at the other end cannot be waited for.
const NAP: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct Port {
    file: File,
    writing: Mutex<()>,
    /// Nothing is written for any other.
    session: AtomicU32,
}

impl Port {
    /// Waits for the kernel to find it: this program starts early.
    pub fn open(number: u8) -> Self {
        loop {
            if let Some(file) = find(&port_name(number)) {
                return Self { file, writing: Mutex::default(), session: AtomicU32::new(0) };
            }
            std::thread::sleep(NAP);
        }
    }

    /// Ends the session before: what its threads still write goes nowhere.
    pub fn begin(&self, session: u32) {
        self.session.store(session, Ordering::SeqCst);
    }

    /// False if the session is over.
    pub fn send(&self, session: u32, channel: u32, kind: Kind, bytes: &[u8]) -> bool {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.session.load(Ordering::SeqCst) != session {
            return false;
        }
        let frame = Frame { session, channel, kind, bytes: bytes.into() };
        (&self.file).write_all(&frame.encode()).is_ok()
    }

    pub fn send_number(&self, session: u32, channel: u32, kind: Kind, number: i32) -> bool {
        self.send(session, channel, kind, &number.to_be_bytes())
    }

    /// Until the host connects, and for as long as it is connected.
    pub fn reader(&self) -> impl Read {
        &self.file
    }

    pub fn nap(&self) {
        std::thread::sleep(NAP);
    }
}

/// By its name in sysfs: udev, which would make a link, may not run yet.
fn find(name: &str) -> Option<File> {
    let mut ports = fs::read_dir(PORTS).ok()?.filter_map(io::Result::ok).map(|entry| entry.path());
    let named =
        |port: &PathBuf| fs::read_to_string(port.join("name")).is_ok_and(|found| found.trim() == name);
    let device = PathBuf::from("/dev").join(ports.find(named)?.file_name()?);
    OpenOptions::new().read(true).write(true).open(device).ok()
}
