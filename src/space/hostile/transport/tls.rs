//! Invalid certificates, and handshakes in which the server sends something other than TLS.

use crate::hostile::case::Case;
use crate::hostile::pages::raw;
use crate::web::Act;
use crate::{Certificate, Handshake};

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_tls("tls-expired", "A certificate that has expired.", || {
        Handshake::Certificate(Certificate::Expired)
    }),
    Case::of_tls("tls-self-signed", "A self-signed certificate.", || {
        Handshake::Certificate(Certificate::SelfSigned)
    }),
    Case::of_tls("tls-wrong-name", "A certificate for another host.", || {
        Handshake::Certificate(Certificate::WrongName)
    }),
    Case::of_tls("tls-version-1", "A certificate of X.509 version 1.", || {
        Handshake::Certificate(Certificate::VersionOne)
    }),
    Case::of_tls("tls-critical-extension", "A critical extension that does not exist.", || {
        Handshake::Certificate(Certificate::CriticalExtension)
    }),
    Case::of_tls("tls-broken-extension", "An extension with invalid content.", || {
        Handshake::Certificate(Certificate::BrokenExtension)
    }),
    Case::of_tls("tls-trailing-bytes", "A certificate followed by two bytes.", || {
        Handshake::Certificate(Certificate::TrailingBytes)
    }),
    Case::of_tls("tls-1-0", "TLS 1.0 and nothing newer.", || {
        Handshake::Acts(vec![raw(HELLO_1_0), Act::Stall])
    }),
    Case::of_tls("tls-alert", "An alert: the version is refused.", || {
        // RFC 8446 §6: fatal, protocol_version.
        Handshake::Acts(vec![raw([21, 3, 1, 0, 2, 2, 70]), Act::Close])
    }),
    Case::of_tls("tls-1-2-with-old-suites", "TLS 1.2 with RSA key exchange and CBC only.", || {
        Handshake::Acts(vec![raw(hello([0, 0x2f], 3)), Act::Stall])
    }),
    Case::of_tls("tls-nothing-in-common", "An alert: none of the offered parameters is acceptable.", || {
        // RFC 8446 §6: fatal, handshake_failure.
        Handshake::Acts(vec![raw([21, 3, 1, 0, 2, 2, 40]), Act::Close])
    }),
    Case::of_tls("tls-no-such-name", "An alert: the name is not served here.", || {
        // RFC 8446 §6: fatal, unrecognized_name. The server has TLS 1.3 only, so it would reject an older
        // hello.
        Handshake::Acts(vec![raw([21, 3, 3, 0, 2, 2, 112]), Act::Close])
    }),
    Case::of_tls("tls-http-2-only", "An alert: HTTP/1.1 is not supported here.", || {
        // RFC 7301 §3.2: fatal, no_application_protocol.
        Handshake::Acts(vec![raw([21, 3, 3, 0, 2, 2, 120]), Act::Close])
    }),
    Case::of_pages("tls-http-2-frames", "Over TLS, HTTP/2 frames in response to HTTP/1.1.", |_| {
        // RFC 9113 §6.5: SETTINGS with one setting; §6.8: GOAWAY with PROTOCOL_ERROR.
        let settings = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100];
        let goodbye = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        vec![raw([&settings[..], &goodbye].concat()), Act::Close]
    })
    .over_tls(),
    Case::of_pages("tls-another-protocol", "Over TLS, the greeting of a mail server.", |_| {
        vec![raw("220 mail.example ESMTP\r\n"), Act::Stall]
    })
    .over_tls(),
    Case::of_tls("tls-stalled", "The ClientHello is accepted but gets no response.", || {
        Handshake::Acts(vec![Act::Stall])
    }),
    Case::of_tls("tls-byte-a-second", "The handshake arrives at one byte per second.", || {
        Handshake::Acts(vec![raw([22, 3, 3, 0x3f, 0xff, 2]), Act::Drip(0)])
    }),
    Case::of_tls("tls-closed", "The connection is closed when the TLS handshake begins.", || {
        Handshake::Closed
    }),
    Case::of_tls("tls-plain-answer", "HTTP without TLS, in response to TLS.", || {
        Handshake::Acts(vec![raw("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), Act::Close])
    }),
    Case::of_tls("tls-flood", "Handshake messages without end.", || {
        // Records of type handshake, each with an empty HelloRequest message (RFC 5246 §7.4.1.1).
        Handshake::Acts(vec![Act::endless(&[22, 3, 3, 0, 4, 0, 0, 0, 0])])
    }),
    Case::of_tls("tls-huge-certificate", "A certificate list with a declared size of 16 MB.", || {
        let hello = [22, 3, 3, 0x40, 0, 11, 0xff, 0xff, 0xff];
        Handshake::Acts(vec![raw([HELLO_1_2, &hello].concat()), Act::endless(&[0])])
    }),
];

/// A ServerHello (RFC 5246 §7.4.1.3) in a record: a version, 32 random bytes, no session, the cipher suite
/// `TLS_RSA_WITH_AES_128_CBC_SHA`, no compression.
const HELLO_1_0: [u8; 47] = hello([0, 0x2f], 1);
/// A ServerHello of TLS 1.2, with `TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256`.
const HELLO_1_2: &[u8] = &hello([0xc0, 0x2b], 3);

const fn hello(suite: [u8; 2], minor: u8) -> [u8; 47] {
    let mut bytes = [7; 47];
    let start = [22, 3, minor, 0, 42, 2, 0, 0, 38, 3, minor];
    let mut at = 0;
    while at < start.len() {
        bytes[at] = start[at];
        at += 1;
    }
    (bytes[43], bytes[44], bytes[45], bytes[46]) = (0, suite[0], suite[1], 0);
    bytes
}
