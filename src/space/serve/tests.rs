#![allow(clippy::disallowed_methods)] // Clients of the tests.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_proto::op::{Message, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use crate::model::content::{Content, Url};
use crate::model::site::{Fault, Site};
use crate::model::url_location::UrlLocation;
use crate::{Lookup, Reaction, Records, ServeError, ServeSettings, Served, Web, World, serve};

fn world() -> Arc<World> {
    let text = "seed = 11\n[sites]\ncount = 30\nmost_pages = 20\n[pages]\nbytes_median = 3000.0\nchunked_share = 0.5
[faults]\nno_dns_share = 0.2\nservfail_share = 0.2\nreset_share = 0.2\nunavailable_share = 0.0\nmoved_share = 0.0
dns_silent_share = 0.0\nsilent_share = 0.0\nforbidden_share = 0.0\n[dns]\nalias_share = 0.0\nv6_only_share = 0.0\n";
    Arc::new(World::parse(text).unwrap())
}

fn site_with(world: &World, fault: Option<Fault>) -> Site {
    (0..world.sites.count).map(|index| Site::new(world, index)).find(|site| site.fault == fault).unwrap()
}

async fn served(world: &Arc<World>) -> Served {
    serve(world.clone(), ServeSettings::default()).await.unwrap()
}

struct Client(TcpStream);

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// Sends a request; returns the head of the response, and its body without chunks.
    async fn ask(&mut self, method: &str, host: &str, target: &str) -> io::Result<(String, Vec<u8>)> {
        let request = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: test/1\r\n\r\n");
        self.0.write_all(request.as_bytes()).await?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            head.push(char::from(self.0.read_u8().await?));
        }
        let body = match (method, length(&head)) {
            ("HEAD", _) => Vec::new(),
            (_, Some(length)) => self.take(length).await?,
            (_, None) => self.take_chunks().await?,
        };
        Ok((head, body))
    }

    async fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await?;
        Ok(body)
    }

    async fn take_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            while !line.ends_with("\r\n") {
                line.push(char::from(self.0.read_u8().await?));
            }
            let length = usize::from_str_radix(line.trim(), 16).unwrap();
            body.extend(self.take(length).await?);
            self.take(2).await?;
            if length == 0 {
                return Ok(body);
            }
        }
    }
}

fn length(head: &str) -> Option<usize> {
    head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?.parse().ok()
}

pub(super) async fn look_up(dns: SocketAddr, name: &str, kind: RecordType) -> Message {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    socket.send_to(&query(name, kind), dns).await.unwrap();
    let mut buffer = [0; 512];
    let length = socket.recv(&mut buffer).await.unwrap();
    Message::from_vec(&buffer[..length]).unwrap()
}

fn query(name: &str, kind: RecordType) -> Vec<u8> {
    let mut message = Message::query();
    message.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
    message.to_vec().unwrap()
}

#[tokio::test]
async fn the_network_serves_the_same_bytes_as_the_process() {
    let world = world();
    let served = served(&world).await;
    let mut client = Client::connect(served.gateway_addr).await;
    let mut asked = 0;
    for site in
        (0..world.sites.count).map(|index| Site::new(&world, index)).filter(|site| site.fault.is_none())
    {
        let host = site.main_host.as_str();
        let Content::Page(page) = UrlLocation::find(&world, &Url::http(host, "/")).unwrap().content(&world)
        else {
            continue;
        };
        let own = page.links.iter().filter(|link| link.url.host == host).map(|link| link.url.target.as_str());
        for target in ["/robots.txt", "/nowhere"].into_iter().chain(own) {
            let Reaction::Response(expected) = world.respond(false, host, target) else {
                panic!("{host}{target}")
            };
            let (head, body) = client.ask("GET", host, target).await.unwrap();
            assert!(head.starts_with(&format!("HTTP/1.1 {} ", expected.status)), "{head}");
            assert!(head.contains(&format!("Server: {}\r\n", expected.server)), "{head}");
            let location = expected.location.map_or(String::new(), |to| format!("Location: {to}\r\n"));
            assert!(head.contains(&location), "{head}");
            assert!(body == expected.body, "{host}{target}");
            asked += 1;
        }
    }
    let log = served.access_log();
    assert_eq!(log.len(), asked);
    assert!(log.iter().all(|access| access.connection == 1 && access.user_agent == "test/1"));
    assert!(log.windows(2).all(|pair| pair[0].end_us <= pair[1].arrival_us), "one after the other");
    served.shutdown().await.unwrap();
}

