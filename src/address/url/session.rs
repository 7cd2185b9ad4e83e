use std::borrow::Cow;

use memchr::{memchr, memchr3};

/// Parameters that name a session whatever their value: those of Java, PHP, ColdFusion, osCommerce and Zen
/// Cart, and the one that ASP.NET adds to find out whether a client accepts cookies. The lists here and below
/// include those of Heritrix's `StripSessionIDs` and `StripSessionCFIDs`.
const NAMES: [&str; 7] =
    ["jsessionid", "phpsessid", "cfid", "cftoken", "oscsid", "zenid", "aspxautodetectcookiesupport"];
/// Prefix of the parameter of classic ASP; eight letters follow.
const PREFIX: &str = "aspsessionid";
/// Parameters that name a session only if their value is a token.
const NAMES_WITH_TOKEN: [&str; 4] = ["sid", "sessid", "sessionid", "session_id"];
/// Minimum number of letters and digits in a token: PHP makes identifiers of 26 or 32, phpBB of 32.
const TOKEN_BYTES: usize = 26;
/// Number of characters (a–z, 0–5) of an identifier of ASP.NET 1.1, which is alone in its brackets.
const ASP_NET_BYTES: usize = 24;

/// The part before the question mark, and the part after it if there is one.
pub(crate) fn path_and_query(target: &str) -> (&str, Option<&str>) {
    let mark = memchr(b'?', target.as_bytes());
    (&target[..mark.unwrap_or(target.len())], mark.map(|mark| &target[mark + 1..]))
}

/// A path and query without the session identifiers that servers write into links if a client does not accept
/// cookies: segments of ASP.NET (`/(S(…))/`, `/(A(…)F(…))/`), path parameters (`;jsessionid=…`) and query
/// parameters (`PHPSESSID=…`). Only parts with a known name or form count as identifiers.
pub(crate) fn without_session(target: &str) -> Cow<'_, str> {
    let (path, query) = path_and_query(target);
    let may_be_in_path = memchr3(b'(', b'=', b'%', path.as_bytes()).is_some();
    let in_path = may_be_in_path && path.split('/').any(is_session_segment);
    let in_query = query.is_some_and(|query| query.split('&').any(is_session_parameter));
    if !in_path && !in_query {
        return Cow::Borrowed(target);
    }
    let mut text = String::with_capacity(target.len());
    for (number, segment) in path.split('/').filter(|segment| !is_session_name(segment)).enumerate() {
        text.push_str(if number == 0 { "" } else { "/" });
        push_without_session(segment, ';', &mut text);
    }
    if text.is_empty() {
        text.push('/');
    }
    let path_bytes = text.len();
    if let Some(query) = query {
        text.push('?');
        push_without_session(query, '&', &mut text);
        if in_query && text.len() == path_bytes + 1 {
            text.pop();
        }
    }
    // Removing one identifier may reveal another.
    Cow::Owned(without_session(&text).into_owned())
}

/// Writes the parts that are not session parameters.
fn push_without_session(text: &str, separator: char, out: &mut String) {
    let kept = text.split(separator).filter(|part| !is_session_parameter(part));
    for (number, part) in kept.enumerate() {
        if number > 0 {
            out.push(separator);
        }
        out.push_str(part);
    }
}

/// Whether a segment is or contains an identifier.
fn is_session_segment(segment: &str) -> bool {
    is_session_name(segment) || (segment.contains(';') && segment.split(';').any(is_session_parameter))
}

/// Whether a segment consists of an identifier only.
fn is_session_name(segment: &str) -> bool {
    is_asp_net(segment) || (!segment.contains(';') && is_session_parameter(segment))
}

/// `(S(…))`, or several such groups in one pair of brackets; brackets may be percent-encoded.
fn is_asp_net(segment: &str) -> bool {
    let plain: Cow<'_, str> = if segment.contains("%28") {
        segment.replace("%28", "(").replace("%29", ")").into()
    } else {
        segment.into()
    };
    let Some(inner) = plain.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return false };
    let is_first_version = inner.len() == ASP_NET_BYTES
        && inner.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'0'..=b'5'));
    is_first_version || are_lettered_values(inner)
}

