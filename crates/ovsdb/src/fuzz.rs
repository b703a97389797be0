//! Where a server's bytes come in, for fuzzers: what is malformed is refused, never worse.

use serde_json::Value;

use crate::frame::Frames;
use crate::message::Message;
use crate::monitor::Monitor;
use crate::op::results;
use crate::replica::Mirror;
use crate::schema::Schema;
use crate::session::refused;

/// A conversation: schemas, answers to monitors and updates, in any order.
pub fn conversation(bytes: &[u8]) {
    let mut mirror = Mirror::new(Monitor::all());
    let mut frames = Frames::new(1 << 20);
    for piece in bytes.chunks(1000) {
        if frames.push(piece).is_err() {
            return;
        }
        while let Ok(Some(message)) = frames.next_message() {
            match Message::parse(message) {
                Ok(Message::Answer { result: Ok(result), .. }) => answer(&mut mirror, &result),
                Ok(Message::Answer { result: Err(error), .. }) => drop(refused("fuzz", &error).to_string()),
                Ok(Message::Notification { params, .. }) => {
                    let updates = params.get(2).or_else(|| params.get(1)).unwrap_or(&Value::Null);
                    let _ = mirror.update(updates, None);
                }
                Ok(Message::Request { .. }) => {}
                Err(_) => return,
            }
            drop(format!("{:?}", mirror.snapshot()));
        }
    }
}

fn answer(mirror: &mut Mirror, result: &Value) {
    if let Ok(schema) = Schema::parse(result) {
        mirror.begin(schema);
    } else if let Some([Value::Bool(found), _, updates]) = result.as_array().map(Vec::as_slice) {
        let _ = if *found { mirror.resume(updates, None) } else { mirror.replace(updates, None) };
    } else if let Some(answers) = result.as_array() {
        let _ = results(&[], answers);
    }
}
