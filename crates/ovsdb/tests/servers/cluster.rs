//! Clusters of three, over TLS.

use crate::bed::on_both;

on_both! {
    a_killed_leader_is_followed_by_another,
    a_member_without_its_cluster_is_left,
    a_stale_member_is_refused,
}

mod scenarios {
    use std::sync::Arc;

    use linesman_lab::Root;
    use linesman_ovsdb::{Client, Error, Membership, Model, Remote, Snapshot, State, Status, Unsuitable};
    use nix::sys::signal::Signal;

    use crate::bed::{Cluster, builder, ready, replica, status, watching};
    use crate::zoo::{animal, animals};

    fn remote(status: &Status) -> Remote {
        match &status.state {
            State::Connected { remote, .. } => remote.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn has(name: &'static str) -> impl Fn(&Snapshot) -> bool {
        move |snapshot| snapshot.table("Animal").is_some_and(|rows| rows.named(name).is_some())
    }

    fn reason(status: &Status) -> Option<&Unsuitable> {
        match status.error.as_deref() {
            Some(Error::Unsuitable { reason, .. }) => Some(reason),
            _ => None,
        }
    }

    async fn written(client: &Client, name: &str) {
        // While a leader is elected, transactions may fail, or be lost with a connection.
        for _ in 0..100 {
            match client.transact(&[animal(name)]).await {
                Ok(_) => return,
                Err(error) if error.to_string().contains("constraint") => return,
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            }
        }
        panic!("{name} could not be written");
    }

    pub async fn a_killed_leader_is_followed_by_another(version: Root) {
        let mut cluster = Cluster::start(version, 3);
        cluster.settled().await;
        let writer = ready(cluster.client().membership(Membership::LeaderOnly)).await;
        writer.transact(&animals(200)).await.unwrap();
        let leader = status(&writer, Status::is_connected).await;
        let State::Connected { member: Some(member), .. } = &leader.state else { panic!("{leader:?}") };
        assert!(
            member.leader && member.connected && member.model == Model::Clustered && member.cluster.is_some()
        );
        let leader = remote(&leader);
        // A reader of the leader, which has to go to another member.
        let mut remotes = vec![leader.clone()];
        remotes.extend(cluster.remotes.iter().filter(|other| **other != leader).cloned());
        let reader = watching(builder(remotes).tls(cluster.certificates.tls())).await;
        let before = replica(&reader, has("animal 199")).await;
        assert!(
            before.transaction().is_some() && remote(&status(&reader, Status::is_connected).await) == leader
        );
        cluster.member(&leader).kill();
        written(&writer, "after").await;
        let after = replica(&reader, has("after")).await;
        assert!(after.resumed(), "only what had changed was fetched");
        let row =
            |snapshot: &Snapshot| snapshot.table("Animal").unwrap().named("animal 7").unwrap().1.clone();
        assert!(Arc::ptr_eq(&row(&before), &row(&after)));
        assert_ne!(remote(&status(&reader, Status::is_connected).await), leader);
        assert_ne!(remote(&status(&writer, Status::is_connected).await), leader);
        // The next change comes as always.
        written(&writer, "later").await;
        replica(&reader, has("later")).await;
    }

    pub async fn a_member_without_its_cluster_is_left(version: Root) {
        let cluster = Cluster::start(version, 3);
        cluster.settled().await;
        let alone = cluster.remotes[0].clone();
        let client = watching(builder([alone]).tls(cluster.certificates.tls())).await;
        for other in &cluster.members[1..] {
            other.signal(Signal::SIGSTOP);
        }
        let left = status(&client, |status| !status.is_connected() && reason(status).is_some()).await;
        assert_eq!(reason(&left), Some(&Unsuitable::Disconnected));
        for other in &cluster.members[1..] {
            other.signal(Signal::SIGCONT);
        }
        status(&client, Status::is_connected).await;
    }

    /// A member whose disk was restored from a backup says it is fine, and is not.
    pub async fn a_stale_member_is_refused(version: Root) {
        let mut cluster = Cluster::start(version, 1);
        let client = watching(cluster.client()).await;
        client.transact(&[animal("old")]).await.unwrap();
        let server = &mut cluster.members[0];
        server.kill();
        std::fs::copy(server.path("zoo.db"), server.path("backup.db")).unwrap();
        server.run();
        for name in ["new", "newer", "newest"] {
            written(&client, name).await;
        }
        replica(&client, has("newest")).await;
        server.kill();
        std::fs::copy(server.path("backup.db"), server.path("zoo.db")).unwrap();
        server.run();
        let stale = status(&client, |status| matches!(reason(status), Some(Unsuitable::Stale { .. }))).await;
        assert!(!stale.is_connected());
        assert!(
            has("newest")(&client.replica().unwrap().snapshot()),
            "what was known is not replaced by less"
        );
        let fresh = watching(cluster.client()).await;
        assert!(!has("newest")(&fresh.replica().unwrap().snapshot()), "who has seen nothing newer takes it");
    }
}
