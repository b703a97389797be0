//! Metrics and health over HTTP.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::connections::Connections;

/// Nobody needs longer to ask for metrics.
const LIMIT: Duration = Duration::from_secs(10);
/// Nor more connections at a time.
const CONNECTIONS: usize = 64;
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is served.
pub trait Endpoints {
    fn metrics(&self) -> String;
    /// It answers, so it lives; whether all is well is a matter of readiness and of the metrics.
    fn live(&self) -> (bool, String) {
        (true, "ok".into())
    }
    /// Whether it does its work, and its summary in a line.
    fn ready(&self) -> (bool, String);
}

/// Serves until the runtime ends; returns the address.
pub async fn serve(address: SocketAddr, endpoints: Rc<dyn Endpoints>) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    tokio::task::spawn_local(async move {
        let mut connections = Connections::new(CONNECTIONS);
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(200)).await;
                continue;
            };
            let endpoints = endpoints.clone();
            let conversation = async move {
                let service = service_fn(move |request: Request<Incoming>| {
                    let response = answer(request.method(), request.uri().path(), &*endpoints);
                    async move { Ok::<_, Infallible>(response) }
                });
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                tokio::time::timeout(LIMIT, connection).await.ok();
            };
            connections.serve(conversation).await;
        }
    });
    Ok(bound)
}

fn health((good, text): (bool, String)) -> (StatusCode, &'static str, String) {
    let code = if good { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, "text/plain", format!("{text}\n"))
}

fn answer(method: &Method, path: &str, endpoints: &dyn Endpoints) -> Response<Full<Bytes>> {
    let (code, kind, text) = match (method, path) {
        (&Method::GET | &Method::HEAD, "/metrics") => (StatusCode::OK, OPEN_METRICS, endpoints.metrics()),
        (&Method::GET | &Method::HEAD, "/healthz" | "/livez") => health(endpoints.live()),
        (&Method::GET | &Method::HEAD, "/readyz") => health(endpoints.ready()),
        (&Method::GET | &Method::HEAD, _) => (
            StatusCode::NOT_FOUND,
            "text/plain",
            "not found; available are /metrics, /livez, /healthz and /readyz\n".into(),
        ),
        _ => (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET\n".into()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = code;
    if let Ok(kind) = kind.parse() {
        response.headers_mut().insert(CONTENT_TYPE, kind);
    }
    response
}
