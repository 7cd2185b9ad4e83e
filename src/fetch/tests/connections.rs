use super::*;

async fn fetch_host(fetcher: &Fetcher, server: &Server, host: &str) -> Response {
    let url = format!("http://{host}:{}/", server.address.port());
    let (response, _) = fetcher.fetch(&request(&url, Purpose::Page), LOOPBACK, u64::MAX).await;
    settle().await;
    response
}

#[tokio::test]
async fn a_connection_serves_one_origin_and_ends_when_another_is_asked() {
    let server = Server::responding(page(b"<p>", "")).await;
    let fetcher = fetcher(settings());
    let mut opened = Vec::new();
    for host in ["a.ke", "a.ke", "b.ke", "b.ke", "a.ke"] {
        let response = fetch_host(&fetcher, &server, host).await;
        assert_eq!(response.failure, None);
        opened.push((response.wire.connections, response.timings.connect.is_some()));
    }
    assert_eq!(opened, [(1, true), (0, false), (1, true), (0, false), (1, true)]);
    assert_eq!((server.connections(), server.ended()), (3, 2), "one is idle");
    let requests = server.requests();
    for (request, host) in requests.iter().zip(["a.ke", "a.ke", "b.ke", "b.ke", "a.ke"]) {
        let head = String::from_utf8_lossy(request);
        assert!(head.contains(&format!("host: {host}:{}\r\n", server.address.port())), "{head}");
    }
}

#[tokio::test]
async fn over_a_pause_of_seconds_no_connection_is_kept() {
    let server = Server::responding(page(b"<p>", "")).await;
    let fetcher = fetcher(Settings { shortest_pause: Duration::from_secs(2), ..settings() });
    for exchange in 1..=3 {
        let response = fetch_host(&fetcher, &server, "a.ke").await;
        assert_eq!((response.failure, response.wire.connections), (None, 1));
        assert_eq!((server.connections(), server.ended()), (exchange, exchange), "closed at once");
    }
}

#[tokio::test]
async fn a_server_that_will_close_the_connection_soon_is_asked_over_a_new_one() {
    for (field, connections) in
        [("timeout=1", 2), ("timeout=5, max=99", 1), ("timeout=x", 1), ("max=1, timeout=0", 2)]
    {
        let server = Server::responding(page(b"<p>", &format!("Keep-Alive: {field}\r\n"))).await;
        let fetcher = fetcher(settings());
        for _ in 0..2 {
            assert_eq!(fetch_host(&fetcher, &server, "a.ke").await.failure, None);
        }
        assert_eq!(server.connections(), connections, "{field}");
    }
}

#[tokio::test]
async fn a_short_error_page_keeps_the_connection_and_a_long_one_or_an_image_closes_it() {
    let image = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\nContent-Length: 600000\r\n\r\n{}",
        "x".repeat(600_000)
    );
    let missing = |length: usize| {
        format!("HTTP/1.1 404 Not Found\r\nContent-Length: {length}\r\n\r\n{}", "x".repeat(length))
    };
    let chunked = "HTTP/1.1 404 x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n".to_owned();
    for (reply, connections) in [(missing(16_000), 1), (chunked, 1), (missing(600_000), 2), (image, 2)] {
        let server = Server::responding(reply).await;
        let fetcher = fetcher(settings());
        for _ in 0..2 {
            assert_eq!(fetch_host(&fetcher, &server, "a.ke").await.failure, None);
        }
        assert_eq!(server.connections(), connections);
    }
}

#[tokio::test]
async fn a_connection_closed_in_the_meantime_is_opened_again() {
    let server = Server::responding_once(page(b"<p>", "")).await;
    let fetcher = fetcher(settings());
    for _ in 0..3 {
        let response = fetch_host(&fetcher, &server, "a.ke").await;
        assert_eq!((response.failure, response.wire.connections), (None, 1));
    }
}

