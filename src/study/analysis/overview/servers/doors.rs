use std::collections::HashMap;

use serde::Serialize;

use crate::analysis::overview::exchange::ExchangeView;

/// Which doors of the sites work: their front pages over http and https, at the bare name and at `www.`. A
/// survey requests all of them with `--entrances all`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Doors {
    /// Sites with at least one door that was tried.
    pub sites: u64,
    /// The four doors of a site: http before https, the bare name before `www.`.
    pub doors: Vec<Door>,
}

/// The results for one of the four doors, over all sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Door {
    /// The start of its URL, for example `https://www.`.
    pub name: String,
    /// Sites where it was tried: its robots.txt or its front page was requested.
    pub tried: u64,
    /// Sites where it responded with a status.
    pub answered: u64,
    /// Sites where its front page is a page that could be read.
    pub page: u64,
    /// Sites where its front page redirects, to another door or elsewhere.
    pub led_elsewhere: u64,
}

const NAMES: [&str; 4] = ["http://", "https://", "http://www.", "https://www."];

const TRIED: u8 = 1;
const RESPONDED: u8 = 2;
const PAGE: u8 = 4;
const REDIRECTED: u8 = 8;

#[derive(Default)]
pub(in crate::analysis::overview) struct DoorsMaker {
    /// By site, the flags of each of its doors.
    outcomes: HashMap<u32, [u8; NAMES.len()]>,
}

impl DoorsMaker {
    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>, site: &str) {
        let is_robots = exchange.is_robots_request();
        let is_start = exchange.is_page_request() && exchange.depth == Some(0);
        let Some((door, target)) = door_of(exchange.url, site).filter(|_| is_robots || is_start) else {
            return;
        };
        let outcomes = &mut self.outcomes.entry(exchange.site).or_default()[door];
        let is_front_page = is_start && target == "/";
        let is_robots_txt = is_robots && target == "/robots.txt";
        if !is_front_page && !is_robots_txt {
            return;
        }
        *outcomes |= TRIED;
        if exchange.status.is_some() {
            *outcomes |= RESPONDED;
        }
        if is_front_page && exchange.is_success() && exchange.was_parsed() {
            *outcomes |= PAGE;
        }
        if is_front_page && matches!(exchange.status, Some(301 | 302 | 303 | 307 | 308)) {
            *outcomes |= REDIRECTED;
        }
    }

    pub(in crate::analysis::overview) fn finish(self) -> Doors {
        let count = |door: usize, flag: u8| {
            self.outcomes.values().filter(|outcomes| outcomes[door] & flag != 0).count() as u64
        };
        let doors = NAMES.iter().enumerate().map(|(door, name)| Door {
            name: (*name).to_owned(),
            tried: count(door, TRIED),
            answered: count(door, RESPONDED),
            page: count(door, PAGE),
            led_elsewhere: count(door, REDIRECTED),
        });
        Doors { sites: self.outcomes.len() as u64, doors: doors.collect() }
    }
}

/// The index of the door that a URL belongs to, and the path with its query.
fn door_of<'u>(url: &'u str, site: &str) -> Option<(usize, &'u str)> {
    let (scheme, rest) = url.split_once("://")?;
    let (host, target) = rest.split_at(rest.find('/')?);
    let is_www = host.strip_prefix("www.") == Some(site);
    let is_door = is_www || host == site;
    is_door.then_some((2 * usize::from(is_www) + usize::from(scheme == "https"), target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_door_is_a_front_page_of_the_bare_name_or_of_www_at_the_usual_port() {
        assert_eq!(door_of("http://a.ke/", "a.ke"), Some((0, "/")));
        assert_eq!(door_of("https://a.ke/robots.txt", "a.ke"), Some((1, "/robots.txt")));
        assert_eq!(door_of("http://www.a.ke/x?y", "a.ke"), Some((2, "/x?y")));
        assert_eq!(door_of("https://www.a.ke/", "a.ke"), Some((3, "/")));
        for other in ["http://shop.a.ke/", "http://a.ke:8080/", "http://ba.ke/", "nonsense"] {
            assert_eq!(door_of(other, "a.ke"), None, "{other}");
        }
    }
}
