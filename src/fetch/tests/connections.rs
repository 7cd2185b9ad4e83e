use super::*;

async fn fetch_host(fetcher: &Fetcher, server: &Server, host: &str) -> Answer {
    let url = format!("http://{host}:{}/", server.address.port());
    let (answer, _) = fetcher.fetch(&ask(&url, Purpose::Page), LOOPBACK, u64::MAX).await;
    settle().await;
    answer
}

#[tokio::test]
async fn hosts_on_one_server_share_its_connection() {
    let server = Server::repeating(page(b"<p>", "")).await;
    let fetcher = fetcher(settings());
    let mut opened = Vec::new();
    for host in ["a.ke", "b.ke", "a.ke"] {
        let answer = fetch_host(&fetcher, &server, host).await;
        assert_eq!(answer.failure, None);
        opened.push((answer.wire.connections, answer.timings.connect.is_some()));
    }
    assert_eq!(opened, [(1, true), (0, false), (0, false)]);
    assert_eq!(server.connections(), 1);
    let heard = String::from_utf8(server.requests()[1].clone()).unwrap();
    assert!(heard.contains(&format!("host: b.ke:{}\r\n", server.address.port())));
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
        let server = Server::repeating(reply).await;
        let fetcher = fetcher(settings());
        for _ in 0..2 {
            assert_eq!(fetch_host(&fetcher, &server, "a.ke").await.failure, None);
        }
        assert_eq!(server.connections(), connections);
    }
}

#[tokio::test]
async fn a_connection_closed_in_the_meantime_is_opened_again() {
    let server = Server::replying(page(b"<p>", "")).await;
    let fetcher = fetcher(settings());
    for _ in 0..3 {
        let answer = fetch_host(&fetcher, &server, "a.ke").await;
        assert_eq!((answer.failure, answer.wire.connections), (None, 1));
    }
}

#[tokio::test]
async fn a_request_is_not_sent_twice_when_a_kept_connection_is_reset() {
    let server = Server::talking(|mut talk| async move {
        talk.hear().await;
        talk.say(&page(b"<p>", "")).await;
        talk.hear().await;
        talk.reset();
    })
    .await;
    let fetcher = fetcher(settings());
    assert_eq!(fetch_host(&fetcher, &server, "a.ke").await.failure, None);
    let answer = fetch_host(&fetcher, &server, "a.ke").await;
    assert_eq!((answer.failure, answer.wire.connections), (Some(Failure::Reset), 0));
    assert!(answer.wire.sent > 0);
    assert_eq!((server.requests().len(), server.connections()), (2, 1));
}

#[tokio::test]
async fn servers_on_other_addresses_have_connections_of_their_own() {
    let server = Server::repeating(page(b"<p>", "")).await;
    let fetcher = fetcher(settings());
    let url = format!("http://a.ke:{}/", server.address.port());
    for address in ["127.0.0.1", "127.0.0.2", "::ffff:127.0.0.1"] {
        let (answer, _) = fetcher.fetch(&ask(&url, Purpose::Page), address.parse().unwrap(), u64::MAX).await;
        let refused = (address == "127.0.0.2").then_some(Failure::ConnectRefused);
        assert_eq!(answer.failure, refused, "{address}");
        settle().await;
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn one_fetcher_serves_many_tasks() {
    let server = Server::repeating(page(b"<p>", "")).await;
    let fetcher = fetcher(settings());
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let (fetcher, url) = (fetcher.clone(), server.url(&format!("/{number}")));
            tokio::spawn(async move { fetcher.fetch(&ask(&url, Purpose::Page), LOOPBACK, u64::MAX).await.0 })
        })
        .collect();
    for task in tasks {
        let answer = task.await.unwrap();
        assert_eq!((answer.failure, answer.status), (None, Some(200)));
    }
    assert_eq!(server.requests().len(), 20);
}
