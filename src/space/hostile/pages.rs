//! The ordinary pages of the cases, and the building blocks of their unusual responses.

use crate::web::Act;

/// A request to a host of a case.
pub(super) struct CaseRequest<'a> {
    pub host: &'a str,
    /// The host named after the case.
    pub main_host: &'a str,
    pub is_https: bool,
    /// Path and query as sent.
    pub target: &'a str,
}

/// The link on an unusual front page: a request for its target shows that the survey went on.
pub(super) const LINK_TO_NEXT: &str = "<p><a href=\"/next\">Next</a></p>\n";

/// An HTML response with any status, a Content-Length and further header fields.
pub(super) fn response(status: &str, fields: &[&str], body: &[u8]) -> Vec<Act> {
    let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n{fields}\r\n");
    vec![Act::Send([head.as_bytes(), body].concat())]
}

/// A head without the length of the body, followed by `body`.
pub(super) fn unframed(fields: &str, body: &[u8]) -> Act {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{fields}\r\n");
    Act::Send([head.as_bytes(), body].concat())
}

/// Bytes that need not be HTTP.
pub(super) fn raw(bytes: impl AsRef<[u8]>) -> Act {
    Act::Send(bytes.as_ref().to_vec())
}

/// An ordinary page.
pub(super) fn html(body: impl AsRef<[u8]>) -> Vec<Act> {
    response("200 OK", &[], body.as_ref())
}

/// A page of links.
pub(super) fn links<T: AsRef<str>>(targets: impl IntoIterator<Item = T>) -> Vec<Act> {
    html(anchors(targets))
}

pub(super) fn anchors<T: AsRef<str>>(targets: impl IntoIterator<Item = T>) -> String {
    targets.into_iter().map(|target| format!("<a href=\"{}\">x</a>\n", target.as_ref())).collect()
}

pub(super) fn missing() -> Vec<Act> {
    response("404 Not Found", &[], b"")
}

pub(super) fn redirect(to: &str) -> Vec<Act> {
    response("302 Found", &[&format!("Location: {to}")], b"")
}

/// A front page that links to one more page.
pub(super) fn front(request: &CaseRequest<'_>) -> Vec<Act> {
    on_front(request, || html(LINK_TO_NEXT))
}

/// An unusual front page; every other path is an ordinary page without links.
pub(super) fn on_front(request: &CaseRequest<'_>, front_acts: impl FnOnce() -> Vec<Act>) -> Vec<Act> {
    if request.target == "/" { front_acts() } else { html("<p>A page.</p>") }
}
