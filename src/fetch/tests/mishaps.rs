use super::*;

fn hurried(change: impl FnOnce(&mut Timeouts)) -> Settings {
    let mut settings = settings();
    change(&mut settings.timeouts);
    settings
}

#[tokio::test]
async fn a_closed_port_refuses() {
    // No process listens on this port any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let request = request(&format!("http://127.0.0.1:{port}/"), Purpose::Page);
    let (response, _) = fetcher(settings()).fetch(&request, LOOPBACK, u64::MAX).await;
    assert_eq!((response.failure, response.status), (Some(Failure::ConnectRefused), None));
    assert_eq!(response.wire, crate::exchange::Wire::default());
}

#[tokio::test]
async fn a_reset_or_a_silent_end_before_the_head_is_a_reset() {
    let reset = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.reset();
    });
    let (response, _) = get(&fetcher(settings()), &reset.await).await;
    assert_eq!((response.failure, response.wire.connections), (Some(Failure::Reset), 1));
    for reply in ["", "HTTP/1.1 200 OK\r\nServer: x"] {
        assert_eq!(failure(&serve_and_fetch(reply).await), Some(Failure::Reset), "{reply}");
    }
}

#[tokio::test]
async fn what_is_not_http_is_bad_http() {
    for reply in ["SSH-2.0-OpenSSH_9.6\r\n", "\0\u{1}\u{2}garbage\r\n\r\n", "no", "HTTPS 200 OK\r\n\r\n"] {
        let (response, body) = serve_and_fetch(reply).await;
        assert_eq!(
            (response.failure, response.status, body.len()),
            (Some(Failure::BadHttp), None, 0),
            "{reply}"
        );
    }
}

/// The responses to the first and the second of two requests.
async fn fetch_twice(reply: impl Into<Vec<u8>>, purpose: Purpose) -> [(Response, Vec<u8>); 2] {
    let (server, fetcher) = (Server::responding_once(reply).await, fetcher(settings()));
    let request = request(&server.url("/"), purpose);
    let first = fetcher.fetch(&request, LOOPBACK, u64::MAX).await;
    [first, fetcher.fetch(&request, LOOPBACK, u64::MAX).await]
}

#[tokio::test]
async fn what_the_http_library_cannot_read_is_odd_and_the_next_one_is_read_without_it() {
    let html = "Content-Type: text/html\r\n";
    for reply in [
        format!("HTTP/1.1  200 OK\r\n{html}Content-Length: 3\r\n\r\n<p>"),
        format!("HTTP/1.1 200 OK\r\n{html}Content-Length: 3s\r\n\r\n<p>"),
        format!("HTTP/1.1 200 OK\r\n{html}X: a\rb\r\nContent-Length: 3\r\n\r\n<p>"),
        format!("HTTP/1.0 200 OK\r\n{html}Transfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n0\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\n{html}Transfer-Encoding: chunked\r\n\r\n3\n<p>\n0\n\n"),
    ] {
        let [(odd, nothing), (read, body)] = fetch_twice(reply.clone(), Purpose::Page).await;
        assert_eq!((odd.failure, odd.status, nothing.len()), (Some(Failure::OddHttp), None, 0), "{reply}");
        assert_eq!(odd.head, Default::default());
        assert_eq!((read.failure, read.status, &*body), (None, Some(200), &b"<p>"[..]), "{reply}");
        assert_eq!(read.head.content_type.as_deref(), Some("text/html"));
        let wire = read.wire;
        assert!(
            wire.connections == 1 && wire.sent > odd.wire.sent,
            "it says that the connection is not kept"
        );
        let expected_range = reply.len() as u64 - 25..reply.len() as u64 + 25;
        assert!(expected_range.contains(&wire.received), "{} of {}: {reply}", wire.received, reply.len());
    }
}

