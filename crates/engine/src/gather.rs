//! What support needs to know about this host, part by part, without secrets.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use linesman_core::doctor::br_ex::NAME;
use linesman_core::doctor::examine;
use linesman_core::document::tree;
use linesman_core::secrets::{mask_profile, mask_text, mask_value};
use serde::Serialize;
use serde_json::Value;

use crate::doctor::{DOCUMENTS, RECORD};
use crate::error::Source;
use crate::nm::Nm;
use crate::transaction::Settings;
use crate::{doctor, netlink::Netlink, observe, ovs};

/// One file of the archive, or why it could not be had.
#[derive(Debug)]
pub struct Part {
    pub path: String,
    pub content: Result<String, Source>,
}

/// No part may keep the others waiting longer.
const LIMIT: Duration = Duration::from_secs(30);
/// Of each log, the last lines.
const LOG_LINES: &str = "5000";

pub async fn parts(settings: &Settings) -> Vec<Part> {
    let mut parts = machine();
    parts.push(part("state.json", bounded(state(false)).await));
    parts.push(part("kernel/state.json", bounded(state(true)).await));
    parts.extend(kernel().await);
    parts.extend(networkmanager().await);
    parts.extend(files(
        "networkmanager/profiles",
        &["/etc/NetworkManager/system-connections", "/run/NetworkManager/system-connections"],
        mask_profile,
    ));
    parts.extend(files(
        "networkmanager/conf",
        &["/etc/NetworkManager", "/etc/NetworkManager/conf.d"],
        mask_profile,
    ));
    parts.push(part("ovs/keys.json", bounded(open_vswitch()).await));
    parts.extend(files("journal", &[&settings.state_dir.join("journal").display().to_string()], masked_json));
    parts.extend(br_ex(settings).await);
    parts.extend(logs().await);
    let report = examine(&doctor::inspection(settings).await);
    parts.push(part("doctor.txt", Ok(report.render(false))));
    parts.push(part("doctor.json", masked(&report)));
    parts
}

fn part(path: &str, content: Result<String, Source>) -> Part {
    Part { path: path.to_owned(), content }
}

async fn bounded(content: impl Future<Output = Result<String, Source>>) -> Result<String, Source> {
    tokio::time::timeout(LIMIT, content)
        .await
        .unwrap_or_else(|_| Err(format!("not collected within {} s", LIMIT.as_secs()).into()))
}

fn masked(value: &impl Serialize) -> Result<String, Source> {
    let mut value = serde_json::to_value(value)?;
    mask_value(&mut value);
    Ok(serde_json::to_string_pretty(&value)?)
}

/// Half an entry of the journal is text like any other.
fn masked_json(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => masked(&value).unwrap_or_default(),
        Err(_) => mask_text(text),
    }
}

/// A secret may have more lines than that with its name: what can be read is masked by its fields.
fn masked_document(text: &str) -> String {
    match tree(text).map(|document| document.to_value()) {
        Ok(value @ Value::Object(_)) => masked(&value).unwrap_or_default(),
        _ => mask_text(text),
    }
}

fn machine() -> Vec<Part> {
    let read = |path: &str| fs::read_to_string(path).map_err(Source::from);
    let kernel = nix::sys::utsname::uname().map_err(Source::from).map(|name| {
        let word = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        [word(name.sysname()), word(name.release()), word(name.version()), word(name.machine())].join(" ")
            + "\n"
    });
    vec![
        part("machine/os-release", read("/etc/os-release")),
        part("machine/kernel", kernel),
        part("machine/uptime", read("/proc/uptime")),
        part("machine/resolv.conf", read("/etc/resolv.conf")),
    ]
}

async fn state(kernel_only: bool) -> Result<String, Source> {
    let read = if kernel_only { observe::kernel(|_| ()).await } else { observe::show(|_| ()).await };
    masked(&read?)
}

