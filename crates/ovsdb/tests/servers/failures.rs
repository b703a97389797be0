//! Servers that hang, connections that are cut, clients that go away.

use crate::bed::on_both;

on_both! {
    a_stopped_server_is_dead_and_comes_back,
    a_call_has_a_deadline,
    a_connection_may_be_cut_in_the_midst_of_a_message,
    nothing_is_left_of_a_client_that_is_dropped,
}

mod scenarios {
    use std::time::Duration;

    use linesman_lab::Root;
    use linesman_ovsdb::{Client, Condition, Error, Monitor, Op, Remote, State};
    use nix::sys::signal::Signal;

    use crate::bed::{Server, builder, replica, status, watching, within};
    use crate::proxy::Proxy;
    use crate::zoo::{animal, animals};

    pub async fn a_stopped_server_is_dead_and_comes_back(version: Root) {
        let server = Server::start(version);
        let client = watching(server.client().probe_interval(Some(Duration::from_millis(300)))).await;
        server.signal(Signal::SIGSTOP);
        let dead = status(&client, |status| !status.is_connected()).await;
        assert!(matches!(dead.error.as_deref(), Some(Error::Dead { .. })), "{dead:?}");
        server.signal(Signal::SIGCONT);
        status(&client, linesman_ovsdb::Status::is_connected).await;
        client.transact(&[animal("dog")]).await.unwrap();
    }

    pub async fn a_call_has_a_deadline(version: Root) {
        let server = Server::start(version);
        let client = server.connect().await;
        server.signal(Signal::SIGSTOP);
        let hurried = client.with_timeout(Duration::from_millis(100));
        let error = hurried.transact(&[animal("late")]).await.unwrap_err();
        assert!(matches!(error, Error::NoAnswer { .. }), "{error}");
        server.signal(Signal::SIGCONT);
        // Its answer, which comes now, is not taken for that of the next call.
        let all = Op::select("Animal", Condition::all(), ["name"]);
        client.transact(&[all]).await.unwrap()[0].rows();
        let nobody = Client::builder([Remote::unix(server.path("nobody.sock"))], "Zoo");
        let client = nobody.call_timeout(Duration::from_millis(100)).start().unwrap();
        for error in [client.ready().await.unwrap_err(), client.transact(&[animal("x")]).await.unwrap_err()] {
            assert!(matches!(&error, Error::NotConnected { last: Some(_), .. }), "{error}");
            assert!(error.to_string().contains("nobody.sock"), "{error}");
        }
    }

    pub async fn a_connection_may_be_cut_in_the_midst_of_a_message(version: Root) {
        let server = Server::start(version);
        server.connect().await.transact(&animals(300)).await.unwrap();
        // In the answers to the first questions, and in the midst of the rows.
        let cuts = vec![0, 1, 100, 700, 3000, 10_000, 20_000, 30_000];
        let (proxy, attempts) = (Proxy::start(&server.socket(), cuts.clone()), cuts.len());
        let remote = Remote::unix(&proxy.socket);
        let milliseconds = Duration::from_millis;
        let client = builder([remote])
            .backoff(milliseconds(1), milliseconds(1))
            .monitor(Monitor::all())
            .start()
            .unwrap();
        let mut watched = client.status();
        let failures = async {
            let mut most = 0;
            loop {
                let seen = watched.borrow_and_update().clone();
                most = most.max(seen.failures);
                if seen.is_connected() {
                    return (most, seen);
                }
                watched.changed().await.unwrap();
            }
        };
        let (most, last) = within(failures).await;
        assert!(most >= 6 && most <= attempts as u64, "{most} failures");
        assert!(matches!(last.error.as_deref(), Some(Error::Broken { .. })), "{last:?}");
        replica(&client, |snapshot| snapshot.table("Animal").unwrap().len() == 300).await;
        client.transact(&[animal("new")]).await.unwrap();
        replica(&client, |snapshot| snapshot.table("Animal").unwrap().named("new").is_some()).await;
    }

    pub async fn nothing_is_left_of_a_client_that_is_dropped(version: Root) {
        let server = Server::start(version);
        let client = watching(server.client()).await;
        let (mut watched, mut own) = (client.status(), client.replica().unwrap());
        let lock = client.lock("kept").unwrap();
        drop(client);
        within(async { while watched.changed().await.is_ok() {} }).await;
        within(async { while own.changed().await.is_ok() {} }).await;
        assert!(own.snapshot().schema().is_some(), "what it had seen can still be read");
        drop(lock);
        let refused = Client::builder([Remote::unix(server.path("nobody.sock"))], "Zoo").connect().await;
        assert!(matches!(refused, Err(Error::Connect { .. })), "{refused:?}");
        let unknown = Client::builder([Remote::unix(server.socket())], "Garden").connect().await;
        assert!(matches!(unknown, Err(Error::Unsuitable { .. })), "{unknown:?}");
        assert_ne!(watched.borrow().state, State::Waiting);
    }
}
