use super::*;

#[tokio::test]
async fn a_page_is_answered_with_its_head_its_body_and_its_times() {
    let fields = "Server: demo/1\r\nETag: \"x\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-Robots-Tag: noindex\r\n";
    let (response, body) = serve_and_fetch(page(b"<p>hello", fields)).await;
    assert_eq!(body, b"<p>hello");
    assert_eq!((response.status, response.failure, response.body_bytes), (Some(200), None, 8));
    assert_eq!(response.address, Some(LOOPBACK));
    assert_eq!(response.http_version.as_deref(), Some("HTTP/1.1"));
    assert_eq!((response.tls_version, response.tls_error), (None, None));
    assert_eq!(response.head.server.as_deref(), Some("demo/1"));
    assert_eq!(response.head.etag.as_deref(), Some("\"x\""));
    assert_eq!(response.head.last_modified.as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert_eq!(response.head.robots_tag.as_deref(), Some("noindex"));
    let times = response.timings;
    assert!(times.connect.is_some() && times.tls.is_none() && times.dns.is_none());
    assert!(times.total >= times.first_byte.unwrap() + times.connect.unwrap());
}

#[tokio::test]
async fn a_request_has_the_same_few_fields_in_the_same_order() {
    let server = Server::responding(page(b"", "")).await;
    let fetcher = fetcher(Settings { user_agent: "probe (+http://a.ke/)".to_owned(), ..settings() });
    fetcher.fetch(&request(&server.url("/a%20b?q=|x"), Purpose::Page), LOOPBACK, u64::MAX).await;
    fetcher.fetch(&request(&server.url("/robots.txt"), Purpose::Robots), LOOPBACK, u64::MAX).await;
    fetcher.fetch(&request(&server.url("/"), Purpose::Head), LOOPBACK, u64::MAX).await;
    let expected = |line: &str, accept: &str| {
        format!(
            "{line} HTTP/1.1\r\nhost: {}\r\nuser-agent: probe (+http://a.ke/)\r\naccept: {accept}\r\naccept-encoding: gzip, br, zstd\r\n\r\n",
            server.address
        )
    };
    let html = "text/html, application/xhtml+xml;q=0.9, */*;q=0.1";
    let requests: Vec<_> =
        server.requests().into_iter().map(|head| String::from_utf8(head).unwrap()).collect();
    assert_eq!(requests[0], expected("GET /a%20b?q=|x", html));
    assert_eq!(requests[1], expected("GET /robots.txt", "text/plain, */*;q=0.1"));
    assert_eq!(requests[2], expected("HEAD /", html));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    let reply = "HTTP/1.1 301 Moved\r\nLocation: /b\u{e9}\r\nContent-Length: 2\r\n\r\nxx";
    let server = Server::responding_once(reply).await;
    let (response, body) = get(&fetcher(settings()), &server).await;
    assert!(response.is_redirect() && body.is_empty());
    assert_eq!(response.head.location.as_deref(), Some("/b\u{e9}"));
    assert_eq!((server.requests().len(), response.failure), (1, None));
}

#[tokio::test]
async fn a_server_that_wants_a_pause_says_how_long() {
    let reply = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n";
    let (response, _) = serve_and_fetch(reply).await;
    assert!(response.requests_pause());
    assert_eq!(response.head.retry_after, Some(Duration::from_mins(2)));
}

#[tokio::test]
async fn only_pages_are_read() {
    for (fields, kept) in [
        ("Content-Type: application/xhtml+xml; charset=x\r\n", true),
        ("Content-Type: text/html, charset=utf-8\r\n", true),
        ("Content-Type: text/plain\r\nContent-Type: text/html\r\n", true),
        ("", true),
        ("Content-Type: html\r\n", true),
        ("Content-Type: html\r\nX-Content-Type-Options: NoSniff\r\n", false),
        ("X-Content-Type-Options: nosniff\r\n", false),
        ("Content-Type: text/html\r\nX-Content-Type-Options: nosniff\r\n", true),
        ("Content-Type: text/xml\r\n", false),
        ("Content-Type: image/png\r\n", false),
        ("Content-Type: text/plain\r\n", false),
    ] {
        let reply = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 3\r\n\r\n<p>");
        let (response, body) = serve_and_fetch(reply).await;
        assert_eq!((body.len() == 3, response.failure), (kept, None), "{fields}");
    }
}

/// The body would continue; no more than one piece of it was read.
#[tokio::test]
async fn a_body_that_turns_out_to_be_no_page_is_hung_up_on() {
    for fields in ["", "Content-Type: */*\r\n", "Content-Type: text/xml\r\n"] {
        let server = Server::scripted(move |mut conversation| async move {
            conversation.read_request().await;
            conversation.send(format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes()).await;
            while conversation.send(&[b'x'; 4096]).await {}
        });
        let (response, body) = get(&fetcher(settings()), &server.await).await;
        assert_eq!((response.status, response.failure, body.len()), (Some(200), None, 0), "{fields}");
        assert!(response.wire.received < 100_000, "{fields}: {}", response.wire.received);
    }
}

#[tokio::test]
async fn a_body_without_a_type_is_looked_at_as_it_comes_and_as_it_is_decoded() {
    let pieces = |body: Vec<u8>, fields: &'static str| {
        Server::scripted(move |mut conversation| {
            let body = body.clone();
            async move {
                conversation.read_request().await;
                conversation.send(format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes()).await;
                for piece in body.chunks(3) {
                    conversation.send(piece).await;
                    settle().await;
                }
            }
        })
    };
    let page = b"  <!DOCTYPE html><p>page";
    let (response, body) = get(&fetcher(settings()), &pieces(page.to_vec(), "").await).await;
    assert_eq!((response.failure, &*body), (None, &page[..]));
    let zipped = zstd::encode_all(&page[..], 3).unwrap();
    let (response, body) =
        get(&fetcher(settings()), &pieces(zipped, "Content-Encoding: zstd\r\n").await).await;
    assert_eq!((response.failure, &*body), (None, &page[..]));
    let (response, body) = get(&fetcher(settings()), &pieces(b" just text".to_vec(), "").await).await;
    assert_eq!((response.failure, body.len()), (None, 0));
}

