use tokio::net::UnixListener;

use super::*;

/// A server that plays its lines, one per message it reads, and returns what it read.
async fn play(listener: UnixListener, lines: Vec<Value>) -> Vec<Value> {
    let (mut stream, _) = listener.accept().await.unwrap();
    let (mut frames, mut heard, mut piece) = (Frames::default(), vec![], [0; 512]);
    for line in lines {
        let message = loop {
            if let Some(message) = frames.next() {
                break message;
            }
            let read = stream.read(&mut piece).await.unwrap();
            assert_ne!(read, 0, "the client left early");
            frames.push(&piece[..read]).unwrap();
        };
        heard.push(serde_json::from_slice(&message).unwrap());
        stream.write_all(line.to_string().as_bytes()).await.unwrap();
    }
    heard
}

async fn against<T>(lines: Vec<Value>, ask: impl AsyncFnOnce(&mut Ovsdb) -> T) -> (T, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db.sock");
    let server = tokio::spawn(play(UnixListener::bind(&path).unwrap(), lines));
    let mut ovsdb = Ovsdb::connect(&path).await.unwrap();
    let answer = ask(&mut ovsdb).await;
    (answer, server.await.unwrap())
}

fn select() -> Op {
    Op::select(Table::Bridge, &["name"])
}

#[tokio::test]
async fn an_echo_is_answered_in_between() {
    let lines = vec![
        json!({"method": "echo", "params": ["still there?"], "id": "echo"}),
        json!({"id": 1, "error": null, "result": [{"rows": [{"name": "br-ex"}]}]}),
    ];
    let (rows, heard) = against(lines, async |ovsdb| ovsdb.select_all(Table::Bridge, &["name"]).await).await;
    assert_eq!(rows.unwrap()[0].text("name").unwrap(), "br-ex");
    assert_eq!(heard[0]["params"][0], "Open_vSwitch");
    assert_eq!(heard[1], json!({"result": ["still there?"], "error": null, "id": "echo"}));
}

#[tokio::test]
async fn a_refusal_of_one_operation_refuses_them_all() {
    let refused = json!({"error": "constraint violation", "details": "no such thing"});
    let lines = vec![json!({"id": 1, "error": null, "result": [{"rows": []}, refused]})];
    let (answer, _) = against(lines, async |ovsdb| ovsdb.transact(&[select(), select()]).await).await;
    let error = answer.unwrap_err().to_string();
    assert!(error.contains("constraint violation (no such thing)"), "{error}");
}

#[tokio::test]
async fn changes_to_rows_that_vanished_are_counted() {
    let lines = vec![json!({"id": 1, "error": null, "result": [{"count": 1}, {"count": 0}]})];
    let (answer, _) = against(lines, async |ovsdb| ovsdb.apply(&[select(), select()]).await).await;
    assert_eq!(answer.unwrap(), Applied { changed: 1, vanished: 1 });
}

#[tokio::test]
async fn a_server_without_an_answer_costs_the_timeout_and_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    let mut ovsdb = Ovsdb::connect_within(&path, Duration::from_millis(50)).await.unwrap();
    assert!(matches!(ovsdb.transact(&[select()]).await, Err(Error::NoAnswer { .. })));
    assert!(matches!(ovsdb.transact(&[select()]).await, Err(Error::GivenUp { .. })));
}

#[tokio::test]
async fn a_missing_server_is_reported_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let error = Ovsdb::connect(folder.path().join("db.sock")).await.unwrap_err().to_string();
    assert!(error.contains("db.sock") && error.contains("ovsdb-server"), "{error}");
}
