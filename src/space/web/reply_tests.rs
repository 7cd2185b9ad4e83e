use crate::fake_web::{MODIFIED, PAGE, TAG, page, zipped};
use crate::{Method, RequestFields, Response, WireResponse};

fn names(reply: &WireResponse) -> Vec<&str> {
    reply.fields.iter().map(|(name, _)| *name).collect()
}

#[test]
fn an_answer_is_written_in_the_order_of_its_fields() {
    let reply = WireResponse::new(page("x".into()), &RequestFields::default(), false);
    let expected = "HTTP/1.1 200 OK\r\nServer: Apache/2.2.3 (CentOS)\r\nContent-Type: text/html\r\n\
        Last-Modified: Thu, 01 Jun 2006 08:00:00 GMT\r\nETag: \"page-1\"\r\nContent-Length: 1\r\n\
        Connection: keep-alive\r\n\r\nx";
    assert_eq!(String::from_utf8(reply.to_bytes()).unwrap(), expected);
    let last =
        WireResponse::new(Response { server: "", ..page("x".into()) }, &RequestFields::default(), true);
    assert_eq!(last.fields.last().unwrap().1, "close");
    assert!(!names(&last).contains(&"Server"));
}

#[test]
fn head_has_the_fields_of_get_and_no_body() {
    let asked = RequestFields { method: Method::Head, ..RequestFields::default() };
    for response in
        [page(PAGE.into()), Response { cut_after: Some(3), is_chunked: true, ..page(PAGE.into()) }]
    {
        let get = WireResponse::new(response.clone(), &RequestFields::default(), false);
        let head = WireResponse::new(response, &asked, false);
        assert_eq!((head.fields, head.status), (get.fields, get.status));
        assert_eq!((head.body.len(), head.is_chunked, head.is_cut), (0, false, false));
    }
}

#[test]
fn another_method_is_not_implemented() {
    let asked = RequestFields { method: Method::Other, ..RequestFields::default() };
    let reply = WireResponse::new(page(PAGE.into()), &asked, false);
    assert_eq!((reply.status, reply.reason()), (501, "Not Implemented"));
    assert_eq!((names(&reply), reply.body.len()), (vec!["Server", "Content-Length", "Connection"], 0));
}

#[test]
fn gzip_goes_to_those_who_decode_it() {
    let zipped = zipped(PAGE);
    let reply = WireResponse::new(
        zipped.clone(),
        &RequestFields { accepts_gzip: true, ..RequestFields::default() },
        false,
    );
    assert!(reply.fields.contains(&("Content-Encoding", "gzip".to_owned())));
    assert_eq!(reply.body, zipped.body);
    let reply = WireResponse::new(zipped.clone(), &RequestFields::default(), false);
    assert!(!names(&reply).contains(&"Content-Encoding"));
    assert!(reply.fields.contains(&("Content-Length", PAGE.len().to_string())));
    assert_eq!(reply.body, PAGE.as_bytes());
    let broken = Response { body: b"no gzip".into(), ..zipped };
    assert_eq!(WireResponse::new(broken, &RequestFields::default(), false).body, b"no gzip");
}

#[test]
fn what_the_client_has_already_is_not_sent_again() {
    let asked = |tags: Option<&str>, date: Option<&str>| RequestFields {
        if_none_match: tags.map(str::to_owned),
        if_modified_since: date.map(str::to_owned),
        ..RequestFields::default()
    };
    let later = "Fri, 02 Jun 2006 08:00:00 GMT";
    for (asked, status) in [
        (asked(Some(TAG), None), 304),
        (asked(Some("\"x\", W/\"page-1\""), None), 304),
        (asked(Some("*"), None), 304),
        (asked(None, Some(MODIFIED)), 304),
        (asked(Some("\"x\""), Some(MODIFIED)), 200),
        (asked(None, Some(later)), 200),
    ] {
        let reply = WireResponse::new(page(PAGE.into()), &asked, false);
        assert_eq!(reply.status, status, "{asked:?}");
        assert_eq!(reply.body.is_empty(), status == 304);
    }
    let has = asked(Some(TAG), None);
    let reply = WireResponse::new(page(PAGE.into()), &has, false);
    assert_eq!(names(&reply), ["Server", "Last-Modified", "ETag", "Connection"]);
    let busy = Response { status: 503, retry_after: Some(7), ..page(PAGE.into()) };
    let told =
        String::from_utf8(WireResponse::new(busy, &RequestFields::default(), false).to_bytes()).unwrap();
    assert!(told.contains("\r\nRetry-After: 7\r\n"), "{told}");
    let missing = Response { status: 404, ..page(PAGE.into()) };
    assert_eq!(WireResponse::new(missing, &has, false).status, 404);
}

#[test]
fn a_cut_body_announces_the_whole() {
    let cut = Response { cut_after: Some(20), ..page(PAGE.into()) };
    let reply = WireResponse::new(cut.clone(), &RequestFields::default(), false);
    assert!(reply.fields.contains(&("Content-Length", PAGE.len().to_string())));
    assert_eq!((reply.body.as_slice(), reply.is_cut), (&PAGE.as_bytes()[..20], true));
    let reply = WireResponse::new(Response { is_chunked: true, ..cut }, &RequestFields::default(), false);
    let text = String::from_utf8(reply.to_bytes()).unwrap();
    assert!(text.ends_with(&format!("\r\n\r\n14\r\n{}\r\n", &PAGE[..20])), "{text}");
    let beyond = Response { cut_after: Some(PAGE.len()), ..page(PAGE.into()) };
    assert!(!WireResponse::new(beyond, &RequestFields::default(), false).is_cut);
}

#[test]
fn chunks_are_for_clients_that_know_them() {
    let chunked = Response { is_chunked: true, ..page(PAGE.into()) };
    let reply = WireResponse::new(
        chunked.clone(),
        &RequestFields { is_http_1_0: true, ..RequestFields::default() },
        true,
    );
    assert!(names(&reply).contains(&"Content-Length") && !reply.is_chunked);
    let text = WireResponse::new(chunked, &RequestFields::default(), false).to_bytes();
    assert!(text.ends_with(b"</html>\r\n0\r\n\r\n"));
}

#[test]
fn an_answer_without_content_has_neither_body_nor_length() {
    let nothing = Response { status: 204, is_chunked: true, ..page(PAGE.into()) };
    let text =
        String::from_utf8(WireResponse::new(nothing, &RequestFields::default(), false).to_bytes()).unwrap();
    assert!(text.starts_with("HTTP/1.1 204 ") && text.ends_with("Connection: keep-alive\r\n\r\n"), "{text}");
    assert!(!text.contains("Length") && !text.contains("chunked"), "{text}");
}
