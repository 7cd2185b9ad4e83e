use super::tls_server::{ONLY_1_2, ONLY_1_3, Plan, TlsServer};
use super::*;

#[tokio::test]
async fn plain_http_with_a_length_is_counted_exactly() {
    for reply in [
        page(b"<p>hello", ""),
        page(&vec![b'x'; 100_000], "Server: demo\r\nSet-Cookie: a=b\r\n"),
        b"HTTP/1.1 200 Fine by me\r\nContent-Length: 0\r\n\r\n".to_vec(),
        b"HTTP/1.0 200 OK\r\n\r\n<p>until the end".to_vec(),
        b"HTTP/1.1 404 \r\nContent-Length: 4\r\n\r\ngone".to_vec(),
    ] {
        let server = Server::responding_once(reply.clone()).await;
        let request = request(&server.url("/a%20path?with=query"), Purpose::Page);
        let (response, _) = fetcher(settings()).fetch(&request, LOOPBACK, u64::MAX).await;
        assert_eq!(response.failure, None);
        assert_eq!(response.wire.sent, server.requests()[0].len() as u64);
        assert_eq!(response.wire.received, reply.len() as u64);
    }
}

#[tokio::test]
async fn bodies_in_chunks_of_a_kilobyte_and_more_are_counted_within_two_percent() {
    for size in [1000usize, 4096, 30_000] {
        let mut reply =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for _ in 0..40 {
            reply.extend_from_slice(format!("{size:x}\r\n{}\r\n", "x".repeat(size)).as_bytes());
        }
        reply.extend_from_slice(b"0\r\n\r\n");
        let (response, _) =
            serve_and_fetch_with(Settings { max_body: 1 << 30, ..settings() }, reply.clone()).await;
        let (counted, real) = (response.wire.received, reply.len() as u64);
        assert!(counted.abs_diff(real) * 50 <= real, "{size}: {counted} of {real}");
    }
}

#[tokio::test]
async fn tls_is_counted_within_500_bytes_a_handshake_and_two_percent() {
    for (length, versions) in [(2_000, ONLY_1_3), (300_000, ONLY_1_3), (2_000, ONLY_1_2)] {
        let plan = TlsServer::of(&["www.example.ke"]);
        let server = Plan { reply: page(&vec![b'x'; length], ""), versions, ..plan }.start();
        let fetcher = fetcher(settings());
        let url = format!("https://www.example.ke:{}/", server.address.port());
        let mut before = (0, 0);
        for _ in 0..2 {
            let (response, _) = fetcher.fetch(&request(&url, Purpose::Page), LOOPBACK, u64::MAX).await;
            settle().await;
            assert_eq!(response.failure, None);
            let after = server.bytes();
            let (sent, received) = (after.0 - before.0, after.1 - before.1);
            before = after;
            let wire = response.wire;
            assert!(wire.sent.abs_diff(sent) <= 60, "sent {} of {sent}", wire.sent);
            let slack = u64::from(wire.connections) * 500 + received / 50;
            assert!(wire.received.abs_diff(received) <= slack, "received {} of {received}", wire.received);
        }
    }
}
