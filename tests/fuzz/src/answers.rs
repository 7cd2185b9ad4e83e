use std::net::IpAddr;
use std::sync::LazyLock;

use hickory_proto::op::Message;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::address::WebUrl;
use crate::fetch::{chosen_address, decoded, head_of};
use crate::robots::Availability;

/// Bytes kept of a decoded body.
const CAP: usize = 64 * 1024;
/// As many header fields as hyper takes.
const MAX_FIELDS: usize = 100;

/// Of header fields and an encoded body, bounded text and a bounded body are kept. The pieces of the body are
/// as long as the first byte says.
pub fn response_head(bytes: &[u8]) {
    let Some((size, response)) = bytes.split_first() else { return };
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Response::new(&mut fields);
    let Ok(httparse::Status::Complete(end)) = parsed.parse(response) else { return };
    let mut headers = HeaderMap::new();
    for field in parsed.headers.iter() {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(field.name.as_bytes()), HeaderValue::from_bytes(field.value))
        {
            headers.append(name, value);
        }
    }
    let head = head_of(&headers);
    for text in [&head.content_type, &head.server, &head.last_modified, &head.etag].into_iter().flatten() {
        assert!(text.chars().count() <= 256);
    }
    if let Some(target) = head.location.as_deref() {
        let base = WebUrl::parse("https://www.example.co.ke/").expect("a good URL");
        let _ = base.join(target);
    }
    let pieces = response[end..].chunks(usize::from(*size).max(1));
    if let Some(body) = decoded(head.content_encoding.as_deref(), pieces, CAP) {
        assert!(body.len() <= CAP);
        let _ = Availability::from_response(parsed.code, &body).rules("ccsurvey");
    }
}

/// Whatever a name server answers, no address in a special range is contacted.
pub fn dns_response(bytes: &[u8]) {
    static URL: LazyLock<WebUrl> =
        LazyLock::new(|| WebUrl::parse("http://www.example.co.ke/").expect("a good URL"));
    let Ok(message) = Message::from_vec(bytes) else { return };
    if let Some(address) = chosen_address(&URL, &message.answers) {
        assert!(!is_registered_as_special(address), "{address}");
    }
}

/// By the list of ranges that was written down apart from the program's own.
fn is_registered_as_special(address: IpAddr) -> bool {
    static RANGES: LazyLock<Vec<[IpAddr; 2]>> = LazyLock::new(|| {
        let rows = include_str!("../../data/special_ranges.csv")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .skip(1);
        let ends = rows.map(|row| row.split(',').skip(1).take(2).map(|end| end.parse().expect("an address")));
        ends.map(|ends| ends.collect::<Vec<_>>().try_into().expect("two ends")).collect()
    });
    // Of the forms that embed an IPv4 address the one below is judged; the ranges know 6to4 itself.
    let inside = match address {
        IpAddr::V6(v6)
            if v6.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0] || v6.to_ipv4_mapped().is_some() =>
        {
            let [.., a, b, c, d] = v6.octets();
            IpAddr::from([a, b, c, d])
        }
        other => other,
    };
    RANGES.iter().any(|[first, last]| (first..=last).contains(&&inside))
}
