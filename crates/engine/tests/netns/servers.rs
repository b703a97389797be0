//! Servers at the far end of the cable. Each lives on threads that end with the test's process.

use std::{
    io::{Read, Write},
    net::{TcpListener, UdpSocket},
    sync::{Arc, mpsc},
};

use hickory_proto::op::{Message, ResponseCode};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use super::Peer;

const DNS: &str = "10.1.0.2:53";

/// What a DNS server does with a question.
#[derive(Debug, Clone, Copy)]
pub enum Manner {
    Answers(ResponseCode),
    /// Knows its own zone, and refuses all else.
    KnowsOnly(&'static str),
    /// Says over UDP that the answer is too long for it.
    Truncates,
    /// Sends a forgery first, with another number.
    AfterAForgery,
    NoAnswer,
}

impl Peer {
    /// Serves over UDP and TCP.
    pub fn serve_dns(&self, manner: Manner) {
        let (ready, is_ready) = mpsc::channel();
        let udp_ready = ready.clone();
        self.thread(move || {
            let socket = UdpSocket::bind(DNS).unwrap();
            udp_ready.send(()).unwrap();
            answer_datagrams(&socket, manner);
        });
        self.thread(move || {
            let listener = TcpListener::bind(DNS).unwrap();
            ready.send(()).unwrap();
            answer_streams(&listener, manner);
        });
        is_ready.recv().unwrap();
        is_ready.recv().unwrap();
    }

    /// Answers every request at 10.1.0.2:`port` with a status line.
    pub fn serve_http(&self, port: u16, status: &'static str) {
        let listener = self.listen(port);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                answer_request(&mut stream, status);
            }
        });
    }

    /// The same, with the certificate in `tests/data`.
    pub fn serve_https(&self, port: u16, status: &'static str) {
        let listener = self.listen(port);
        let config = Arc::new(tls());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = ServerConnection::new(config.clone()).unwrap();
                answer_request(&mut StreamOwned::new(connection, stream), status);
            }
        });
    }

    /// Takes connections, and says nothing.
    pub fn listen(&self, port: u16) -> TcpListener {
        self.thread(move || TcpListener::bind(("10.1.0.2", port)).unwrap()).join().unwrap()
    }
}

fn answer_datagrams(socket: &UdpSocket, manner: Manner) {
    let mut buffer = [0; 512];
    loop {
        let (read, client) = socket.recv_from(&mut buffer).unwrap();
        for answer in answers(&buffer[..read], manner, false) {
            socket.send_to(&answer, client).unwrap();
        }
    }
}

fn answer_streams(listener: &TcpListener, manner: Manner) {
    for mut stream in listener.incoming().flatten() {
        let mut length = [0; 2];
        stream.read_exact(&mut length).unwrap();
        let mut request = vec![0; u16::from_be_bytes(length).into()];
        stream.read_exact(&mut request).unwrap();
        for answer in answers(&request, manner, true) {
            let length = u16::try_from(answer.len()).unwrap().to_be_bytes();
            stream.write_all(&[&length, answer.as_slice()].concat()).unwrap();
        }
    }
}

fn answers(request: &[u8], manner: Manner, tcp: bool) -> Vec<Vec<u8>> {
    let mut answer = Message::from_vec(request).unwrap().into_response();
    let asked = answer.queries[0].name().to_string();
    let mut forgery = None;
    match manner {
        Manner::NoAnswer => return vec![],
        Manner::Answers(code) => answer.metadata.response_code = code,
        Manner::KnowsOnly(zone) if asked == zone => {}
        Manner::KnowsOnly(_) => answer.metadata.response_code = ResponseCode::Refused,
        Manner::Truncates => answer.metadata.truncation = !tcp,
        Manner::AfterAForgery => {
            let mut other = answer.clone();
            other.metadata.id = other.metadata.id.wrapping_add(1);
            other.metadata.response_code = ResponseCode::ServFail;
            forgery = Some(other);
        }
    }
    forgery.iter().chain([&answer]).map(|message| message.to_vec().unwrap()).collect()
}

fn answer_request(stream: &mut (impl Read + Write), status: &str) {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(read) if read > 0 => head.extend_from_slice(&piece[..read]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head);
    let expected = head.contains("\r\nhost: 10.1.0.2") || head.contains("\r\nhost: web.lab.test");
    let status = if expected { status } else { "500 Wrong Host" };
    let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let _ = stream.flush();
}

fn tls() -> ServerConfig {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let certificate = CertificateDer::from_pem_file(format!("{folder}/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(format!("{folder}/server.key")).unwrap();
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap()
}
