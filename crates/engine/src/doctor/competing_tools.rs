//! Traces of other tools that configure the network.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use linesman_core::doctor::{Answer, CompetingTool, OpenFile, Tool, cloud_init_keeps_off, ifupdown, netplan};
use nix::fcntl::{Flock, FlockArg};

/// Where kubernetes-nmstate's handler locks its node.
const HANDLER_LOCK: &str = "/var/k8s_nmstate/handler_lock";

pub(super) async fn seen(dbus: &Answer) -> Vec<CompetingTool> {
    let mut found: Vec<CompetingTool> = Vec::new();
    let netplans =
        ["/etc/netplan", "/run/netplan", "/usr/lib/netplan"].iter().flat_map(|dir| files(dir, "yaml"));
    found.extend(netplans.filter_map(|file| netplan(&file)));
    let interfaces = read(Path::new("/etc/network/interfaces")).into_iter();
    found.extend(interfaces.chain(files("/etc/network/interfaces.d", "")).filter_map(|file| ifupdown(&file)));
    let owners = match dbus {
        Answer::Yes(_) => owners().await,
        _ => Vec::new(),
    };
    found.extend(networkd(&owners));
    found.extend(cloud_init());
    for (tool, name) in [(Tool::Wicked, "org.opensuse.Network"), (Tool::Connman, "net.connman")] {
        if owners.iter().any(|owner| owner == name) {
            found.push(CompetingTool { tool, evidence: format!("{name} on D-Bus") });
        }
    }
    let dhcpcd = ["/run/dhcpcd/pid", "/run/dhcpcd.pid"].into_iter().find(|pid| super::own_state::lives(pid));
    found.extend(dhcpcd.map(|evidence| CompetingTool { tool: Tool::Dhcpcd, evidence: evidence.to_owned() }));
    found.extend(handler());
    found
}

/// Its files alone do nothing while the daemon does not run.
fn networkd(owners: &[String]) -> Option<CompetingTool> {
    let runs = owners.iter().any(|owner| owner == "org.freedesktop.network1");
    let mut own =
        ["/etc/systemd/network", "/run/systemd/network"].iter().flat_map(|dir| files(dir, "network"));
    let file = own.next().filter(|_| runs)?;
    Some(CompetingTool { tool: Tool::Networkd, evidence: file.path })
}

fn cloud_init() -> Option<CompetingTool> {
    let main = read(Path::new("/etc/cloud/cloud.cfg"))?;
    let evidence = main.path.clone();
    let all: Vec<OpenFile> = std::iter::once(main).chain(files("/etc/cloud/cloud.cfg.d", "cfg")).collect();
    let disabled = Path::new("/etc/cloud/cloud-init.disabled").exists() || cloud_init_keeps_off(&all);
    (!disabled).then_some(CompetingTool { tool: Tool::CloudInit, evidence })
}

/// The lock is held as long as a handler lives; the file alone stays behind.
fn handler() -> Option<CompetingTool> {
    let file = File::open(HANDLER_LOCK).ok()?;
    let held = Flock::lock(file, FlockArg::LockSharedNonblock).is_err();
    held.then(|| CompetingTool { tool: Tool::KubernetesNmstate, evidence: HANDLER_LOCK.to_owned() })
}

fn read(path: &Path) -> Option<OpenFile> {
    let bytes = fs::read(path).ok()?;
    Some(OpenFile { path: path.display().to_string(), text: String::from_utf8_lossy(&bytes).into_owned() })
}

fn files(dir: &str, ending: &str) -> Vec<OpenFile> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
    paths.retain(|path| ending.is_empty() || path.extension().is_some_and(|found| found == ending));
    paths.sort();
    paths.iter().filter_map(|path| read(path)).collect()
}

/// Who is on the system bus.
async fn owners() -> Vec<String> {
    let ask = async {
        let bus = zbus::Connection::system().await?;
        let names = zbus::fdo::DBusProxy::new(&bus).await?.list_names().await?;
        Ok::<_, zbus::Error>(names.into_iter().map(|name| name.to_string()).collect())
    };
    tokio::time::timeout(Duration::from_secs(5), ask).await.ok().and_then(Result::ok).unwrap_or_default()
}
