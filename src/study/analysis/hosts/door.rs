use std::cmp::Reverse;

use super::exchange::ExchangeFields;
use crate::exchange::{Door, DoorGroup, Failure, Purpose};

/// What an exchange says of the door that it used: the highest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DoorEvidence {
    is_open: bool,
    /// Of two open doors the front page's counts, and a shut door is shut for all URLs.
    is_front_page: bool,
    /// The words are declared with the best first.
    door: Reverse<Door>,
}

impl DoorEvidence {
    pub(super) fn of(exchange: &ExchangeFields<'_>) -> Option<Self> {
        let door = door(exchange)?;
        let is_page_request = exchange.purpose != Purpose::Robots.as_str();
        Some(Self {
            is_open: door.group() == DoorGroup::Open,
            is_front_page: is_page_request && is_front_page(exchange.url),
            door: Reverse(door),
        })
    }

    pub(super) fn door(self) -> Door {
        self.door.0
    }
}

/// Whether a URL has no path and no query.
pub(super) fn is_front_page(url: &str) -> bool {
    url.split_once("://").is_some_and(|(_, rest)| rest.find('/').is_none_or(|slash| slash + 1 == rest.len()))
}

fn door(exchange: &ExchangeFields<'_>) -> Option<Door> {
    let Some(status) = exchange.status else { return exchange.failure.and_then(door_of_failure) };
    if exchange.challenge.is_some() {
        return Some(Door::Challenge);
    }
    if exchange.purpose == Purpose::Robots.as_str() {
        return Some(Door::RobotsOnly);
    }
    Some(match status {
        _ if exchange.charset.is_some() => Door::Page,
        304 if exchange.unchanged_bytes.is_some() => Door::File,
        200..=299 => Door::File,
        300..=399 if leads_to_https(exchange.url, exchange.location.unwrap_or_default()) => Door::ToHttps,
        300..=399 => Door::Redirect,
        400..=499 => Door::ClientError,
        _ => Door::ServerError,
    })
}

/// What a failure without a status says; none if it is about us.
fn door_of_failure(failure: &str) -> Option<Door> {
    let failure = Failure::named(failure)?;
    Some(match failure {
        Failure::DnsNxdomain | Failure::DnsNoAddress | Failure::DnsTimeout | Failure::DnsServfail => {
            Door::NoName
        }
        Failure::TlsCertificate | Failure::TlsTooOld | Failure::TlsAlert | Failure::TlsHttp2Only => {
            Door::TlsFailure
        }
        Failure::BadHttp | Failure::OddHttp | Failure::HeaderTooLarge => Door::ServerError,
        _ if failure.reached_the_network() => Door::NoResponse,
        _ => return None,
    })
}

/// Whether a redirect leads from http to https of the same host, with or without `www.`.
fn leads_to_https(url: &str, location: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let Some((scheme, target)) = location.split_once("://") else { return false };
    let bare = |rest: &str| {
        let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default().to_ascii_lowercase();
        host.strip_prefix("www.").map(str::to_owned).unwrap_or(host)
    };
    scheme.eq_ignore_ascii_case("https") && bare(rest) == bare(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_to_https_leads_to_the_same_host() {
        for (url, location, leads) in [
            ("http://a.ke/", "https://a.ke/", true),
            ("http://a.ke/", "HTTPS://WWW.A.KE/x", true),
            ("http://www.a.ke/", "https://a.ke:443", true),
            ("http://a.ke/", "https://b.ke/", false),
            ("http://a.ke/", "http://www.a.ke/", false),
            ("https://a.ke/", "https://a.ke/x", false),
            ("http://a.ke/", "/x", false),
        ] {
            assert_eq!(leads_to_https(url, location), leads, "{url} {location}");
        }
    }

    #[test]
    fn a_front_page_has_no_path() {
        assert!(is_front_page("http://a.ke/") && is_front_page("https://a.ke"));
        assert!(!is_front_page("http://a.ke/x") && !is_front_page("http://a.ke/?x"));
    }

    fn exchange(url: &'static str) -> ExchangeFields<'static> {
        ExchangeFields { url, purpose: "page", ..ExchangeFields::default() }
    }

    #[test]
    fn a_door_is_told_by_the_front_page_and_else_by_the_best_response() {
        let page = ExchangeFields { status: Some(200), charset: Some("UTF-8"), ..exchange("http://a.ke/x") };
        let error = ExchangeFields { status: Some(404), ..exchange("http://a.ke/y") };
        let front = ExchangeFields { status: Some(500), ..exchange("http://a.ke/") };
        let refused = ExchangeFields { failure: Some("connect_refused"), ..exchange("http://a.ke/") };
        let robots =
            ExchangeFields { status: Some(404), purpose: "robots", ..exchange("http://a.ke/robots.txt") };
        let ours = ExchangeFields { failure: Some("opted_out"), ..exchange("http://a.ke/") };
        let door = |exchanges: &[&ExchangeFields<'static>]| {
            exchanges.iter().filter_map(|exchange| DoorEvidence::of(exchange)).max().map(DoorEvidence::door)
        };
        assert_eq!(door(&[&error, &page, &robots]), Some(Door::Page));
        assert_eq!(door(&[&page, &front]), Some(Door::ServerError));
        assert_eq!(door(&[&refused, &error]), Some(Door::ClientError));
        assert_eq!(door(&[&robots, &refused]), Some(Door::RobotsOnly));
        assert_eq!(door(&[&refused, &ours]), Some(Door::NoResponse));
        assert_eq!(door(&[&ours]), None);
    }
}
