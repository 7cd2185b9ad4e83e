use super::server::Conversation;
use super::tls_server::{ONLY_1_2, ONLY_1_3, Plan, TlsServer};
use super::*;

fn trusting(server: &TlsServer) -> Settings {
    Settings { extra_roots: vec![server.root.path().to_owned()], ..settings() }
}

async fn fetch(fetcher: &Fetcher, server: &TlsServer, host: &str) -> (Response, Vec<u8>) {
    let url = format!("https://{host}:{}/", server.address.port());
    let response = fetcher.fetch(&request(&url, Purpose::Page), LOOPBACK, u64::MAX).await;
    settle().await;
    response
}

#[tokio::test]
async fn an_https_page_is_read_and_its_connection_kept() {
    for (versions, name) in [(ONLY_1_3, "TLSv1.3"), (ONLY_1_2, "TLSv1.2")] {
        let server = Plan { versions, ..TlsServer::of(&["a.ke"]) }.start();
        let fetcher = fetcher(trusting(&server));
        let (response, body) = fetch(&fetcher, &server, "a.ke").await;
        assert_eq!((response.failure, response.tls_error, &*body), (None, None, b"<p>secret".as_slice()));
        assert_eq!(response.tls_version.as_deref(), Some(name));
        assert!(response.timings.connect.is_some() && response.timings.tls.is_some());
        assert_eq!(response.wire.connections, 1);
        let (again, _) = fetch(&fetcher, &server, "a.ke").await;
        assert_eq!((again.wire.connections, again.tls_version.as_deref()), (0, Some(name)));
        assert!(again.timings.tls.is_none() && again.wire.received < 300);
    }
}

#[tokio::test]
async fn an_odd_response_is_read_over_tls_too() {
    let reply = b"HTTP/1.1  200 OK\r\nContent-Type: text/html\r\n\r\n<p>secret".to_vec();
    for (versions, name) in [(ONLY_1_3, "TLSv1.3"), (ONLY_1_2, "TLSv1.2")] {
        let server =
            Plan { versions, reply: reply.clone(), closing: true, ..TlsServer::of(&["b.ke"]) }.start();
        let fetcher = fetcher(trusting(&server));
        assert_eq!(fetch(&fetcher, &server, "a.ke").await.0.failure, Some(Failure::OddHttp));
        let before = server.bytes();
        let (response, body) = fetch(&fetcher, &server, "a.ke").await;
        assert_eq!((response.failure, response.status, &*body), (None, Some(200), b"<p>secret".as_slice()));
        let tls_fields = (response.tls_version.as_deref(), response.tls_error.as_deref());
        assert_eq!(tls_fields, (Some(name), Some("wrong_name")));
        assert!(response.timings.connect.is_some() && response.timings.tls.is_some());
        assert!(server.request_head().contains("connection: close"));
        let (received, sent) = server.bytes();
        let (to, from) = (received - before.0, sent - before.1);
        assert!(response.wire.sent.abs_diff(to) < 200 && response.wire.received.abs_diff(from) < 1000);
    }
}

#[tokio::test]
async fn a_bad_certificate_is_noted_in_one_word_and_the_page_read() {
    let plan = || TlsServer::of(&["a.ke"]);
    for (plan, host, trusted, defect) in [
        (plan(), "a.ke", true, None),
        (plan(), "b.ke", true, Some("wrong_name")),
        (plan(), "a.ke", false, Some("unknown_issuer")),
        (Plan { self_signed: true, ..plan() }, "a.ke", false, Some("self_signed")),
        (Plan { years: (2000, 2001), ..plan() }, "a.ke", true, Some("expired")),
        (Plan { years: (2090, 2100), ..plan() }, "a.ke", true, Some("not_yet_valid")),
    ] {
        let server = plan.start();
        let settings = if trusted { trusting(&server) } else { settings() };
        let (response, body) = fetch(&fetcher(settings.clone()), &server, host).await;
        assert_eq!((response.failure, body.len()), (None, 9), "{defect:?}");
        assert_eq!(response.tls_error.as_deref(), defect);
        let refusing = fetcher(Settings { refuse_bad_certificates: true, ..settings });
        let (response, _) = fetch(&refusing, &server, host).await;
        assert_eq!(response.failure, defect.map(|_| Failure::TlsCertificate));
        assert_eq!(response.tls_error.as_deref(), defect);
    }
}