/// The process that repeats the request may not be the one that received the odd response.
#[tokio::test]
async fn a_request_that_says_so_is_read_without_the_library_at_once() {
    let page = "HTTP/1.1  200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>";
    for (reply, status) in [(page.to_owned(), 200), (page.replace("  200", " 404"), 404)] {
        let server = Server::responding_once(reply).await;
        let (request, known) = (request(&server.url("/"), Purpose::Page), Validators::default());
        let fetcher = fetcher(settings());
        let (response, _) = fetcher
            .fetch_with(Manner::WithoutLibrary, &known, &request, LOOPBACK, u64::MAX, &Unmetered)
            .await;
        assert_eq!((response.failure, response.status), (None, Some(status)));
        assert_eq!(server.requests().len(), 1);
    }
}

/// A server may respond and hang up before it reads the request.
#[tokio::test]
async fn a_response_that_comes_before_the_request_is_read_without_the_library() {
    let server = Server::scripted(|mut conversation| async move {
        conversation.send(&page(b"<p>early", "Connection: close\r\n")).await;
        conversation.finish().await;
    });
    let (server, known, fetcher) = (server.await, Validators::default(), fetcher(settings()));
    let request = request(&server.url("/"), Purpose::Page);
    let (response, body) =
        fetcher.fetch_with(Manner::WithoutLibrary, &known, &request, LOOPBACK, u64::MAX, &Unmetered).await;
    assert_eq!((response.failure, response.status, &*body), (None, Some(200), &b"<p>early"[..]));
}

#[tokio::test]
async fn what_browsers_refuse_is_bad_http_when_it_is_read_without_the_library() {
    for reply in [
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
    ] {
        let [(odd, _), (bad, body)] = fetch_twice(reply, Purpose::Page).await;
        assert_eq!((odd.failure, bad.failure), (Some(Failure::OddHttp), Some(Failure::BadHttp)), "{reply}");
        assert_eq!((bad.status, body.len(), bad.wire.connections), (None, 0, 1), "{reply}");
    }
}

#[tokio::test]
async fn a_version_that_the_library_does_not_know_is_read_at_once() {
    for line in
        ["HTTP/1.2 200 OK", "http/1.1 200 ok", "HTTP/2.0 200", "HTTP/1.1\t200\tOK", "\r\nxHTTP/1.1 200 OK"]
    {
        let reply =
            format!("{line}\r\nContent-Type: text/html\r\nServer: s\r\nContent-Length: 3\r\n\r\n<p>and more");
        for (response, body) in fetch_twice(reply, Purpose::Page).await {
            assert_eq!((response.failure, response.status, &*body), (None, Some(200), &b"<p>"[..]), "{line}");
            let server_and_version = (response.head.server.as_deref(), response.http_version.as_deref());
            assert_eq!(
                (server_and_version, response.wire.connections),
                ((Some("s"), Some("HTTP/1.1")), 1),
                "{line}"
            );
        }
        let chunked =
            format!("{line}\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n3\n<p>\n9\nx");
        let (response, body) = serve_and_fetch(chunked).await;
        assert_eq!((response.failure, &*body), (Some(Failure::BodyTruncated), &b"<p>x"[..]), "{line}");
    }
    assert_eq!(failure(&serve_and_fetch("HTTP/1.2 200 OK\r\nServer: x").await), Some(Failure::Reset));
    let interim = "HTTP/1.2 100 Continue\r\n\r\nHTTP/1.2 103 Hints\r\nLink: x\r\n\r\n".repeat(100);
    let (response, body) = serve_and_fetch(format!("{interim}HTTP/1.2 200 OK\r\n\r\n<p>")).await;
    assert_eq!((response.failure, response.status, &*body), (None, Some(200), &b"<p>"[..]));
}