#[tokio::test]
async fn robots_txt_is_read_whatever_its_type_up_to_the_500_kib_and_one_byte() {
    let reply =
        [page(b"", "").strip_suffix(b"Content-Length: 0\r\n\r\n").unwrap(), b"\r\n", &vec![b'#'; 600_000]]
            .concat();
    let server = Server::responding_once(String::from_utf8(reply).unwrap().replace("text/html", "x/y")).await;
    let request = request(&server.url("/robots.txt"), Purpose::Robots);
    let small = Settings { max_body: 1000, ..settings() };
    let (response, body) = fetcher(small).fetch(&request, LOOPBACK, u64::MAX).await;
    assert_eq!((response.failure, body.len()), (Some(Failure::BodyTooLarge), 500 * 1024 + 1));
}

#[tokio::test]
async fn head_brings_a_head() {
    let server =
        Server::responding("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n")
            .await;
    let request = request(&server.url("/"), Purpose::Head);
    let (response, body) = fetcher(settings()).fetch(&request, LOOPBACK, u64::MAX).await;
    assert_eq!((response.status, response.failure, body.len()), (Some(200), None, 0));
    assert!(response.head.content_type.is_some());
}

#[tokio::test]
async fn sloppy_heads_are_understood() {
    for reply in [
        "HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n charset=x\r\nServer : s\r\nContent-Length: 3\r\n\r\n<p>",
        "HTTP/1.1 200\r\nthis is no field\r\nServer: s\r\nContent-Length: 3\r\n\r\n<p>",
        "HTTP/1.0 200 OK\nServer: s\n\n<p>",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nServer: s\r\nContent-Length: 3\r\n\r\n<p>",
    ] {
        let (response, body) = serve_and_fetch(reply).await;
        assert_eq!(
            (response.status, response.failure, &*body),
            (Some(200), None, b"<p>".as_slice()),
            "{reply}"
        );
        assert_eq!(response.head.server.as_deref(), Some("s"));
    }
}

#[tokio::test]
async fn a_page_without_any_head_is_http_0_9() {
    let (response, body) = serve_and_fetch(" <html>old</html>").await;
    assert_eq!(response.http_version.as_deref(), Some("HTTP/0.9"));
    assert_eq!((response.status, response.failure), (Some(200), None));
    assert_eq!(body, b" <html>old</html>");
}
