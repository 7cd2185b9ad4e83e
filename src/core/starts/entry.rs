use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::{Host, MAX_LABEL_BYTES, MAX_NAME_BYTES, UrlError, WebUrl};

/// The number of characters that are shown of a text that is too long to be shown whole.
const SHOWN_CHARS: usize = 80;

pub(super) const NEITHER: &str = "neither a URL nor a host name";
/// RFC 1123 §2.1. In DNS, names below registered ones may end with a hyphen; registries give out no such
/// names.
pub(super) const HYPHEN: &str = "a label of the host name begins or ends with '-', which is not allowed";
const BLANK: &str = "the URL contains a space: write it as %20, or put a '#' before a note";

/// Reads a URL, or a host name with or without port and path, which stands for `http://…`. Quotes and
/// brackets around it, a comma after it and the `*.` of a certificate's name are ignored.
pub(super) fn start_url(text: &str) -> Result<WebUrl, String> {
    let text = without_comment(text);
    let text = bare(without_bullet(link_target(text).unwrap_or(text)));
    if text.is_empty() {
        return Err("no URL".to_owned());
    }
    // The URL standard removes tabs, and `192.0.2.1\ta.ke` would be one host.
    if text.contains(char::is_control) {
        return Err(NEITHER.to_owned());
    }
    // The URL standard turns these into `%3C` and so on: HTML would be a path.
    if text.contains(['<', '>', '"']) {
        return Err("HTML or quotes in a URL: give the URL alone".to_owned());
    }
    // The URL standard turns a blank into `%20`, and a note after a URL would make it another URL.
    let has_blank = text.contains(char::is_whitespace);
    let (url, authority) = match text.split_once("://") {
        Some(_) if has_blank => return Err(BLANK.to_owned()),
        Some((_, rest)) => (WebUrl::parse(text), authority_of(rest)),
        None if text.parse::<Ipv6Addr>().is_ok() => return start_url(&format!("[{text}]")),
        None => {
            let text = text.strip_prefix("*.").unwrap_or(text);
            let name = authority_of(text);
            let is_mail = name.contains('@') || text.to_ascii_lowercase().starts_with("mailto:");
            if is_mail {
                return Err("a mail address, not a host name".to_owned());
            }
            if is_network(text) {
                return Err("a network of addresses, not a host name".to_owned());
            }
            // The URL standard reads a backslash as a slash, and `a.ke\nb.ke` would be a page.
            if text.contains('\\') {
                return Err(NEITHER.to_owned());
            }
            if has_blank {
                let first = text.split_whitespace().next().filter(|word| word.contains(['/', '?']));
                let is_url = first.is_some_and(|word| start_url(word).is_ok());
                return Err(if is_url { BLANK } else { NEITHER }.to_owned());
            }
            // The protocol of port 443 is known to be https.
            let scheme = if name.ends_with(":443") { "https" } else { "http" };
            (WebUrl::parse(&format!("{scheme}://{text}")), name)
        }
    };
    let url = url.map_err(|error| describe_fault(authority, text.contains("://"), error))?;
    if !text.contains("://") && !url.host().as_str().contains(['.', ':']) {
        return Err(NEITHER.to_owned());
    }
    if authority.contains('@') {
        return Err("the URL has a user name before the host: leave it out".to_owned());
    }
    check_host(url.host(), authority)?;
    Ok(url)
}

/// The front page of a host that is written as a bare name.
pub(super) fn front_page(name: &str) -> Result<WebUrl, String> {
    let url =
        WebUrl::parse(&format!("http://{name}/")).map_err(|error| describe_fault(name, false, error))?;
    check_host(url.host(), name)?;
    Ok(url)
}

/// A host name with its labels in the usual order, from a name that begins with the top level, as in Common
/// Crawl's graphs.
pub(super) fn in_usual_order(text: &str) -> Option<String> {
    let name = bare(without_comment(text)).trim_matches('.');
    let is_name = name.parse::<Ipv4Addr>().is_err()
        && name.contains('.')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    is_name.then(|| name.rsplit('.').collect::<Vec<_>>().join("."))
}

