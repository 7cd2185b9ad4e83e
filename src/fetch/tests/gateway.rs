use super::*;
use crate::fetch::tests::tls_server::TlsServer;

fn through(gateway: SocketAddr) -> Fetcher {
    fetcher(Settings { gateway: Some(gateway), permit_special_addresses: false, ..settings() })
}

async fn fetch(fetcher: &Fetcher, url: &str, address: &str) -> Response {
    let (response, _) = fetcher.fetch(&request(url, Purpose::Page), address.parse().unwrap(), u64::MAX).await;
    settle().await;
    response
}

#[tokio::test]
async fn every_http_connection_goes_to_the_gateway_with_the_original_host() {
    let server = Server::responding(page(b"<p>", "")).await;
    let fetcher = through(server.address);
    for (url, address, host) in [
        ("http://a.ke/", "102.0.0.1", "a.ke"),
        ("http://a.ke:8080/", "102.0.0.1", "a.ke:8080"),
        ("http://102.0.0.2:81/", "102.0.0.2", "102.0.0.2:81"),
        ("http://[2c0f::1]/", "2c0f::1", "[2c0f::1]"),
    ] {
        let response = fetch(&fetcher, url, address).await;
        assert_eq!((response.failure, response.address), (None, Some(address.parse().unwrap())), "{url}");
        let request_head = String::from_utf8(server.requests().pop().unwrap()).unwrap();
        assert!(request_head.contains(&format!("host: {host}\r\n")), "{request_head}");
    }
}

#[tokio::test]
async fn virtual_servers_share_no_connection() {
    let server = Server::responding(page(b"<p>", "")).await;
    let fetcher = through(server.address);
    let mut opened = Vec::new();
    for (host, address) in
        [("a.ke", "102.0.0.1"), ("b.ke", "102.0.0.2"), ("b.ke", "102.0.0.1"), ("b.ke", "102.0.0.2")]
    {
        opened.push(fetch(&fetcher, &format!("http://{host}/"), address).await.wire.connections);
    }
    assert_eq!(opened, [1, 1, 1, 0]);
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn the_gates_stand_before_the_gateway() {
    let server = Server::responding(page(b"<p>", "")).await;
    let response = fetch(&through(server.address), "http://a.ke/", "127.0.0.1").await;
    assert_eq!((response.failure, server.connections()), (Some(Failure::AddressRefused), 0));
}

#[tokio::test]
async fn https_goes_to_the_gateway_and_is_judged_by_the_original_host() {
    let server = TlsServer::of(&["a.ke", "102.0.0.2"]).start();
    let fetcher = fetcher(Settings {
        gateway: Some(server.address),
        permit_special_addresses: false,
        extra_roots: vec![server.root.path().to_owned()],
        ..settings()
    });
    for (url, address, host, defect) in [
        ("https://a.ke/", "102.0.0.1", "a.ke", None),
        ("https://a.ke:8443/", "102.0.0.1", "a.ke:8443", None),
        ("https://102.0.0.2/", "102.0.0.2", "102.0.0.2", None),
        ("https://b.ke/", "102.0.0.1", "b.ke", Some("wrong_name")),
        ("https://102.0.0.3/", "102.0.0.3", "102.0.0.3", Some("wrong_name")),
    ] {
        let response = fetch(&fetcher, url, address).await;
        assert_eq!((response.failure, response.tls_error.as_deref()), (None, defect), "{url}");
        assert!(server.request_head().contains(&format!("host: {host}\r\n")), "{url}");
    }
}
