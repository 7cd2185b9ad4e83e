use super::lines::{Record, RobotsLines};

/// The number of sitemaps that are read from a file.
const MAX_SITEMAPS: usize = 10;
/// The number of characters read of each. A URL may have more (2,048 by sitemaps.org), and hardly one has.
const MAX_CHARS: usize = 300;

/// The values of the `Sitemap` lines of a robots.txt, as written, in their order and each once. They belong
/// to no group (RFC 9309 §2.2.4).
#[must_use]
pub fn sitemaps(body: &[u8]) -> Vec<String> {
    let lines = RobotsLines::new(body);
    let mut sitemaps: Vec<String> = Vec::new();
    for record in lines.records() {
        let Record::Sitemap(value) = record else { continue };
        let text: String = String::from_utf8_lossy(value).chars().take(MAX_CHARS).collect();
        if !text.is_empty() && !sitemaps.contains(&text) {
            sitemaps.push(text);
        }
        if sitemaps.len() == MAX_SITEMAPS {
            break;
        }
    }
    sitemaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sitemaps_are_read_wherever_they_stand() {
        let body = b"Sitemap: https://a.ke/s.xml\r\nUser-agent: *\nsitemap:/t.xml # relative\nDisallow: /x\n\
            SITEMAP: https://a.ke/s.xml\nSite-map: http://a.ke/u.xml\nSitemap:\nSitemaps: no";
        assert_eq!(sitemaps(body), ["https://a.ke/s.xml", "/t.xml", "http://a.ke/u.xml"]);
        assert_eq!(sitemaps(b""), [""; 0]);
        let many: String = (0..30).map(|number| format!("Sitemap: /{number}\n")).collect();
        assert_eq!(sitemaps(many.as_bytes()).len(), MAX_SITEMAPS);
        let long = format!("Sitemap: /{}", "x".repeat(5000));
        assert_eq!(sitemaps(long.as_bytes())[0].len(), MAX_CHARS);
    }

    proptest! {
        #[test]
        fn any_bytes_have_few_sitemaps(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(sitemaps(&body).len() <= MAX_SITEMAPS);
        }
    }
}
