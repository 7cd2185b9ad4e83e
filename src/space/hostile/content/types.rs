//! Content types that are malformed, wrong or missing.

use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, LINK_TO_NEXT, on_front, raw};
use crate::web::Act;

const XHTML: &str = "<?xml version=\"1.0\"?>\n<!-- A page. -->\n\
    <html xmlns=\"http://www.w3.org/1999/xhtml\"><body><p><a href=\"/next\">Next</a></p></body></html>\n";
const FEED: &str = "<?xml version=\"1.0\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry>\
    <div xmlns=\"http://www.w3.org/1999/xhtml\"><a href=\"/next\">Next</a></div></entry></feed>\n";

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages("type-with-a-comma", "A type with its charset after a comma.", |request| {
        of_type(request, &["text/html, charset=utf-8"], LINK_TO_NEXT)
    }),
    Case::of_pages("type-twice", "Two types in two fields: the last one counts.", |request| {
        of_type(request, &["text/plain", "text/html; charset=utf-8"], LINK_TO_NEXT)
    }),
    Case::of_pages("type-of-anything", "HTML, and then */*, which means nothing.", |request| {
        of_type(request, &["text/html", "*/*"], LINK_TO_NEXT)
    }),
    Case::of_pages("type-without-semicolon", "A page with a type that does not parse.", |request| {
        of_type(request, &["text/html charset=utf-8"], LINK_TO_NEXT)
    }),
    Case::of_pages("type-unknown", "A page with the type unknown/unknown.", |request| {
        of_type(request, &["unknown/unknown"], &format!("\n\t<!DOCTYPE html>{LINK_TO_NEXT}"))
    }),
    Case::of_pages("type-missing", "A page without a type.", |request| of_type(request, &[], LINK_TO_NEXT)),
    Case::of_pages("type-missing-of-text", "Text without a type, which browsers show as text.", |request| {
        of_type(request, &[], &format!("Text. {LINK_TO_NEXT}"))
    }),
    Case::of_pages("type-missing-without-end", "An endless image without a type.", |request| {
        on_front(request, || {
            vec![raw("HTTP/1.1 200 OK\r\n\r\nGIF89a"), Act::endless(b"<a href=\"/next\">x</a>")]
        })
    }),
    Case::of_pages("html-as-text", "A page as text/plain, which browsers show as text.", |request| {
        of_type(request, &["text/plain"], LINK_TO_NEXT)
    }),
    Case::of_pages("xhtml-as-xml", "XHTML as text/xml.", |request| of_type(request, &["text/xml"], XHTML)),
    Case::of_pages("xhtml-of-phones", "XHTML as application/vnd.wap.xhtml+xml.", |request| {
        of_type(request, &["application/vnd.wap.xhtml+xml"], XHTML)
    }),
    Case::of_pages("feed-as-xml", "A feed with XHTML in it as application/xml.", |request| {
        of_type(request, &["application/xml"], FEED)
    }),
];

/// A front page with these `Content-Type` fields.
fn of_type(request: &CaseRequest<'_>, types: &[&str], body: &str) -> Vec<Act> {
    let fields: String = types.iter().map(|field| format!("Content-Type: {field}\r\n")).collect();
    let head = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
    on_front(request, || vec![raw(head), raw(body)])
}
