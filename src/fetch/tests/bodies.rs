use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use proptest::prelude::*;
use tokio::sync::Notify;

use super::*;
use crate::exchange::Challenge;
use crate::fetch::Meter;
use crate::fetch::decode::{DecodeState, Decoder};

fn text() -> Vec<u8> {
    "<p>a line of a page</p>\n".repeat(2000).into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    brotli::CompressorWriter::new(&mut out, 4096, 5, 22).write_all(bytes).unwrap();
    out
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// Decodes in pieces of this size.
fn decode(encoding: &str, encoded: &[u8], cap: usize, piece: usize) -> (DecodeState, Vec<u8>) {
    let mut decoder = Decoder::new(Some(encoding), None, cap).unwrap();
    let mut state = DecodeState::More;
    for piece in encoded.chunks(piece) {
        state = decoder.feed(&Bytes::copy_from_slice(piece));
        if state != DecodeState::More {
            break;
        }
    }
    if state == DecodeState::More {
        state = decoder.end();
    }
    (state, decoder.into_bytes())
}

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let text = text();
    vec![
        ("", text.clone()),
        ("identity", text.clone()),
        ("gzip", gzip(&text)),
        ("X-GZip", gzip(&text)),
        ("deflate", zlib(&text)),
        ("deflate", raw_deflate(&text)),
        ("br", brotli(&text)),
        ("zstd", zstd(&text)),
        ("gzip, br", brotli(&gzip(&text))),
        ("br, identity,gzip", gzip(&brotli(&text))),
        ("deflate, zstd", zstd(&raw_deflate(&text))),
    ]
}

#[test]
fn every_encoding_is_undone_in_pieces_of_any_size() {
    for (encoding, encoded) in samples() {
        for piece in [1, 7, 1000, 1 << 20] {
            let (state, bytes) = decode(encoding, &encoded, 1 << 20, piece);
            assert!(
                state == DecodeState::More && bytes == text(),
                "{encoding} in {piece}: {state:?}, {}",
                bytes.len()
            );
        }
    }
}

#[test]
fn the_cap_is_on_decoded_bytes_and_exact() {
    let size = text().len();
    for (encoding, encoded) in samples() {
        assert_eq!(decode(encoding, &encoded, size, 1000), (DecodeState::More, text()), "{encoding}");
        let (state, bytes) = decode(encoding, &encoded, size - 1, 1000);
        assert!(state == DecodeState::Full && bytes == text()[..size - 1], "{encoding}: {state:?}");
    }
}

