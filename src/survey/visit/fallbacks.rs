use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::path::Path;

use crate::address::{Host, WebUrl};
use crate::exchange::{Failure, Response};
use crate::fetch::Manner;
use crate::survey::error::SurveyError;
use crate::survey::journal::JournalReader;
use crate::survey::journal::entry::{Entry, ExchangeRecord};

/// What a site tree knows about fallbacks for its hosts. It follows from the tree's journal alone.
///
/// - If no connection could be made, the next address of the host is tried, and used in the whole tree from
///   then on: the dead address is not tried again for every page.
/// - If a server refuses our TLS, an older version is offered once, where that can reveal more.
/// - If a request was lost with an idle connection, it is sent once more on a new one (RFC 9112 §9.3.1, RFC
///   9110 §9.2.2).
/// - If the HTTP library cannot read a response, it is requested once more. That response and all later ones
///   from its server in this tree are read without the library, whichever process sends the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::survey) struct Fallbacks {
    /// By port: a server that refuses HTTPS may still speak HTTP.
    dead: HashSet<(IpAddr, u16)>,
    /// Hosts and ports that refused our TLS.
    tls: HashMap<(Host, u16), TlsFallback>,
    /// Requests that were lost with an idle connection and whose next attempt has not ended.
    lost: HashSet<u32>,
    /// Hosts and ports with a response that the HTTP library could not read.
    odd: HashSet<(Host, u16)>,
}

/// What is known about the TLS of a server that refuses ours.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TlsFallback {
    /// After this failure, an older version is to be offered.
    Refused(Failure),
    Old,
    /// It does not speak any older version either.
    Other,
}

impl Fallbacks {
    /// Reads the fallbacks from the journal of a tree. They are empty if there is no journal yet.
    pub(in crate::survey) fn from_journal(path: &Path) -> Result<Self, SurveyError> {
        let mut fallbacks = Self::default();
        let mut journal = JournalReader::open(path)?;
        while let Some(entry) = journal.next()? {
            match entry {
                Entry::Attempted(tried) => fallbacks.note_failed_try(&tried),
                Entry::Received(record) => fallbacks.note(&record),
                _ => {}
            }
        }
        Ok(fallbacks)
    }

    /// Notes the failure of an attempt that may have a fallback.
    pub(in crate::survey) fn note_failed_try(&mut self, tried: &ExchangeRecord) {
        if let Some(failure) = tried.response.failure.filter(|failure| failure.refuses_tls()) {
            self.tls.entry(host_and_port(&tried.request.url)).or_insert(TlsFallback::Refused(failure));
        }
        self.note_connection(tried);
    }

    /// Notes the final result of a request.
    pub(in crate::survey) fn note(&mut self, record: &ExchangeRecord) {
        self.note_tls(&record.request.url, &record.response);
        self.note_connection(record);
    }

    fn note_connection(&mut self, record: &ExchangeRecord) {
        if record.response.failure == Some(Failure::IdleClosed) {
            self.lost.insert(record.request.number);
        } else {
            self.lost.remove(&record.request.number);
        }
        if record.response.failure.is_some_and(Failure::may_be_read_by_fallback) {
            self.odd.insert(host_and_port(&record.request.url));
        }
        let Some(address) = record.response.address else { return };
        let endpoint = (address, record.request.url.port());
        match record.response.failure {
            Some(failure) if is_closed(failure) => {
                self.dead.insert(endpoint);
            }
            Some(failure) if !failure.reached_the_network() => {}
            _ => {
                self.dead.remove(&endpoint);
            }
        }
    }

    fn note_tls(&mut self, url: &WebUrl, response: &Response) {
        if !response.was_sent() || response.failure.is_some_and(is_closed) {
            return;
        }
        match self.tls.get(&host_and_port(url)) {
            // It was not an attempt with a fallback: there is nothing more to find out.
            None if response.failure.is_some_and(Failure::refuses_tls) => {
                self.tls.insert(host_and_port(url), TlsFallback::Other)
            }
            Some(TlsFallback::Refused(_)) if response.tls_version.is_some() => {
                self.tls.insert(host_and_port(url), TlsFallback::Old)
            }
            Some(TlsFallback::Refused(_)) => self.tls.insert(host_and_port(url), TlsFallback::Other),
            _ => None,
        };
    }

