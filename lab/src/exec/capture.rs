//! What a child writes, collected while it runs.

use std::io::Read;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// For streams that outlive their command.
pub(super) const STREAMS: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Capture {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Capture {
    pub(super) fn of(stream: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        let reader = stream.map(|stream| std::thread::spawn(move || copy(stream, &into)));
        Self { bytes, reader }
    }

    pub(super) fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A background process that inherited the stream may hold it open for ever: the command itself has ended.
    pub(super) fn finish(&mut self) -> String {
        let deadline = Instant::now() + STREAMS;
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(200));
        }
        self.text()
    }
}

fn copy(mut stream: impl Read, into: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        into.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend_from_slice(&buffer[..count]);
    }
}
