//! What a virtual machine is built of, as qemu's command line.

use std::path::{Path, PathBuf};

use linesman_lab_guest::{PORTS, port_name};
use serde_json::{Value, json};

use crate::NETWORKS;

pub(crate) const MEMORY_MB: u32 = 512;
/// Beside the one that it boots from.
pub(crate) const MOST_DISKS: usize = 4;

/// An old one: programs then use no instructions that are slow to emulate. With random numbers, which a boot waits for.
const CPU: &str = "Nehalem,+rdrand";

/// Off is what costs an emulated machine time and protects nobody here.
const KERNEL_WORDS: &str = "root=/dev/vda rw console=ttyS0 quiet panic=5 net.ifnames=0 mitigations=off nokaslr \
                            audit=0 lsm= init_on_alloc=0 hardened_usercopy=off systemd.show_status=0 \
                            damon_stat.enabled=0 no_timer_check tsc=reliable";

/// Where its memory is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Memory {
    Anonymous,
    /// Saved in this file while it runs.
    Into(PathBuf),
    /// From this file, which stays as it is: each page is copied when it is first written.
    From(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nic {
    pub(crate) tap: String,
    pub(crate) mac: String,
    pub(crate) model: NicModel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NicModel {
    /// Cheap to emulate.
    Virtio,
    /// Intel's 82576: rings, coalescing, pause frames and virtual functions.
    Igb,
}

impl Nic {
    /// Frames leave with their checksums: a switch in userspace passes them on as they are.
    pub(crate) fn backend(&self, number: u8) -> Value {
        json!({
            "type": "tap", "id": nic_backend(number), "ifname": self.tap, "script": "no", "downscript": "no",
            "vnet_hdr": false,
        })
    }

    pub(crate) fn device(&self, number: u8) -> Value {
        let mut device = json!({
            "id": nic_id(number), "netdev": nic_backend(number), "bus": nic_port(number), "mac": self.mac, "romfile": "",
        });
        match self.model {
            NicModel::Igb => device["driver"] = "igb".into(),
            NicModel::Virtio => {
                device["driver"] = "virtio-net-pci".into();
                // As a cable between two NICs would be: bonds speak LACP only where both ways are open at once.
                (device["speed"], device["duplex"]) = (1000.into(), "full".into());
            }
        }
        device
    }
}

/// A disk beside the first; the guest finds it by its serial number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Disk {
    pub(crate) image: PathBuf,
    pub(crate) serial: String,
    pub(crate) read_only: bool,
}

/// All of it as at the start; NICs and disks may also come later.
#[derive(Debug, Clone)]
pub(crate) struct Hardware {
    pub(crate) kernel: PathBuf,
    pub(crate) initrd: PathBuf,
    /// A qcow2 image.
    pub(crate) disk: PathBuf,
    pub(crate) memory: Memory,
    pub(crate) nics: Vec<Nic>,
    pub(crate) disks: Vec<Disk>,
}

pub(crate) fn nic_id(nic: u8) -> String {
    format!("nic{nic}")
}

pub(crate) fn nic_backend(nic: u8) -> String {
    format!("net{nic}")
}

fn nic_port(nic: u8) -> String {
    format!("nic-port{nic}")
}

pub(crate) fn disk_port(disk: usize) -> String {
    format!("disk-port{disk}")
}

impl Hardware {
    /// Standard input is the control socket, standard output the line to the guest: inherited, so that no other process
    /// can get hold of them. Sockets for visitors are in the working directory, where no path is too long for them.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut words = Words::default();
        words.add("-accel", "tcg,thread=multi,tb-size=256");
        words.add("-cpu", CPU);
        words.add("-smp", "1");
        words.add("-m", &MEMORY_MB.to_string());
        words.add("-object", &memory(&self.memory));
        words.add("-machine", "q35,memory-backend=memory,vmport=off,smm=off");
        for alone in ["-nodefaults", "-no-user-config"] {
            words.0.push(alone.into());
        }
        words.add("-display", "none");
        words.add("-nic", "none");
        words.add("-rtc", "base=utc");
        words.add("-kernel", &path(&self.kernel));
        words.add("-initrd", &path(&self.initrd));
        words.add("-append", KERNEL_WORDS);
        words.add("-chardev", "socket,id=control,fd=0");
        words.add("-mon", "chardev=control,mode=control");
        words.add("-chardev", "file,id=console,path=console.log,append=on");
        words.add("-serial", "chardev:console");
        words.add(
            "-blockdev",
            &format!("qcow2,node-name=root,file.driver=file,file.filename={}", path(&self.disk)),
        );
        words.add("-device", "virtio-blk-pci,drive=root,addr=3");
        words.add("-device", "virtio-rng-pci,addr=4");
        words.add("-device", "vmgenid,guid=auto");
        words.add("-device", "virtio-serial-pci,id=serial,addr=5");
        for port in 0..PORTS {
            words.add("-chardev", &line(port));
            words.add(
                "-device",
                &format!("virtserialport,bus=serial.0,chardev=line{port},name={}", port_name(port)),
            );
        }
        let nic_ports = (0..NETWORKS).map(nic_port);
        for (number, port) in nic_ports.chain((0..MOST_DISKS).map(disk_port)).enumerate() {
            words.add(
                "-device",
                &format!("pcie-root-port,id={port},chassis={},slot={}", number + 1, number + 1),
            );
        }
        for (number, disk) in self.disks.iter().enumerate() {
            words.add("-blockdev", &disk_backend(number, disk));
            words.add("-device", &disk_device(number, disk));
        }
        for (number, nic) in (0..).zip(&self.nics) {
            words.add("-netdev", &nic.backend(number).to_string());
            words.add("-device", &nic.device(number).to_string());
        }
        if matches!(self.memory, Memory::From(_)) {
            words.add("-incoming", "defer");
        }
        words.0
    }
}

