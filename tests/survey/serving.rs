//! A virtual Web served over sockets, fetched by the survey's own client: every reaction of a server causes
//! the failure that it should, and bytes and times are counted as in the same Web in process.

#[path = "../../src/space/fake_web.rs"]
mod fake_web;

use std::sync::Arc;
use std::time::Duration;

use ccsurvey::address::{OptOuts, WebUrl};
use ccsurvey::exchange::{self, Depth, Failure, Purpose, Request};
use ccsurvey::fetch::{Clock, Fetcher, Settings, Timeouts};
// The Web of the tests refers to these as its siblings.
use ccsurvey::space::{
    Certificate, Handshake, Lookup, Reaction, Records, Response, ServeSettings, Served, Server, Web,
    ca_certificate_pem, certificate_bytes, serve,
};
use fake_web::{FakeWeb, LONG, PAGE, V4, V6};

/// A Web that is served, and a client that trusts its authority.
struct Trial {
    served: Served,
    fetcher: Fetcher,
    _roots: tempfile::TempDir,
}

/// A trial that keeps connections which are idle for a moment.
async fn trial(web: FakeWeb) -> Trial {
    trial_at(web, Duration::ZERO).await
}

async fn trial_at(web: FakeWeb, shortest_pause: Duration) -> Trial {
    let served = serve(Arc::new(web), ServeSettings::default()).await.unwrap();
    let roots = tempfile::tempdir().unwrap();
    let ca = roots.path().join("ca.pem");
    std::fs::write(&ca, ca_certificate_pem()).unwrap();
    // Waited for in full if something is silent on purpose, and otherwise never reached even on a busy
    // machine.
    let quick = Duration::from_secs(8);
    let settings = Settings {
        dns: Some(served.dns_addr),
        gateway: Some(served.gateway_addr),
        permit_special_addresses: true,
        extra_roots: vec![ca],
        timeouts: Timeouts { dns: quick, first_byte: quick, ..Timeouts::default() },
        shortest_pause,
        ..Settings::default()
    };
    let fetcher = Fetcher::new(settings, Arc::new(OptOuts::default()), Clock::system()).unwrap();
    Trial { served, fetcher, _roots: roots }
}

impl Trial {
    async fn request(&self, url: &str) -> (exchange::Response, Vec<u8>) {
        let url = WebUrl::parse(url).unwrap();
        let address = self.fetcher.locate(url.host()).await.address.unwrap();
        let request = Request { number: 0, url, purpose: Purpose::Page, depth: Some(Depth(0)) };
        self.fetcher.fetch(&request, address, u64::MAX).await
    }

    /// Repeats the request until a connection is reused: on a busy machine it may be idle for longer than
    /// connections are kept.
    async fn request_on_kept_connection(&self, url: &str) -> exchange::Response {
        for _ in 0..100 {
            let (response, _) = self.request(url).await;
            if response.wire.connections == 0 {
                return response;
            }
        }
        panic!("{url}: a new connection for each of 100 requests");
    }

    async fn failure(&self, url: &str) -> Option<Failure> {
        self.request(url).await.0.failure
    }
}

#[tokio::test]
async fn every_reaction_is_the_failure_that_it_means() {
    // No connection is kept over so long a pause, so that none is lost while it is idle.
    let trial = trial_at(FakeWeb::quick(), Duration::from_secs(60)).await;
    for scheme in ["http", "https"] {
        for (path, failure) in [
            ("page", None),
            ("reset", Some(Failure::Reset)),
            ("silence", Some(Failure::FirstByteTimeout)),
            ("cut", Some(Failure::BodyTruncated)),
            ("cut-chunks", Some(Failure::BodyTruncated)),
            ("chunks", None),
            ("page", None),
        ] {
            assert_eq!(trial.failure(&format!("{scheme}://any.ke/{path}")).await, failure, "{scheme} {path}");
        }
    }
    assert_eq!(trial.failure("https://plain.ke/").await, Some(Failure::TlsHandshake));
}

