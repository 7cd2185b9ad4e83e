use super::content::Url;
use super::draw::Draw;

/// Writes a link as pages write it: from the root, relative to the page or its base, in full, or in
/// one of the odd forms that mean the same URL.
pub(super) fn spell(url: &Url, page: &Url, has_base: bool, alias_share: f64, draw: Draw) -> String {
    let is_here = url.host == page.host && url.is_https == page.is_https;
    let is_odd = draw.happens(alias_share);
    match (is_here, is_odd) {
        (true, false) if draw.nth(1).happens(0.4) => {
            let directory = if has_base { "/" } else { directory(&page.target) };
            relative(directory, &url.target)
        }
        (true, false) => url.target.clone(),
        (false, false) => url.to_string(),
        (true, true) => odd_here(url, draw.nth(2)),
        (false, true) => odd_elsewhere(url, draw.nth(2)),
    }
}

fn odd_here(url: &Url, draw: Draw) -> String {
    match draw.below(6) {
        0 => format!("//{}{}", url.host, url.target),
        1 => format!("/.{}", url.target),
        2 => format!("/old/..{}", url.target),
        3 => percent_encoded(&url.target),
        4 => format!("\n  {} ", url.target),
        _ => odd_elsewhere(url, draw.nth(1)),
    }
}

fn odd_elsewhere(url: &Url, draw: Draw) -> String {
    let port = if url.is_https { 443 } else { 80 };
    let scheme = if url.is_https { "https" } else { "http" };
    match draw.below(5) {
        0 => format!("{scheme}://{}:{port}{}", url.host, url.target),
        1 => format!("{}://{}{}", scheme.to_uppercase(), url.host.to_uppercase(), url.target),
        2 => format!("{url}#top"),
        3 if url.target == "/" => format!("{scheme}://{}", url.host),
        4 => format!("{scheme}://{}{}", url.host, percent_encoded(&url.target)),
        _ => url.to_string(),
    }
}

/// One letter of the path in percent form, which means the same (RFC 3986 §6.2.2.2).
fn percent_encoded(target: &str) -> String {
    match target.find(|c: char| c.is_ascii_lowercase() || c == '?') {
        Some(at) if target.as_bytes()[at] != b'?' => {
            format!("{}%{:02x}{}", &target[..at], target.as_bytes()[at], &target[at + 1..])
        }
        _ => target.to_owned(),
    }
}

/// The directory that a page's relative references start from.
fn directory(target: &str) -> &str {
    let path = target.split('?').next().unwrap_or(target);
    &path[..=path.rfind('/').unwrap_or(0)]
}

/// The way from a directory to a target.
fn relative(from: &str, to: &str) -> String {
    let shared = from
        .bytes()
        .zip(to.split('?').next().unwrap_or(to).bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let shared = from[..shared].rfind('/').map_or(0, |at| at + 1);
    let up = "../".repeat(from[shared..].matches('/').count());
    match (up.as_str(), &to[shared..]) {
        ("", "") => "./".to_owned(),
        (up, rest) => format!("{up}{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::draw::Key;
    use super::*;
    use crate::address::WebUrl;

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
                    let spelled = spell(&url, &page, has_base, 0.6, draw);
                    let base = if has_base { "http://a.ke/".to_owned() } else { page.to_string() };
                    let read = WebUrl::parse(&base).unwrap().join(&spelled).unwrap();
                    assert_eq!(read.canonical(), url.to_string(), "{spelled:?} on {base}");
                }
            }
        }
    }

    #[test]
    fn relative_references_go_up_and_down() {
        assert_eq!(relative("/part-1/", "/part-1/2.html"), "2.html");
        assert_eq!(relative("/part-1/", "/part-2.html"), "../part-2.html");
        assert_eq!(relative("/part-1/", "/"), "../");
        assert_eq!(relative("/", "/"), "./");
        assert_eq!(relative("/cgi/", "/cgi/front.php?id=1/2"), "front.php?id=1/2");
    }
}
