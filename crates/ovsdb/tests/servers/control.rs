//! unixctl.

use crate::bed::on_both;

on_both! {
    daemons_answer_in_time_or_not_at_all,
}

mod scenarios {
    use std::time::Duration;

    use linesman_lab::Root;
    use linesman_ovsdb::unixctl::{Daemon, Error, Unixctl};
    use nix::sys::signal::Signal;

    use crate::bed::{LIMIT, Server};

    pub async fn daemons_answer_in_time_or_not_at_all(version: Root) {
        let mut server = Server::start(version);
        drop(server.connect().await);
        let daemon = Daemon::new(server.folder(), "ovsdb-server");
        let mut control = daemon.connect(LIMIT).await.unwrap();
        let said = control.call("version", &[]).await.unwrap();
        assert!(said.contains(if version == Root::Bookworm { "3.1" } else { "4." }), "{said}");
        assert!(control.call("ovsdb-server/list-dbs", &[]).await.unwrap().contains("Zoo"));
        assert!(control.call("vlog/set", &["console:off"]).await.is_ok());
        let refused = control.call("fly", &["high"]).await.unwrap_err();
        assert!(matches!(&refused, Error::Refused { command, .. } if command == "fly"), "{refused}");
        server.signal(Signal::SIGSTOP);
        let hung = daemon.call("version", &[], Duration::from_millis(100)).await.unwrap_err();
        assert!(matches!(hung, Error::NoAnswer { .. }), "{hung}");
        server.signal(Signal::SIGCONT);
        let socket = daemon.socket().unwrap();
        server.kill();
        assert!(matches!(daemon.socket(), Err(Error::StalePidfile { .. })));
        let blind = daemon.clone().proc(None);
        let stale = blind.call("version", &[], LIMIT).await.unwrap_err();
        assert!(matches!(stale, Error::StaleSocket { .. }), "{stale}");
        std::fs::remove_file(&socket).unwrap();
        assert!(matches!(Unixctl::connect(&socket, LIMIT).await, Err(Error::Connect { .. })));
        assert!(matches!(control.call("version", &[]).await, Err(Error::Broken { .. })));
        assert!(matches!(control.call("version", &[]).await, Err(Error::GivenUp { .. })));
    }
}
