#![allow(clippy::disallowed_methods)] // Clients of the tests.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::fake_web::{FakeWeb, LONG, PAGE};
use crate::{
    Access, Certificate, ServeSettings, Served, Server, ca_certificate_pem, certificate_bytes, serve,
};

async fn served(web: FakeWeb) -> Served {
    serve(Arc::new(web), ServeSettings::default()).await.unwrap()
}

async fn connect(served: &Served) -> TcpStream {
    TcpStream::connect(served.gateway_addr).await.unwrap()
}

/// Starts TLS as a client that trusts only the authority of virtual Webs.
pub(super) async fn greet(tcp: TcpStream, host: &str) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca_certificate_pem().as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(host.to_owned()).unwrap(), tcp).await
}

/// The whole response to a request after which the connection is closed, and how it ended.
async fn ask<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    host: &str,
    target: &str,
) -> (String, io::Result<usize>) {
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let ended = stream.read_to_end(&mut answer).await;
    (String::from_utf8(answer).unwrap(), ended)
}

fn took(access: &Access) -> Duration {
    Duration::from_micros(access.end_us - access.arrival_us)
}

#[tokio::test]
async fn a_reset_is_one() {
    let served = served(FakeWeb::quick()).await;
    let (answer, ended) = ask(connect(&served).await, "any.ke", "/reset").await;
    assert_eq!((answer.as_str(), ended.unwrap_err().kind()), ("", io::ErrorKind::ConnectionReset));
    let (answer, ended) =
        ask(greet(connect(&served).await, "any.ke").await.unwrap(), "any.ke", "/reset").await;
    assert_eq!((answer.as_str(), ended.unwrap_err().kind()), ("", io::ErrorKind::ConnectionReset));
    assert!(served.access_log().iter().all(|access| access.status.is_none()));
}

#[tokio::test]
async fn silence_lasts_until_the_client_goes() {
    let served = served(FakeWeb::quick()).await;
    let mut stream = connect(&served).await;
    stream.write_all(b"GET /silence HTTP/1.1\r\nHost: any.ke\r\n\r\n").await.unwrap();
    let time_limit = Duration::from_millis(30);
    let mut byte = [0];
    assert!(tokio::time::timeout(time_limit, stream.read(&mut byte)).await.is_err(), "no byte, no end");
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut byte).await.unwrap(), 0);
    let log = served.access_log();
    assert_eq!((log[0].status, log[0].sent_bytes, log[0].client_left), (None, 0, true));
    assert!(took(&log[0]) >= time_limit);
}

