/// The path of a rule, prepared for comparison (RFC 9309 §2.2.2 and §2.2.3).
///
/// In this form only a bare `*` and a final `$` are special; literal ones are percent-encoded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathPattern {
    text: Box<str>,
    /// Set if the pattern contains the start of the query.
    query_form: Option<Box<str>>,
}

/// Path and query of a URL, prepared for comparison with patterns.
#[derive(Clone, Debug)]
pub struct Target {
    text: String,
    query_form: Option<String>,
}

impl PathPattern {
    /// Reads a rule's path; `None` if it could not match any URL, since all begin with `/`.
    #[must_use]
    pub fn parse(path: &[u8]) -> Option<Self> {
        if !matches!(path.first(), Some(b'/' | b'*')) {
            return None;
        }
        let (path, end) = match path.strip_suffix(b"$") {
            Some(path) => (path, "$"),
            None => (path, ""),
        };
        let parts: Vec<String> = path.split(|byte| *byte == b'*').map(comparable).collect();
        let text = parts.join("*") + end;
        Some(Self { query_form: query_form(&text).map(Into::into), text: text.into() })
    }

    /// How specific the rule is: octets of the pattern, special characters included.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.text.len()
    }

    /// Whether a path with its query matches the pattern.
    #[must_use]
    pub fn matches(&self, target: &Target) -> bool {
        let find = |text: &str, part: &str| text.find(part);
        let in_query_form = || match (&self.query_form, &target.query_form) {
            (Some(pattern), Some(target)) => glob(pattern, target, find),
            _ => false,
        };
        glob(&self.text, &target.text, find) || in_query_form()
    }
}

impl Target {
    /// Prepares a path with its query.
    #[must_use]
    pub fn new(path_and_query: &str) -> Self {
        let text = comparable(path_and_query.as_bytes());
        Self { query_form: query_form(&text), text }
    }
}

/// Compares the parts between the stars, each at its earliest match: if that fails, no later match succeeds.
/// Text before a match is never read again, and `find` must be linear (`str::find` is), so the time is linear
/// in text and pattern, whatever they are.
fn glob(pattern: &str, text: &str, mut find: impl FnMut(&str, &str) -> Option<usize>) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return !to_the_end || rest.is_empty() };
    for part in parts {
        let Some(at) = find(rest, part) else { return false };
        rest = &rest[at + part.len()..];
    }
    if to_the_end { rest.ends_with(last) } else { find(rest, last).is_some() }
}

/// One spelling for all that RFC 9309 §2.2.2 considers equal: unreserved characters bare, reserved ones as in
/// the text, all others percent-encoded in upper case. The special characters are encoded; a lone percent
/// sign stays, so that `Disallow: /*%` works as written.
fn comparable(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((&octet, tail)) = rest.split_first() {
        if let Some((octet, tail)) = escaped(rest) {
            push(octet, is_unreserved(octet), &mut out);
            rest = tail;
        } else {
            push(octet, octet == b'%' || is_unreserved(octet) || is_reserved(octet), &mut out);
            rest = tail;
        }
    }
    out
}

/// The same text with the delimiters encoded that mean nothing inside a query, or `None` if there is no
/// query. So `?baz=https://foo.bar` and `?baz=https%3A%2F%2Ffoo.bar` are equal, as the table in §2.2.2
/// requires. `'` is among them because URL parsers encode it in queries and authors do not.
fn query_form(text: &str) -> Option<String> {
    let (path, query) = text.split_once('?')?;
    let mut out = String::with_capacity(text.len());
    out.push_str(path);
    out.push('?');
    for octet in query.bytes() {
        push(octet, !matches!(octet, b':' | b'/' | b'?' | b'@' | b'[' | b']' | b'\''), &mut out);
    }
    Some(out)
}

fn push(octet: u8, bare: bool, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if bare {
        out.push(char::from(octet));
    } else {
        let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
        out.extend(['%', digit(octet >> 4), digit(octet & 15)]);
    }
}

