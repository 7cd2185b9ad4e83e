use crate::draw::Draw;
use crate::model::content::Url;

/// Writes links as pages do: from the root, relative to the page or its base, as a full URL, or in one of the
/// odd forms of the same URL.
pub(crate) struct Speller<'u> {
    page: &'u Url,
    has_base: bool,
    alias_share: f64,
}

impl<'u> Speller<'u> {
    pub(crate) fn new(page: &'u Url, has_base: bool, alias_share: f64) -> Self {
        Self { page, has_base, alias_share }
    }

    /// Appends the link to `out`.
    pub(crate) fn push(&self, url: &Url, draw: Draw, out: &mut String) {
        let is_same_origin = url.host == self.page.host && url.is_https == self.page.is_https;
        let is_odd = draw.happens(self.alias_share);
        match (is_same_origin, is_odd) {
            (true, false) if draw.nth(1).happens(0.4) => {
                let directory = if self.has_base { "/" } else { directory(&self.page.target) };
                push_relative(directory, &url.target, out);
            }
            (true, false) => out.push_str(&url.target),
            (false, false) => push_all([scheme(url), "://", &url.host, &url.target], out),
            (true, true) => push_odd_same_origin(url, draw.nth(2), out),
            (false, true) => push_odd_other_origin(url, draw.nth(2), out),
        }
    }
}

fn scheme(url: &Url) -> &'static str {
    if url.is_https { "https" } else { "http" }
}

fn push_all<const N: usize>(parts: [&str; N], out: &mut String) {
    parts.into_iter().for_each(|part| out.push_str(part));
}

fn push_odd_same_origin(url: &Url, draw: Draw, out: &mut String) {
    match draw.below(6) {
        0 => push_all(["//", &url.host, &url.target], out),
        1 => push_all(["/.", &url.target], out),
        2 => push_all(["/old/..", &url.target], out),
        3 => out.push_str(&percent_encoded(&url.target)),
        4 => push_all(["\n  ", &url.target, " "], out),
        _ => push_odd_other_origin(url, draw.nth(1), out),
    }
}

fn push_odd_other_origin(url: &Url, draw: Draw, out: &mut String) {
    let (scheme, host, target) = (scheme(url), url.host.as_str(), url.target.as_str());
    let port = if url.is_https { ":443" } else { ":80" };
    match draw.below(5) {
        0 => push_all([scheme, "://", host, port, target], out),
        1 => push_all([&scheme.to_uppercase(), "://", &host.to_uppercase(), target], out),
        2 => push_all([scheme, "://", host, target, "#top"], out),
        3 if target == "/" => push_all([scheme, "://", host], out),
        4 => push_all([scheme, "://", host, &percent_encoded(target)], out),
        _ => push_all([scheme, "://", host, target], out),
    }
}

/// Percent-encodes one letter of the path, which does not change its meaning (RFC 3986 §6.2.2.2).
fn percent_encoded(target: &str) -> String {
    match target.find(|c: char| c.is_ascii_lowercase() || c == '?') {
        Some(at) if target.as_bytes()[at] != b'?' => {
            format!("{}%{:02x}{}", &target[..at], target.as_bytes()[at], &target[at + 1..])
        }
        _ => target.to_owned(),
    }
}

/// The directory that relative references of a page start from.
fn directory(target: &str) -> &str {
    let path = target.split('?').next().unwrap_or(target);
    &path[..=path.rfind('/').unwrap_or(0)]
}

/// Appends the relative path from a directory to a target.
fn push_relative(from: &str, to: &str, out: &mut String) {
    let shared = from
        .bytes()
        .zip(to.split('?').next().unwrap_or(to).bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let shared = from[..shared].rfind('/').map_or(0, |at| at + 1);
    let start = out.len();
    from[shared..].matches('/').for_each(|_| out.push_str("../"));
    out.push_str(&to[shared..]);
    if out.len() == start {
        out.push_str("./");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::WebUrl;
    use crate::draw::Key;

    #[test]
    fn every_spelling_means_its_url() {
        let targets =
            ["/", "/part-1.html", "/part-1/2-3.html", "/page.php?n=1-2", "/cgi/front.php;v=2", "/a?b&c"];
        let draw = Key::of_world("test", 3).draw("spelling");
        for (n, (page, target)) in
            targets.iter().flat_map(|page| targets.iter().map(move |target| (page, target))).enumerate()
        {
            let page = Url::http("a.ke", *page);
            for host in ["a.ke", "b.ke"] {
                let url = Url { is_https: n % 5 == 4, host: host.to_owned(), target: (*target).to_owned() };
                for try_number in 0..60 {
                    let has_base = try_number % 3 == 0;
                    let draw = draw.nth(n as u64).nth(try_number);
                    let mut spelled = String::new();
                    Speller::new(&page, has_base, 0.6).push(&url, draw, &mut spelled);
                    let base = if has_base { "http://a.ke/".to_owned() } else { page.to_string() };
                    let read = WebUrl::parse(&base).unwrap().join(&spelled).unwrap();
                    assert_eq!(read.canonical(), url.to_string(), "{spelled:?} on {base}");
                }
            }
        }
    }

    #[test]
    fn relative_references_go_up_and_down() {
        let relative = |from: &str, to: &str| {
            let mut reference = String::new();
            push_relative(from, to, &mut reference);
            reference
        };
        assert_eq!(relative("/part-1/", "/part-1/2.html"), "2.html");
        assert_eq!(relative("/part-1/", "/part-2.html"), "../part-2.html");
        assert_eq!(relative("/part-1/", "/"), "../");
        assert_eq!(relative("/", "/"), "./");
        assert_eq!(relative("/cgi/", "/cgi/front.php?id=1/2"), "front.php?id=1/2");
    }
}