    /// Settles the failure after older TLS was offered. A server is too old if its first refusal said so, or
    /// if it now chose an old version. Any other refusal of the older TLS reveals nothing, so the first
    /// failure stands.
    pub(in crate::survey) fn settle(&self, url: &WebUrl, response: &mut Response) {
        let is_uninformative = matches!(
            response.failure,
            Some(Failure::TlsTooOld | Failure::TlsAlert | Failure::TlsHandshake | Failure::Reset)
        );
        if let Some(TlsFallback::Refused(first)) = self.tls.get(&host_and_port(url))
            && is_uninformative
            && response.tls_version.is_none()
        {
            response.failure = Some(*first);
        }
    }

    /// How to send the next request to the server of a URL.
    pub(in crate::survey) fn manner(&self, url: &WebUrl) -> Manner {
        let server = host_and_port(url);
        match self.tls.get(&server) {
            Some(TlsFallback::Refused(_) | TlsFallback::Old) if url.is_https() => Manner::OldTls,
            _ if self.odd.contains(&server) => Manner::WithoutLibrary,
            _ => Manner::Usual,
        }
    }

    /// Whether the request has a fallback: another address, older TLS, a new connection, or reading the
    /// response without the HTTP library.
    pub(in crate::survey) fn needs_fallback(&self, record: &ExchangeRecord) -> bool {
        #[cfg(feature = "hazards")]
        if crate::survey::reading::hazards::forgets(record) {
            return true;
        }
        let Some(failure) = record.response.failure.filter(|_| record.response.address.is_some()) else {
            return false;
        };
        if failure == Failure::IdleClosed {
            return !self.lost.contains(&record.request.number);
        }
        let server = host_and_port(&record.request.url);
        let may_be_old = failure.refuses_tls() && record.response.may_speak_older_tls;
        is_closed(failure)
            || (may_be_old && !self.tls.contains_key(&server))
            || (failure.may_be_read_by_fallback() && !self.odd.contains(&server))
    }

    /// The addresses that are dead at the port of a URL.
    pub(in crate::survey) fn dead_addresses(&self, url: &WebUrl) -> Vec<IpAddr> {
        self.dead.iter().filter(|(_, port)| *port == url.port()).map(|(address, _)| *address).collect()
    }
}

/// Whether to try another address of the host: no connection could be made, or the server has been given up.
fn is_closed(failure: Failure) -> bool {
    failure.is_connect_failure() || failure == Failure::GivenUp
}