#[test]
fn encoded_data_that_is_broken_or_ends_early_gives_what_decoded() {
    for (encoding, encoded) in samples().into_iter().skip(2).filter(|(name, _)| !name.contains("deflate")) {
        let (state, bytes) = decode(encoding, &encoded[..encoded.len() - 1], 1 << 20, 100);
        assert!(state == DecodeState::Broken && text().starts_with(&bytes), "{encoding} cut: {state:?}");
        let mut damaged = encoded.clone();
        damaged[0] ^= 0x55;
        assert_eq!(decode(encoding, &damaged, 1 << 20, 100).0, DecodeState::Broken, "{encoding} damaged");
    }
    let noise: Vec<u8> =
        (0..40_000u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let encoded = gzip(&noise);
    let (state, bytes) = decode("gzip", &encoded[..encoded.len() / 2], 1 << 20, 100);
    assert!(state == DecodeState::Broken && bytes.len() > 10_000 && noise.starts_with(&bytes));
}

#[test]
fn bytes_after_the_end_are_ignored_and_an_empty_body_is_empty_in_any_encoding() {
    for encoding in ["gzip", "br"] {
        let encoded = if encoding == "gzip" { gzip(&text()) } else { brotli(&text()) };
        let (state, bytes) = decode(encoding, &[&encoded, b"\0\0trailing".as_slice()].concat(), 1 << 20, 50);
        assert!(state == DecodeState::More && bytes == text(), "{encoding}");
        assert_eq!(decode(encoding, b"", 10, 1), (DecodeState::More, Vec::new()));
    }
}

#[test]
fn codings_that_we_do_not_have_and_towers_of_them_are_not_undone() {
    for encoding in ["compress", "X-Compress", "dcb", "gzip, dcz", "aes128gcm", "gzip, gzip, gzip"] {
        assert!(Decoder::new(Some(encoding), None, 10).is_none(), "{encoding}");
    }
    assert!(Decoder::new(Some("gzip, gzip"), Some("gzip"), 10).is_none());
}

#[test]
fn a_list_with_a_word_that_is_no_coding_means_nothing() {
    for encoding in [
        "none",
        "UTF-8",
        "8bit",
        "binary",
        "text/html",
        "\u{e9}",
        "gzip;q=1",
        "none, gzip",
        "gzip, foo",
        "dcb, foo",
    ] {
        let decoded = decode(encoding, b"as it is", 100, 3);
        assert_eq!(decoded, (DecodeState::More, b"as it is".to_vec()), "{encoding}");
    }
}

#[test]
fn what_was_done_on_the_way_is_undone_first() {
    for (content, transfer, encoded) in [
        ("", "gzip", gzip(&text())),
        ("gzip", "br", brotli(&gzip(&text()))),
        ("br", "identity", brotli(&text())),
        ("none", "x-gzip", gzip(&text())),
        ("gzip", "none", gzip(&text())),
    ] {
        let mut decoder = Decoder::new(Some(content), Some(transfer), 1 << 20).unwrap();
        assert_eq!(
            (decoder.feed(&encoded.into()), decoder.end()),
            (DecodeState::More, DecodeState::More),
            "{content} {transfer}"
        );
        assert!(decoder.into_bytes() == text(), "{content} {transfer}");
    }
    for unknown in ["x", "gzip, x", "UTF-8", "compress"] {
        assert!(Decoder::new(Some("gzip"), Some(unknown), 1 << 20).is_none(), "{unknown}");
    }
}

#[test]
fn gzip_of_several_members_is_read_whole() {
    let (first, second) = (gzip(b"one "), gzip(b"two "));
    for piece in [1, 2, 3, 5, 20, 100] {
        for (after, rest) in [
            (&b""[..], "one two "),
            (b"\0\0\0\0", "one two "),
            (b"more", "one two "),
            (b"\x1f", "one two "),
            (b"\x1f\x8b", "one two "),
            (b"\x1f\x8bmore", "one two "),
            (&second, "one two two "),
        ] {
            let whole = [&first, &second, after].concat();
            assert_eq!(
                decode("gzip", &whole, 1000, piece),
                (DecodeState::More, rest.into()),
                "{after:?} in {piece}"
            );
        }
        let cut = [&first[..], &second[..second.len() - 9]].concat();
        let (state, bytes) = decode("gzip", &cut, 1000, piece);
        assert!(state == DecodeState::Broken && bytes.starts_with(b"one "), "{piece}");
        let zeros_between = [&first[..], b"\0\0", &second].concat();
        assert_eq!(decode("gzip", &zeros_between, 1000, piece), (DecodeState::More, b"one ".to_vec()));
        let damaged =
            [&first[..first.len() - 5], &[!first[first.len() - 5]], &first[first.len() - 4..], &second]
                .concat();
        assert_eq!(decode("gzip", &damaged, 1000, piece).0, DecodeState::Broken, "its checksum is wrong");
    }
    assert_eq!(decode("gzip", &first.repeat(300), 1000, 64), (DecodeState::Full, b"one ".repeat(250)));
}

#[tokio::test]
async fn a_bomb_ends_at_the_cap() {
    let bomb = gzip(&gzip(&vec![0; 50 << 20]));
    assert!(bomb.len() < 1000);
    let (response, body) = serve_and_fetch(page(&bomb, "Content-Encoding: gzip, gzip\r\n")).await;
    assert_eq!((response.failure, body.len()), (Some(Failure::BodyTooLarge), 1 << 20));
    assert!(response.wire.received < 2000);
}

#[tokio::test]
async fn an_encoded_page_is_read_and_a_wrong_encoding_told() {
    let (response, body) = serve_and_fetch(page(&zstd(&text()), "Content-Encoding: zstd\r\n")).await;
    assert_eq!((response.failure, body), (None, text()));
    assert_eq!(response.head.content_encoding.as_deref(), Some("zstd"));
    let (response, body) = serve_and_fetch(page(b"<p>plain", "Content-Encoding: gzip\r\n")).await;
    assert_eq!((response.failure, response.status, body.len()), (Some(Failure::BodyEncoding), Some(200), 0));
    let (response, _) = serve_and_fetch(page(b"<p>plain", "Content-Encoding: pack200-gzip\r\n")).await;
    assert_eq!(response.failure, Some(Failure::BodyEncoding));
    let (response, body) = serve_and_fetch(page(b"<p>plain", "Content-Encoding: UTF-8\r\n")).await;
    assert_eq!((response.failure, &*body), (None, &b"<p>plain"[..]));
}

#[tokio::test]
async fn a_transfer_coding_beside_chunks_is_undone_or_told() {
    let chunked = |coding: &str, body: &[u8]| {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: {coding}\r\n\r\n");
        [head.as_bytes(), format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n0\r\n\r\n"].concat()
    };
    for coding in ["gzip, chunked", "GZIP,chunked", "gzip\r\nTransfer-Encoding: chunked"] {
        let (response, body) = serve_and_fetch(chunked(coding, &gzip(&text()))).await;
        assert!(response.failure.is_none() && body == text(), "{coding}: {:?}", response.failure);
    }
    let (response, body) = serve_and_fetch(chunked("compress, chunked", b"\x1f\x9d")).await;
    assert_eq!((response.failure, body.len()), (Some(Failure::BodyEncoding), 0));
    // RFC 9112 §6.1: an unknown transfer coding. In Content-Encoding such words mean nothing.
    for coding in ["x, gzip, chunked", "UTF-8, chunked", "chunkedx"] {
        let (response, body) = serve_and_fetch(chunked(coding, &gzip(&text()))).await;
        let expected = (Some(Failure::BodyEncoding), Some(200), 0);
        assert_eq!((response.failure, response.status, body.len()), expected, "{coding}");
    }
    // The length counts, although the connection stays.
    for coding in ["identity", "none"] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: {coding}\r\n");
        let server = Server::responding(format!("{head}Content-Length: 3\r\n\r\n<p>and more")).await;
        let (response, body) = get(&fetcher(settings()), &server).await;
        assert_eq!((response.failure, &*body), (None, &b"<p>"[..]), "{coding}");
        let (response, body) = serve_and_fetch(format!("{head}Content-Length: 9\r\n\r\n<p>")).await;
        assert_eq!((response.failure, &*body), (Some(Failure::BodyTruncated), &b"<p>"[..]), "{coding}");
    }
    let unframed = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: gzip\r\n\r\n";
    let (response, body) = serve_and_fetch([&unframed[..], &gzip(&text())].concat()).await;
    assert!(response.failure.is_none() && body == text());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_in_any_encoding_decode_or_break_within_the_cap(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        encoding in prop::sample::select(vec!["gzip", "deflate", "br", "zstd", "br, gzip", "zstd, deflate"]),
        piece in 1usize..40,
    ) {
        prop_assert!(decode(encoding, &bytes, 1000, piece).1.len() <= 1000);
    }

    #[test]
    fn damaged_data_decodes_or_breaks_within_the_cap(at in 0usize..200, value in any::<u8>(), which in 2usize..11) {
        let (encoding, mut encoded) = samples().swap_remove(which);
        let at = at % encoded.len();
        encoded[at] = value;
        prop_assert!(decode(encoding, &encoded, 150_000, 64).1.len() <= 150_000);
    }
}

/// A challenge in the place of robots.txt is neither rules nor their absence.
#[tokio::test]
async fn a_challenge_in_the_place_of_robots_txt_is_seen() {
    for (body, fields, challenge) in [
        ("<html><title>Just a moment...</title>", "", Some("cloudflare_title")),
        (
            "\n <!DOCTYPE html><meta http-equiv=refresh content='0;/.well-known/sgcaptcha/?r=%2Frobots.txt'>",
            "",
            Some("sg_captcha"),
        ),
        ("", "sg-captcha: challenge\r\n", Some("sg_captcha")),
        ("User-agent: *\nDisallow: /.well-known/sgcaptcha/\nDisallow: /px-captcha\n", "", None),
        ("<html><title>Page not found</title>", "", None),
    ] {
        for status in ["200 OK", "202 Accepted"] {
            let length = body.len();
            let reply = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{fields}\r\n{body}");
            let server = Server::responding_once(reply).await;
            let request = request(&server.url("/robots.txt"), Purpose::Robots);
            let (response, kept_body) = fetcher(settings()).fetch(&request, LOOPBACK, u64::MAX).await;
            assert_eq!((response.failure, kept_body.len()), (None, length));
            assert_eq!(response.head.challenge.map(Challenge::as_str), challenge, "{status} {body}");
        }
    }
}

#[tokio::test]
async fn a_block_page_is_looked_into_and_not_kept() {
    let block_page = b"<html><head><title>Attention Required! | Cloudflare</title>".as_slice();
    let challenge_in = async |status: &str, fields: &str, body: &[u8]| {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n{fields}\r\n"
        );
        let (response, kept_body) = serve_and_fetch([head.as_bytes(), body].concat()).await;
        assert!(kept_body.is_empty() && response.failure.is_none(), "{status} {fields}");
        response.head.challenge.map(Challenge::as_str)
    };
    for (encoding, body) in
        [("", block_page.to_vec()), ("gzip", gzip(block_page)), ("br", brotli(block_page))]
    {
        let fields = format!("Content-Encoding: {encoding}\r\n");
        let fields = if encoding.is_empty() { "" } else { &fields };
        assert_eq!(
            challenge_in("403 Forbidden", fields, &body).await,
            Some("cloudflare_title"),
            "{encoding}"
        );
        assert_eq!(challenge_in("503 Service Unavailable", fields, &body).await, Some("cloudflare_title"));
        assert_eq!(challenge_in("404 Not Found", fields, &body).await, None, "no refusal");
    }
    assert_eq!(challenge_in("403 Forbidden", "", b"<title>Forbidden</title>").await, None);
    assert_eq!(challenge_in("403 Forbidden", "Content-Encoding: gzip\r\n", b"no gzip").await, None);
    let by_field = "cf-mitigated: challenge\r\n";
    assert_eq!(
        challenge_in("403 Forbidden", by_field, &vec![b'x'; 20_000]).await,
        Some("cf_mitigated"),
        "however long"
    );
}

