//! The replica.

use crate::bed::on_both;

on_both! {
    a_replica_is_what_the_database_is,
    only_what_was_asked_for_is_replicated,
    after_a_restart_everything_is_fetched_and_nothing_half_is_shown,
    a_schema_may_change_while_connected,
}

mod scenarios {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use linesman_lab::Root;
    use linesman_ovsdb::{
        Client, Columns, Condition, Datum, Function, Monitor, Mutation, Op, Row, Snapshot, TableMonitor, Uuid,
    };
    use serde_json::json;

    use crate::bed::{Server, ready, replica, watching, within};
    use crate::zoo::{self, animal, animals, named};

    type Shown = BTreeMap<Uuid, BTreeMap<String, Datum>>;

    fn shown(row: &Row) -> BTreeMap<String, Datum> {
        let own = row.iter().filter(|(name, _)| !name.starts_with('_'));
        own.map(|(name, datum)| (name.to_owned(), datum.clone())).collect()
    }

    fn replicated(snapshot: &Snapshot) -> Shown {
        snapshot
            .table("Animal")
            .map(|rows| rows.iter().map(|(uuid, row)| (uuid, shown(row))).collect())
            .unwrap_or_default()
    }

    async fn selected(client: &Client, ops: &[Op]) -> Shown {
        let mut ops = ops.to_vec();
        ops.push(Op::select("Animal", Condition::all(), Vec::<&str>::new()));
        let schema = client.schema().await.unwrap();
        let results = client.transact(&ops).await.unwrap();
        let rows = results.last().unwrap().decode(schema.table("Animal").unwrap()).unwrap();
        rows.iter().map(|row| (row.uuid("_uuid").unwrap(), shown(row))).collect()
    }

    /// The same numbers each time.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % sides
        }

        fn word(&mut self) -> String {
            format!("w{}", self.roll(6))
        }

        fn change(&mut self) -> Op {
            let row = Condition::named(&format!("animal {}", self.roll(8)));
            let (key, value) = (self.word(), self.word());
            let mutation = match self.roll(9) {
                0 => return Op::delete("Animal", row),
                1 => return Op::update("Animal", row, Columns::new().with("diet", Datum::set(["grass"]))),
                2 => return Op::update("Animal", row, Columns::new().with("diet", Datum::set::<&str>([]))),
                3 => return Op::update("Animal", row, Columns::new().with("weight", 0.5).with("wild", true)),
                4 => {
                    return Op::update(
                        "Animal",
                        row,
                        Columns::new().with("tags", Datum::map([(key, value)])),
                    );
                }
                5 => Mutation::insert("words", Datum::set([key, value])),
                6 => Mutation::delete("words", Datum::set([key, value])),
                7 => Mutation::insert_keys("tags", [(key.as_str(), value.as_str())]),
                _ => Mutation::delete_keys("tags", [key.as_str()]),
            };
            Op::mutate("Animal", row, [mutation])
        }
    }

    pub async fn a_replica_is_what_the_database_is(version: Root) {
        let server = Server::start(version);
        let (reader, writer) = (watching(server.client()).await, server.connect().await);
        let mut dice = Dice(7);
        for round in 0..40 {
            let mut ops: Vec<Op> = (0..6).map(|_| dice.change()).collect();
            if round % 5 == 0 {
                ops.push(Op::delete("Animal", Condition::all()));
                ops.extend(animals(8));
            }
            let truth = selected(&writer, &ops).await;
            replica(&reader, |snapshot| replicated(snapshot) == truth).await;
        }
    }

    pub async fn only_what_was_asked_for_is_replicated(version: Root) {
        let server = Server::start(version);
        let some = TableMonitor::new("Animal").columns(["name", "wings"]).condition(Condition::column(
            "name",
            Function::NotEqual,
            "secret",
        ));
        let monitor = Monitor::new().table(some).table(TableMonitor::new("Plant"));
        let client = ready(server.client().monitor(monitor)).await;
        client
            .transact(&[animal("secret"), animal("dog"), Op::insert("Keeper", named("Ann"))])
            .await
            .unwrap();
        let snapshot =
            replica(&client, |snapshot| snapshot.table("Animal").is_some_and(|rows| !rows.is_empty())).await;
        let rows = snapshot.table("Animal").unwrap();
        let (_, dog) = rows.named("dog").unwrap();
        assert_eq!((rows.len(), dog.iter().count(), dog.get("wings")), (1, 1, None));
        assert!(snapshot.table("Keeper").is_none() && snapshot.table("Plant").is_none());
        let renamed = Op::update("Animal", Condition::named("dog"), named("secret dog"));
        let hidden = Op::update("Animal", Condition::named("secret"), named("cat"));
        client.transact(&[renamed, hidden]).await.unwrap();
        replica(&client, |snapshot| snapshot.table("Animal").is_some_and(|rows| rows.named("cat").is_some()))
            .await;
    }

    pub async fn after_a_restart_everything_is_fetched_and_nothing_half_is_shown(version: Root) {
        const ROWS: usize = 500;
        let mut server = Server::start(version);
        let client = watching(server.client()).await;
        client.transact(&animals(ROWS)).await.unwrap();
        let count = |snapshot: &Snapshot| snapshot.table("Animal").map_or(0, linesman_ovsdb::Rows::len);
        replica(&client, |snapshot| count(snapshot) == ROWS).await;
        let (own, stop) = (client.replica().unwrap(), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        let watcher = std::thread::spawn(move || {
            let mut looks = 0_u64;
            while !stopped.load(Ordering::Relaxed) {
                let seen = count(&own.snapshot());
                assert!(seen == ROWS || seen == ROWS + 1, "{seen} rows were shown");
                looks += 1;
                std::thread::yield_now();
            }
            looks
        });
        server.kill();
        crate::bed::status(&client, |status| !status.is_connected()).await;
        assert_eq!(count(&client.replica().unwrap().snapshot()), ROWS, "what was known stays");
        server.run();
        client.transact(&[animal("late")]).await.unwrap();
        let snapshot = replica(&client, |snapshot| count(snapshot) == ROWS + 1).await;
        assert!(
            !snapshot.resumed() && snapshot.transaction().is_none(),
            "a server alone does not number transactions"
        );
        stop.store(true, Ordering::Relaxed);
        assert!(watcher.join().unwrap() > 0);
    }

    pub async fn a_schema_may_change_while_connected(version: Root) {
        let server = Server::start(version);
        let client = watching(server.client()).await;
        client.transact(&[animal("dog")]).await.unwrap();
        let other = server.connect().await;
        let mut watched = client.status();
        watched.borrow_and_update();
        within(other.call("convert", json!([zoo::DATABASE, zoo::next_schema()]))).await.unwrap();
        let converted =
            |snapshot: &Snapshot| snapshot.schema().is_some_and(|schema| schema.version == "1.1.0");
        let snapshot = replica(&client, converted).await;
        let (_, dog) = snapshot.table("Animal").unwrap().named("dog").unwrap();
        assert_eq!(dog.integer("age").unwrap(), 0);
        assert!(!watched.has_changed().unwrap(), "the connection was not lost: {:?}", watched.borrow());
        client
            .transact(&[Op::update("Animal", Condition::all(), Columns::new().with("age", 3))])
            .await
            .unwrap();
        replica(&client, |snapshot| {
            snapshot.table("Animal").unwrap().named("dog").unwrap().1.integer("age").unwrap() == 3
        })
        .await;
    }
}
