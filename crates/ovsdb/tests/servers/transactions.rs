//! Calls and transactions.

use crate::bed::on_both;

on_both! {
    operations_are_typed,
    failures_say_where_they_happened,
    many_calls_are_on_their_way_at_once,
    rows_may_be_huge,
}

mod scenarios {
    use std::time::Duration;

    use linesman_lab::Root;
    use linesman_ovsdb::{Columns, Condition, Datum, Error, ErrorCode, Failed, Mutation, Op, Until, Uuid};
    use serde_json::json;

    use crate::bed::Server;
    use crate::zoo::{animal, animals, named};

    pub async fn operations_are_typed(version: Root) {
        let server = Server::start(version);
        let client = server.connect().await;
        let schema = client.schema().await.unwrap();
        let animal = schema.table("Animal").unwrap();
        assert!(animal.column("diet").unwrap().ty.is_optional());
        assert!(animal.column("legs").unwrap().ty.check(&9.into()).is_err());
        let dog = named("dog")
            .with("legs", 4)
            .with("diet", "meat")
            .with("weight", 7.5)
            .with("tags", Datum::map([("a", "1"), ("b", "2")]))
            .with("keeper", Datum::from(linesman_ovsdb::Atom::NamedUuid("ann".into())));
        let ann = Op::insert("Keeper", named("Ann")).named("ann");
        let results = client.transact(&[ann, Op::insert("Animal", dog), Op::comment("two")]).await.unwrap();
        let (ann, dog) = (results[0].inserted().unwrap(), results[1].inserted().unwrap());
        let alter = [
            Mutation::delete_keys("tags", ["a"]),
            Mutation::insert_keys("tags", [("a", "3")]),
            Mutation::add("legs", 1),
        ];
        let ops = [
            Op::mutate("Animal", Condition::uuid(dog), alter),
            Op::update("Animal", Condition::named("dog"), Columns::new().with("wild", true)),
            Op::select("Animal", Condition::all(), Vec::<&str>::new()),
        ];
        let results = client.transact(&ops).await.unwrap();
        assert_eq!((results[0].count(), results[1].count()), (Some(1), Some(1)));
        let rows = results[2].decode(animal).unwrap();
        let row = &rows[0];
        assert_eq!(
            (row.text("name").unwrap(), row.integer("legs").unwrap(), row.boolean("wild").unwrap()),
            ("dog", 5, true)
        );
        assert_eq!((row.real("weight").unwrap(), row.optional_text("diet").unwrap()), (7.5, Some("meat")));
        assert_eq!((row.optional_uuid("keeper").unwrap(), row.uuid("_uuid").unwrap()), (Some(ann), dog));
        assert_eq!(row.text_map("tags").unwrap(), [("a", "3"), ("b", "2")].into());
        let results = client.transact(&[Op::delete("Animal", Condition::all())]).await.unwrap();
        assert_eq!(results[0].count(), Some(1));
        let databases = client.call("list_dbs", json!([])).await.unwrap();
        assert!(databases.as_array().unwrap().contains(&json!("Zoo")));
    }

    pub async fn failures_say_where_they_happened(version: Root) {
        let server = Server::start(version);
        let client = server.connect().await;
        let failed = async |ops: &[Op]| match client.transact(ops).await {
            Err(Error::Transaction(error)) => (error.at, error.code),
            other => panic!("{other:?}"),
        };
        let at = |index, what: &str| Failed::Operation { index, what: what.to_owned() };
        let legs = Columns::new().with("legs", 9);
        let (place, code) = failed(&[animal("a"), Op::update("Animal", Condition::all(), legs)]).await;
        assert_eq!((place, code), (at(1, "update Animal"), ErrorCode::ConstraintViolation));
        let wait = Op::wait("Animal", Condition::all(), ["name"], Until::Equal, [named("b")], Duration::ZERO);
        assert_eq!(failed(&[wait, animal("c")]).await, (at(0, "wait Animal"), ErrorCode::TimedOut));
        let nobody = named("d").with("keeper", Uuid::from_bytes([7; 16]));
        assert_eq!(
            failed(&[Op::insert("Animal", nobody)]).await,
            (Failed::Commit, ErrorCode::ReferentialIntegrity)
        );
        assert_eq!(
            failed(&[animal("e"), animal("e")]).await,
            (Failed::Commit, ErrorCode::ConstraintViolation)
        );
        assert_eq!(failed(&[Op::assert_lock("mine")]).await, (at(0, "assert mine"), ErrorCode::NotOwner));
        assert_eq!(failed(&[animal("f"), Op::Abort]).await, (at(1, "abort"), ErrorCode::Aborted));
        let left = client.transact(&[Op::select("Animal", Condition::all(), ["name"])]).await.unwrap();
        assert!(left[0].rows().is_empty(), "nothing of them was written: {left:?}");
        let refused = client.call("fly", json!([])).await.unwrap_err();
        assert_eq!(refused.code(), Some(&ErrorCode::UnknownMethod));
    }

    pub async fn many_calls_are_on_their_way_at_once(version: Root) {
        let server = Server::start(version);
        let client = server.connect().await;
        let calls: Vec<_> = animals(300)
            .into_iter()
            .map(|op| {
                let client = client.clone();
                tokio::spawn(async move { client.transact(&[op]).await.unwrap()[0].inserted().unwrap() })
            })
            .collect();
        let mut rows = Vec::new();
        for call in calls {
            rows.push(call.await.unwrap());
        }
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), 300);
    }

    pub async fn rows_may_be_huge(version: Root) {
        let server = Server::start(version);
        let client = crate::bed::watching(server.client()).await;
        let long = "ö\"{[\\".repeat(1 << 20);
        client.transact(&[Op::insert("Animal", named(&long)), animal("small")]).await.unwrap();
        let is_there = |snapshot: &linesman_ovsdb::Snapshot| {
            snapshot.table("Animal").is_some_and(|rows| rows.len() == 2 && rows.named(&long).is_some())
        };
        crate::bed::replica(&client, is_there).await;
        // Once more, as the first rows of a monitor.
        let other = crate::bed::watching(server.client()).await;
        assert!(is_there(&other.replica().unwrap().snapshot()));
        let cautious =
            server.client().monitor(linesman_ovsdb::Monitor::all()).max_message(1 << 20).connect().await;
        assert!(matches!(cautious, Err(Error::NotOvsdb { .. })), "{cautious:?}");
    }
}
