use super::*;

fn hurried(change: impl FnOnce(&mut Timeouts)) -> Settings {
    let mut settings = settings();
    change(&mut settings.timeouts);
    settings
}

#[tokio::test]
async fn a_closed_port_refuses() {
    // Nobody listens there any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ask = ask(&format!("http://127.0.0.1:{port}/"), Purpose::Page);
    let (answer, _) = fetcher(settings()).fetch(&ask, LOOPBACK, u64::MAX).await;
    assert_eq!((answer.failure, answer.status), (Some(Failure::ConnectRefused), None));
    assert_eq!(answer.wire, crate::exchange::Wire::default());
}

#[tokio::test]
async fn a_reset_or_a_silent_end_before_the_head_is_a_reset() {
    let reset = Server::talking(|mut talk| async move {
        talk.hear().await;
        talk.reset();
    });
    let (answer, _) = get(&fetcher(settings()), &reset.await).await;
    assert_eq!((answer.failure, answer.wire.connections), (Some(Failure::Reset), 1));
    for reply in ["", "HTTP/1.1 200 OK\r\nServer: x"] {
        assert_eq!(failure(&answer_to(reply).await), Some(Failure::Reset), "{reply}");
    }
}

#[tokio::test]
async fn what_is_not_http_is_bad_http() {
    for reply in ["SSH-2.0-OpenSSH_9.6\r\n", "\0\u{1}\u{2}garbage\r\n\r\n", "HTTP/1.1 abc\r\n\r\n"] {
        let (answer, body) = answer_to(reply).await;
        assert_eq!((answer.failure, answer.status, body.len()), (Some(Failure::BadHttp), None, 0), "{reply}");
    }
    let conflict = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde";
    assert_eq!(failure(&answer_to(conflict).await), Some(Failure::BadHttp));
}

#[tokio::test]
async fn an_endless_head_and_one_of_too_many_fields_are_too_large() {
    let endless = Server::talking(|mut talk| async move {
        talk.hear().await;
        talk.say(b"HTTP/1.1 200 OK\r\nX: ").await;
        while talk.say(&[b'x'; 4096]).await {}
    });
    let (answer, _) = get(&fetcher(settings()), &endless.await).await;
    assert_eq!(answer.failure, Some(Failure::HeaderTooLarge));
    assert!(answer.wire.received > 400_000);
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(150));
    assert_eq!(failure(&answer_to(many).await), Some(Failure::HeaderTooLarge));
}

#[tokio::test]
async fn no_head_in_time_is_a_first_byte_timeout_also_when_it_drips() {
    let settings = hurried(|times| times.first_byte = SHORT);
    let silent = Server::talking(|mut talk| async move {
        talk.hear().await;
        talk.wait().await;
    })
    .await;
    assert_eq!(failure(&get(&fetcher(settings.clone()), &silent).await), Some(Failure::FirstByteTimeout));
    let dripping = Server::talking(|mut talk| async move {
        talk.hear().await;
        talk.say(b"HTTP/1.1 200 OK\r\nX:").await;
        while talk.say(b"x").await {
            tokio::time::sleep(SHORT / 10).await;
        }
    })
    .await;
    assert_eq!(failure(&get(&fetcher(settings), &dripping).await), Some(Failure::FirstByteTimeout));
}

#[tokio::test]
async fn a_body_that_stops_is_idle_and_keeps_its_beginning() {
    let server = Server::talking(|mut talk| async move {
        talk.hear().await;
        talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<p>beginning").await;
        talk.wait().await;
    })
    .await;
    let (answer, body) = get(&fetcher(hurried(|times| times.idle = SHORT)), &server).await;
    assert_eq!((answer.failure, answer.status), (Some(Failure::IdleTimeout), Some(200)));
    assert_eq!(body, b"<p>beginning");
}

#[tokio::test]
async fn a_body_that_drips_is_too_slow_and_keeps_what_came() {
    let server = Server::talking(|mut talk| async move {
        talk.hear().await;
        talk.say(b"HTTP/1.1 200 OK\r\n\r\n<p>").await;
        while talk.say(b"x").await {
            tokio::time::sleep(SHORT / 10).await;
        }
    })
    .await;
    let (answer, body) = get(&fetcher(hurried(|times| times.whole = SHORT)), &server).await;
    assert_eq!(answer.failure, Some(Failure::TooSlow));
    assert!(body.starts_with(b"<p>"));
}

#[tokio::test]
async fn a_body_cut_short_keeps_its_beginning() {
    for reply in [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<p>half",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n<p>half\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n<p>half\r\nnonsense\r\n",
    ] {
        let (answer, body) = answer_to(reply).await;
        assert_eq!(
            (answer.failure, &*body),
            (Some(Failure::BodyTruncated), b"<p>half".as_slice()),
            "{reply}"
        );
    }
}

#[tokio::test]
async fn an_endless_body_is_read_up_to_the_cap() {
    let server = Server::talking(|mut talk| async move {
        talk.hear().await;
        talk.say(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while talk.say(&[b'x'; 8192]).await {}
    })
    .await;
    let fetcher = fetcher(Settings { max_body: 100_000, ..settings() });
    let (answer, body) = get(&fetcher, &server).await;
    assert_eq!((answer.failure, body.len()), (Some(Failure::BodyTooLarge), 100_000));
    assert!(answer.wire.received + answer.wire.sent <= fetcher.most_bytes());
}

#[tokio::test]
async fn the_byte_limit_of_an_exchange_stops_it() {
    let server = Server::replying(page(&vec![b'x'; 90_000], "")).await;
    let ask = ask(&server.url("/"), Purpose::Page);
    let (answer, body) = fetcher(settings()).fetch(&ask, LOOPBACK, 20_000).await;
    assert_eq!(answer.failure, Some(Failure::BodyTooLarge));
    assert!((20_000..90_000).contains(&answer.wire.received) && !body.is_empty());
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
    let ask = ask(&format!("http://{address}/"), Purpose::Page);
    let (answer, _) = fetcher(hurried(|times| times.connect = SHORT)).fetch(&ask, LOOPBACK, u64::MAX).await;
    assert_eq!((answer.failure, answer.wire.connections), (Some(Failure::ConnectTimeout), 0));
}