#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, option: &str, value: &str) {
        self.0.extend([option.into(), value.into()]);
    }
}

fn line(port: u8) -> String {
    match port {
        0 => "socket,id=line0,fd=1".into(),
        _ => format!("socket,id=line{port},path={},server=on,wait=off", visitors_socket(port)),
    }
}

pub(crate) fn visitors_socket(port: u8) -> String {
    format!("visitor{port}.sock")
}

fn memory(memory: &Memory) -> String {
    match memory {
        Memory::Anonymous => format!("memory-backend-ram,id=memory,size={MEMORY_MB}M"),
        Memory::Into(file) => {
            format!("memory-backend-file,id=memory,size={MEMORY_MB}M,share=on,mem-path={}", path(file))
        }
        Memory::From(file) => {
            format!("memory-backend-file,id=memory,size={MEMORY_MB}M,share=off,mem-path={}", path(file))
        }
    }
}

fn disk_backend(number: usize, disk: &Disk) -> String {
    let read_only = if disk.read_only { "on" } else { "off" };
    let image = path(&disk.image);
    format!("raw,node-name=disk{number},read-only={read_only},file.driver=file,file.filename={image}")
}

fn disk_device(number: usize, disk: &Disk) -> String {
    format!(
        "virtio-blk-pci,id=disk{number},drive=disk{number},bus={},serial={}",
        disk_port(number),
        disk.serial
    )
}

/// A comma would end the value.
pub(crate) fn path(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hardware(memory: Memory) -> Hardware {
        let nic = Nic { tap: "p1.0".into(), mac: "02:09:00:00:01:00".into(), model: NicModel::Virtio };
        let disk = Disk { image: "/a,b/programs.img".into(), serial: "programs".into(), read_only: true };
        Hardware {
            kernel: "/vmlinuz".into(),
            initrd: "/initrd".into(),
            disk: "/disk".into(),
            memory,
            nics: vec![nic],
            disks: vec![disk],
        }
    }

    #[test]
    fn nothing_connects_it_to_the_machines_network() {
        let words = hardware(Memory::Anonymous).arguments();
        let networks: Vec<_> =
            words.windows(2).filter(|pair| pair[0] == "-netdev" || pair[0] == "-nic").collect();
        assert_eq!(networks[0][1], "none");
        let backend: Value = serde_json::from_str(&networks[1][1]).unwrap();
        assert_eq!((&backend["type"], &backend["ifname"]), (&json!("tap"), &json!("p1.0")));
        assert_eq!(networks.len(), 2);
    }

    #[test]
    fn a_saved_machine_waits_for_its_state_and_leaves_the_file_alone() {
        let words = hardware(Memory::From("/ram".into())).arguments().join(" ");
        assert!(words.contains("share=off,mem-path=/ram") && words.contains("-incoming defer"), "{words}");
        assert!(!hardware(Memory::Into("/ram".into())).arguments().join(" ").contains("-incoming"));
    }

    #[test]
    fn commas_in_paths_survive() {
        let words = hardware(Memory::Anonymous).arguments().join(" ");
        assert!(words.contains("file.filename=/a,,b/programs.img"), "{words}");
    }
}