/// The server sends each line of the head as a separate piece.
#[tokio::test]
async fn an_odd_head_without_end_is_too_large_however_it_comes() {
    let server = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.send(b"HTTP/1.1  200 OK\r\n").await;
        while conversation.send(b"X-Filler: and so on\r\n").await {}
    });
    let (server, fetcher) = (server.await, fetcher(settings()));
    assert_eq!(failure(&get(&fetcher, &server).await), Some(Failure::OddHttp));
    let (response, _) = get(&fetcher, &server).await;
    assert_eq!((response.failure, response.status), (Some(Failure::HeaderTooLarge), None));
}

#[tokio::test]
async fn interim_responses_without_end_are_too_large_where_the_library_does_not_read_them() {
    for interim in
        ["HTTP/1.2 100 Continue\r\n\r\n", "HTTP/1.2 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n"]
    {
        let server = Server::scripted(move |mut conversation| async move {
            conversation.read_request().await;
            while conversation.send(interim.as_bytes()).await {}
        });
        let (response, _) = get(&fetcher(settings()), &server.await).await;
        assert_eq!((response.failure, response.status), (Some(Failure::HeaderTooLarge), None), "{interim}");
    }
}

#[tokio::test]
async fn a_response_to_head_has_no_body_however_odd_it_is() {
    let reply = "HTTP/1.1  200 OK\r\nContent-Length: 3s\r\n\r\n<p>";
    let [_, (response, body)] = fetch_twice(reply, Purpose::Head).await;
    assert_eq!((response.failure, response.status, body.len()), (None, Some(200), 0));
}

#[tokio::test]
async fn waits_for_odd_responses_are_bounded_as_others_are() {
    let fetcher = fetcher(hurried(|times| (times.first_byte, times.idle) = (SHORT, SHORT)));
    let server = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.send(b"HTTP/1.1  200 OK\r\nContent-Type: text/html\r\n\r\n<p>").await;
        conversation.wait().await;
    });
    let server = server.await;
    assert_eq!(failure(&get(&fetcher, &server).await), Some(Failure::OddHttp));
    let (response, body) = get(&fetcher, &server).await;
    assert_eq!((response.failure, &*body), (Some(Failure::IdleTimeout), &b"<p>"[..]));
    let silent = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.send(b"HTTP/1.1  200").await;
        conversation.wait().await;
    });
    let silent = silent.await;
    get(&fetcher, &silent).await;
    assert_eq!(failure(&get(&fetcher, &silent).await), Some(Failure::FirstByteTimeout));
}

#[tokio::test]
async fn a_head_is_limited_by_its_bytes_and_not_by_its_fields() {
    let endless = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.send(b"HTTP/1.1 200 OK\r\nX: ").await;
        while conversation.send(&[b'x'; 4096]).await {}
    });
    let (response, _) = get(&fetcher(settings()), &endless.await).await;
    assert_eq!(response.failure, Some(Failure::HeaderTooLarge));
    assert!(response.wire.received > 400_000);
    let with_fields = |count: u32| {
        let fields: String = (0..count).map(|number| format!("X-{number}: {number}\r\n")).collect();
        page(b"<p>x", &fields)
    };
    let (response, body) = serve_and_fetch(with_fields(500)).await;
    assert_eq!((response.failure, response.status, &*body), (None, Some(200), &b"<p>x"[..]));
    // More fields than the HTTP library accepts.
    let reply = with_fields(12_000);
    let [(first, _), (response, body)] = fetch_twice(reply.clone(), Purpose::Page).await;
    assert_eq!((first.failure, first.status), (Some(Failure::HeaderTooLarge), None));
    assert_eq!((response.failure, response.status, &*body), (None, Some(200), &b"<p>x"[..]));
    assert_eq!(response.wire.received, reply.len() as u64);
    let long = page(b"<p>x", &format!("X: {}\r\n", "x".repeat(500_000)));
    for (response, _) in fetch_twice(long, Purpose::Page).await {
        assert_eq!(response.failure, Some(Failure::HeaderTooLarge));
    }
}