#[tokio::test]
async fn a_resumed_session_keeps_its_verdict_and_costs_less() {
    let server = Plan { closing: true, ..TlsServer::of(&["a.ke"]) }.start();
    let fetcher = fetcher(settings());
    let mut answers = Vec::new();
    for number in 0..2 {
        answers.push(fetch(&fetcher, &server, "a.ke").await.0);
        while server.closed() <= number {
            tokio::task::yield_now().await;
        }
        settle().await;
    }
    for response in &answers {
        assert_eq!((response.failure, response.wire.connections), (None, 1));
        assert_eq!(response.tls_error.as_deref(), Some("unknown_issuer"));
    }
    assert!(answers[1].wire.received + 500 < answers[0].wire.received);
}

#[tokio::test]
async fn what_is_not_tls_is_a_handshake_failure_and_silence_a_timeout() {
    let mut settings = settings();
    settings.timeouts.tls = SHORT;
    let talker = Server::scripted(|mut conversation| async move {
        conversation.send(b"HTTP/1.1 400 plain HTTP spoken here\r\n\r\n").await;
        conversation.wait().await;
    })
    .await;
    let leaver = Server::scripted(Conversation::finish).await;
    let silent = Server::scripted(Conversation::wait).await;
    for (server, failure) in
        [(talker, Failure::TlsHandshake), (leaver, Failure::TlsHandshake), (silent, Failure::TlsTimeout)]
    {
        let url = server.url("/").replace("http", "https");
        let (response, _) =
            fetcher(settings.clone()).fetch(&request(&url, Purpose::Page), LOOPBACK, u64::MAX).await;
        assert_eq!((response.failure, response.wire.connections), (Some(failure), 1));
        assert!(response.timings.connect.is_some());
    }
}

/// A ServerHello of an old version, with a cipher suite, in a record.
fn old_hello(minor: u8, suite: [u8; 2]) -> Vec<u8> {
    let head = [22, 3, minor, 0, 42, 2, 0, 0, 38, 3, minor];
    [&head[..], &[7; 32], &[0, suite[0], suite[1], 0]].concat()
}

/// An alert that ends the handshake.
fn alert(description: u8) -> Vec<u8> {
    vec![21, 3, 1, 0, 2, 2, description]
}

#[tokio::test]
async fn a_server_whose_tls_is_too_old_says_so() {
    for (flight, failure) in [
        (alert(70), Failure::TlsTooOld),
        (old_hello(1, [0, 0x2f]), Failure::TlsTooOld),
        (old_hello(2, [0xc0, 0x14]), Failure::TlsTooOld),
        (old_hello(3, [0, 0x2f]), Failure::TlsTooOld),
        (alert(40), Failure::TlsAlert),
        (alert(112), Failure::TlsAlert),
    ] {
        let server = Server::sending_first(&flight).await;
        let url = format!("https://a.ke:{}/", server.address.port());
        let (response, _) =
            fetcher(settings()).fetch(&request(&url, Purpose::Page), LOOPBACK, u64::MAX).await;
        assert_eq!(response.failure, Some(failure), "{flight:?}");
        assert!(response.timings.connect.is_some() && response.timings.tls.is_none());
    }
}

/// A SETTINGS frame without a setting (RFC 9113 §6.5).
const SETTINGS_FRAME: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

