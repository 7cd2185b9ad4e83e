//! The ClientHello (RFC 5246 §7.4.1.2) as clients of 2010 sent it, and the server's first flight in response.

use crate::address::Host;

/// The response of a server to the ClientHello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fetch) enum ServerFlight {
    /// It is not complete yet.
    More,
    /// The version and the cipher suite that the server chose.
    Hello {
        version: u16,
        suite: u16,
    },
    Alert(u8),
    NotTls,
}

/// The alert `close_notify` (RFC 5246 §7.2.1).
pub(in crate::fetch) const CLOSE_NOTIFY: [u8; 7] = [ALERT, 3, 1, 0, 2, 1, 0];
/// The alert `protocol_version`.
pub(in crate::fetch) const PROTOCOL_VERSION: u8 = 70;
/// The limit on the part of a flight that is read.
pub(in crate::fetch) const LONGEST_FLIGHT: usize = 16 * 1024;

const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const SERVER_HELLO: u8 = 2;
const TLS_1_0: u16 = 0x0301;
const TLS_1_2: u16 = 0x0303;

/// Suites that current clients offer as well: a server that supports one of these is not too old.
const TODAYS: [u16; 6] = [0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8];

/// Old suites that no current client needs to offer, the better ones first, with their IANA names.
const OLD: &[(u16, &str)] = &[
    (0x009e, "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256"),
    (0x009f, "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384"),
    (0xc023, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256"),
    (0xc027, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"),
    (0xc024, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"),
    (0xc028, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384"),
    (0xc009, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"),
    (0xc013, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"),
    (0xc00a, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"),
    (0xc014, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"),
    (0x009c, "TLS_RSA_WITH_AES_128_GCM_SHA256"),
    (0x009d, "TLS_RSA_WITH_AES_256_GCM_SHA384"),
    (0x003c, "TLS_RSA_WITH_AES_128_CBC_SHA256"),
    (0x003d, "TLS_RSA_WITH_AES_256_CBC_SHA256"),
    (0x0067, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256"),
    (0x006b, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA256"),
    (0x0033, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA"),
    (0x0039, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA"),
    (0x002f, "TLS_RSA_WITH_AES_128_CBC_SHA"),
    (0x0035, "TLS_RSA_WITH_AES_256_CBC_SHA"),
    (0x0041, "TLS_RSA_WITH_CAMELLIA_128_CBC_SHA"),
    (0x0084, "TLS_RSA_WITH_CAMELLIA_256_CBC_SHA"),
    (0xc012, "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA"),
    (0x0016, "TLS_DHE_RSA_WITH_3DES_EDE_CBC_SHA"),
    (0x000a, "TLS_RSA_WITH_3DES_EDE_CBC_SHA"),
    (0xc011, "TLS_ECDHE_RSA_WITH_RC4_128_SHA"),
    (0x0005, "TLS_RSA_WITH_RC4_128_SHA"),
    (0x0004, "TLS_RSA_WITH_RC4_128_MD5"),
    (0x0009, "TLS_RSA_WITH_DES_CBC_SHA"),
    (0x0003, "TLS_RSA_EXPORT_WITH_RC4_40_MD5"),
];
/// Declares secure renegotiation in place of an extension that old servers may not know (RFC 5746 §3.3).
const RENEGOTIATION: u16 = 0x00ff;

/// The version and the suite of an old server, from its ServerHello; none if current clients use them.
pub(in crate::fetch) fn describe_obsolete(version: u16, suite: u16) -> Option<String> {
    let name = OLD.iter().find(|(code, _)| *code == suite).map(|(_, name)| *name);
    let minor = version.checked_sub(TLS_1_0)?;
    match name {
        Some(name) if version <= TLS_1_2 => Some(format!("TLSv1.{minor} {name}")),
        None if version < TLS_1_2 => Some(format!("TLSv1.{minor} 0x{suite:04x}")),
        _ => None,
    }
}

/// The ClientHello, in a record: up to TLS 1.2, with current suites first so that servers that have them
/// choose them.
pub(in crate::fetch) fn hello(host: &Host) -> Vec<u8> {
    let suites = TODAYS.into_iter().chain(OLD.iter().map(|(code, _)| *code)).chain([RENEGOTIATION]);
    let mut body = TLS_1_2.to_be_bytes().to_vec();
    // Nothing is ever encrypted with it, so it need not be random.
    body.extend(random(host));
    body.push(0);
    body.extend(with_length(&encode_u16s(suites)));
    body.extend([1, 0]);
    body.extend(with_length(&extensions(host)));
    let length = u32::try_from(body.len()).unwrap_or_default().to_be_bytes();
    let message = [&[1], &length[1..], &body].concat();
    [&[HANDSHAKE, 3, 1], &with_length(&message)[..]].concat()
}

fn random(host: &Host) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (half, seed) in bytes.chunks_exact_mut(16).zip(0..) {
        let hash = xxhash_rust::xxh3::xxh3_128_with_seed(host.as_str().as_bytes(), seed);
        half.copy_from_slice(&hash.to_be_bytes());
    }
    bytes
}

/// The server name (RFC 6066 §3), and the extensions that elliptic-curve suites and TLS 1.2 need.
fn extensions(host: &Host) -> Vec<u8> {
    const SERVER_NAME: u16 = 0;
    const GROUPS: u16 = 10;
    const POINT_FORMATS: u16 = 11;
    const SIGNATURES: u16 = 13;
    let mut all = Vec::new();
    if host.ip().is_none() {
        let name = [&[0], &with_length(host.as_str().as_bytes())[..]].concat();
        all.extend(extension(SERVER_NAME, &with_length(&name)));
    }
    all.extend(extension(GROUPS, &with_length(&encode_u16s([0x001d, 0x0017, 0x0018, 0x0019]))));
    all.extend(extension(POINT_FORMATS, &[1, 0]));
    let signatures = [0x0401, 0x0501, 0x0601, 0x0403, 0x0503, 0x0804, 0x0201, 0x0203, 0x0202];
    all.extend(extension(SIGNATURES, &with_length(&encode_u16s(signatures))));
    all
}

fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes(), &with_length(content)[..]].concat()
}

fn encode_u16s(values: impl IntoIterator<Item = u16>) -> Vec<u8> {
    values.into_iter().flat_map(u16::to_be_bytes).collect()
}

/// The content, preceded by its length.
fn with_length(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap_or(u16::MAX).to_be_bytes();
    [&length, content].concat()
}

/// Parses the bytes that a server has sent so far.
pub(in crate::fetch) fn parse_server_flight(mut records: &[u8]) -> ServerFlight {
    let mut messages = Vec::new();
    loop {
        let (kind, content, rest) = match records {
            [] => return ServerFlight::More,
            [ALERT | HANDSHAKE] => return ServerFlight::More,
            [ALERT | HANDSHAKE, 3, rest @ ..] => match rest {
                [_minor, high, low, rest @ ..] => {
                    let length = usize::from(u16::from_be_bytes([*high, *low]));
                    let Some((content, rest)) = rest.split_at_checked(length) else {
                        return ServerFlight::More;
                    };
                    (records[0], content, rest)
                }
                _ => return ServerFlight::More,
            },
            _ => return ServerFlight::NotTls,
        };
        match (kind, content) {
            (ALERT, [_level, description]) => return ServerFlight::Alert(*description),
            (HANDSHAKE, content) => messages.extend_from_slice(content),
            _ => return ServerFlight::NotTls,
        }
        match read_message(&messages) {
            ServerFlight::More => records = rest,
            flight => return flight,
        }
    }
}

/// Parses the ServerHello, which is the first message.
fn read_message(message: &[u8]) -> ServerFlight {
    match message {
        [] => ServerFlight::More,
        [SERVER_HELLO, ..] => {
            let Some(length) = message.get(38).map(|length| usize::from(*length)) else {
                return ServerFlight::More;
            };
            let Some(suite) = message.get(39 + length..41 + length) else { return ServerFlight::More };
            let version = u16::from_be_bytes([message[4], message[5]]);
            ServerFlight::Hello { version, suite: u16::from_be_bytes([suite[0], suite[1]]) }
        }
        _ => ServerFlight::NotTls,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A ServerHello, cut into records of this many bytes.
    fn server_hello(version: u16, suite: u16, session: u8, record: usize) -> Vec<u8> {
        let [minor, suite] = [version.to_be_bytes(), suite.to_be_bytes()];
        let body = [&minor[..], &[7; 32], &[session], &vec![9; session.into()], &suite[..], &[0]].concat();
        let message = [&[SERVER_HELLO, 0, 0, u8::try_from(body.len()).unwrap()], &body[..]].concat();
        message
            .chunks(record)
            .flat_map(|piece| [&[HANDSHAKE, 3, 1], &with_length(piece)[..]].concat())
            .collect()
    }

    #[test]
    fn the_greeting_is_one_that_a_tls_library_reads() {
        let host = Host::parse("www.a.ke").unwrap();
        let mut acceptor = rustls::server::Acceptor::default();
        acceptor.read_tls(&mut &hello(&host)[..]).unwrap();
        let accepted = acceptor.accept().unwrap().unwrap();
        let client = accepted.client_hello();
        assert_eq!(client.server_name(), Some("www.a.ke"));
        assert_eq!(client.cipher_suites().len(), TODAYS.len() + OLD.len() + 1);
        assert_eq!(client.signature_schemes().len(), 9);
    }

    #[test]
    fn version_and_suite_are_read_whatever_the_session_and_the_records() {
        for (session, record) in [(0, 100), (32, 100), (32, 1), (32, 40)] {
            let flight = server_hello(0x0301, 0x000a, session, record);
            assert_eq!(parse_server_flight(&flight), ServerFlight::Hello { version: 0x0301, suite: 0x000a });
            for end in 0..flight.len() {
                let cut = parse_server_flight(&flight[..end]);
                assert!(
                    matches!(
                        cut,
                        ServerFlight::More | ServerFlight::Hello { version: 0x0301, suite: 0x000a }
                    ),
                    "{end}"
                );
            }
        }
        assert_eq!(parse_server_flight(&[21, 3, 1, 0, 2, 2, 70]), ServerFlight::Alert(PROTOCOL_VERSION));
        assert_eq!(parse_server_flight(b"HTTP/1.1 400 Bad Request"), ServerFlight::NotTls);
    }

    #[test]
    fn old_is_what_no_client_of_today_offers() {
        for (version, suite, name) in [
            (0x0301, 0x0005, Some("TLSv1.0 TLS_RSA_WITH_RC4_128_SHA")),
            (0x0302, 0x1234, Some("TLSv1.1 0x1234")),
            (0x0303, 0x002f, Some("TLSv1.2 TLS_RSA_WITH_AES_128_CBC_SHA")),
            (0x0303, 0xc02f, None),
            (0x0300, 0x0005, None),
            (0x0305, 0x0005, None),
        ] {
            assert_eq!(describe_obsolete(version, suite).as_deref(), name);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), is_tls: bool) {
            if is_tls {
                bytes.splice(..bytes.len().min(3), [HANDSHAKE, 3, 1]);
            }
            let _ = parse_server_flight(&bytes);
        }
    }
}