#[tokio::test]
async fn no_head_in_time_is_a_first_byte_timeout_also_when_it_drips() {
    let settings = hurried(|times| times.first_byte = SHORT);
    let silent = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.wait().await;
    })
    .await;
    assert_eq!(failure(&get(&fetcher(settings.clone()), &silent).await), Some(Failure::FirstByteTimeout));
    let dripping = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.send(b"HTTP/1.1 200 OK\r\nX:").await;
        while conversation.send(b"x").await {
            tokio::time::sleep(SHORT / 10).await;
        }
    })
    .await;
    assert_eq!(failure(&get(&fetcher(settings), &dripping).await), Some(Failure::FirstByteTimeout));
}

#[tokio::test]
async fn a_body_that_stops_is_idle_and_keeps_its_beginning() {
    let server = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<p>beginning").await;
        conversation.wait().await;
    })
    .await;
    let (response, body) = get(&fetcher(hurried(|times| times.idle = SHORT)), &server).await;
    assert_eq!((response.failure, response.status), (Some(Failure::IdleTimeout), Some(200)));
    assert_eq!(body, b"<p>beginning");
}

#[tokio::test]
async fn a_body_that_drips_is_too_slow_and_keeps_what_came() {
    let server = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.send(b"HTTP/1.1 200 OK\r\n\r\n<p>").await;
        while conversation.send(b"x").await {
            tokio::time::sleep(SHORT / 10).await;
        }
    })
    .await;
    let (response, body) = get(&fetcher(hurried(|times| times.whole = SHORT)), &server).await;
    assert_eq!(response.failure, Some(Failure::TooSlow));
    assert!(body.starts_with(b"<p>"));
}

#[tokio::test]
async fn a_body_cut_short_keeps_its_beginning() {
    for reply in [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<p>half",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n<p>half\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n<p>half\r\nnonsense\r\n",
    ] {
        let (response, body) = serve_and_fetch(reply).await;
        assert_eq!(
            (response.failure, &*body),
            (Some(Failure::BodyTruncated), b"<p>half".as_slice()),
            "{reply}"
        );
    }
}

#[tokio::test]
async fn an_endless_body_is_read_up_to_the_cap() {
    let server = Server::scripted(|mut conversation| async move {
        conversation.read_request().await;
        conversation.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n").await;
        while conversation.send(&[b'x'; 8192]).await {}
    })
    .await;
    let fetcher = fetcher(Settings { max_body: 100_000, ..settings() });
    let (response, body) = get(&fetcher, &server).await;
    assert_eq!((response.failure, body.len()), (Some(Failure::BodyTooLarge), 100_000));
    assert!(response.wire.received + response.wire.sent <= fetcher.max_exchange_bytes());
}

#[tokio::test]
async fn the_byte_limit_of_an_exchange_stops_it() {
    let server = Server::responding_once(page(&vec![b'x'; 90_000], "")).await;
    let request = request(&server.url("/"), Purpose::Page);
    let (response, body) = fetcher(settings()).fetch(&request, LOOPBACK, 20_000).await;
    assert_eq!(response.failure, Some(Failure::BodyTooLarge));
    assert!((20_000..90_000).contains(&response.wire.received) && !body.is_empty());
}

#[tokio::test]
async fn no_tcp_connection_in_time_is_a_connect_timeout() {
    // A listener whose queue is full leaves further SYNs unanswered.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(LOOPBACK, 0)).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    while let Ok(Ok(stream)) = tokio::time::timeout(SHORT, tokio::net::TcpStream::connect(address)).await {
        queue.push(stream);
        assert!(queue.len() < 100, "this system's queue has no end");
    }
    let request = request(&format!("http://{address}/"), Purpose::Page);
    let (response, _) =
        fetcher(hurried(|times| times.connect = SHORT)).fetch(&request, LOOPBACK, u64::MAX).await;
    assert_eq!((response.failure, response.wire.connections), (Some(Failure::ConnectTimeout), 0));
}
