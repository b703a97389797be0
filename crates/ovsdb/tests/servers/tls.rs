//! TLS: whose certificate counts, and what the server learns of the name that it was called by.

use crate::bed::on_both;

on_both! {
    the_chain_counts_and_the_name_only_if_asked_for,
    renewed_certificates_are_used_from_the_next_connection_on,
}

mod scenarios {
    use std::time::Duration;

    use linesman_lab::Root;
    use linesman_ovsdb::unixctl::Daemon;
    use linesman_ovsdb::{Error, Remote, Tls};

    use crate::bed::{LIMIT, Server, builder, free_port, ready, status};
    use crate::certificates::Certificates;
    use crate::zoo::{self, animal};

    fn start(version: Root, certificates: &Certificates) -> (Server, Remote) {
        let port = free_port();
        let mut server = Server::prepare(version);
        server.argument(format!("--remote=pssl:{port}:127.0.0.1"));
        certificates.arguments().into_iter().for_each(|argument| server.argument(argument));
        server.tool(&["create", &server.path("zoo.db"), &server.schema(&zoo::schema("1.0.0"))]);
        server.run();
        (server, Remote::Ssl("127.0.0.1".to_owned(), port))
    }

    async fn refused(remote: &Remote, tls: Tls) -> String {
        match builder([remote.clone()]).tls(tls).connect().await {
            Err(error @ (Error::Tls { .. } | Error::Broken { .. })) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }

    pub async fn the_chain_counts_and_the_name_only_if_asked_for(version: Root) {
        let (ours, others) = (Certificates::new(), Certificates::new());
        let (_server, remote) = start(version, &ours);
        ready(builder([remote.clone()]).tls(ours.tls())).await.transact(&[animal("dog")]).await.unwrap();
        let error = refused(&remote, ours.tls().verify_host_name(true)).await;
        assert!(error.contains("handshake"), "{error}");
        refused(
            &remote,
            Tls::new(others.path("ca.pem")).identity(ours.path("cert.pem"), ours.path("key.pem")),
        )
        .await;
        refused(
            &remote,
            Tls::new(ours.path("ca.pem")).identity(others.path("cert.pem"), others.path("key.pem")),
        )
        .await;
        refused(&remote, Tls::new(ours.path("ca.pem"))).await;
        let error = refused(&remote, Tls::new(ours.path("nothing.pem"))).await;
        assert!(error.contains("nothing.pem"), "{error}");
        match builder([remote]).connect().await {
            Err(error @ Error::Tls { .. }) => assert!(error.to_string().contains("`Tls`"), "{error}"),
            other => panic!("{other:?}"),
        }
    }

    pub async fn renewed_certificates_are_used_from_the_next_connection_on(version: Root) {
        let certificates = Certificates::new();
        let (server, remote) = start(version, &certificates);
        let client = ready(builder([remote.clone()]).tls(certificates.tls())).await;
        let daemon = Daemon::new(server.folder(), "ovsdb-server");
        let reconnected = async |name| {
            let lost = status(&client, |status| !status.is_connected());
            let (_, asked) = tokio::join!(lost, daemon.call("ovsdb-server/reconnect", &[], LIMIT));
            asked.unwrap();
            client.transact(&[animal(name)]).await
        };
        // A renewal in progress: the key does not fit the certificate. Both sides go on with what they have.
        let former = certificates.read("cert.pem");
        certificates.issue();
        let next = certificates.read("cert.pem");
        certificates.write("cert.pem", &former);
        reconnected("torn").await.unwrap();
        let error = refused(&remote, certificates.tls()).await;
        assert!(error.contains("cert.pem") && error.contains("key.pem"), "{error}");
        certificates.write("cert.pem", &next);
        reconnected("renewed").await.unwrap();
        // Another authority altogether: who has read it, refuses the former one's.
        certificates.write("ca.pem", &Certificates::new().read("ca.pem"));
        let hurried = client.with_timeout(Duration::from_millis(500));
        let lost = status(&client, |status| !status.is_connected());
        let (_, asked) = tokio::join!(lost, daemon.call("ovsdb-server/reconnect", &[], LIMIT));
        asked.unwrap();
        let error = hurried.transact(&[animal("distrusted")]).await.unwrap_err();
        assert!(matches!(error, Error::NotConnected { .. }), "{error}");
    }
}

/// SNI as a server sees it: names are sent, addresses are not.
#[tokio::test]
async fn names_are_sent_and_addresses_are_not() {
    use linesman_ovsdb::Remote;

    let certificates = crate::certificates::Certificates::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for (host, wanted) in [("localhost", Some("localhost")), ("127.0.0.1", None)] {
        let remote = Remote::Ssl(host.to_owned(), port);
        let _client = crate::bed::builder([remote]).tls(certificates.tls()).start().unwrap();
        let called = async {
            let (stream, _) = listener.accept().await.unwrap();
            let hello = tokio_rustls::LazyConfigAcceptor::new(Default::default(), stream).await.unwrap();
            hello.client_hello().server_name().map(str::to_owned)
        };
        assert_eq!(crate::bed::within(called).await.as_deref(), wanted);
    }
}