#[tokio::test]
async fn a_request_lost_with_an_idle_connection_is_not_sent_twice_and_the_server_is_known_from_then_on() {
    // The second request on a connection arrives as the connection ends, by FIN or by RST.
    for resets in [false, true] {
        let server = Server::scripted(move |mut conversation| async move {
            conversation.read_request().await;
            conversation.send(&page(b"<p>", "")).await;
            conversation.read_request().await;
            if resets { conversation.reset() } else { conversation.finish().await }
        })
        .await;
        let fetcher = fetcher(settings());
        assert_eq!(fetch_host(&fetcher, &server, "a.ke").await.failure, None);
        let lost = fetch_host(&fetcher, &server, "a.ke").await;
        assert_eq!((lost.failure, lost.status, lost.wire.connections), (Some(Failure::IdleClosed), None, 0));
        assert!(lost.wire.sent > 0);
        assert_eq!((server.requests().len(), server.connections()), (2, 1));
        for host in ["a.ke", "a.ke", "b.ke", "b.ke"] {
            let response = fetch_host(&fetcher, &server, host).await;
            assert_eq!((response.failure, response.wire.connections), (None, 1), "{host}");
        }
    }
}

/// A server that closes an idle connection may announce it: 408, and then the end (RFC 9110 §15.5.9).
#[tokio::test]
async fn a_goodbye_on_an_idle_connection_is_no_response() {
    let goodbye = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n";
    for (is_early, ends) in [(true, true), (false, true), (false, false)] {
        let server = Server::scripted(move |mut conversation| async move {
            conversation.read_request().await;
            conversation.send(&page(b"<p>", "")).await;
            if !is_early {
                conversation.read_request().await;
            }
            conversation.send(goodbye).await;
            if ends { conversation.finish().await } else { conversation.wait().await }
        })
        .await;
        let fetcher = fetcher(settings());
        assert_eq!(fetch_host(&fetcher, &server, "a.ke").await.failure, None);
        let response = fetch_host(&fetcher, &server, "a.ke").await;
        // The 408 may have arrived before the request was sent, which then goes over a new connection.
        let expected = if response.wire.connections == 1 { None } else { Some(Failure::IdleClosed) };
        assert_eq!(response.failure, expected);
        assert!(is_early || response.failure.is_some());
        assert_ne!(response.status, Some(408));
        let next = fetch_host(&fetcher, &server, "a.ke").await;
        assert!(is_early || (next.failure, next.wire.connections) == (None, 1), "on a new connection");
    }
    let (response, _) = serve_and_fetch(&goodbye[..]).await;
    assert_eq!(
        (response.failure, response.status),
        (None, Some(408)),
        "to the first request it is the response"
    );
}

#[tokio::test]
async fn a_new_connection_that_ends_before_a_response_is_a_failure_of_the_server() {
    let server = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.reset();
    })
    .await;
    let fetcher = fetcher(settings());
    for _ in 0..2 {
        let response = fetch_host(&fetcher, &server, "a.ke").await;
        assert_eq!((response.failure, response.wire.connections), (Some(Failure::Reset), 1));
    }
}

#[tokio::test]
async fn servers_on_other_addresses_have_connections_of_their_own() {
    let server = Server::responding(page(b"<p>", "")).await;
    let fetcher = fetcher(settings());
    let url = format!("http://a.ke:{}/", server.address.port());
    for address in ["127.0.0.1", "127.0.0.2", "::ffff:127.0.0.1"] {
        let (response, _) =
            fetcher.fetch(&request(&url, Purpose::Page), address.parse().unwrap(), u64::MAX).await;
        let refused = (address == "127.0.0.2").then_some(Failure::ConnectRefused);
        assert_eq!(response.failure, refused, "{address}");
        settle().await;
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn one_fetcher_serves_many_tasks() {
    let server = Server::responding(page(b"<p>", "")).await;
    let fetcher = fetcher(settings());
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let (fetcher, url) = (fetcher.clone(), server.url(&format!("/{number}")));
            tokio::spawn(
                async move { fetcher.fetch(&request(&url, Purpose::Page), LOOPBACK, u64::MAX).await.0 },
            )
        })
        .collect();
    for task in tasks {
        let response = task.await.unwrap();
        assert_eq!((response.failure, response.status), (None, Some(200)));
    }
    assert_eq!(server.requests().len(), 20);
}
