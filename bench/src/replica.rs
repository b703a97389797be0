//! (i) The first rows of a large table into the replica of the database client, against `ovsdb-client`, which receives and prints
//! them. Whole commands both, from the start of the process to the last row.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use linesman_lab::{OpenVSwitch, Root};
use linesman_ovsdb::{Client, Columns, Datum, Membership, Monitor, Op, Remote, TableMonitor};

use crate::Fallible;
use crate::report::{BenchReport, median};

const ROWS: usize = 20_000;
const AT_ONCE: usize = 1_000;
const ROUNDS: usize = 7;
const DATABASE: &str = "Open_vSwitch";
const TABLE: &str = "Queue";
const LIMIT: Duration = Duration::from_secs(60);

pub fn run(report: &mut BenchReport) -> Fallible<()> {
    let server = Server::start()?;
    runtime()?.block_on(fill(&server.remote()))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut replicate = Command::new(std::env::current_exe()?);
        ours.push(until_done(replicate.arg("replicate").arg(server.remote().to_string()))?);
        theirs.push(until_done(server.programs.command("ovsdb-client").args([
            "--format=csv",
            "--no-headings",
            "monitor-cond-since",
            &server.remote().to_string(),
            DATABASE,
            "[]",
            TABLE,
        ]))?);
        eprint!(".");
    }
    eprintln!(" {ROWS} rows");
    let name = format!("{ROWS} rows into a replica, against ovsdb-client");
    report.row(name, median(ours), "ms", Some(median(theirs)), 1.0);
    Ok(())
}

/// In a process of its own: prints one line for each row that it has.
pub fn main(arguments: &[String]) -> Fallible<()> {
    let remote = arguments.first().ok_or("replicate REMOTE")?.parse::<Remote>()?;
    let rows = runtime()?.block_on(async {
        let monitor = Monitor::new().table(TableMonitor::new(TABLE));
        let client = Client::builder([remote], DATABASE).monitor(monitor).connect().await?;
        Ok::<_, linesman_ovsdb::Error>(client.replica().map(|replica| replica.snapshot()))
    })?;
    let mut out = std::io::stdout().lock();
    for (uuid, row) in rows.iter().filter_map(|rows| rows.table(TABLE)).flat_map(|rows| rows.iter()) {
        writeln!(out, "{uuid},{:?}", row.optional_integer("dscp")?)?;
    }
    Ok(())
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

async fn fill(remote: &Remote) -> Fallible<()> {
    let client = Client::builder([remote.clone()], DATABASE)
        .membership(Membership::Unchecked)
        .call_timeout(LIMIT)
        .start()?;
    for first in (0..ROWS).step_by(AT_ONCE) {
        let insert = |number: usize| {
            let ids = [
                ("iface-id", format!("pod-{number}")),
                ("attached-mac", format!("0a:58:0a:80:{:02x}:{:02x}", number >> 8, number & 0xff)),
                ("owner", "bench".to_owned()),
            ];
            let config = Datum::map([("max-rate", number.to_string()), ("burst", "100000".to_owned())]);
            Op::insert(
                TABLE,
                Columns::new()
                    .with("external_ids", Datum::map(ids))
                    .with("other_config", config)
                    .with("dscp", 7),
            )
        };
        client.transact(&(first..first + AT_ONCE).map(insert).collect::<Vec<_>>()).await?;
    }
    Ok(())
}

/// Milliseconds until it has printed all rows.
fn until_done(command: &mut Command) -> Fallible<f64> {
    let start = Instant::now();
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let lines =
        process.stdout.take().map(|out| BufReader::new(out).lines().take(ROWS).map_while(Result::ok).count());
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    process.kill()?;
    process.wait()?;
    match lines {
        Some(ROWS) => Ok(milliseconds),
        lines => Err(format!("{command:?} printed {} rows", lines.unwrap_or_default()).into()),
    }
}

struct Server {
    programs: OpenVSwitch,
    folder: tempfile::TempDir,
    process: Child,
}

impl Server {
    fn start() -> Fallible<Self> {
        let (programs, folder) = (OpenVSwitch::ensure(Root::Forky)?, tempfile::tempdir()?);
        let database = folder.path().join("conf.db");
        let created =
            programs.command("ovsdb-tool").arg("create").args([&database, &programs.schema()]).status()?;
        if !created.success() {
            return Err("ovsdb-tool did not create a database".into());
        }
        let process = server(&programs, folder.path(), &database).spawn()?;
        Ok(Self { programs, folder, process })
    }

    fn remote(&self) -> Remote {
        Remote::unix(self.folder.path().join("db.sock"))
    }
}

fn server(programs: &OpenVSwitch, folder: &Path, database: &Path) -> Command {
    let program = programs.command("ovsdb-server");
    let mut command = Command::new("setpriv");
    command.arg("--pdeathsig=KILL").arg(program.get_program()).args(program.get_args());
    command.arg(format!("--remote=punix:{}", folder.join("db.sock").display())).arg(database);
    command.env("OVS_RUNDIR", folder).arg("--verbose=off").stdin(Stdio::null());
    command
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
