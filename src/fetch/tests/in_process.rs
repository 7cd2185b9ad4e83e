use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use parking_lot::Mutex;
use tokio::time::advance;

use crate::address::{Host, OptOut, WebUrl};
use crate::exchange::{Depth, Failure, Purpose, Request, Response, TlsError, Validators};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::exchange::RECEIVE_WINDOW;
use crate::fetch::{
    Clock, ConnectionOutcome, Fetcher, LookupResponse, Manner, Meter, SentCertificate, Settings, Timeouts,
    UserDelays, Web, WebRequest, WebResponse,
};

/// A Web of one server that always gives the same response.
struct OneServer {
    lookup: LookupResponse,
    reply: WebResponse,
    /// For each request, whether it opened a connection.
    opened: Mutex<Vec<bool>>,
    /// The conditions of the last request.
    conditions: Mutex<(Option<String>, Option<String>)>,
}

impl Web for OneServer {
    fn look_up(&self, _host: &Host) -> LookupResponse {
        self.lookup.clone()
    }

    fn respond(&self, web_request: &WebRequest<'_>) -> WebResponse {
        self.opened.lock().push(web_request.opens_connection);
        let text = |field: Option<&str>| field.map(str::to_owned);
        *self.conditions.lock() = (text(web_request.if_none_match), text(web_request.if_modified_since));
        self.reply.clone()
    }

    fn user_delays(&self, _address: IpAddr) -> Option<UserDelays> {
        None
    }
}

const SERVER: [u8; 4] = [41, 90, 0, 1];

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn page(bytes: usize, bytes_per_second: f64) -> ConnectionOutcome {
    ConnectionOutcome::Response {
        first_byte: ms(300),
        status: 200,
        fields: vec![("Content-Type", "text/html".to_owned()), ("Content-Length", bytes.to_string())],
        body: vec![b'x'; bytes],
        identity: None,
        cut_after: None,
        bytes_per_second,
    }
}

fn server_with(outcome: ConnectionOutcome) -> Arc<OneServer> {
    let lookup = LookupResponse {
        addresses: Ok(vec![SERVER.into()]),
        aliases: Vec::new(),
        lifetime: ms(3_600_000),
        took: ms(20),
    };
    let reply = WebResponse { connect: ms(100), tls: ms(200), sent_certificate: None, outcome };
    Arc::new(OneServer { lookup, reply, opened: Mutex::default(), conditions: Mutex::default() })
}

fn fetcher(web: Arc<OneServer>, settings: Settings, opt_out: &str) -> Fetcher {
    let clock = Clock::beginning_at(UNIX_EPOCH);
    Fetcher::in_process(settings, Arc::new(OptOut::parse(opt_out).unwrap().into()), clock, web).unwrap()
}

async fn request(fetcher: &Fetcher, url: &str) -> (Response, Vec<u8>) {
    let url = WebUrl::parse(url).unwrap();
    let request = Request { number: 0, url, purpose: Purpose::Page, depth: Some(Depth(0)) };
    fetcher.fetch(&request, SERVER.into(), u64::MAX).await
}

