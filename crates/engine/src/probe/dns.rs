//! A real question to the servers themselves: no resolver library, no cache, no fallback that hides a dead server.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use hickory_proto::{
    op::{Message, MessageType, Query, ResponseCode},
    rr::{Name, RecordType},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
    time::{Instant, timeout, timeout_at},
};

use super::{
    failure::{DnsError, ProbeFailure},
    race::first_success,
    resolv_conf::{ResolvConf, server_address},
    run::{Finding, Trouble},
};

const RESEND: Duration = Duration::from_millis(700);

pub(super) async fn check(name: Option<&str>, servers: Option<&[IpAddr]>, deadline: Instant) -> Finding {
    let conf = ResolvConf::read();
    let servers = match servers {
        Some(servers) => servers.iter().map(|ip| server_address(*ip)).collect(),
        None => conf.addresses(),
    };
    if servers.is_empty() {
        return Err(Trouble::NotApplicable("no DNS server is configured".to_owned()));
    }
    let questions = questions(name, &conf.search)?;
    let attempts = servers.into_iter().map(|server| alive(server, &questions, deadline));
    match first_success(attempts).await? {
        Alive::Answers => Ok(None),
        // Nobody asked for the root in earnest: what matters is that somebody is there.
        Alive::Refuses(server) if name.is_none() => Ok(Some(ProbeFailure::DnsRefused { server }.to_string())),
        Alive::Refuses(server) => Err(ProbeFailure::DnsRefused { server }.into()),
    }
}

enum Alive {
    Answers,
    Refuses(IpAddr),
}

/// Without a name the root is asked for. A server that only knows its own zones refuses that, and is asked for the
/// search domains then, which it should know.
fn questions(name: Option<&str>, search: &[String]) -> Result<Vec<Query>, ProbeFailure> {
    match name {
        Some(name) => Ok(vec![Query::query(parse_name(name)?, RecordType::A)]),
        None => {
            let domains = search.iter().filter_map(|domain| parse_name(domain).ok());
            Ok(std::iter::once(Name::root())
                .chain(domains)
                .map(|name| Query::query(name, RecordType::SOA))
                .collect())
        }
    }
}

pub(super) fn parse_name(name: &str) -> Result<Name, ProbeFailure> {
    let mut parsed =
        Name::from_utf8(name).map_err(|source| ProbeFailure::DomainName { name: name.to_owned(), source })?;
    parsed.set_fqdn(true);
    Ok(parsed)
}

async fn alive(server: SocketAddr, questions: &[Query], deadline: Instant) -> Result<Alive, ProbeFailure> {
    for question in questions {
        match ask(server, question, deadline).await?.metadata.response_code {
            ResponseCode::NoError | ResponseCode::NXDomain => return Ok(Alive::Answers),
            ResponseCode::Refused => {}
            code => return Err(ProbeFailure::DnsCode { server: server.ip(), code }),
        }
    }
    Ok(Alive::Refuses(server.ip()))
}

/// One question to one server; its answer, whatever it says.
pub(super) async fn ask(
    server: SocketAddr,
    question: &Query,
    deadline: Instant,
) -> Result<Message, ProbeFailure> {
    match timeout_at(deadline, exchange(server, question)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(source)) => Err(ProbeFailure::DnsExchange { server: server.ip(), source }),
        Err(_) => Err(ProbeFailure::NoAnswer { peer: server.ip().to_string() }),
    }
}

async fn exchange(server: SocketAddr, question: &Query) -> Result<Message, DnsError> {
    let mut request = Message::query();
    request.metadata.recursion_desired = true;
    request.add_query(question.clone());
    let bytes = request.to_vec()?;
    let answer = over_udp(server, &request, &bytes).await?;
    if answer.metadata.truncation { over_tcp(server, &request, &bytes).await } else { Ok(answer) }
}

async fn over_udp(server: SocketAddr, request: &Message, bytes: &[u8]) -> Result<Message, DnsError> {
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    loop {
        socket.send(bytes).await?;
        if let Ok(answer) = timeout(RESEND, receive(&socket, request)).await {
            return answer;
        }
    }
}

/// Datagrams that are not an answer to this very question are somebody else's, or a forgery: they are passed over.
async fn receive(socket: &UdpSocket, request: &Message) -> Result<Message, DnsError> {
    let mut buffer = vec![0; 4096];
    loop {
        let read = socket.recv(&mut buffer).await?;
        match Message::from_vec(&buffer[..read]) {
            Ok(answer) if answers(&answer, request) => return Ok(answer),
            _ => {}
        }
    }
}

async fn over_tcp(server: SocketAddr, request: &Message, bytes: &[u8]) -> Result<Message, DnsError> {
    let answer = over_stream(server, bytes).await.map_err(DnsError::Tcp)?;
    let answer = Message::from_vec(&answer).map_err(DnsError::Malformed)?;
    if answers(&answer, request) { Ok(answer) } else { Err(DnsError::OtherQuestion) }
}

async fn over_stream(server: SocketAddr, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(bytes.len()).map_err(std::io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), bytes].concat()).await?;
    let mut answer = vec![0; stream.read_u16().await?.into()];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

fn answers(answer: &Message, request: &Message) -> bool {
    let of_it =
        answer.metadata.id == request.metadata.id && answer.metadata.message_type == MessageType::Response;
    // Some servers leave the question out when they refuse it.
    of_it && (answer.queries.is_empty() || answer.queries == request.queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(questions: &[Query]) -> Vec<String> {
        questions.iter().map(|question| format!("{} {}", question.name(), question.query_type())).collect()
    }

    #[test]
    fn without_a_name_the_root_comes_first() {
        let search = ["lab.test".to_owned(), "not..valid".to_owned()];
        assert_eq!(names(&questions(None, &search).unwrap()), [". SOA", "lab.test. SOA"]);
        assert_eq!(names(&questions(Some("example.org"), &search).unwrap()), ["example.org. A"]);
        assert!(
            questions(Some("not..valid"), &search).unwrap_err().to_string().contains("not a domain name")
        );
    }

    #[test]
    fn an_answer_belongs_to_its_question() {
        let mut request = Message::query();
        request.add_query(Query::query(parse_name("example.org").unwrap(), RecordType::A));
        let reply = request.clone().into_response();
        assert!(answers(&reply, &request));
        assert!(!answers(&request, &request), "a question is no answer");
        let mut other = reply.clone();
        other.metadata.id = other.metadata.id.wrapping_add(1);
        assert!(!answers(&other, &request));
        other = reply.clone();
        other.queries[0].set_name(parse_name("example.com").unwrap());
        assert!(!answers(&other, &request));
    }
}
