//! Locks.

use crate::bed::on_both;

on_both! {
    a_lock_is_held_by_one_at_a_time,
    a_stolen_lock_comes_back_when_the_thief_is_done,
}

mod scenarios {
    use linesman_lab::Root;
    use linesman_ovsdb::{Error, ErrorCode, Lock, LockState, Op};

    use crate::bed::{Server, status, within};
    use crate::zoo::animal;

    async fn becomes(lock: &mut Lock, wanted: LockState) {
        within(async {
            while lock.state() != wanted {
                lock.changed().await.unwrap();
            }
        })
        .await;
    }

    pub async fn a_lock_is_held_by_one_at_a_time(version: Root) {
        let mut server = Server::start(version);
        let (one, two) = (server.connect().await, server.connect().await);
        let mut first = one.lock("zoo").unwrap();
        within(first.held()).await.unwrap();
        assert!(matches!(one.lock("zoo"), Err(Error::LockInUse(_))));
        let mut second = two.lock("zoo").unwrap();
        becomes(&mut second, LockState::Waiting).await;
        one.transact(&[Op::assert_lock("zoo"), animal("a")]).await.unwrap();
        let refused = two.transact(&[Op::assert_lock("zoo"), animal("b")]).await.unwrap_err();
        assert_eq!(refused.code(), Some(&ErrorCode::NotOwner));
        drop(first);
        within(second.held()).await.unwrap();
        two.transact(&[Op::assert_lock("zoo"), animal("b")]).await.unwrap();
        server.kill();
        becomes(&mut second, LockState::Disconnected).await;
        server.run();
        within(second.held()).await.unwrap();
        status(&one, linesman_ovsdb::Status::is_connected).await;
        assert!(
            one.transact(&[Op::assert_lock("zoo")]).await.is_err(),
            "what was given back is not asked for again"
        );
    }

    pub async fn a_stolen_lock_comes_back_when_the_thief_is_done(version: Root) {
        let server = Server::start(version);
        let (one, two) = (server.connect().await, server.connect().await);
        let mut first = one.lock("zoo").unwrap();
        within(first.held()).await.unwrap();
        let mut second = two.steal("zoo").unwrap();
        within(second.held()).await.unwrap();
        becomes(&mut first, LockState::Stolen).await;
        assert!(one.transact(&[Op::assert_lock("zoo")]).await.is_err());
        drop(second);
        becomes(&mut first, LockState::Held).await;
        // One that waits may lose its patience.
        let mut second = two.lock("zoo").unwrap();
        becomes(&mut second, LockState::Waiting).await;
        second.steal().unwrap();
        becomes(&mut second, LockState::Held).await;
        becomes(&mut first, LockState::Stolen).await;
    }
}
