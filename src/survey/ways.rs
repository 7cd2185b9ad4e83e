use std::collections::HashSet;
use std::net::IpAddr;
use std::path::Path;

use super::error::SurveyError;
use super::journal::{Entry, Heard, Reader};
use crate::address::WebUrl;
use crate::exchange::Failure;

/// What a site tree has learnt of the ways to its hosts; it follows from the tree's journal alone.
///
/// Where no connection came about, the next address of the host is tried, and from then on in the whole tree: the dead
/// one is not tried again for every page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ways {
    /// By port: a server that refuses HTTPS may well speak HTTP.
    dead: HashSet<(IpAddr, u16)>,
}

impl Ways {
    /// What is known from the journal of a tree; nothing where there is none yet.
    pub(super) fn recorded(path: &Path) -> Result<Self, SurveyError> {
        let mut ways = Self::default();
        let mut journal = Reader::open(path)?;
        while let Some(entry) = journal.next()? {
            if let Entry::Heard(heard) | Entry::Tried(heard) = entry {
                ways.note(&heard);
            }
        }
        Ok(ways)
    }

    pub(super) fn note(&mut self, heard: &Heard) {
        let Some(address) = heard.answer.address else { return };
        let spot = (address, heard.ask.url.port());
        match heard.answer.failure {
            Some(failure) if is_closed(failure) => {
                self.dead.insert(spot);
            }
            Some(failure) if !failure.reached_the_network() => {}
            _ => {
                self.dead.remove(&spot);
            }
        }
    }

    /// Addresses where nobody is at the port of a URL.
    pub(super) fn dead_for(&self, url: &WebUrl) -> Vec<IpAddr> {
        self.dead.iter().filter(|(_, port)| *port == url.port()).map(|(address, _)| *address).collect()
    }
}

/// Whether another address of the host should be asked: no connection came about, or the server has been given up.
pub(super) fn is_closed(failure: Failure) -> bool {
    failure.is_no_connection() || failure == Failure::GivenUp
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::journal::tests::what_was_heard;

    #[test]
    fn an_address_is_dead_at_the_port_where_no_connection_came_about_until_one_does() {
        let address = IpAddr::from([41, 90, 0, 1]);
        let came = |url: &str, failure| {
            let mut heard = what_was_heard(0, failure);
            heard.answer.address = Some(address);
            heard.ask.url = WebUrl::parse(url).unwrap();
            heard
        };
        let (http, https) = ("http://a.ke/", "https://b.ke/");
        let [at_http, at_https] = [http, https].map(|url| WebUrl::parse(url).unwrap());
        let mut ways = Ways::default();
        for (url, failure, dead) in [
            (https, Failure::ConnectRefused, [vec![], vec![address]]),
            (https, Failure::ServerBudget, [vec![], vec![address]]),
            (http, Failure::TlsHandshake, [vec![], vec![address]]),
            (https, Failure::Reset, [vec![], vec![]]),
            (http, Failure::ConnectTimeout, [vec![address], vec![]]),
            (https, Failure::GivenUp, [vec![address], vec![address]]),
        ] {
            ways.note(&came(url, failure));
            assert_eq!([ways.dead_for(&at_http), ways.dead_for(&at_https)], dead, "{url} {failure}");
        }
    }
}
