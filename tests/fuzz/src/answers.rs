use std::sync::LazyLock;

use hickory_proto::op::Message;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::address::{WebUrl, special_range};
use crate::fetch::{chosen, decoded, head_of};
use crate::robots::Availability;

/// Bytes kept of a decoded body.
const CAP: usize = 64 * 1024;
/// As many header fields as hyper takes.
const MOST_FIELDS: usize = 100;

/// Of header fields and an encoded body, bounded text and a bounded body are kept. The pieces of the body are
/// as long as the first byte says.
pub fn response_head(bytes: &[u8]) {
    let Some((size, response)) = bytes.split_first() else { return };
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut parsed = httparse::Response::new(&mut fields);
    let Ok(httparse::Status::Complete(end)) = parsed.parse(response) else { return };
    let mut headers = HeaderMap::new();
    for field in parsed.headers.iter() {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(field.name.as_bytes()), HeaderValue::from_bytes(field.value)) {
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
        let _ = Availability::of(parsed.code, &body).rules("ccsurvey");
    }
}

/// Whatever a name server answers, no address in a special range is contacted.
pub fn dns_answer(bytes: &[u8]) {
    static URL: LazyLock<WebUrl> =
        LazyLock::new(|| WebUrl::parse("http://www.example.co.ke/").expect("a good URL"));
    let Ok(message) = Message::from_vec(bytes) else { return };
    if let Some(address) = chosen(&URL, &message.answers) {
        assert_eq!(special_range(address), None);
    }
}
