use std::ops::RangeInclusive;

use xxhash_rust::xxh3::xxh3_64;

use crate::address::WebUrl;

/// The number of hexadecimal digits from which they are a token: a random 32-bit number has eight.
const HEX_TOKEN: usize = 8;
/// The number of letters and digits from which they are a token: 80 random bits in base 32 have sixteen, and
/// words of that length do not contain three digits.
const LONG_TOKEN: usize = 16;
const LONG_TOKEN_DIGITS: usize = 3;
/// Years of dates in paths.
const YEARS: RangeInclusive<u32> = 1900..=2199;
const MONTHS: RangeInclusive<u32> = 1..=12;

/// A URL with a sign in place of each part that varies: `#` for a number, `*` for a token of hexadecimal
/// digits or of many letters and digits. The domain of the site itself does not vary.
pub(in crate::walk) struct Shape {
    /// Host and path: `www.a.ke/calendar/#/#/#.html`.
    text: String,
    branch_bytes: usize,
    /// The first path segment that varies, counted from 0; none if the host varies.
    pub segment: Option<usize>,
}

/// The identity of a [`Shape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::walk) enum ShapeId {
    /// All URLs with the same beginning, up to the first part that varies: `www.a.ke/calendar/#`.
    Branch(u64),
    /// All URLs with the same shape from beginning to end: `www.a.ke/calendar/#/#/#.html`.
    Pattern(u64),
    /// All URLs below a folder that are made of the same words in other orders and choices.
    Product(u64),
    /// All URLs below a folder whose pages repeat each other.
    Folder(u64),
}

impl Shape {
    /// None if nothing varies, and for query URLs, which the rule on scripts bounds.
    pub(in crate::walk) fn from_url(url: &WebUrl, site: &str) -> Option<Self> {
        if url.is_query() {
            return None;
        }
        let canonical = url.without_session().canonical();
        let (_, rest) = canonical.split_once("://")?;
        let (host, path) = rest.split_once('/')?;
        let own = url.host().as_str().strip_suffix(site).map_or(0, str::len);
        let mut text = String::with_capacity(rest.len());
        let host_varies = generalise(&host[..own], &mut text);
        text.push_str(&host[own..]);
        let mut branch_bytes = host_varies.then_some(text.len());
        let mut segment = None;
        for (number, part) in path.split('/').enumerate() {
            text.push('/');
            let start = text.len();
            if generalise(part, &mut text) && branch_bytes.is_none() {
                branch_bytes = Some(start + text[start..].rfind('.').unwrap_or(text.len() - start));
                segment = Some(number);
            }
        }
        Some(Self { text, branch_bytes: branch_bytes?, segment })
    }

    pub(in crate::walk) fn pattern(&self) -> &str {
        &self.text
    }

    pub(in crate::walk) fn branch(&self) -> &str {
        &self.text[..self.branch_bytes]
    }

    /// The pattern that names one of its ids; `**` stands for anything.
    pub(in crate::walk) fn name(&self, id: ShapeId) -> String {
        match id {
            ShapeId::Pattern(_) => self.text.clone(),
            _ => format!("{}/**", self.branch()),
        }
    }

    pub(in crate::walk) fn ids(&self) -> [ShapeId; 2] {
        [
            ShapeId::Branch(xxh3_64(self.branch().as_bytes())),
            ShapeId::Pattern(xxh3_64(self.pattern().as_bytes())),
        ]
    }
}

/// Writes a text with signs in place of numbers and tokens; returns whether there were any. Percent-encoded
/// bytes count as letters of other scripts.
fn generalise(text: &str, out: &mut String) -> bool {
    let start_bytes = out.len();
    for (number, piece) in text.split('%').enumerate() {
        let (byte, plain) =
            if number == 0 { ("", piece) } else { piece.split_at_checked(2).unwrap_or((piece, "")) };
        out.push_str(if number == 0 { "" } else { "%" });
        out.push_str(byte);
        runs(plain, |c| c.is_ascii_alphanumeric()).for_each(|run| push_run(run, out));
    }
    out[start_bytes..] != *text
}

