//! Servers that end with their test.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use linesman_lab::{OpenVSwitch, Root};
use linesman_ovsdb::{Builder, Client, Monitor, Remote, Snapshot, Status};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::certificates::Certificates;
use crate::zoo;

/// Nothing takes that long; machines are busy at times.
pub const LIMIT: Duration = Duration::from_secs(30);

pub async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, work).await.expect("it is done in time")
}

/// Each scenario with both versions.
macro_rules! on_both {
    ($($name:ident,)*) => {
        $(mod $name {
            #[tokio::test]
            async fn debian_12() {
                super::scenarios::$name(linesman_lab::Root::Bookworm).await;
            }

            #[tokio::test]
            async fn debian_testing() {
                super::scenarios::$name(linesman_lab::Root::Forky).await;
            }
        })*
    };
}
pub(crate) use on_both;

pub struct Server {
    programs: OpenVSwitch,
    folder: TempDir,
    arguments: Vec<String>,
    process: Option<Child>,
}

impl Server {
    /// One server with an empty zoo, on a unix socket.
    pub fn start(version: Root) -> Self {
        let mut server = Self::prepare(version);
        server.tool(&["create", &server.path("zoo.db"), &server.schema(&zoo::schema("1.0.0"))]);
        server.run();
        server
    }

    pub fn prepare(version: Root) -> Self {
        let programs = OpenVSwitch::ensure(version).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let socket = format!("--remote=punix:{}", folder.path().join("db.sock").display());
        Self { programs, folder, arguments: vec![socket], process: None }
    }

    pub fn argument(&mut self, argument: String) {
        self.arguments.push(argument);
    }

    pub fn tool(&self, words: &[&str]) {
        let output = self.programs.command("ovsdb-tool").args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The path of a schema file.
    pub fn schema(&self, schema: &Value) -> String {
        let path = self.path("zoo.ovsschema");
        fs::write(&path, schema.to_string()).unwrap();
        path
    }

    pub fn run(&mut self) {
        let program = self.programs.command("ovsdb-server");
        let mut command = Command::new("setpriv");
        command.arg("--pdeathsig=KILL").arg(program.get_program()).args(program.get_args());
        for place in ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"] {
            command.env(place, self.folder.path());
        }
        command.args(["--pidfile", "--log-file", "--verbose=console:off"]).args(&self.arguments);
        command.arg(self.path("zoo.db")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.process = Some(command.spawn().unwrap());
    }

    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub fn signal(&self, signal: Signal) {
        let pid = self.process.as_ref().unwrap().id();
        kill(Pid::from_raw(i32::try_from(pid).unwrap()), signal).unwrap();
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("db.sock")
    }

    pub fn client(&self) -> Builder {
        builder([Remote::unix(self.socket())])
    }

    pub async fn connect(&self) -> Client {
        ready(self.client()).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

pub fn builder(remotes: impl IntoIterator<Item = Remote>) -> Builder {
    let milliseconds = Duration::from_millis;
    Client::builder(remotes, zoo::DATABASE)
        .backoff(milliseconds(20), milliseconds(200))
        .connect_timeout(LIMIT)
        .call_timeout(LIMIT)
        .probe_interval(None)
}

/// Servers take a moment to listen.
pub async fn ready(builder: Builder) -> Client {
    let client = builder.start().unwrap();
    client.ready().await.unwrap();
    client
}

/// A client with a replica of everything.
pub async fn watching(builder: Builder) -> Client {
    ready(builder.monitor(Monitor::all())).await
}

pub async fn status(client: &Client, wanted: impl FnMut(&Status) -> bool) -> Status {
    within(client.status().wait_for(wanted)).await.unwrap().clone()
}

pub async fn replica(client: &Client, wanted: impl FnMut(&Snapshot) -> bool) -> Snapshot {
    within(client.replica().unwrap().wait_for(wanted)).await.unwrap()
}

/// Nobody listens on it at the moment.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Three members that speak TLS to each other and to their clients.
pub struct Cluster {
    pub members: Vec<Server>,
    pub remotes: Vec<Remote>,
    pub certificates: Certificates,
}

impl Cluster {
    pub fn start(version: Root, size: usize) -> Self {
        let certificates = Certificates::new();
        let ports: Vec<(u16, String)> =
            (0..size).map(|_| (free_port(), format!("ssl:127.0.0.1:{}", free_port()))).collect();
        let mut members = Vec::new();
        for (port, own) in &ports {
            let mut server = Server::prepare(version);
            server.argument(format!("--remote=pssl:{port}:127.0.0.1"));
            certificates.arguments().into_iter().for_each(|argument| server.argument(argument));
            let database = server.path("zoo.db");
            match ports.first() {
                Some((_, first)) if first != own => {
                    server.tool(&["join-cluster", &database, zoo::DATABASE, own, first]);
                }
                _ => {
                    let schema = server.schema(&zoo::schema("1.0.0"));
                    server.tool(&["--election-timer=1000", "create-cluster", &database, &schema, own]);
                }
            }
            server.run();
            members.push(server);
        }
        let remotes = ports.iter().map(|(port, _)| Remote::Ssl("127.0.0.1".to_owned(), *port)).collect();
        Self { members, remotes, certificates }
    }

    pub fn client(&self) -> Builder {
        builder(self.remotes.clone()).tls(self.certificates.tls())
    }

    /// Every member is one: it knows the data.
    pub async fn settled(&self) {
        for remote in &self.remotes {
            drop(watching(builder([remote.clone()]).tls(self.certificates.tls())).await);
        }
    }

    pub fn member(&mut self, remote: &Remote) -> &mut Server {
        let place = self.remotes.iter().position(|other| other == remote).unwrap();
        &mut self.members[place]
    }
}