#[tokio::test]
async fn a_server_of_http_2_alone_is_told_from_others() {
    let plan = || TlsServer::of(&["a.ke"]);
    for plan in [
        Plan { protocols: &[b"h2"], ..plan() },
        Plan { protocols: &[b"h2"], versions: ONLY_1_2, ..plan() },
        // Servers that ignore the protocols that a client offers.
        Plan { reply: SETTINGS_FRAME.to_vec(), closing: true, ..plan() },
    ] {
        let protocols = plan.protocols;
        let server = plan.start();
        let (response, body) = fetch(&fetcher(settings()), &server, "a.ke").await;
        let found = (response.failure, response.status, body.len());
        assert_eq!(found, (Some(Failure::TlsHttp2Only), None, 0), "{protocols:?}");
        assert!(!response.may_speak_older_tls);
    }
    // If the server sends at once, hyper may see the end of its connection before it sees the request, and
    // not report the reason. Servers of other protocols send first, too.
    for (greeting, failure) in [
        (SETTINGS_FRAME, Failure::TlsHttp2Only),
        (b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\x0d", Failure::TlsHttp2Only),
        (b"SSH-2.0-OpenSSH_9.2\r\n", Failure::BadHttp),
        (b"220 mail.a.ke ESMTP\r\n", Failure::BadHttp),
        (b"+OK ready\r\n", Failure::BadHttp),
        (b"\0\0\x12\x05\0\0\0\0\0", Failure::BadHttp),
        (b"\0\0\0\x04\0\0\0\0\x01", Failure::BadHttp),
    ] {
        let server = Plan { greeting, closing: true, ..plan() }.start();
        let fetcher = fetcher(settings());
        let (response, _) = fetch(&fetcher, &server, "a.ke").await;
        let odd = [Some(Failure::OddHttp), Some(Failure::Reset), Some(failure)];
        assert!(odd.contains(&response.failure), "{greeting:?}: {:?}", response.failure);
        let request = request(&format!("https://a.ke:{}/", server.address.port()), Purpose::Page);
        let known = Validators::default();
        let (response, _) = fetcher
            .fetch_with(Manner::WithoutLibrary, &known, &request, LOOPBACK, u64::MAX, &Unmetered)
            .await;
        assert_eq!((response.failure, response.status), (Some(failure), None), "{greeting:?}");
    }
    let (response, _) = serve_and_fetch(SETTINGS_FRAME).await;
    assert_eq!(response.failure, Some(Failure::BadHttp), "without TLS nobody asked for HTTP/2");
}

#[tokio::test]
async fn only_an_alert_that_may_be_about_age_asks_for_another_greeting() {
    for (description, may_be_old) in [
        (70, true),
        (40, true),
        (47, true),
        (50, true),
        (80, true),
        (10, true),
        (112, false),
        (116, false),
        (120, false),
        (42, false),
        (49, false),
        (71, false),
        (48, false),
    ] {
        let server = Server::sending_first(&alert(description)).await;
        let url = format!("https://a.ke:{}/", server.address.port());
        let (response, _) =
            fetcher(settings()).fetch(&request(&url, Purpose::Page), LOOPBACK, u64::MAX).await;
        assert_eq!(response.may_speak_older_tls, may_be_old, "{description} {:?}", response.failure);
    }
}

#[tokio::test]
async fn a_greeting_of_old_learns_what_the_server_speaks() {
    let too_old = Some(Failure::TlsTooOld);
    for (flight, failure, spoken) in [
        (old_hello(1, [0, 0x0a]), too_old, Some("TLSv1.0 TLS_RSA_WITH_3DES_EDE_CBC_SHA")),
        (old_hello(3, [0xc0, 0x14]), too_old, Some("TLSv1.2 TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA")),
        (old_hello(3, [0xc0, 0x2f]), Some(Failure::TlsHandshake), None),
        (alert(70), too_old, None),
        (alert(40), Some(Failure::TlsAlert), None),
        (b"HTTP/1.1 400 plain HTTP".to_vec(), Some(Failure::TlsHandshake), None),
        (Vec::new(), Some(Failure::TlsTimeout), None),
    ] {
        let server = Server::sending_first(&flight).await;
        let url = format!("https://a.ke:{}/", server.address.port());
        let mut settings = settings();
        settings.timeouts.tls = SHORT;
        let response = fetcher(settings).greet(&request(&url, Purpose::Page), LOOPBACK).await;
        assert_eq!((response.failure, response.tls_version.as_deref()), (failure, spoken), "{flight:?}");
        assert_eq!((response.wire.connections, response.wire.received), (1, flight.len() as u64));
        assert!(response.wire.sent > 150 && response.timings.connect.is_some() && response.status.is_none());
    }
}

#[tokio::test]
async fn a_body_that_ends_with_the_connection_needs_no_goodbye() {
    let reply = b"HTTP/1.1 200 OK\r\n\r\n<p>until the end".to_vec();
    let server = Plan { closing: true, reply, ..TlsServer::of(&["a.ke"]) }.start();
    let (response, body) = fetch(&fetcher(settings()), &server, "a.ke").await;
    assert_eq!((response.failure, &*body), (None, b"<p>until the end".as_slice()));
}

#[test]
fn unusable_settings_are_told_by_name() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_owned();
    let error = |settings| {
        Fetcher::new(settings, Arc::new(OptOuts::default()), Clock::system()).err().unwrap().to_string()
    };
    let empty = error(Settings { extra_roots: vec![path.clone()], ..settings() });
    assert_eq!(empty, format!("'{}' contains no usable root certificate in PEM form", path.display()));
    let missing = error(Settings { extra_roots: vec!["/no/such/file".into()], ..settings() });
    assert!(missing.starts_with("cannot read root certificates from '/no/such/file': "), "{missing}");
    let agent = error(Settings { user_agent: "a\nb".to_owned(), ..settings() });
    assert_eq!(agent, "the user agent 'a\nb' is not valid in a header");
}