/// Checks that a host is one that DNS can have: letters, digits, hyphens, underscores and dots, IDNs in the
/// form of UTS 46; or an address.
///
/// The URL standard allows more (`1,google.co.ke` is a host to browsers), and reads `1.5` as the address
/// 1.0.0.5.
fn check_host(host: &Host, authority: &str) -> Result<(), String> {
    if host.ip().is_some() {
        let written = authority.split(':').next().unwrap_or(authority);
        let is_address = authority.starts_with('[') || written.parse::<Ipv4Addr>().is_ok();
        return if is_address { Ok(()) } else { Err(NEITHER.to_owned()) };
    }
    let invalid =
        host.as_str().chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
    match invalid {
        None if host.as_str().split('.').any(|label| label.starts_with('-')) => Err(HYPHEN.to_owned()),
        None => Ok(()),
        Some(invalid) => Err(format!("a host name cannot contain '{}'", invalid.escape_debug())),
    }
}

/// The error for a text whose host cannot be read.
fn describe_fault(authority: &str, is_url: bool, error: UrlError) -> String {
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let name = host.split(':').next().unwrap_or(host).trim_end_matches('.');
    let labels = || name.split('.');
    if matches!(error, UrlError::RefusedPort | UrlError::NotWeb | UrlError::TooLong) {
        error.to_string()
    } else if name.is_empty() || name.contains(char::is_whitespace) || host.contains(['[', ']']) {
        if is_url { error.to_string() } else { NEITHER.to_owned() }
    } else if labels().any(str::is_empty) {
        "not a host name: a label between its dots is empty".to_owned()
    } else if labels().any(|label| label.len() > MAX_LABEL_BYTES) {
        format!("not a host name: a label has more than {MAX_LABEL_BYTES} octets")
    } else if name.len() > MAX_NAME_BYTES {
        format!("not a host name: it has more than {MAX_NAME_BYTES} octets")
    } else if !name.is_ascii() {
        "not a host name: IDNA has no form of these characters for DNS".to_owned()
    } else if is_url {
        error.to_string()
    } else {
        NEITHER.to_owned()
    }
}

/// `192.0.2.0/24` would be a page of a server.
fn is_network(text: &str) -> bool {
    text.split_once('/').is_some_and(|(address, bits)| {
        address.parse::<IpAddr>().is_ok() && bits.parse::<u8>().is_ok_and(|bits| bits <= 128)
    })
}

/// Removes the marks that people, spreadsheets, mail programs and programming languages put around a URL.
fn bare(text: &str) -> &str {
    unquoted(without_brackets(unquoted(text)))
}

/// The URL of a link in Markdown, `[Firm](https://a.ke/) – a note`, perhaps in a list, if it is the only one.
pub(super) fn link_target(text: &str) -> Option<&str> {
    let (_, rest) = without_bullet(text).strip_prefix('[')?.split_once("](")?;
    // Brackets in a URL come in pairs.
    let mut depth = 0;
    let end = rest.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0
    })?;
    // After a blank there is a title.
    rest[..end].split_whitespace().next().filter(|_| !rest[end..].contains("]("))
}

/// A line of a list without the mark at its beginning: `- `, `* `, `+ `, `• `, `1. ` or `1) `.
fn without_bullet(text: &str) -> &str {
    let Some((mark, rest)) = text.split_once(char::is_whitespace) else { return text };
    let is_number = mark
        .strip_suffix(['.', ')'])
        .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()));
    let is_mark = is_number || matches!(mark, "-" | "*" | "+" | "\u{2022}" | "\u{b7}" | "\u{2013}");
    if is_mark { rest.trim_start() } else { text }
}

