//! Files of the guest.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc::Receiver;

use linesman_lab_guest::frame::{Kind, MOST_BYTES};

use crate::session::Reply;

pub fn write(path: &Path, mode: u32, input: &Receiver<Vec<u8>>) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create(path)?;
    for piece in input {
        file.write_all(&piece)?;
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
}

pub fn read(path: &Path, reply: &Reply) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; MOST_BYTES];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 || !reply.stream(Kind::Stdout, &buffer[..count]) {
            return Ok(());
        }
    }
}
