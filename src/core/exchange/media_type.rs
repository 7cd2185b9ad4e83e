use std::borrow::Cow;

/// The type of a body by its `Content-Type` fields, as far as it matters for finding pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// `text/html`.
    Html,
    /// `application/xhtml+xml`.
    Xhtml,
    /// `text/xml`, `application/xml` or a type that ends in `+xml`: a page if its root is XHTML's.
    Xml,
    /// There is no type, none that parses, or one that means unknown: the body decides.
    Unknown,
    /// A type of something else, whatever the body looks like.
    Other,
}

impl MediaType {
    /// The effective type of all values of a response, joined by commas (Fetch, "extract a MIME type").
    ///
    /// ```
    /// use ccsurvey_core::exchange::MediaType;
    /// assert_eq!(MediaType::from_fields(Some("Text/HTML; charset=utf-8")), MediaType::Html);
    /// assert_eq!(MediaType::from_fields(Some("text/plain, text/html, */*")), MediaType::Html);
    /// assert_eq!(MediaType::from_fields(Some("html")), MediaType::Unknown);
    /// assert_eq!(MediaType::from_fields(None), MediaType::Unknown);
    /// ```
    #[must_use]
    pub fn from_fields(content_type: Option<&str>) -> Self {
        content_type.and_then(extract).map_or(Self::Unknown, |found| found.media_type)
    }

    /// Whether a body of this type may be a page.
    #[must_use]
    pub fn may_be_page(self) -> bool {
        self != Self::Other
    }

    fn classify(kind: &str, subtype: &str) -> Self {
        let is = |expected: (&str, &str)| {
            kind.eq_ignore_ascii_case(expected.0) && subtype.eq_ignore_ascii_case(expected.1)
        };
        let ends_in_xml = subtype
            .len()
            .checked_sub(4)
            .and_then(|at| subtype.as_bytes().get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(b"+xml"));
        match () {
            () if is(("text", "html")) => Self::Html,
            () if is(("application", "xhtml+xml")) => Self::Xhtml,
            () if is(("text", "xml")) || is(("application", "xml")) || ends_in_xml => Self::Xml,
            // MIME Sniffing §7: these count as unknown.
            () if is(("unknown", "unknown")) || is(("application", "unknown")) => Self::Unknown,
            () => Self::Other,
        }
    }
}

/// The charset in the values of a response; none if no value parses or the effective one has no charset.
///
/// The outer option is none if no value parses.
#[must_use]
pub fn charset_in_fields(content_type: &str) -> Option<Option<Cow<'_, str>>> {
    extract(content_type).map(|found| found.charset)
}

struct Extracted<'a> {
    media_type: MediaType,
    essence: (&'a str, &'a str),
    charset: Option<Cow<'a, str>>,
}

/// The last value that parses counts, and inherits the charset of earlier values of the same type.
fn extract(values: &str) -> Option<Extracted<'_>> {
    let mut found: Option<Extracted<'_>> = None;
    for value in Values(Some(values)) {
        let Some((essence, charset)) = parse(value) else { continue };
        if essence == ("*", "*") {
            continue;
        }
        let is_same = |earlier: &Extracted<'_>| {
            earlier.essence.0.eq_ignore_ascii_case(essence.0)
                && earlier.essence.1.eq_ignore_ascii_case(essence.1)
        };
        let inherited = found.take_if(|earlier| is_same(earlier)).and_then(|earlier| earlier.charset);
        let media_type = MediaType::classify(essence.0, essence.1);
        found = Some(Extracted { media_type, essence, charset: charset.or(inherited) });
    }
    found
}

/// The values of fields joined by commas; a comma within quotes does not end a value (Fetch, "get, decode,
/// and split").
struct Values<'a>(Option<&'a str>);

impl<'a> Iterator for Values<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.0.take()?;
        let mut bytes = rest.bytes().enumerate();
        let mut is_quoted = false;
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'"' => is_quoted = !is_quoted,
                b'\\' if is_quoted => _ = bytes.next(),
                b',' if !is_quoted => {
                    self.0 = Some(&rest[at + 1..]);
                    return Some(&rest[..at]);
                }
                _ => {}
            }
        }
        Some(rest)
    }
}