/// The octet of a percent-encoding at the start, and what follows it.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, rest @ ..] = text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let octet = u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?;
    Some((octet, rest))
}

/// RFC 3986 §2.3.
fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

/// RFC 3986 §2.2 without `*` and `$`, which are special in patterns, and `#`, which no URL has here.
fn is_reserved(octet: u8) -> bool {
    b":/?[]@!&'()+,;=".contains(&octet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An upper bound for the octets that a search reads: those that it skips in the text, and the part.
    fn steps(pattern: &str, text: &str) -> (bool, usize) {
        let mut steps = 0;
        let matched = glob(pattern, text, |text, part| {
            let found = text.find(part);
            steps += part.len() + found.map_or(text.len(), |at| at + part.len());
            found
        });
        (matched, steps)
    }

    /// The textbook table of prefixes: slow, but simple.
    fn reference(pattern: &str, text: &str) -> bool {
        let pattern = match pattern.strip_suffix('$') {
            Some(pattern) => pattern.to_owned(),
            None => format!("{pattern}*"),
        };
        let text = text.as_bytes();
        let mut reached = vec![false; text.len() + 1];
        reached[0] = true;
        for octet in pattern.bytes() {
            let previous = reached.clone();
            for at in 0..=text.len() {
                reached[at] = match octet {
                    b'*' => previous[at] || (at > 0 && reached[at - 1]),
                    _ => at > 0 && previous[at - 1] && text[at - 1] == octet,
                };
            }
        }
        reached[text.len()]
    }

    #[test]
    fn a_thousand_stars_cost_no_more_than_their_length() {
        let text = format!("/{}", "a".repeat(2000));
        for pattern in [
            format!("/{}b", "a*".repeat(1000)),
            format!("/{}b$", "*a".repeat(1000)),
            format!("/{}b", "*".repeat(1000)),
            format!("/*{}b*{}b", "a".repeat(500), "a".repeat(500)),
        ] {
            let (matched, steps) = steps(&pattern, &text);
            assert!(!matched);
            assert!(steps <= text.len() + 2 * pattern.len(), "{steps} steps");
        }
    }

    #[test]
    fn spellings_of_one_path_are_compared_as_one() {
        let text = |path: &str| Target::new(path).text;
        assert_eq!(text("/%7ejoe/%e3%83%84"), text("/~joe/ツ"));
        assert_eq!(text("/a<d|e f"), "/a%3Cd%7Ce%20f");
        assert_eq!(text("/a%2fb"), "/a%2Fb");
        assert_eq!(text("/*$%2A%24"), "/%2A%24%2A%24");
        assert_eq!(text("/100%/%zz"), "/100%/%zz");
    }

    #[test]
    fn a_lone_percent_sign_matches_encoded_octets_as_written() {
        let pattern = PathPattern::parse(b"/*%E3").unwrap();
        assert!(pattern.matches(&Target::new("/x/ツ")));
        assert!(PathPattern::parse(b"/*%").unwrap().matches(&Target::new("/x%20y")));
    }

    #[test]
    fn a_pattern_that_no_url_can_match_is_none() {
        for path in ["", "private/", "$", "http://a.ke/x", "%2Fx", "?q"] {
            assert_eq!(PathPattern::parse(path.as_bytes()), None, "{path}");
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_the_plain_table(pattern in "[/*][ab*]{0,12}\\$?", text in "/[ab]{0,16}") {
            prop_assert_eq!(steps(&pattern, &text).0, reference(&pattern, &text));
        }

        #[test]
        fn steps_are_linear(pattern in "/[ab*]{0,300}\\$?", text in "/[ab]{0,300}") {
            prop_assert!(steps(&pattern, &text).1 <= text.len() + 2 * pattern.len());
        }

        #[test]
        fn the_comparable_form_is_stable(path in proptest::collection::vec(any::<u8>(), 0..60)) {
            let normalised = comparable(&path);
            prop_assert!(normalised.is_ascii());
            prop_assert_eq!(comparable(normalised.as_bytes()), normalised);
        }
    }
}