#[tokio::test]
async fn names_lead_where_the_web_says() {
    let trial = trial(FakeWeb::quick()).await;
    for (host, address) in [
        ("any.ke", Ok(V4.into())),
        ("six.ke", Ok(V6.into())),
        ("both.ke", Ok(V4.into())),
        ("alias.ke", Ok(V4.into())),
        ("long.ke", Ok(V4.into())),
        ("empty.ke", Err(Failure::DnsNoAddress)),
        ("failing.ke", Err(Failure::DnsServfail)),
        ("nobody.example", Err(Failure::DnsNxdomain)),
        ("silent.ke", Err(Failure::DnsTimeout)),
    ] {
        let url = WebUrl::parse(&format!("http://{host}/")).unwrap();
        assert_eq!(trial.fetcher.locate(url.host()).await.address, address, "{host}");
    }
}

#[tokio::test]
async fn certificates_are_judged_as_they_were_made() {
    let trial = trial(FakeWeb::quick()).await;
    for (host, defect) in [
        ("good.ke", None),
        ("self-signed.ke", Some("self_signed")),
        ("expired.ke", Some("expired")),
        ("wrong-name.ke", Some("wrong_name")),
    ] {
        let (response, body) = trial.request(&format!("https://{host}/")).await;
        assert_eq!((response.status, response.tls_error.as_deref()), (Some(200), defect), "{host}");
        assert_eq!(body, PAGE.as_bytes());
    }
}

/// Bytes received in addition to the head of the response and its body.
fn bytes_besides_body(response: &exchange::Response, body: usize) -> u64 {
    response.wire.received - body as u64
}

#[tokio::test]
async fn a_new_connection_costs_its_certificate_and_nothing_that_depends_on_time() {
    let kinds = [
        ("good.ke", Certificate::Valid),
        ("self-signed.ke", Certificate::SelfSigned),
        ("expired.ke", Certificate::Expired),
        ("wrong-name.ke", Certificate::WrongName),
    ];
    let mut handshakes = Vec::new();
    for (host, kind) in kinds {
        // One trial for each: after a connection that breaks during a request, a server gets its requests
        // over new ones.
        let trial = trial(FakeWeb::quick()).await;
        let url = format!("https://{host}/");
        let (first, _) = trial.request(&url).await;
        let second = trial.request_on_kept_connection(&url).await;
        let again = trial.request_on_kept_connection(&url).await;
        assert_eq!(bytes_besides_body(&second, PAGE.len()), bytes_besides_body(&again, PAGE.len()));
        // The connection breaks, and the next exchange makes a new one to the same host.
        trial.request(&format!("{url}reset")).await;
        let (third, _) = trial.request(&url).await;
        assert_eq!((first.wire.connections, third.wire.connections), (1, 1));
        assert_eq!(first.wire.received, third.wire.received, "no session is resumed");
        let handshake = first.wire.received - second.wire.received;
        handshakes.push(handshake - certificate_bytes(host, kind));
    }
    assert!(handshakes.windows(2).all(|pair| pair[0] == pair[1]), "{handshakes:?}");
}

#[tokio::test]
async fn zipped_and_chunked_pages_are_read_whole() {
    let trial = trial(FakeWeb::quick()).await;
    let (response, body) = trial.request("http://any.ke/zipped").await;
    assert_eq!((response.failure, body.as_slice()), (None, PAGE.as_bytes()));
    assert_eq!(response.head.content_encoding.as_deref(), Some("gzip"));
    let (response, body) = trial.request("http://any.ke/chunks").await;
    assert_eq!((response.failure, body.len()), (None, LONG));
}

#[tokio::test]
async fn servers_are_as_far_and_as_slow_as_they_are() {
    let round_trip = Duration::from_millis(30);
    let slow = Server { round_trip, bits_per_second: 1e6, ..FakeWeb::quick().0 };
    let trial = trial(FakeWeb(slow)).await;
    let transfer = Duration::from_secs_f64(LONG as f64 / 125_000.0);
    let total = |response: &exchange::Response| response.timings.total;
    let first = total(&trial.request("http://any.ke/long").await.0);
    let second = total(&trial.request("http://any.ke/long").await.0);
    let secure = total(&trial.request("https://any.ke/long").await.0);
    assert!(first >= round_trip * 2 + transfer && second >= round_trip + transfer, "{first:?} {second:?}");
    assert!(secure >= round_trip * 3 + transfer, "{secure:?}");
    let log = trial.served.access_log();
    assert!(log.iter().all(|access| access.end_us - access.arrival_us >= 30_000));
}
