//! Runs inside a virtual machine of the lab: executes its commands, reads and writes its files.

mod files;
mod port;
mod process;
mod session;

use std::sync::Arc;

use linesman_lab_guest::PORTS;
use port::Port;

fn main() {
    let serving: Vec<_> = (0..PORTS).map(|number| std::thread::spawn(move || serve(number))).collect();
    for port in serving {
        let _ = port.join();
    }
}

fn serve(number: u8) {
    let port = Arc::new(Port::open(number));
    session::serve(&port);
}