#[tokio::test]
async fn names_resolve_as_the_world_says() {
    let world = world();
    let served = served(&world).await;
    let dns = served.dns_addr;
    let well = site_with(&world, None).main_host;
    let Lookup::Found(Records { v4: Some(address), .. }) = world.lookup(&well) else { panic!("{well}") };

    let answer = look_up(dns, &format!("{}.", well.to_uppercase()), RecordType::A).await;
    assert_eq!(answer.metadata.response_code, ResponseCode::NoError);
    assert!(matches!(&answer.answers[..], [record] if record.data == RData::A(address.into())));
    let answer = look_up(dns, &well, RecordType::AAAA).await;
    assert_eq!((answer.metadata.response_code, answer.answers.len()), (ResponseCode::NoError, 0));
    for (name, code) in [
        (site_with(&world, Some(Fault::NoDns)).main_host, ResponseCode::NXDomain),
        ("nobody.example".to_owned(), ResponseCode::NXDomain),
        (site_with(&world, Some(Fault::Servfail)).main_host, ResponseCode::ServFail),
    ] {
        assert_eq!(look_up(dns, &name, RecordType::A).await.metadata.response_code, code, "{name}");
    }

    let mut stream = TcpStream::connect(dns).await.unwrap();
    let question = query(&well, RecordType::A);
    stream.write_u16(u16::try_from(question.len()).unwrap()).await.unwrap();
    stream.write_all(&question).await.unwrap();
    let mut answer = vec![0; usize::from(stream.read_u16().await.unwrap())];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(Message::from_vec(&answer).unwrap().answers.len(), 1);
}

#[tokio::test]
async fn a_server_that_resets_says_nothing_and_is_logged() {
    let world = world();
    let served = served(&world).await;
    let host = site_with(&world, Some(Fault::Reset)).main_host;
    let mut client = Client::connect(served.gateway_addr).await;
    assert!(client.ask("GET", &host, "/").await.is_err());
    let log = served.access_log();
    assert_eq!((log[0].status, log[0].sent_bytes, log[0].host.as_str()), (None, 0, host.as_str()));
    assert!(log[0].address.is_some());
}

#[tokio::test]
async fn a_port_that_refuses_is_closed_without_a_byte_and_one_that_resets_is_reset() {
    let text = "seed = 11\n[sites]\ncount = 30\n[https]\nshare = 1.0\n[doors]\nrefused_80_share = 0.5\n\
                reset_80_share = 0.5\n";
    let world = Arc::new(World::parse(text).unwrap());
    let served = served(&world).await;
    let hosts = (0..world.sites.count).map(|index| Site::new(&world, index).main_host);
    let mut seen = [0, 0];
    for host in hosts.filter(|host| matches!(world.lookup(host), Lookup::Found(_))) {
        let reaction = world.respond(false, &host, "/");
        let mut stream = TcpStream::connect(served.gateway_addr).await.unwrap();
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let ended = stream.read_to_end(&mut Vec::new()).await;
        match reaction {
            Reaction::Refused => assert_eq!(ended.unwrap(), 0, "{host}"),
            Reaction::Reset => assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::ConnectionReset),
            _ => continue,
        }
        seen[usize::from(reaction == Reaction::Reset)] += 1;
    }
    assert!(seen.iter().all(|times| *times > 3), "{seen:?}");
    let log = served.access_log();
    let closed = log.iter().filter(|access| access.status.is_none() && access.sent_bytes == 0);
    assert!(closed.count() >= seen[0] + seen[1]);
}

#[tokio::test]
async fn a_bare_name_without_an_address_is_a_name_without_records() {
    let text = "seed = 11\n[sites]\ncount = 30\n[doors]\nwww_only_share = 1.0\n";
    let world = Arc::new(World::parse(text).unwrap());
    let served = served(&world).await;
    let site = (0..world.sites.count)
        .map(|index| Site::new(&world, index))
        .find(|site| site.fault.is_none() && site.bare_host.is_some())
        .unwrap();
    for kind in [RecordType::A, RecordType::AAAA] {
        let answer = look_up(served.dns_addr, site.bare_host.as_deref().unwrap(), kind).await;
        assert_eq!((answer.metadata.response_code, answer.answers.len()), (ResponseCode::NoError, 0));
    }
    let answer = look_up(served.dns_addr, &site.main_host, RecordType::A).await;
    assert!(!answer.answers.is_empty());
}