fn unquoted(text: &str) -> &str {
    text.trim_start_matches(is_wrapper).trim_end_matches(|c| is_wrapper(c) || matches!(c, ',' | ';'))
}

/// A quote, a blank, or an invisible mark.
pub(super) fn is_wrapper(c: char) -> bool {
    c.is_whitespace()
        || is_unseen(c)
        || matches!(
            c,
            '"' | '\'' | '`' | '<' | '>' | '\u{ab}' | '\u{bb}' | '\u{2018}'
                ..='\u{201f}' | '\u{2039}' | '\u{203a}'
        )
}

/// Marks of no width, and marks of direction (Unicode, *Default_Ignorable_Code_Point*): programs put them
/// around text that is copied from them.
pub(super) fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    )
}

const BRACKETS: [(char, char); 3] = [('[', ']'), ('(', ')'), ('{', '}')];

/// Removes brackets around a text, or one that is closed or opened elsewhere in a list. The brackets of an
/// IPv6 address and of a path stay.
fn without_brackets(text: &str) -> &str {
    for (open, close) in BRACKETS {
        if let Some(inner) = text.strip_prefix(open) {
            let is_address = inner.split(close).next().is_some_and(|text| text.parse::<Ipv6Addr>().is_ok());
            return match inner.strip_suffix(close).unwrap_or(inner) {
                body if !is_address && !body.contains(close) => body,
                _ => text,
            };
        }
        if let Some(body) = text.strip_suffix(close) {
            let is_of_path = close == ')' && body.contains('/') && !body.ends_with(is_wrapper);
            return if is_of_path || body.contains(open) { text } else { body };
        }
    }
    text
}

/// Whether a text only says that there is nothing: it has no letter or digit, or is one of the words for
/// that.
pub(super) fn is_placeholder(text: &str) -> bool {
    let letters: String =
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(20).collect();
    letters.is_empty() || PLACEHOLDERS.contains(&letters.as_str())
}

/// The texts that people and programs write into a cell without a value, letters only.
const PLACEHOLDERS: [&str; 47] = [
    "na",
    "nan",
    "nd",
    "nil",
    "no",
    "none",
    "noweb",
    "nowebsite",
    "nosite",
    "not",
    "notapplicable",
    "notavailable",
    "nothing",
    "null",
    "unknown",
    "missing",
    "empty",
    "tba",
    "tbd",
    "undefined",
    "ka",
    "kein",
    "keine",
    "keiner",
    "nein",
    "unbekannt",
    "nv",
    "nvt",
    "geen",
    "onbekend",
    "aucun",
    "aucune",
    "néant",
    "inconnu",
    "non",
    "ninguno",
    "ninguna",
    "notiene",
    "desconocido",
    "nenhum",
    "nenhuma",
    "nãotem",
    "desconhecido",
    "nessuno",
    "nessuna",
    "hakuna",
    "нет",
];

/// Whether a line is empty: it has only empty cells, as spreadsheets write below a table, or brackets around
/// the lines of a list.
pub(super) fn is_empty(line: &[u8]) -> bool {
    let is_none = |c: char| c.is_whitespace() || is_unseen(c) || ",;|[](){}".contains(c);
    std::str::from_utf8(line).is_ok_and(|line| line.chars().all(is_none))
}

/// The part of a URL before path, query and fragment.
fn authority_of(rest: &str) -> &str {
    rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest)
}

/// The text before a `#` that follows a blank or begins the text; elsewhere in a URL it begins a fragment.
pub(super) fn without_comment(text: &str) -> &str {
    let begins = |(at, _): &(usize, &str)| *at == 0 || text[..*at].ends_with([' ', '\t']);
    let end = text.match_indices('#').find(begins).map_or(text.len(), |(at, _)| at);
    text[..end].trim()
}

/// The beginning of a text, for a message.
pub(super) fn excerpt(text: &str) -> String {
    text.trim().chars().take(SHOWN_CHARS).collect()
}
