use std::net::Ipv4Addr;

use crate::address::{Host, WebUrl};

/// What is told of a text that is too long to be shown whole.
const SHOWN_CHARS: usize = 80;

pub(super) const NEITHER: &str = "neither a URL nor a host name";

/// Reads a URL, or a host name with or without port and path, which stands for `http://…`.
pub(super) fn start_url(text: &str) -> Result<WebUrl, String> {
    let text = without_comment(text);
    if text.is_empty() {
        return Err("no URL".to_owned());
    }
    // The URL standard takes tabs out, and `192.0.2.1\ta.ke` would be one host.
    if text.contains(char::is_control) {
        return Err(NEITHER.to_owned());
    }
    let (url, authority) = match text.split_once("://") {
        Some((_, rest)) => (WebUrl::parse(text), authority_of(rest)),
        None => {
            let name = authority_of(text);
            let is_mail = name.contains('@') || text.to_ascii_lowercase().starts_with("mailto:");
            if is_mail {
                return Err("a mail address, not a host name".to_owned());
            }
            (WebUrl::parse(&format!("http://{text}")), name)
        }
    };
    let url =
        url.map_err(|wrong| if text.contains("://") { wrong.to_string() } else { NEITHER.to_owned() })?;
    if !text.contains("://") && !url.host().as_str().contains(['.', ':']) {
        return Err(NEITHER.to_owned());
    }
    if authority.contains('@') {
        return Err("a user name stands before the host: leave it out".to_owned());
    }
    check_host(url.host(), authority)?;
    Ok(url)
}

/// The front page of a host that is written as a name alone.
pub(super) fn front_page(name: &str) -> Result<WebUrl, String> {
    let url = WebUrl::parse(&format!("http://{name}/")).map_err(|_| NEITHER.to_owned())?;
    check_host(url.host(), name)?;
    Ok(url)
}

/// A host as DNS has it: letters, digits, hyphens, underscores and dots, IDNs in the form of UTS 46; or an address.
///
/// The URL standard allows more (`1,google.co.ke` is a host to browsers), and reads `1.5` as the address 1.0.0.5.
fn check_host(host: &Host, authority: &str) -> Result<(), String> {
    if host.ip().is_some() {
        let written = authority.split(':').next().unwrap_or(authority);
        let is_address = authority.starts_with('[') || written.parse::<Ipv4Addr>().is_ok();
        return if is_address { Ok(()) } else { Err(NEITHER.to_owned()) };
    }
    let odd = host.as_str().chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
    match odd {
        None => Ok(()),
        Some(odd) => Err(format!("no host name has '{}' in it", odd.escape_debug())),
    }
}

/// The part of a URL before path, query and fragment.
fn authority_of(rest: &str) -> &str {
    rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest)
}

/// What stands before a `#` that follows a blank, or begins the text; in URLs it begins a fragment.
pub(super) fn without_comment(text: &str) -> &str {
    let begins = |(at, _): &(usize, &str)| *at == 0 || text[..*at].ends_with([' ', '\t']);
    let end = text.match_indices('#').find(begins).map_or(text.len(), |(at, _)| at);
    text[..end].trim()
}

/// The beginning of a text, for a message.
pub(super) fn shown(text: &str) -> String {
    text.trim().chars().take(SHOWN_CHARS).collect()
}
