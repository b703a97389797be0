//! A server of before 2.9, which nobody packages any more: played by its answers. It also asks whether we are there.

use linesman_ovsdb::{Remote, State};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;
use tokio::sync::mpsc;

use crate::bed::{builder, replica, status, watching, within};
use crate::zoo;

const DOG: &str = "01234567-89ab-cdef-0123-456789abcdef";

/// What it answers to a request.
fn answer(request: &Value) -> Value {
    let (result, error) = match (request["method"].as_str(), request["params"][0].as_str()) {
        (Some("get_schema"), Some("Zoo")) => (zoo::schema("1.0.0"), Value::Null),
        (Some("get_schema"), _) => (Value::Null, json!({"error": "unknown database", "details": "none"})),
        (Some("monitor_cond"), _) => (json!({"Animal": {DOG: {"initial": {"name": "dog"}}}}), Value::Null),
        _ => (Value::Null, json!("unknown method")),
    };
    json!({"id": request["id"], "result": result, "error": error})
}

/// Sends on what it is told besides answers.
async fn serve(
    listener: UnixListener,
    told: mpsc::UnboundedSender<Value>,
    mut say: mpsc::UnboundedReceiver<Value>,
) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        tokio::select! {
            Some(message) = say.recv() => stream.write_all(message.to_string().as_bytes()).await.unwrap(),
            read = stream.read(&mut piece) => match read {
                Ok(0) | Err(_) => return,
                Ok(read) => bytes.extend_from_slice(&piece[..read]),
            },
        }
        let mut requests = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
        let mut used = 0;
        while let Some(Ok(request)) = requests.next() {
            used = requests.byte_offset();
            if request["method"].is_null() {
                told.send(request).unwrap();
            } else {
                stream.write_all(answer(&request).to_string().as_bytes()).await.unwrap();
            }
        }
        bytes.drain(..used);
    }
}

#[tokio::test]
async fn an_old_server_will_do() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("db.sock");
    let (told, mut hears) = mpsc::unbounded_channel();
    let (say, says) = mpsc::unbounded_channel();
    let server = tokio::spawn(serve(UnixListener::bind(&socket).unwrap(), told, says));
    let client = watching(builder([Remote::unix(&socket)])).await;
    let connected = status(&client, linesman_ovsdb::Status::is_connected).await;
    assert!(matches!(connected.state, State::Connected { member: None, .. }), "{connected:?}");
    let update = json!({"Animal": {DOG: {"modify": {"name": "hound"}}}});
    say.send(json!({"method": "update2", "params": ["replica", update], "id": null})).unwrap();
    replica(&client, |snapshot| snapshot.table("Animal").unwrap().named("hound").is_some()).await;
    say.send(json!({"method": "echo", "params": ["still there?"], "id": "echo"})).unwrap();
    let echo = within(hears.recv()).await.unwrap();
    assert_eq!(echo, json!({"result": ["still there?"], "error": null, "id": "echo"}));
    say.send(json!({"method": "dance", "params": [], "id": 7})).unwrap();
    assert!(
        within(hears.recv()).await.unwrap()["error"].is_string(),
        "what is unknown is refused, not ignored"
    );
    drop(client);
    within(server).await.unwrap();
}
