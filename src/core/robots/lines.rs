use std::borrow::Cow;

/// The number of bytes of a robots.txt that are parsed: the smallest limit that RFC 9309 §2.5 permits. The
/// code that reads the network should keep one byte more than this, so that a cut is seen here.
pub const MAX_BYTES: usize = 500 * 1024;

/// One line with a meaning; its value has no surrounding white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    UserAgent(&'a [u8]),
    Allow(&'a [u8]),
    Disallow(&'a [u8]),
    CrawlDelay(&'a [u8]),
    Sitemap(&'a [u8]),
    /// A field that is not ours to read, such as `Host`.
    Other,
    /// Neither a field nor a comment.
    Malformed,
}

/// The text of a robots.txt within its limit.
pub(super) struct RobotsLines<'a> {
    text: Cow<'a, [u8]>,
    pub(super) truncated: bool,
}

impl<'a> RobotsLines<'a> {
    /// Cuts the body to [`MAX_BYTES`] and converts it to UTF-8 if its byte order mark says UTF-16.
    ///
    /// A line that the cut runs through is dropped: half of it could forbid, or permit, far more than the
    /// whole.
    pub(super) fn new(body: &'a [u8]) -> Self {
        let truncated = body.len() > MAX_BYTES;
        // The byte after the limit shows whether the last line ends there.
        let mut text = without_mark(&body[..body.len().min(MAX_BYTES + 1)]);
        if truncated {
            let end = text.iter().rposition(|byte| is_line_end(*byte)).unwrap_or(0);
            match &mut text {
                Cow::Borrowed(text) => *text = &text[..end],
                Cow::Owned(text) => text.truncate(end),
            }
        }
        Self { text, truncated }
    }

    /// Whether this is a page of markup rather than a robots.txt.
    pub(super) fn is_markup(&self) -> bool {
        self.text.trim_ascii_start().first() == Some(&b'<')
    }

    /// The records of the lines. In a page of markup a tag ends a line, for owners who publish
    /// `Disallow: /<br>`; an error page has no records either way.
    pub(super) fn records(&self) -> impl Iterator<Item = Record<'_>> {
        let ends: &[u8] = if self.is_markup() { b"#<" } else { b"#" };
        self.text
            .split(|byte| is_line_end(*byte))
            .filter_map(move |line| record(line.split(|b| ends.contains(b)).next()?))
    }
}

/// RFC 9309 §2.2: CR, LF or CRLF; the empty line inside a CRLF has no record.
fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Skips a UTF-8 byte order mark, or the part of a broken one that is correct. UTF-16 with a byte order mark
/// is converted as §2.2.2 permits: editors that save a text as "Unicode" do exist. Without a zero octet the
/// mark is a leftover, since no record can be written in UTF-16 without one.
fn without_mark(bytes: &[u8]) -> Cow<'_, [u8]> {
    let utf16 = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: String =
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        Cow::Owned(text.into_bytes())
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] | [0xFE, 0xFF, rest @ ..] if !rest.contains(&0) => Cow::Borrowed(rest),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => {
            let mark = bytes.iter().zip(b"\xEF\xBB\xBF").take_while(|(byte, mark)| byte == mark).count();
            Cow::Borrowed(&bytes[mark..])
        }
    }
}

/// Reads a line without its comment; none if nothing is left.
fn record(line: &[u8]) -> Option<Record<'_>> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return None;
    }
    let Some((name, value)) = name_and_value(line) else { return Some(Record::Malformed) };
    let is = |spellings: &[&str]| spellings.iter().any(|word| name.eq_ignore_ascii_case(word.as_bytes()));
    Some(if is(USER_AGENT) {
        Record::UserAgent(value)
    } else if is(DISALLOW) {
        Record::Disallow(value)
    } else if is(ALLOW) {
        Record::Allow(value)
    } else if is(CRAWL_DELAY) {
        Record::CrawlDelay(value)
    } else if is(SITEMAP) {
        Record::Sitemap(value)
    } else if line.contains(&b':') {
        Record::Other
    } else {
        Record::Malformed
    })
}

/// The spellings that Google's parser and Protego accept, after the correct one, which is first.
const USER_AGENT: &[&str] = &["user-agent", "useragent", "user agent", "user_agent"];
const DISALLOW: &[&str] = &["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"];
const ALLOW: &[&str] = &["allow"];
const CRAWL_DELAY: &[&str] = &["crawl-delay", "crawldelay", "crawl delay", "crawl_delay"];
const SITEMAP: &[&str] = &["sitemap", "site-map"];

/// Divides at the first colon. Without a colon, exactly two words are a name and its value, since the
/// intention of `Disallow /` is clear.
fn name_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(colon) = line.iter().position(|byte| *byte == b':') {
        return Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()));
    }
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    match (words.next(), words.next(), words.next()) {
        (Some(name), Some(value), None) => Some((name, value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_line_is_dropped_and_a_whole_one_kept() {
        let padding = "#".repeat(MAX_BYTES - "\nDisallow: /".len());
        let whole = format!("{padding}\nDisallow: /");
        assert_eq!(whole.len(), MAX_BYTES);
        let last = |text: &str| RobotsLines::new(text.as_bytes()).records().last().map(|r| format!("{r:?}"));
        let kept = Some(format!("{:?}", Record::Disallow(b"/")));
        assert_eq!(last(&whole), kept);
        assert_eq!(last(&format!("{whole}\nAllow: /")), kept);
        assert_eq!(last(&format!("{whole}private/\n")), None);
        assert!(!RobotsLines::new(whole.as_bytes()).truncated);
    }

    #[test]
    fn one_endless_line_says_nothing() {
        assert_eq!(RobotsLines::new(&vec![b'x'; 2 * MAX_BYTES]).records().count(), 0);
    }

    #[test]
    fn utf16_is_bridged_in_both_orders() {
        let text = "User-agent: *\r\nDisallow: /ツ";
        let expected = vec![Record::UserAgent(b"*".as_slice()), Record::Disallow("/ツ".as_bytes())];
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            let bytes: Vec<u8> =
                "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).flat_map(unit).collect();
            assert_eq!(RobotsLines::new(&bytes).records().collect::<Vec<_>>(), expected);
        }
    }
}