/// `A(…)S(…)`: letters, each with a value in brackets.
fn are_lettered_values(mut text: &str) -> bool {
    let is_value = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let lettered_value_bytes = |text: &str| -> Option<usize> {
        let (letter, rest) = text.split_at_checked(1)?;
        let (value, _) = rest.strip_prefix('(')?.split_once(')')?;
        let is_lettered_value = letter.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !value.is_empty()
            && value.bytes().all(is_value);
        is_lettered_value.then_some(letter.len() + value.len() + 2)
    };
    let has_any = !text.is_empty();
    while let Some(bytes) = lettered_value_bytes(text) {
        text = &text[bytes..];
    }
    has_any && text.is_empty()
}

fn is_session_parameter(pair: &str) -> bool {
    // Most parameters on the Web begin with other letters.
    let may_be =
        |byte: &u8| matches!(byte.to_ascii_lowercase(), b'a' | b'c' | b'j' | b'o' | b'p' | b's' | b'z');
    if !pair.as_bytes().first().is_some_and(may_be) {
        return false;
    }
    let Some((name, value)) = pair.split_once('=') else { return false };
    let is_named_in = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_prefixed = || name.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX));
    is_named_in(&NAMES) || is_prefixed() || (is_named_in(&NAMES_WITH_TOKEN) && is_token(value))
}

fn is_token(value: &str) -> bool {
    value.len() >= TOKEN_BYTES
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_names_itself_a_session_is_left_out() {
        for (target, expected) in [
            ("/(S(lit3py55t21z5v55vlm25s55))/a.aspx?x=1", "/a.aspx?x=1"),
            ("/app/(A(Zx_9-b)S(lit3py55t21z5v55vlm25s55))/a/", "/app/a/"),
            ("/(X(1)S(abc))/a.aspx?AspxAutoDetectCookieSupport=1", "/a.aspx"),
            ("/(s(abc))/", "/"),
            ("/(S(abc))", "/"),
            ("/app/(S(abc))", "/app"),
            ("/%28S%28abc%29%29/a", "/a"),
            ("/(lit3py55t21z5v55vlm25s55)/a.aspx", "/a.aspx"),
            ("/a.jsp;jsessionid=0A1B.node1!7?x=1&y", "/a.jsp?x=1&y"),
            ("/a;v=2;JSESSIONID=0A1B/b;w", "/a;v=2/b;w"),
            ("/;jsessionid=1", "/"),
            ("/a.php?PHPSESSID=abc", "/a.php"),
            ("/a.php?x=1&PHPSESSID=abc&y=2", "/a.php?x=1&y=2"),
            ("/PHPSESSID=abc/a.php", "/a.php"),
            ("/a.cfm?CFID=1&CFTOKEN=2&id=3", "/a.cfm?id=3"),
            ("/a.asp?ASPSESSIONIDQQABCDEF=x", "/a.asp"),
            ("/f.php?t=7&sid=0123456789abcdef0123456789abcdef", "/f.php?t=7"),
        ] {
            assert_eq!(without_session(target), expected, "{target}");
        }
    }

    #[test]
    fn what_does_not_stays() {
        for target in [
            "/",
            "/a?",
            "/?x",
            "/a;v=1/b?c=d",
            "/(about)/a",
            "/Tree_(plant)",
            "/(S)/a",
            "/(S())/a",
            "/(SS(a))/a",
            "/(S(a)b)/x",
            "/S(abc)/",
            "/a(S(abc))/",
            "/(S(a/b))/",
            "/(lit3py55t21z5v55vlm25s5)/",
            "/(lit3py55t21z5v55vlm25s59)/",
            "/sid/0123456789abcdef0123456789abcdef/",
            "/a.php?sid=7",
            "/a.php?sid=12345678901234567890123456",
            "/a.php?session=spring-2026",
            "/jsessionid",
            "/a?jsessionid",
            "/a?x=jsessionid=1",
        ] {
            assert!(matches!(without_session(target), Cow::Borrowed(text) if text == target), "{target}");
        }
    }

    proptest! {
        #[test]
        fn any_target_keeps_its_slash_and_has_no_session_left(
            parts in prop::collection::vec("[ -~]{0,6}|/|\\(S\\([a-z]{1,3}\\)\\)|;jsessionid=[0-9]{0,2}|\\?|&|PHPSESSID=x", 0..12)
        ) {
            let target = format!("/{}", parts.concat());
            let once = without_session(&target);
            prop_assert!(once.starts_with('/') && once.len() <= target.len());
            prop_assert_eq!(without_session(&once), once.clone(), "{}", target);
        }
    }
}
