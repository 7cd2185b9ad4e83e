use crate::web::{Method, RequestFields};

/// The parts of a request's head that the gateway needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestHead {
    pub method: String,
    /// Path and query as sent; empty for a tunnel.
    pub target: String,
    /// In lower case, without port.
    pub host: String,
    pub user_agent: String,
    /// The fields that the response depends on.
    pub request_fields: RequestFields,
    /// The client wants the connection closed after the response.
    pub closes: bool,
    /// Size of the body; 0 without a body, none if the size is unknown.
    pub body_bytes: Option<u64>,
}

/// The gateway accepts no longer head: twice the size of a browser's request with many cookies.
pub(crate) const MAX_HEAD_BYTES: usize = 16 * 1024;

/// The end of the head in the received bytes, the empty line included.
pub(crate) fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

impl RequestHead {
    /// Parses a head; none if it is not HTTP/1.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.split("\r\n");
        let mut request_line = lines.next()?.split(' ');
        let (method, target, version) = (request_line.next()?, request_line.next()?, request_line.next()?);
        if request_line.next().is_some() || !matches!(version, "HTTP/1.0" | "HTTP/1.1") {
            return None;
        }
        let is_http_1_0 = version == "HTTP/1.0";
        let mut head = Self {
            method: method.to_owned(),
            target: target.to_owned(),
            host: String::new(),
            user_agent: String::new(),
            request_fields: RequestFields {
                method: method_of(method),
                is_http_1_0,
                ..RequestFields::default()
            },
            closes: is_http_1_0,
            body_bytes: Some(0),
        };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            head.take(&name.to_ascii_lowercase(), value.trim());
        }
        if method == "CONNECT" {
            head.host = host_of(&std::mem::take(&mut head.target));
            return Some(head);
        }
        head.take_absolute_target();
        head.target.starts_with('/').then_some(head)
    }

    /// Whether the client wants a tunnel to a host, as browsers request from a proxy for HTTPS (RFC 9110
    /// §9.3.6).
    pub(crate) fn is_for_a_tunnel(&self) -> bool {
        self.target.is_empty()
    }

    fn take(&mut self, name: &str, value: &str) {
        match name {
            "host" => self.host = host_of(value),
            "user-agent" => value.clone_into(&mut self.user_agent),
            "connection" if value.eq_ignore_ascii_case("close") => self.closes = true,
            "connection" if value.eq_ignore_ascii_case("keep-alive") => self.closes = false,
            "content-length" => self.body_bytes = value.parse().ok(),
            "transfer-encoding" => self.body_bytes = None,
            "accept-encoding" => self.request_fields.accepts_gzip = accepts_gzip(value),
            "if-none-match" => self.request_fields.if_none_match = Some(value.to_owned()),
            "if-modified-since" => self.request_fields.if_modified_since = Some(value.to_owned()),
            _ => {}
        }
    }

    /// RFC 9112 §3.2.2: a target in absolute form overrides the Host field.
    fn take_absolute_target(&mut self) {
        if let Some(rest) = self.target.strip_prefix("http://") {
            let at = rest.find('/').unwrap_or(rest.len());
            self.host = host_of(&rest[..at]);
            self.target = if at == rest.len() { "/".to_owned() } else { rest[at..].to_owned() };
        }
    }
}

fn method_of(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        _ => Method::Other,
    }
}

/// RFC 9110 §12.5.3: listed, and with a weight above 0.
fn accepts_gzip(value: &str) -> bool {
    value.to_ascii_lowercase().split(',').any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f64>);
        matches!(name.trim(), "gzip" | "x-gzip" | "*") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

fn host_of(authority: &str) -> String {
    let name = authority.split(':').next().unwrap_or(authority);
    name.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Option<RequestHead> {
        RequestHead::parse(text.as_bytes())
    }

    #[test]
    fn a_request_is_read() {
        let head = parse("GET /a?b HTTP/1.1\r\nHOST: WWW.A.ke:80\r\nUser-Agent: x y\r\n\r\n").unwrap();
        assert_eq!((head.host.as_str(), head.target.as_str(), head.closes), ("www.a.ke", "/a?b", false));
        assert_eq!((head.user_agent.as_str(), head.body_bytes), ("x y", Some(0)));
        let head =
            parse("GET http://b.ke/x HTTP/1.0\r\nHost: a.ke\r\nConnection: keep-alive\r\n\r\n").unwrap();
        assert_eq!((head.host.as_str(), head.target.as_str(), head.closes), ("b.ke", "/x", false));
    }

    #[test]
    fn what_the_answer_depends_on_is_read() {
        let head = parse(
            "HEAD / HTTP/1.0\r\nAccept-Encoding: br, GZIP;q=0.5\r\nIf-None-Match: \"a\", W/\"b\"\r\n\
             If-Modified-Since: Thu, 01 Jun 2006 00:00:00 GMT\r\n\r\n",
        );
        let request_fields = RequestFields {
            method: Method::Head,
            is_http_1_0: true,
            accepts_gzip: true,
            if_none_match: Some("\"a\", W/\"b\"".to_owned()),
            if_modified_since: Some("Thu, 01 Jun 2006 00:00:00 GMT".to_owned()),
        };
        assert_eq!(head.unwrap().request_fields, request_fields);
        for (value, is_accepted) in [("gzip;q=0", false), ("*", true), ("identity", false), ("", false)] {
            assert_eq!(accepts_gzip(value), is_accepted, "{value}");
        }
    }

    #[test]
    fn a_tunnel_is_asked_for_by_host_and_port() {
        let head = parse("CONNECT WWW.a.ke:443 HTTP/1.1\r\nHost: www.a.ke:443\r\n\r\n").unwrap();
        assert_eq!((head.host.as_str(), head.is_for_a_tunnel()), ("www.a.ke", true));
        assert!(!parse("GET / HTTP/1.1\r\n\r\n").unwrap().is_for_a_tunnel());
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for text in [
            "",
            "\r\n\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET x HTTP/1.1\r\n\r\n",
            "A / B C\r\n\r\n",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = RequestHead::parse(&bytes);
            let _ = end_of_head(&bytes);
        }
    }
}