#[tokio::test]
async fn a_client_that_hangs_up_is_noted() {
    // The whole response takes half a second.
    let slow = Server { bits_per_second: 1e5, ..FakeWeb::quick().0 };
    for hangs_up in [false, true] {
        let served = served(FakeWeb(slow)).await;
        let mut stream = connect(&served).await;
        stream.write_all(b"GET /long HTTP/1.1\r\nHost: any.ke\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut bytes = vec![0];
        stream.read_exact(&mut bytes).await.unwrap();
        if !hangs_up {
            stream.read_to_end(&mut bytes).await.unwrap();
        }
        drop(stream);
        while served.access_log().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(served.access_log()[0].client_left, hangs_up);
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_was_announced_whole() {
    let served = served(FakeWeb::quick()).await;
    let (answer, ended) = ask(connect(&served).await, "any.ke", "/cut").await;
    assert!(ended.is_ok(), "{ended:?}");
    assert!(answer.contains(&format!("Content-Length: {}\r\n", PAGE.len())), "{answer}");
    assert!(answer.ends_with(&format!("\r\n\r\n{}", &PAGE[..20])), "{answer}");
    let (answer, ended) = ask(connect(&served).await, "any.ke", "/cut-chunks").await;
    assert!(ended.is_ok() && answer.ends_with(".\r\n") && !answer.contains("\r\n0\r\n"));
    let secure = greet(connect(&served).await, "any.ke").await.unwrap();
    let (answer, ended) = ask(secure, "any.ke", "/cut").await;
    assert!(answer.ends_with(&PAGE[..20]), "{answer}");
    assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "without the alert");
}

#[tokio::test]
async fn one_port_speaks_http_and_https() {
    let served = served(FakeWeb::quick()).await;
    let (answer, _) = ask(connect(&served).await, "any.ke", "/scheme").await;
    assert!(answer.ends_with("\r\n\r\nopen"), "{answer}");
    let secure = greet(connect(&served).await, "any.ke").await.unwrap();
    let (answer, ended) = ask(secure, "any.ke", "/scheme").await;
    assert!(answer.ends_with("\r\n\r\nsecure") && ended.is_ok(), "{answer} {ended:?}");
    let log = served.access_log();
    assert_eq!((log[0].is_https, log[1].is_https), (false, true));
}

#[tokio::test]
async fn certificates_are_as_good_as_the_world_says() {
    let served = served(FakeWeb::quick()).await;
    for (host, expected) in [
        ("good.ke", ""),
        ("self-signed.ke", "UnknownIssuer"),
        ("expired.ke", "expired"),
        ("wrong-name.ke", "not valid for name"),
        ("plain.ke", "eof"),
        ("nobody.example", "eof"),
    ] {
        let said =
            greet(connect(&served).await, host).await.err().map_or(String::new(), |error| error.to_string());
        assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{host}: {said}");
    }
    served.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_handshake_that_failed_is_an_access() {
    let served = served(FakeWeb::quick()).await;
    assert!(greet(connect(&served).await, "plain.ke").await.is_err());
    let log = served.access_log();
    assert_eq!((log.len(), log[0].host.as_str(), log[0].method.as_str()), (1, "plain.ke", ""));
    assert!(log[0].is_https && log[0].status.is_none() && log[0].address.is_some());
}

#[tokio::test]
async fn a_certificate_is_as_long_as_is_said_and_no_session_is_resumed() {
    let served = served(FakeWeb::quick()).await;
    for host in ["a.ke", "b.ke", "a-much-longer-name.example.ke"] {
        for _ in 0..3 {
            let secure = greet(connect(&served).await, host).await.unwrap();
            let shown = secure.get_ref().1.peer_certificates().unwrap();
            let bytes: usize = shown.iter().map(|certificate| certificate.len()).sum();
            assert_eq!(bytes as u64, certificate_bytes(host, Certificate::Valid), "{host}");
            let resumed = secure.get_ref().1.handshake_kind();
            assert_eq!(resumed, Some(rustls::HandshakeKind::Full));
        }
    }
}

#[tokio::test]
async fn a_tunnel_carries_https_and_leads_to_the_world_only() {
    let served = served(FakeWeb::quick()).await;
    let mut stream = connect(&served).await;
    stream.write_all(b"CONNECT any.ke:443 HTTP/1.1\r\nHost: any.ke:443\r\n\r\n").await.unwrap();
    let mut established = [0; 39];
    stream.read_exact(&mut established).await.unwrap();
    assert_eq!(&established, b"HTTP/1.1 200 Connection Established\r\n\r\n");
    let (answer, _) = ask(greet(stream, "any.ke").await.unwrap(), "any.ke", "/scheme").await;
    assert!(answer.ends_with("secure"), "{answer}");
    assert_eq!(served.access_log().len(), 1, "the tunnel is no access");
    let mut stream = connect(&served).await;
    stream.write_all(b"CONNECT nobody.example:443 HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
}

#[tokio::test]
async fn a_new_connection_takes_a_round_trip_more_and_tls_another() {
    let round_trip = Duration::from_millis(20);
    let served = served(FakeWeb(Server { round_trip, ..FakeWeb::quick().0 })).await;
    let begun = Instant::now();
    ask(connect(&served).await, "any.ke", "/").await.1.unwrap();
    let plain = begun.elapsed();
    ask(greet(connect(&served).await, "any.ke").await.unwrap(), "any.ke", "/").await.1.unwrap();
    let secure = begun.elapsed() - plain;
    assert!(plain >= round_trip * 2 && secure >= round_trip * 3, "{plain:?} {secure:?}");
    let log = served.access_log();
    assert!(took(&log[0]) >= round_trip * 2 && took(&log[1]) >= round_trip);
}

#[tokio::test]
async fn a_slow_link_lets_an_answer_trickle() {
    let slow = Server { bits_per_second: 1e6, background: 0.5, ..FakeWeb::quick().0 };
    let served = served(FakeWeb(slow)).await;
    let mut stream = connect(&served).await;
    let begun = Instant::now();
    stream.write_all(b"GET /long HTTP/1.1\r\nHost: any.ke\r\nConnection: close\r\n\r\n").await.unwrap();
    let (mut pieces, mut bytes, mut buffer) = (0, 0, [0; 8192]);
    loop {
        match stream.read(&mut buffer).await.unwrap() {
            0 => break,
            read => (pieces, bytes) = (pieces + 1, bytes + read),
        }
    }
    let least = Duration::from_secs_f64(LONG as f64 / 62_500.0);
    assert!(begun.elapsed() >= least && pieces > 2 && bytes > LONG, "{:?} {pieces}", begun.elapsed());
    assert_eq!(served.access_log()[0].sent_bytes, bytes as u64);
}