#[tokio::test]
async fn the_gateway_answers_for_hosts_of_the_world_only() {
    let world = world();
    let served = served(&world).await;
    for host in ["nobody.example".to_owned(), site_with(&world, Some(Fault::NoDns)).main_host] {
        let mut client = Client::connect(served.gateway_addr).await;
        let (head, _) = client.ask("GET", &host, "/").await.unwrap();
        assert!(head.starts_with("HTTP/1.1 421 "), "{head}");
    }
}

#[tokio::test]
async fn head_brings_no_body_and_a_wrong_method_no_page() {
    let world = world();
    let served = served(&world).await;
    let host = site_with(&world, None).main_host;
    let mut client = Client::connect(served.gateway_addr).await;
    let (head, _) = client.ask("HEAD", &host, "/robots.txt").await.unwrap();
    assert!(length(&head).is_some_and(|length| length > 0), "{head}");
    let (head, _) = client.ask("DELETE", &host, "/").await.unwrap();
    assert!(head.starts_with("HTTP/1.1 501 "), "{head}");
}

#[tokio::test]
async fn what_is_no_request_ends_the_connection() {
    let world = world();
    let served = served(&world).await;
    for (sent, said) in [
        ("nonsense\r\n\r\n".to_owned(), "HTTP/1.1 400 "),
        ("x".repeat(20_000), "HTTP/1.1 431 "),
        (String::new(), ""),
    ] {
        let mut stream = TcpStream::connect(served.gateway_addr).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // After the response, a reset is as good an end as a close.
        let _ = stream.read_to_end(&mut answer).await;
        assert!(String::from_utf8_lossy(&answer).starts_with(said), "{said}");
    }
}

#[tokio::test]
async fn the_access_log_is_a_csv_file_with_a_line_for_each_request() {
    let world = world();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("access.csv");
    let settings = ServeSettings { log: Some(file.clone()), most_kept: 1, ..ServeSettings::default() };
    let served = serve(world.clone(), settings).await.unwrap();
    let host = site_with(&world, None).main_host;
    let mut client = Client::connect(served.gateway_addr).await;
    for target in ["/", "/robots.txt"] {
        client.ask("GET", &host, target).await.unwrap();
    }
    assert_eq!(served.access_log().len(), 1, "only so many are kept in memory");
    served.shutdown().await.unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "address,host,path,method,user_agent,arrival_us,end_us,sent_bytes,received_bytes,status,connection,is_https,client_left"
    );
    assert_eq!(lines.len(), 3);
    assert!(lines[2].contains(&format!("{host},/robots.txt,GET,test/1,")), "{}", lines[2]);
}

#[tokio::test]
async fn an_address_takes_the_time_it_takes_divided_by_the_speed() {
    let text = "seed = 11\n[sites]\ncount = 30\n[time]\nscale = 1.0\nservice_median = 0.0\n\
        [servers]\noffshore_share = 1.0\noffshore_round_trip = 4000.0\noffshore_deviation = 0.0";
    let world = Arc::new(World::parse(text).unwrap());
    let served =
        serve(world.clone(), ServeSettings { speed: 200.0, ..ServeSettings::default() }).await.unwrap();
    let host = site_with(&world, None).main_host;
    Client::connect(served.gateway_addr).await.ask("GET", &host, "/").await.unwrap();
    let log = served.access_log();
    let took = Duration::from_micros(log[0].end_us - log[0].arrival_us);
    assert!((20..4000).contains(&took.as_millis()), "{took:?}");
}

#[tokio::test]
async fn what_cannot_be_served_is_named() {
    let world = world();
    let taken = served(&world).await.gateway_addr;
    let holder = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let busy = ServeSettings { gateway: holder.local_addr().unwrap(), ..ServeSettings::default() };
    assert!(matches!(serve(world.clone(), busy).await.err(), Some(ServeError::Gateway(..))));
    let still = ServeSettings { speed: 0.0, gateway: taken, ..ServeSettings::default() };
    let said = serve(world, still).await.err().unwrap().to_string();
    assert_eq!(said, "the speed is 0, expected a number above 0");
}
