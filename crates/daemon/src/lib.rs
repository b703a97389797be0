//! What agent and operator share as daemons: the connection to the API server, watches, metrics and health over HTTP,
//! sealed messages, manners towards systemd.

pub mod backoff;
pub mod clock;
pub mod cluster;
pub mod connections;
pub mod http;
pub mod metrics;
pub mod renewal;
pub mod sealing;
pub mod systemd;
pub mod watch;
