//! A command of a guest on the caller's terminal.

use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use linesman_lab_guest::frame::MOST_BYTES;
use linesman_lab_guest::request::Request;
use nix::sys::termios::{self, SetArg, Termios};

use super::running::status;
use crate::error::Result;
use crate::vm::Guest;

pub(super) fn on_this_terminal(
    guest: &Arc<Guest>,
    request: impl Fn(&[OsString]) -> Request,
    words: &[OsString],
) -> Result<ExitStatus> {
    let raw = RawTerminal::set();
    let words = if raw.is_some() { on_a_terminal_of_its_own(words) } else { words.into() };
    let channel = Arc::new(guest.start(&request(&words))?);
    let feeding = Arc::clone(&channel);
    // Ends with this process: a read from a terminal cannot be called off.
    std::thread::spawn(move || {
        let mut buffer = [0; MOST_BYTES];
        while let Ok(count @ 1..) = std::io::stdin().read(&mut buffer) {
            if feeding.input(&buffer[..count]).is_err() {
                return;
            }
        }
        let _ = feeding.end_input();
    });
    channel.wait_started(&words.first().map(|word| word.to_string_lossy()).unwrap_or_default())?;
    loop {
        let end = channel.call().wait(Duration::from_millis(10));
        if end.is_some() {
            channel.call().wait_streams(Duration::from_millis(500));
        }
        pass_on(channel.call().take());
        if let Some(end) = end {
            return Ok(status(end));
        }
    }
}

fn pass_on((stdout, stderr): (Vec<u8>, Vec<u8>)) {
    // Whoever closed their end does not want to hear more.
    let _ = std::io::stdout().write_all(&stdout).and_then(|()| std::io::stdout().flush());
    let _ = std::io::stderr().write_all(&stderr);
}

/// `script` gives it a terminal inside the guest: prompts, line editing, Ctrl-C.
fn on_a_terminal_of_its_own(words: &[OsString]) -> Vec<OsString> {
    let quoted = words.iter().map(|word| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''")));
    let line = quoted.collect::<Vec<_>>().join(" ");
    ["script", "-qec", &line, "/dev/null"].map(OsString::from).into()
}

/// The caller's terminal passes every key on; as it was when dropped.
struct RawTerminal(Termios);

impl RawTerminal {
    fn set() -> Option<Self> {
        if !std::io::stdin().is_terminal() {
            return None;
        }
        let before = termios::tcgetattr(std::io::stdin()).ok()?;
        let mut raw = before.clone();
        termios::cfmakeraw(&mut raw);
        termios::tcsetattr(std::io::stdin(), SetArg::TCSANOW, &raw).ok()?;
        Some(Self(before))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        let _ = termios::tcsetattr(std::io::stdin(), SetArg::TCSANOW, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words_on_their_way_through_a_shell() {
        let words = on_a_terminal_of_its_own(&["echo".into(), "it's $HOME".into()]);
        assert_eq!(words[2], "'echo' 'it'\\''s $HOME'");
    }
}