#[tokio::test(start_paused = true)]
async fn an_exchange_takes_the_time_that_the_web_says() {
    let fetcher = fetcher(server_with(page(1000, 1000.0)), Settings::default(), "");
    let located = fetcher.locate(&Host::parse("a.ke").unwrap()).await;
    assert_eq!((located.address, located.dns), (Ok(SERVER.into()), Some(ms(20))));
    let (response, body) = request(&fetcher, "http://a.ke/").await;
    let timings = response.timings;
    assert_eq!(
        (timings.connect, timings.first_byte, timings.total),
        (Some(ms(100)), Some(ms(300)), ms(1400))
    );
    assert_eq!((response.started, response.status, body.len()), (UNIX_EPOCH + ms(20), Some(200), 1000));
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_kept_over_short_pauses_and_for_one_origin() {
    let web = server_with(page(10, 1000.0));
    let in_turn = fetcher(web.clone(), quick(), "");
    for (pause, url) in [
        (0, "http://a.ke/"),
        (190, "http://a.ke/"),
        (200, "http://a.ke/"),
        (10, "http://b.ke/"),
        (10, "http://a.ke/"),
        (10, "https://a.ke/"),
    ] {
        advance(ms(pause)).await;
        request(&in_turn, url).await;
    }
    assert_eq!(*web.opened.lock(), [true, false, true, true, true, true]);
    let web = server_with(page(10, 1000.0));
    let polite = fetcher(web.clone(), Settings::default(), "");
    for _ in 0..2 {
        request(&polite, "http://a.ke/").await;
    }
    assert_eq!(*web.opened.lock(), [true, true], "two seconds are too long to wait with an open one");
}

/// Settings without a pause, so that connections are kept.
fn quick() -> Settings {
    Settings { shortest_pause: Duration::ZERO, ..Settings::default() }
}

#[tokio::test(start_paused = true)]
async fn a_known_version_is_asked_past_and_its_connection_kept_alive() {
    let outcome = ConnectionOutcome::Response {
        first_byte: ms(300),
        status: 304,
        fields: Vec::new(),
        body: Vec::new(),
        identity: None,
        cut_after: None,
        bytes_per_second: 1000.0,
    };
    let web = server_with(outcome);
    let fetcher = fetcher(web.clone(), quick(), "");
    let known = Validators { etag: Some("\"1\"".to_owned()), last_modified: Some("then".to_owned()) };
    let url = WebUrl::parse("http://a.ke/").unwrap();
    let web_request = Request { number: 0, url, purpose: Purpose::Page, depth: Some(Depth(0)) };
    for _ in 0..2 {
        let (response, body) = fetcher.fetch_if_modified(&known, &web_request, SERVER.into(), u64::MAX).await;
        assert_eq!((response.status, response.failure, body.len()), (Some(304), None, 0));
    }
    assert_eq!(*web.opened.lock(), [true, false]);
    let conditions = || web.conditions.lock().clone();
    assert_eq!(conditions(), (known.etag.clone(), known.last_modified.clone()));
    request(&fetcher, "http://a.ke/").await;
    assert_eq!(conditions(), (None, None));
}

#[tokio::test(start_paused = true)]
async fn time_outs_hold_as_over_the_network() {
    let settings = Settings::default();
    for (outcome, failure, total, status) in [
        (ConnectionOutcome::Silence, Failure::FirstByteTimeout, 30_100, None),
        (ConnectionOutcome::Closed(ms(50)), Failure::Reset, 150, None),
        (page(100_000, 1000.0), Failure::TooSlow, 60_000, Some(200)),
        (page(100, 0.01), Failure::IdleTimeout, 20_400, Some(200)),
    ] {
        let (response, _) =
            request(&fetcher(server_with(outcome), settings.clone(), ""), "http://a.ke/").await;
        assert_eq!(
            (response.failure, response.timings.total, response.status),
            (Some(failure), ms(total), status)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_cut_is_used_as_far_as_it_came() {
    let ConnectionOutcome::Response { first_byte, status, fields, body, bytes_per_second, .. } =
        page(1000, 1000.0)
    else {
        panic!()
    };
    let cut = ConnectionOutcome::Response {
        first_byte,
        status,
        fields,
        body,
        identity: None,
        cut_after: Some(400),
        bytes_per_second,
    };
    let web = server_with(cut);
    let fetcher = fetcher(web.clone(), quick(), "");
    let (response, body) = request(&fetcher, "http://a.ke/").await;
    assert_eq!((response.failure, body.len()), (Some(Failure::BodyTruncated), 400));
    request(&fetcher, "http://a.ke/").await;
    assert_eq!(*web.opened.lock(), [true, true], "a broken connection is not used again");
}

#[tokio::test(start_paused = true)]
async fn a_certificate_is_counted_and_its_defect_told() {
    let mut web = Arc::into_inner(server_with(page(10, 1000.0))).unwrap();
    web.reply.sent_certificate =
        Some(SentCertificate { bytes: 900, contents: None, defect: Some(TlsError::Expired) });
    let web = Arc::new(web);
    let (response, _) = request(&fetcher(web.clone(), Settings::default(), ""), "https://a.ke/").await;
    assert_eq!(
        (response.tls_error.as_deref(), response.tls_version.as_deref()),
        (Some("expired"), Some("TLSv1.3"))
    );
    assert_eq!(response.timings.tls, Some(ms(200)));
    assert!(response.wire.received > 900 + 700);
    let strict = Settings { refuse_bad_certificates: true, ..Settings::default() };
    let (response, _) = request(&fetcher(web, strict, ""), "https://a.ke/").await;
    assert_eq!((response.failure, response.status), (Some(Failure::TlsCertificate), None));
    let (response, _) =
        request(&fetcher(server_with(page(10, 1000.0)), Settings::default(), ""), "https://a.ke/").await;
    assert_eq!(response.failure, Some(Failure::TlsHandshake), "a server without TLS");
}

#[tokio::test(start_paused = true)]
async fn what_is_opted_out_or_special_is_not_asked_in_process_either() {
    let web = server_with(page(10, 1000.0));
    let (response, _) = request(&fetcher(web.clone(), Settings::default(), "a.ke"), "http://www.a.ke/").await;
    assert_eq!(response.failure, Some(Failure::OptedOut));
    let mut loopback = Arc::into_inner(server_with(page(10, 1000.0))).unwrap();
    loopback.lookup.addresses = Ok(vec![[127, 0, 0, 1].into()]);
    let located =
        fetcher(Arc::new(loopback), Settings::default(), "").locate(&Host::parse("a.ke").unwrap()).await;
    assert_eq!(located.address, Err(Failure::AddressRefused));
    assert_eq!(*web.opened.lock(), [] as [bool; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_name_server_that_says_nothing_is_waited_for_as_long_as_any() {
    let mut web = Arc::into_inner(server_with(page(10, 1000.0))).unwrap();
    web.lookup.took = ms(86_400_000);
    let located = fetcher(Arc::new(web), Settings::default(), "").locate(&Host::parse("a.ke").unwrap()).await;
    assert_eq!((located.address, located.dns), (Err(Failure::DnsTimeout), Some(ms(10_000))));
}

/// A gzip response whose Web also passes the decoded body. The two differ, so that a test can see which one
/// is used.
fn encoded(cut_after: Option<usize>) -> ConnectionOutcome {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let text: Vec<u8> = (0..2000_u32).flat_map(|number| number.to_string().into_bytes()).collect();
    encoder.write_all(&text).unwrap();
    let body = encoder.finish().unwrap();
    let fields = [("Content-Type", "text/html"), ("Content-Encoding", "gzip")];
    let mut fields = fields.map(|(name, value)| (name, value.to_owned())).to_vec();
    fields.push(("Content-Length", body.len().to_string()));
    let identity = Some(vec![b'x'; 6890].into());
    ConnectionOutcome::Response {
        first_byte: ms(300),
        status: 200,
        fields,
        body,
        identity,
        cut_after,
        bytes_per_second: 1e9,
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_web_has_encoded_is_not_decoded_if_it_comes_whole_and_is_allowed() {
    let fetch_from = async |outcome: ConnectionOutcome, settings: Settings| {
        request(&fetcher(server_with(outcome), settings, ""), "http://a.ke/").await
    };
    let (response, body) = fetch_from(encoded(None), Settings::default()).await;
    assert_eq!((response.failure, body), (None, vec![b'x'; 6890]));
    // A body that breaks off is decoded as far as it arrived, …
    let (response, body) = fetch_from(encoded(Some(400)), Settings::default()).await;
    assert_eq!((response.failure, &body[..12]), (Some(Failure::BodyTruncated), &b"012345678910"[..]));
    // … and so is a body longer than the limit.
    let (response, body) =
        fetch_from(encoded(None), Settings { max_body: 1000, ..Settings::default() }).await;
    assert_eq!((response.failure, &body[..12]), (Some(Failure::BodyTooLarge), &b"012345678910"[..]));
}

/// A page with this number of bytes of header fields.
fn response_with_head(bytes: usize) -> ConnectionOutcome {
    let ConnectionOutcome::Response {
        first_byte,
        status,
        body,
        identity,
        cut_after,
        bytes_per_second,
        mut fields,
    } = page(90_000, 1e9)
    else {
        unreachable!()
    };
    fields.extend((0..bytes / 1000).map(|_| ("X-Padding", "x".repeat(987))));
    ConnectionOutcome::Response { first_byte, status, fields, body, identity, cut_after, bytes_per_second }
}

#[tokio::test(start_paused = true)]
async fn a_head_is_too_large_however_it_came_and_counts_as_the_limit() {
    let (response, body) =
        request(&fetcher(server_with(response_with_head(400_000)), Settings::default(), ""), "http://a.ke/")
            .await;
    assert_eq!((response.failure, body.len()), (None, 90_000));
    let (response, body) =
        request(&fetcher(server_with(response_with_head(500_000)), Settings::default(), ""), "http://a.ke/")
            .await;
    assert_eq!((response.failure, response.status, body.len()), (Some(Failure::HeaderTooLarge), None, 0));
    assert!((417_792..420_000).contains(&response.wire.received), "{}", response.wire.received);
}

#[tokio::test(start_paused = true)]
async fn no_answer_moves_more_beyond_a_small_limit_than_is_said() {
    for head in [300, 300_000, 500_000] {
        let fetcher = fetcher(server_with(response_with_head(head)), Settings::default(), "");
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let request = Request { number: 0, url, purpose: Purpose::Page, depth: Some(Depth(0)) };
        let (response, _) = fetcher.fetch(&request, SERVER.into(), 8192).await;
        let transferred = response.wire.sent + response.wire.received;
        assert!(transferred <= 8192 + fetcher.max_bytes_over_limit(), "{transferred} with a head of {head}");
    }
}

/// Lets each piece be read after a pause.
struct SlowMeter {
    pause: Duration,
    requested: Mutex<Vec<u64>>,
}

impl Meter for SlowMeter {
    fn read_on(&self, bytes: u64) -> BoxFuture<'_, ()> {
        self.requested.lock().push(bytes);
        tokio::time::sleep(self.pause).boxed()
    }
}

/// A page of 200 kB that arrives in 0.2 s, read with a pause before each piece; and the amounts requested
/// from the meter.
async fn read_slowly(pause: Duration, pause_allowance: Duration) -> (Response, Vec<u64>) {
    let timeouts = Timeouts { whole: ms(60_000), ..Timeouts::default() };
    let settings = Settings { timeouts, pause_allowance, ..Settings::default() };
    let fetcher = fetcher(server_with(page(200_000, 1_000_000.0)), settings, "");
    let url = WebUrl::parse("http://a.ke/").unwrap();
    let request = Request { number: 0, url, purpose: Purpose::Page, depth: Some(Depth(0)) };
    let meter = SlowMeter { pause, requested: Mutex::default() };
    let known = Validators::default();
    let fetching = fetcher.fetch_with(Manner::Usual, &known, &request, SERVER.into(), u64::MAX, &meter);
    let (response, _) = fetching.await;
    (response, meter.requested.into_inner())
}

#[tokio::test(start_paused = true)]
async fn a_pause_of_our_own_is_no_slowness_of_the_server() {
    // Four pieces and the end, each after half a minute, which is longer than the time-out between two
    // pieces.
    let (response, requested) = read_slowly(ms(30_000), ms(150_000)).await;
    assert_eq!((response.failure, response.body_bytes), (None, 200_000));
    assert!(
        response.timings.total >= ms(150_400),
        "the server has us all that time: {:?}",
        response.timings.total
    );
    let window = RECEIVE_WINDOW;
    let head = response.wire.sent + response.wire.received - 200_000;
    let whole = head + 200_000;
    assert_eq!(
        requested,
        [window, 2 * window, 3 * window, 200_000, 200_000].map(|bytes| (head + bytes).min(whole))
    );
}

#[tokio::test(start_paused = true)]
async fn a_pause_of_our_own_ends_where_patience_does() {
    for (pause_allowance, is_whole) in [(0, false), (80_000, false), (110_000, true)] {
        let (response, _) = read_slowly(ms(30_000), ms(pause_allowance)).await;
        assert_eq!(response.failure.is_none(), is_whole, "{pause_allowance}");
        assert!(response.timings.total <= ms(60_000 + pause_allowance), "{:?}", response.timings.total);
        assert!(response.failure.is_none_or(|failure| failure == Failure::TooSlow));
    }
}
