//! JSON-RPC 1.0: what arrives is a request, a notification or an answer.

use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) enum Message {
    /// The peer wants an answer.
    Request {
        method: String,
        params: Value,
        id: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Answer {
        id: Value,
        result: Result<Value, Value>,
    },
}

#[derive(Deserialize)]
struct Wire {
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    id: Value,
}

impl Message {
    /// Err: what is wrong with it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let Wire { method, params, result, error, id } =
            serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        Ok(match method {
            Some(method) if id.is_null() => Message::Notification { method, params },
            Some(method) => Message::Request { method, params, id },
            None if error.is_null() => Message::Answer { id, result: Ok(result) },
            None => Message::Answer { id, result: Err(error) },
        })
    }
}

pub(crate) fn request(method: &str, params: &Value, id: &Value) -> Value {
    json!({"method": method, "params": params, "id": id})
}

pub(crate) fn answer(result: &Value, id: &Value) -> Value {
    json!({"result": result, "error": null, "id": id})
}