async fn kernel() -> Vec<Part> {
    let netlink = match Netlink::open() {
        Ok(netlink) => netlink,
        Err(e) => return vec![part("kernel/links.json", Err(e.into()))],
    };
    let links = async { masked(&netlink.links().await?) };
    let addresses = async { masked(&netlink.addresses().await?) };
    let routes = async { masked(&netlink.default_routes().await?) };
    vec![
        part("kernel/links.json", bounded(links).await),
        part("kernel/addresses.json", bounded(addresses).await),
        part("kernel/default-routes.json", bounded(routes).await),
    ]
}

async fn networkmanager() -> Vec<Part> {
    let nm = match Nm::connect().await {
        Ok(nm) => nm,
        Err(e) => return vec![part("networkmanager/version", Err(e.into()))],
    };
    let devices = async { masked(&nm.view().await?.devices) };
    let active = async { masked(&nm.view().await?.active) };
    let checkpoints = async { masked(&nm.checkpoints().await?) };
    vec![
        part("networkmanager/version", nm.version().await.map_err(Source::from)),
        part("networkmanager/devices.json", devices.await),
        part("networkmanager/active.json", active.await),
        part("networkmanager/checkpoints.json", checkpoints.await),
    ]
}

async fn open_vswitch() -> Result<String, Source> {
    masked(&ovs::read_keys().await?)
}

/// br-ex, the document that the host was installed with, and what configure-ovs was told.
async fn br_ex(settings: &Settings) -> Vec<Part> {
    let mut parts = files("first-boot", &[DOCUMENTS, "/etc/ovnk"], masked_document);
    let record = settings.state_dir.join(RECORD).display().to_string();
    parts.extend(file("first-boot", &record, masked_json));
    for path in HINTS {
        parts.extend(file("first-boot", path, mask_text));
    }
    match bounded(async { masked(&ovs::bridge(NAME).await?) }).await {
        Ok(text) if text == "null" => {}
        bridge => parts.push(part("ovs/br-ex.json", bridge)),
    }
    parts
}

/// The settings of the first boot, and what configure-ovs and nodeip-configuration were told or chose.
const HINTS: [&str; 3] = [
    "/etc/linesman/firstboot.env",
    "/var/lib/ovnk/iface_default_hint",
    "/run/nodeip-configuration/primary-ip",
];

/// The files of some folders, one level deep. Folders that are not there have none.
fn files(under: &str, dirs: &[&str], mask: fn(&str) -> String) -> Vec<Part> {
    let listed = dirs.iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten());
    let mut paths: Vec<PathBuf> =
        listed.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
    paths.retain(|path| path.extension().is_none_or(|ending| ending != "reserve"));
    paths.sort();
    paths.iter().map(|path| of_file(under, path, mask)).collect()
}

/// A file that is not there is no part.
fn file(under: &str, path: &str, mask: fn(&str) -> String) -> Option<Part> {
    let path = Path::new(path);
    path.is_file().then(|| of_file(under, path, mask))
}

fn of_file(under: &str, path: &Path, mask: fn(&str) -> String) -> Part {
    let bytes = fs::read(path).map_err(Source::from);
    let content = bytes.map(|bytes| mask(&String::from_utf8_lossy(&bytes)));
    part(&format!("{under}{}", flat(path)), content)
}

/// Where a file comes from matters: `/run` is not `/etc`.
fn flat(path: &Path) -> String {
    path.display().to_string().replace("/../", "/")
}

async fn logs() -> Vec<Part> {
    let units = [
        ("log/networkmanager.txt", "NetworkManager.service"),
        ("log/linesman.txt", "linesman*"),
        ("log/openvswitch.txt", "ovs*"),
    ];
    let mut parts = Vec::new();
    for (path, unit) in units {
        parts.push(part(path, bounded(log_of(unit)).await));
    }
    parts
}

async fn log_of(unit: &str) -> Result<String, Source> {
    let mut command = tokio::process::Command::new("journalctl");
    command
        .args(["--no-pager", "--output=short-iso", "--lines", LOG_LINES, "--unit", unit])
        .kill_on_drop(true);
    let output = command.output().await.map_err(|e| format!("journalctl: {e}"))?;
    if !output.status.success() {
        return Err(format!("journalctl: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(mask_text(&String::from_utf8_lossy(&output.stdout)))
}
