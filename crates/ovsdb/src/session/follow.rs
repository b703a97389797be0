//! Monitors: what is asked of the server before calls are served, and what comes of it later.

use serde_json::json;
use tokio::time::timeout;

use super::Session;
use crate::cluster::{self, DATABASE};
use crate::error::{Error, Result, Unsuitable};
use crate::json::Json;
use crate::op::ErrorCode;
use crate::replica::Mirror;
use crate::schema::Schema;
use crate::status::Membership;
use crate::value::Uuid;
use crate::wire::not_ovsdb;

/// The monitors of a connection; their names travel as the monitors' ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Followed {
    Server,
    Replica,
}

impl Followed {
    const ALL: [Followed; 2] = [Followed::Server, Followed::Replica];

    fn id(self) -> &'static str {
        match self {
            Followed::Server => "server",
            Followed::Replica => "replica",
        }
    }

    pub(super) fn of(id: &Json) -> Option<Self> {
        Self::ALL.into_iter().find(|followed| id.as_str() == Some(followed.id()))
    }
}

impl Session<'_> {
    pub(super) async fn follow_all(&mut self) -> Result<()> {
        if self.lasting.config.membership != Membership::Unchecked {
            self.follow_server().await?;
        }
        if self.lasting.replica.is_some() {
            // Servers that do not know it refuse it, and tell of such changes by closing the connection.
            self.send("set_db_change_aware", &json!([true]));
            self.follow_replica().await?;
        }
        Ok(())
    }

    async fn follow_server(&mut self) -> Result<()> {
        self.server = Some(Mirror::new(cluster::monitor()));
        // Older ones than 2.9 have no such database, and no clusters.
        match known(self.follow(DATABASE, Followed::Server).await)? {
            Some(()) => self.judge(),
            None => {
                self.server = None;
                Ok(())
            }
        }
    }

    pub(super) async fn follow_replica(&mut self) -> Result<()> {
        let database = self.lasting.config.database.clone();
        let limit = self.lasting.config.handshake_timeout;
        match timeout(limit, self.follow(&database, Followed::Replica)).await {
            Ok(Err(error)) if error.code() == Some(&ErrorCode::UnknownDatabase) => {
                Err(self.unsuitable(Unsuitable::NoDatabase(database)))
            }
            Ok(followed) => followed,
            Err(_) => {
                let what = format!("the monitor of {database}");
                Err(Error::NoAnswer { remote: self.wire.remote.clone(), what, limit })
            }
        }
    }

    async fn follow(&mut self, database: &str, followed: Followed) -> Result<()> {
        let schema = Schema::parse(&self.call("get_schema", json!([database])).await?.into())?;
        let Some(mirror) = self.mirror(followed) else { return Ok(()) };
        let (request, last) = mirror.begin(schema);
        let params = json!([database, followed.id(), request, last.to_string()]);
        let answer = match known(self.call("monitor_cond_since", params).await)? {
            Some(answer) => answer,
            // Before 2.12 there was nothing to go on from.
            None => {
                let rows = self.call("monitor_cond", json!([database, followed.id(), request])).await?;
                Json::Array(vec![Json::Boolean(false), Json::Null, rows])
            }
        };
        let answer = <[Json; 3]>::try_from(answer.into_array().unwrap_or_default());
        let Ok([Json::Boolean(found), last, updates]) = answer else {
            return Err(not_ovsdb(&self.wire.remote, "an answer to a monitor that is none".to_owned()));
        };
        let last = transaction(Some(last));
        let Some(mirror) = self.mirror(followed) else { return Ok(()) };
        let applied = if found { mirror.resume(updates, last) } else { mirror.replace(updates, last) };
        applied.map_err(|error| not_ovsdb(&self.wire.remote, error.to_string()))
    }

    fn mirror(&mut self, followed: Followed) -> Option<&mut Mirror> {
        match followed {
            Followed::Server => self.server.as_mut(),
            Followed::Replica => self.lasting.replica.as_mut(),
        }
    }

    pub(super) fn updated(&mut self, id: &Json, updates: Option<Json>, last: Option<Json>) -> Result<()> {
        let (Some(followed), Some(updates)) = (Followed::of(id), updates) else { return Ok(()) };
        let Some(mirror) = self.mirror(followed) else { return Ok(()) };
        mirror
            .update(updates, transaction(last))
            .map_err(|error| not_ovsdb(&self.wire.remote, error.to_string()))?;
        if followed == Followed::Server {
            let before = self.member.clone();
            self.judge()?;
            if before != self.member {
                self.publish_member();
            }
        }
        Ok(())
    }

    /// By what the server says of itself now.
    fn judge(&mut self) -> Result<()> {
        let Some(server) = &self.server else { return Ok(()) };
        let database = &self.lasting.config.database;
        let Some(member) = cluster::member(&server.snapshot(), database)? else {
            return Err(self.unsuitable(Unsuitable::NoDatabase(database.clone())));
        };
        let verdict = self.lasting.seen.judge(&member, self.lasting.config.membership);
        self.member = Some(member);
        verdict.map_err(|reason| self.unsuitable(reason))
    }

    /// While the connection is being established nobody is told.
    fn publish_member(&self) {
        if self.lasting.status.borrow().is_connected() {
            self.publish();
        }
    }
}

/// None: the server does not know the method, or the database.
fn known<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) => match error.code() {
            Some(ErrorCode::UnknownMethod | ErrorCode::UnknownDatabase) => Ok(None),
            _ => Err(error),
        },
    }
}

fn transaction(id: Option<Json>) -> Option<Uuid> {
    id?.as_str()?.parse().ok()
}