fn host_and_port(url: &WebUrl) -> (Host, u16) {
    (url.host().clone(), url.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::journal::entry::tests::failed_exchange;

    fn came(failure: Failure, version: Option<&str>) -> ExchangeRecord {
        let mut record = failed_exchange(0, failure);
        record.response.address = Some([41, 90, 0, 1].into());
        record.response.tls_version = version.map(str::to_owned);
        record.response.may_speak_older_tls = true;
        record.request.url = WebUrl::parse("https://a.ke/").unwrap();
        record
    }

    #[test]
    fn a_server_is_too_old_where_its_first_refusal_or_its_choice_says_so_and_else_its_first_word_stands() {
        use Failure::{ConnectTimeout, Reset, TlsAlert, TlsHandshake, TlsTimeout, TlsTooOld};
        let old = Some("TLSv1.0 0x0005");
        for (first, greeted, version, settled) in [
            (TlsAlert, TlsTooOld, None, TlsAlert),
            (TlsAlert, TlsTooOld, old, TlsTooOld),
            (TlsAlert, TlsHandshake, None, TlsAlert),
            (TlsAlert, Reset, None, TlsAlert),
            (TlsAlert, TlsTimeout, None, TlsTimeout),
            (TlsAlert, ConnectTimeout, None, ConnectTimeout),
            (TlsTooOld, TlsAlert, None, TlsTooOld),
            (TlsTooOld, TlsTooOld, old, TlsTooOld),
            (TlsTooOld, TlsHandshake, None, TlsTooOld),
        ] {
            let mut fallbacks = Fallbacks::default();
            let tried = came(first, None);
            let url = &tried.request.url;
            fallbacks.note_failed_try(&tried);
            assert_eq!(fallbacks.manner(url), Manner::OldTls);
            let mut response = came(greeted, version).response;
            fallbacks.settle(url, &mut response);
            assert_eq!(response.failure, Some(settled), "{first}, then {greeted} {version:?}");
        }
    }

    #[test]
    fn a_server_that_cannot_tell_more_is_not_greeted_again() {
        let mut refused = came(Failure::TlsAlert, None);
        refused.response.may_speak_older_tls = false;
        let mut fallbacks = Fallbacks::default();
        assert!(!fallbacks.needs_fallback(&refused));
        fallbacks.note(&refused);
        assert_eq!(fallbacks.manner(&refused.request.url), Manner::Usual);
        assert!(!fallbacks.needs_fallback(&came(Failure::TlsAlert, None)), "it was heard once");
    }

    #[test]
    fn a_server_that_refuses_our_tls_is_greeted_by_an_older_one_once() {
        let url = WebUrl::parse("https://a.ke/").unwrap();
        let refused = came(Failure::TlsAlert, None);
        for (greeted, manner) in [
            (came(Failure::TlsTooOld, Some("TLSv1.0 0x0005")), Manner::OldTls),
            (came(Failure::TlsAlert, None), Manner::Usual),
        ] {
            let mut fallbacks = Fallbacks::default();
            assert!(fallbacks.needs_fallback(&refused) && fallbacks.manner(&url) == Manner::Usual);
            fallbacks.note_failed_try(&refused);
            assert!(fallbacks.manner(&url) == Manner::OldTls && !fallbacks.needs_fallback(&greeted));
            fallbacks.note(&greeted);
            assert_eq!(fallbacks.manner(&url), manner);
            assert!(!fallbacks.needs_fallback(&refused));
        }
    }

    #[test]
    fn a_request_lost_with_an_idle_connection_is_sent_once_more() {
        let came = |number, failure| {
            let mut record = failed_exchange(number, failure);
            record.response.address = Some([41, 90, 0, 1].into());
            record
        };
        let mut fallbacks = Fallbacks::default();
        let lost = came(7, Failure::IdleClosed);
        assert!(fallbacks.needs_fallback(&lost));
        fallbacks.note(&lost);
        assert!(!fallbacks.needs_fallback(&lost), "twice is not by chance");
        assert!(fallbacks.needs_fallback(&came(8, Failure::IdleClosed)), "another request");
        fallbacks.note(&came(7, Failure::Reset));
        assert_eq!(fallbacks, Fallbacks::default(), "nothing is remembered of what is done");
    }

    #[test]
    fn what_the_http_library_cannot_read_is_requested_once_more_and_read_without_it_from_then_on() {
        for failure in [Failure::OddHttp, Failure::HeaderTooLarge] {
            let mut odd = failed_exchange(0, failure);
            odd.response.address = Some([41, 90, 0, 1].into());
            let mut read = odd.clone();
            (read.response.failure, read.response.status) = (None, Some(200));
            let mut fallbacks = Fallbacks::default();
            let url = &odd.request.url;
            assert!(fallbacks.needs_fallback(&odd) && !fallbacks.needs_fallback(&read));
            assert_eq!(fallbacks.manner(url), Manner::Usual);
            fallbacks.note_failed_try(&odd);
            assert_eq!(fallbacks.manner(url), Manner::WithoutLibrary);
            assert!(!fallbacks.needs_fallback(&odd), "the second was in vain");
            fallbacks.note(&read);
            assert_eq!(fallbacks.manner(url), Manner::WithoutLibrary);
            assert!(!fallbacks.needs_fallback(&odd), "the last was read without it, too");
            let elsewhere = WebUrl::parse("http://b.ke/").unwrap();
            assert_eq!(fallbacks.manner(&elsewhere), Manner::Usual);
        }
    }

    #[test]
    fn an_address_is_dead_at_the_port_where_no_connection_came_about_until_one_does() {
        let address = IpAddr::from([41, 90, 0, 1]);
        let came = |url: &str, failure| {
            let mut record = failed_exchange(0, failure);
            record.response.address = Some(address);
            record.request.url = WebUrl::parse(url).unwrap();
            record
        };
        let (http, https) = ("http://a.ke/", "https://b.ke/");
        let [at_http, at_https] = [http, https].map(|url| WebUrl::parse(url).unwrap());
        let mut fallbacks = Fallbacks::default();
        for (url, failure, dead) in [
            (https, Failure::ConnectRefused, [vec![], vec![address]]),
            (https, Failure::ServerBudget, [vec![], vec![address]]),
            (http, Failure::TlsHandshake, [vec![], vec![address]]),
            (https, Failure::Reset, [vec![], vec![]]),
            (http, Failure::ConnectTimeout, [vec![address], vec![]]),
            (https, Failure::GivenUp, [vec![address], vec![address]]),
        ] {
            fallbacks.note(&came(url, failure));
            assert_eq!(
                [fallbacks.dead_addresses(&at_http), fallbacks.dead_addresses(&at_https)],
                dead,
                "{url} {failure}"
            );
        }
    }
}
