//! Where a server's bytes come in, for fuzzers and golden cases: what is malformed is refused, never worse.

use std::fmt::Write;

use serde_json::Value;

use crate::error::Error;
use crate::frame::Frames;
use crate::json::Json;
use crate::message::Message;
use crate::monitor::Monitor;
use crate::op::results;
use crate::replica::{Mirror, Snapshot};
use crate::schema::Schema;
use crate::session::refused;

const LIMIT: usize = 1 << 20;
/// No common divisor with anything, so that pieces end anywhere.
const PIECE: usize = 61;

/// What a server said, without what it was asked: schemas, answers to monitors and transactions, updates. Returns a line for
/// each that was refused, and the replica at the end.
pub fn conversation(bytes: &[u8]) -> String {
    let (mut mirror, mut frames, mut told) = (Mirror::new(Monitor::all()), Frames::new(LIMIT), String::new());
    let mut tell = |what: String| told.push_str(&format!("{what}\n"));
    'all: for piece in bytes.chunks(PIECE) {
        if let Err(error) = frames.push(piece) {
            tell(error.to_string());
            break;
        }
        loop {
            match frames.next_message() {
                Ok(None) => break,
                Ok(Some(message)) => match Message::parse(message) {
                    Ok(message) => receive(&mut mirror, message).into_iter().for_each(&mut tell),
                    Err(error) => tell(error),
                },
                Err(error) => {
                    tell(error.to_string());
                    break 'all;
                }
            }
        }
    }
    told + &shown(&mirror.snapshot())
}

/// What there is to say about it.
fn receive(mirror: &mut Mirror, message: Message) -> Option<String> {
    match message {
        Message::Request { method, .. } => Some(format!("request: {method}")),
        Message::Answer { result: Err(error), .. } => Some(refused("call", error).to_string()),
        Message::Answer { result: Ok(result), .. } => answer(mirror, result),
        Message::Notification { params, .. } => {
            let updates = params.into_array().and_then(|mut params| params.pop()).unwrap_or_default();
            mirror.update(updates, None).err().map(|error| error.to_string())
        }
    }
}

fn answer(mirror: &mut Mirror, result: Json) -> Option<String> {
    let Json::Array(answers) = result else {
        return match Schema::parse(&result.into()) {
            Ok(schema) => {
                mirror.begin(schema);
                None
            }
            Err(error) => Some(error.to_string()),
        };
    };
    match <[Json; 3]>::try_from(answers) {
        Ok([Json::Boolean(found), _, updates]) => {
            let taken = if found { mirror.resume(updates, None) } else { mirror.replace(updates, None) };
            taken.err().map(|error| error.to_string())
        }
        Ok(answers) => Some(transaction(answers.into())),
        Err(answers) => Some(transaction(answers)),
    }
}

fn transaction(answers: Vec<Json>) -> String {
    match results(&[], &answers.into_iter().map(Value::from).collect::<Vec<_>>()) {
        Ok(results) => format!("{results:?}"),
        Err(error) => Error::Transaction(error).to_string(),
    }
}

fn shown(snapshot: &Snapshot) -> String {
    let mut shown = String::new();
    for (table, rows) in snapshot.tables() {
        for (uuid, row) in rows.iter() {
            // Writing to a string does not fail.
            let _ = writeln!(shown, "{table} {uuid} {row:?}");
        }
    }
    shown
}