const HTTP_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Type and subtype, and the parameter `charset` (MIME Sniffing §4.4, "parse a MIME type").
#[expect(clippy::type_complexity, reason = "a type, a subtype, a charset")]
fn parse(value: &str) -> Option<((&str, &str), Option<Cow<'_, str>>)> {
    let value = value.trim_matches(HTTP_SPACE);
    let (kind, rest) = value.split_once('/')?;
    let (subtype, parameters) =
        rest.split_once(';').map_or((rest, None), |(subtype, rest)| (subtype, Some(rest)));
    let subtype = subtype.trim_end_matches(HTTP_SPACE);
    let essence = (is_token(kind) && is_token(subtype)).then_some((kind, subtype))?;
    Some((essence, parameters.and_then(charset)))
}

/// The first valid parameter `charset`. White space around `=` and single quotes are accepted, as in
/// Chromium.
fn charset(parameters: &str) -> Option<Cow<'_, str>> {
    let mut rest = parameters;
    loop {
        rest = rest.trim_start_matches(HTTP_SPACE);
        let end = rest.find([';', '=']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let value;
        (value, rest) = match after.strip_prefix('=').map(|after| after.trim_start_matches(HTTP_SPACE)) {
            Some(after) if after.starts_with('"') => {
                let (value, after) = unquoted(&after[1..]);
                (Some(value), after)
            }
            Some(after) => {
                let end = after.find(';').unwrap_or(after.len());
                let value = after[..end].trim_end_matches(HTTP_SPACE).trim_matches('\'');
                ((!value.is_empty()).then_some(Cow::Borrowed(value)), &after[end..])
            }
            None => (None, after),
        };
        if let Some(value) = value.filter(|value| value.chars().all(is_value))
            && name.trim_end_matches(HTTP_SPACE).eq_ignore_ascii_case("charset")
        {
            return Some(value);
        }
        rest = rest.find(';').map(|at| &rest[at + 1..])?;
    }
}

/// The text of a quoted string after its opening quote, and the text after the string (Fetch, "collect an
/// HTTP quoted string").
fn unquoted(text: &str) -> (Cow<'_, str>, &str) {
    let end = text.find(['"', '\\']).unwrap_or(text.len());
    if !text[end..].starts_with('\\') {
        return (Cow::Borrowed(&text[..end]), text.get(end + 1..).unwrap_or_default());
    }
    let mut value = text[..end].to_owned();
    let mut chars = text[end..].chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => value.push(chars.next().unwrap_or('\\')),
            other => value.push(other),
        }
    }
    (Cow::Owned(value), chars.as_str())
}

/// RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// The characters allowed in a parameter's value ("HTTP quoted-string token code points").
fn is_value(char: char) -> bool {
    matches!(char, '\t' | ' '..='~' | '\u{80}'..='\u{ff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn media_type(value: &str) -> MediaType {
        MediaType::from_fields(Some(value))
    }

    fn charset_of(value: &str) -> Option<String> {
        charset_in_fields(value).flatten().map(Cow::into_owned)
    }

    #[test]
    fn a_type_is_known_in_any_spelling_that_parses() {
        use MediaType::{Html, Other, Unknown, Xhtml, Xml};
        for (value, expected) in [
            ("text/html", Html),
            (" \tText/HTML \r\n", Html),
            ("text/html ;charset=x", Html),
            ("text/html;", Html),
            ("text/html;;;=;x;charset", Html),
            ("text/html; charset=\"a,b\"", Html),
            ("application/xhtml+xml; profile=\"http://www.wapforum.org/xhtml\"", Xhtml),
            ("text/xml", Xml),
            ("application/XML", Xml),
            ("application/rss+xml", Xml),
            ("image/svg+xml", Xml),
            ("application/vnd.wap.xhtml+xml", Xml),
            ("text/plain", Other),
            ("image/png", Other),
            ("text/htmlx", Other),
            ("x/y", Other),
            ("*/html", Other),
            ("text/*", Other),
            // They do not parse (WPT, mimesniff/mime-types).
            ("", Unknown),
            ("html", Unknown),
            ("bogus", Unknown),
            ("/html", Unknown),
            ("text/", Unknown),
            ("text /html", Unknown),
            ("text/ html", Unknown),
            ("\"text/html\"", Unknown),
            ("text/html charset=utf-8", Unknown),
            ("text/html (iso)", Unknown),
            ("Content-Type: text/html", Unknown),
            ("text/h\u{e9}", Unknown),
            ("; charset=utf-8", Unknown),
            // They mean that the type is unknown (MIME Sniffing §7).
            ("*/*", Unknown),
            ("unknown/unknown", Unknown),
            ("Application/Unknown; charset=x", Unknown),
        ] {
            assert_eq!(media_type(value), expected, "{value}");
        }
        assert_eq!(MediaType::from_fields(None), Unknown);
    }

    #[test]
    fn of_several_values_the_last_that_parses_counts() {
        use MediaType::{Html, Other, Unknown};
        for (values, expected) in [
            ("text/html, charset=utf-8", Html),
            ("text/html, text/html; charset=utf-8", Html),
            ("text/plain, text/html", Html),
            ("text/html, text/plain", Other),
            ("text/html,", Html),
            (", , text/html", Html),
            ("text/html, */*", Html),
            ("*/*, x", Unknown),
            ("text/plain; a=\"x, text/html", Other),
            ("text/plain; a=\"\\\", text/html", Other),
            ("text/plain; a=\"\\\"\", text/html", Html),
            ("text/html, unknown/unknown", Unknown),
        ] {
            assert_eq!(media_type(values), expected, "{values}");
        }
    }

    /// The examples of Fetch, "extract a MIME type", and of WPT's content-types.json.
    #[test]
    fn a_charset_is_inherited_from_a_value_of_the_same_type() {
        for (values, expected) in [
            ("text/plain;charset=gbk, text/html", None),
            ("text/html;charset=gbk;a=b, text/html;x=y", Some("gbk")),
            ("text/html;charset=gbk, x/x, text/html;x=y", None),
            ("text/html;charset=gbk;a=b, text/html;x=y, */*", Some("gbk")),
            ("text/html;charset=gbk, cannot-parse, text/html", Some("gbk")),
            ("text/html;charset=a, TEXT/html;charset=b", Some("b")),
            ("text/html;charset=gbk,*/*;charset=x", Some("gbk")),
        ] {
            assert_eq!(charset_of(values).as_deref(), expected, "{values}");
        }
    }

    #[test]
    fn the_first_sound_charset_of_a_value_counts() {
        for (value, expected) in [
            ("text/html; charset=utf-8", Some("utf-8")),
            ("text/html;Charset=\"Shift_JIS\"", Some("Shift_JIS")),
            ("text/html;charset=gbk;charset=utf-8", Some("gbk")),
            ("text/html;charset=;charset=gbk", Some("gbk")),
            ("text/html;charset= \t;charset=gbk", Some("gbk")),
            ("text/html;charset=\"gbk", Some("gbk")),
            ("text/html;charset=\"\\g\\b\\k\"x;a", Some("gbk")),
            ("text/html;charset=\"\"; charset=gbk", Some("")),
            ("text/html;a=\"b;charset=x\";charset=gbk", Some("gbk")),
            ("text/html;charset", None),
            ("text/html;charset = gbk", Some("gbk")),
            ("text/html;charset='gbk'", Some("gbk")),
            ("text/html", None),
            ("text/html;charset=\u{100};charset=gbk", Some("gbk")),
        ] {
            assert_eq!(charset_of(value).as_deref(), expected, "{value}");
        }
        assert_eq!(charset_in_fields("charset=gbk"), None, "it does not parse");
    }

    proptest! {
        #[test]
        fn any_text_has_a_type_and_a_good_value_behind_it_counts(text in "[ -~\t\u{e9}]{0,60}") {
            let _ = charset_of(&text);
            prop_assume!(!text.contains('"'));
            prop_assert_eq!(media_type(&format!("{text},text/html")), MediaType::Html);
        }
    }
}