/// Grants this number of bytes, records the requested amounts, and notifies when more are requested.
struct Stingy {
    granted: u64,
    requested: Mutex<Vec<u64>>,
    wants_more: Notify,
}

impl Meter for Stingy {
    fn read_on(&self, bytes: u64) -> BoxFuture<'_, ()> {
        self.requested.lock().push(bytes);
        if bytes <= self.granted {
            return std::future::ready(()).boxed();
        }
        self.wants_more.notify_one();
        std::future::pending().boxed()
    }
}

#[tokio::test]
async fn a_server_sends_no_more_than_the_meter_grants_and_systems_buffer() {
    const BODY: usize = 256 << 20;
    let written = Arc::<AtomicUsize>::default();
    let counted = written.clone();
    let server = Server::scripted(move |mut conversation| {
        let written = counted.clone();
        async move {
            conversation.read_request().await;
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {BODY}\r\n\r\n");
            conversation.send(head.as_bytes()).await;
            let piece = [b'x'; 16 * 1024];
            while written.load(Ordering::Relaxed) < BODY && conversation.send(&piece).await {
                written.fetch_add(piece.len(), Ordering::Relaxed);
            }
        }
    })
    .await;
    let fetcher = fetcher(Settings { max_body: BODY as u64, ..settings() });
    let request = request(&server.url("/"), Purpose::Page);
    let meter = Stingy { granted: 1 << 20, requested: Mutex::default(), wants_more: Notify::new() };
    let known = Validators::default();
    let fetching = fetcher.fetch_with(Manner::Usual, &known, &request, LOOPBACK, u64::MAX, &meter);
    tokio::select! {
        response = fetching => panic!("read to the end: {:?}", response.0),
        () = meter.wants_more.notified() => {}
    }
    let requested = meter.requested.into_inner();
    assert!(
        requested.is_sorted() && requested.iter().rev().skip(1).all(|bytes| *bytes <= 1 << 20),
        "{requested:?}"
    );
    assert!(requested.len() > 2, "it is read in pieces: {requested:?}");
    let written = written.load(Ordering::Relaxed);
    assert!(written < BODY / 2, "{written} bytes were sent");
}