fn push_run(run: &str, out: &mut String) {
    if is_token(run) {
        return out.push('*');
    }
    for part in runs(run, |c| c.is_ascii_digit()) {
        out.push_str(if part.starts_with(|c: char| c.is_ascii_digit()) { "#" } else { part });
    }
}

fn is_token(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let is_mixed = digits > 0 && digits < run.len();
    let is_hex = run.len() >= HEX_TOKEN && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_mixed && (is_hex || (run.len() >= LONG_TOKEN && digits >= LONG_TOKEN_DIGITS))
}

/// Cuts a text wherever the result of `is_in` changes.
fn runs(text: &str, is_in: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = is_in(rest.chars().next()?);
        let end = rest.find(|c| is_in(c) != first).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        rest = tail;
        Some(run)
    })
}

/// Whether a path has a year and a month in it, one after the other: `/2006/05/`, `/2006-5-14`, `/20060514`.
pub(in crate::walk) fn is_dated(path: &str) -> bool {
    let is_in = |text: Option<&str>, range: &RangeInclusive<u32>| {
        text.and_then(|text| text.parse().ok()).is_some_and(|number| range.contains(&number))
    };
    let parts: Vec<&str> = runs(path, |c| c.is_ascii_digit()).collect();
    let is_date = |parts: &[&str]| match parts {
        [year, between, month, ..] if year.len() == 4 && between.len() == 1 && month.len() <= 2 => {
            is_in(Some(year), &YEARS) && is_in(Some(month), &MONTHS)
        }
        [whole, ..] if matches!(whole.len(), 6 | 8) => {
            is_in(whole.get(..4), &YEARS) && is_in(whole.get(4..6), &MONTHS)
        }
        _ => false,
    };
    (0..parts.len()).any(|from| is_date(&parts[from..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shape(url: &str) -> Option<(String, String)> {
        let shape = Shape::from_url(&WebUrl::parse(url).unwrap(), "a1.ke")?;
        Some((shape.branch().to_owned(), shape.pattern().to_owned()))
    }

    fn name_of(branch: &str, pattern: &str) -> Option<(String, String)> {
        Some((branch.to_owned(), pattern.to_owned()))
    }

    #[test]
    fn numbers_and_tokens_become_signs() {
        let calendar = name_of("www.a1.ke/calendar/#", "www.a1.ke/calendar/#/#/#.html");
        assert_eq!(shape("http://www.a1.ke/calendar/2001/02/14.html"), calendar);
        assert_eq!(shape("http://a1.ke/list/57.html"), name_of("a1.ke/list/#", "a1.ke/list/#.html"));
        assert_eq!(shape("http://a1.ke/session3fa90c11d2/x"), name_of("a1.ke/*", "a1.ke/*/x"));
        assert_eq!(shape("http://a1.ke/s/3fa90c11d2/x"), name_of("a1.ke/s/*", "a1.ke/s/*/x"));
        assert_eq!(shape("https://w0c9e11d2f0c9e11d2f.a1.ke/x1"), name_of("*.a1.ke", "*.a1.ke/x#"));
        assert_eq!(
            shape("http://a1.ke/news/budget-2006/"),
            name_of("a1.ke/news/budget-#", "a1.ke/news/budget-#/")
        );
    }

    #[test]
    fn what_does_not_vary_and_query_urls_have_none() {
        for url in [
            "http://a1.ke/",
            "http://www.a1.ke/about/Us.html",
            "http://a1.ke/1?x",
            "http://a1.ke/1;x",
            "http://a1.ke/caf%C3%A9",
        ] {
            assert_eq!(shape(url), None, "{url}");
        }
    }

    #[test]
    fn a_year_and_a_month_are_a_date() {
        for dated in ["/calendar/2001/02/14.html", "/2026-5", "/a/20060514", "/x200605.html", "/1/2006/12/"] {
            assert!(is_dated(dated), "{dated}");
        }
        for other in ["/2001/13/", "/2001", "/1/2/3", "/12/2001/", "/a/20061399", "/20011/02", "/2001/0202"] {
            assert!(!is_dated(other), "{other}");
        }
    }

    #[test]
    fn tokens_are_mixed_of_digits_and_letters_and_long() {
        for token in ["3fa90c11", "DEADBEE0", "0123456789abcdef", "abcdefghijklm123", "z0y1x2w3v4u5t6s7"] {
            assert!(is_token(token), "{token}");
        }
        for other in
            ["3fa90c1", "deadbeef", "12345678", "1234567890123456", "3fa90g11", "abcdefghijklmn12", ""]
        {
            assert!(!is_token(other), "{other}");
        }
        assert!(!is_token("abcdefghijkl123"), "fifteen");
    }

    #[test]
    fn letters_in_percent_form_are_no_numbers_and_what_follows_them_may_be() {
        assert_eq!(shape("http://a1.ke/%C3%A9/x"), None);
        assert_eq!(shape("http://a1.ke/caf%C3%A97/x"), name_of("a1.ke/caf%C3%A9#", "a1.ke/caf%C3%A9#/x"));
        assert_eq!(shape("http://a1.ke/7%2F8/x"), name_of("a1.ke/#%2F#", "a1.ke/#%2F#/x"));
        assert_eq!(
            shape("http://a1.ke/x%2"),
            name_of("a1.ke/x%25#", "a1.ke/x%25#"),
            "a sign that is no byte"
        );
    }

    #[test]
    fn the_first_part_that_varies_is_the_host_or_a_segment() {
        let first = |url: &str| Shape::from_url(&WebUrl::parse(url).unwrap(), "a1.ke").unwrap().segment;
        assert_eq!(first("http://a1.ke/7"), Some(0));
        assert_eq!(first("http://www.a1.ke/x/y/7/8"), Some(2));
        assert_eq!(first("http://w7.a1.ke/x/y/7"), None);
        assert_eq!(shape("http://w7.a1.ke/"), name_of("w#.a1.ke", "w#.a1.ke/"));
        assert_eq!(
            shape("http://b2.ke/7"),
            name_of("b2.ke/#", "b2.ke/#"),
            "only below the site do names vary"
        );
        assert_eq!(shape("http://a1.ke/v1.2/x"), name_of("a1.ke/v#", "a1.ke/v#.#/x"));
    }

    #[test]
    fn a_shape_is_told_as_a_branch_with_all_below_it_or_as_a_pattern() {
        let shape = Shape::from_url(&WebUrl::parse("http://a1.ke/x/7/8.html").unwrap(), "a1.ke").unwrap();
        let names = shape.ids().map(|id| shape.name(id));
        assert_eq!(names, ["a1.ke/x/#/**", "a1.ke/x/#/#.html"]);
        assert_eq!(shape.name(ShapeId::Product(1)), "a1.ke/x/#/**");
        let other = Shape::from_url(&WebUrl::parse("http://a1.ke/x/9/y").unwrap(), "a1.ke").unwrap();
        assert_eq!(shape.ids()[0], other.ids()[0], "of one branch");
        assert_ne!(shape.ids()[1], other.ids()[1]);
    }

    #[test]
    fn dates_lie_in_the_years_and_months_that_there_are() {
        for dated in ["/1900/1", "/2199/12", "/190001", "/21991231", "/x/1999.9.html", "/7/2006-05"] {
            assert!(is_dated(dated), "{dated}");
        }
        for other in [
            "/1899/1",
            "/2200/1",
            "/2006/0",
            "/2006/13",
            "/2006--5",
            "/2006/005",
            "/206/05",
            "/02006/05",
            "/189912",
            "/220001",
            "/200600",
            "/2006051",
            "/200605141",
            "/20060",
            "/2006/",
        ] {
            assert!(!is_dated(other), "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_path_has_a_shape_not_longer_than_itself(path in "[ -~é漢]{0,80}") {
            if let Ok(url) = WebUrl::parse(&format!("http://www.a1.ke/{path}")) {
                let _ = is_dated(url.path());
                if let Some(shape) = Shape::from_url(&url, "a1.ke") {
                    prop_assert!(shape.pattern().len() <= url.canonical().len());
                    prop_assert!(shape.pattern().starts_with(shape.branch()));
                    let again = WebUrl::parse(&format!("http://{}", shape.pattern().replace('#', "7")));
                    prop_assert!(again.is_ok());
                }
            }
        }
    }
}
