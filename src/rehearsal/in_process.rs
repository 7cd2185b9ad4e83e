use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::address::{Host, WebUrl};
use crate::exchange::{Failure, Purpose, TlsError, hangs_up};
use crate::fetch::{
    Clock, ConnectionOutcome, LookupAnswer, Prefetched, ShownCertificate, UserDelay, UserDelays, WebRequest,
};
use crate::space::{
    Certificate, HARM_SPAN, Handshake, Harm, Lookup, Method, Reaction, Records, RequestFields, Response,
    Server, Visits, Web, WireResponse, certificate_bytes, harm,
};

/// A virtual Web behind the interface that `fetch` uses in a simulation: it does what a gateway would do over
/// sockets.
///
/// It records how long the survey occupied each server's link, because only this type can separate that from
/// the time for which bytes were in transit.
pub(super) struct InProcess {
    web: Arc<dyn Web>,
    hosts: Mutex<HashMap<String, Option<HostRecord>>>,
    servers: Mutex<HashMap<IpAddr, VisitedServer>>,
    /// Prefetched reactions, by URL.
    foreseen: Mutex<HashMap<String, Reaction>>,
    clock: Clock,
}

/// The server and the certificate of a host.
#[derive(Clone, Copy)]
struct HostRecord {
    server: Server,
    shown: Option<ShownCertificate>,
}

/// A server, and the delays of its other users during the survey.
struct VisitedServer {
    server: Server,
    /// The hour of the clock in which the last request came; `visits` is the load in that hour.
    hour: u64,
    visits: Visits,
    felt: DelaySums,
}

/// Sums over the requests of other users, hour by hour.
#[derive(Clone, Copy, Default)]
struct DelaySums {
    requests: f64,
    wait_without: f64,
    wait_with: f64,
    answer: f64,
    worst_hour: Option<f64>,
}

/// Hours with no more requests of other users than this do not count for the worst hour.
const MANY: f64 = 100.0;

/// The TTL of every record, an hour, as in the name server of a served world.
const TTL: Duration = Duration::from_hours(1);
/// Duration of a query to a resolver in the surveyor's own network.
const LOOK_UP: Duration = Duration::from_millis(20);
/// Longer than any time-out.
const NEVER: Duration = Duration::from_hours(24);
/// The number of cached hosts; about 300 bytes each.
const HOSTS: usize = 10_000;

impl InProcess {
    /// A virtual Web on a clock that begins now.
    pub(super) fn new(web: Arc<dyn Web>, begins: SystemTime) -> Self {
        let clock = Clock::beginning_at(begins);
        Self { web, hosts: Mutex::default(), servers: Mutex::default(), foreseen: Mutex::default(), clock }
    }

    fn since_epoch(&self) -> Duration {
        self.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn host_record(&self, host: &str) -> Option<HostRecord> {
        let mut hosts = lock(&self.hosts);
        if let Some(place) = hosts.get(host) {
            return *place;
        }
        let place = self.web.server(host).map(|server| HostRecord { server, shown: self.certificate(host) });
        if hosts.len() >= HOSTS {
            hosts.clear();
        }
        hosts.insert(host.to_owned(), place);
        place
    }

    fn certificate(&self, host: &str) -> Option<ShownCertificate> {
        let Handshake::Certificate(kind) = self.web.handshake(host) else { return None };
        Some(ShownCertificate { bytes: certificate_bytes(host, kind), defect: defect(kind) })
    }

    /// The reaction to a request of a URL: prefetched, or computed now.
    fn reaction(&self, url: &WebUrl) -> Reaction {
        let foreseen = lock(&self.foreseen).remove(url.as_str());
        foreseen.unwrap_or_else(|| self.web.respond(url.is_https(), url.host().as_str(), url.target()))
    }

    fn build_outcome(
        &self,
        mut response: Response,
        server: &Server,
        question: &WebRequest<'_>,
    ) -> ConnectionOutcome {
        let method = if question.purpose == Purpose::Head { Method::Head } else { Method::Get };
        let service = response.service;
        let asked = RequestFields {
            method,
            accepts_gzip: true,
            if_none_match: question.if_none_match.map(str::to_owned),
            if_modified_since: question.if_modified_since.map(str::to_owned),
            ..RequestFields::default()
        };
        let identity = response.identity.take();
        let WireResponse { status, fields, body, is_cut, .. } = WireResponse::new(response, &asked, false);
        let now = &server.at_second_of_day(self.since_epoch().as_secs_f64());
        // Other users wait for the link. They also slow a response down, but that is not part of the survey's
        // use of the link.
        let alone = Server { background: 0.0, ..*now };
        let content_type = fields.iter().find(|(name, _)| *name == "Content-Type");
        let content_type = content_type.map(|(_, value)| value.as_str());
        let mut taken = alone.transfer_time(body.len() as u64);
        if hangs_up(question.purpose, status, content_type) {
            // The server learns of the hang-up a round trip later; the bytes that it sends until then are
            // wasted.
            taken = taken.min(server.round_trip.mul_f64((1.0 - now.background).max(0.0)));
        }
        self.book(server, taken);
        ConnectionOutcome::Response {
            first_byte: server.round_trip + service,
            status,
            fields,
            cut_after: is_cut.then_some(body.len()),
            // The response to HEAD, or 304 Not Modified, has no body.
            identity: identity.filter(|_| !is_cut && !body.is_empty()).map(|identity| *identity),
            body,
            bytes_per_second: now.bytes_per_second(),
        }
    }

    /// Records that the link of a server was busy for this long.
    fn book(&self, server: &Server, busy: Duration) {
        let (hour, busy) = (self.since_epoch().as_secs() / HARM_SPAN.as_secs(), busy.as_secs_f64());
        let mut servers = lock(&self.servers);
        let visited = servers.entry(server.address).or_insert_with(|| VisitedServer {
            server: *server,
            hour,
            visits: Visits::default(),
            felt: DelaySums::default(),
        });
        if visited.hour != hour {
            visited.felt = visited.felt_so_far();
            (visited.hour, visited.visits) = (hour, Visits::default());
        }
        visited.visits.busy += busy;
        visited.visits.busy_squared += busy * busy;
    }
}

impl crate::fetch::Web for InProcess {
    fn look_up(&self, host: &Host) -> LookupAnswer {
        let told = |addresses| LookupAnswer { addresses, lifetime: TTL, took: LOOK_UP };
        match self.web.lookup(host.as_str()) {
            Lookup::NoSuchName => told(Err(Failure::DnsNxdomain)),
            Lookup::ServerFailure => told(Err(Failure::DnsServfail)),
            Lookup::Silence => LookupAnswer { took: NEVER, ..told(Err(Failure::DnsTimeout)) },
            Lookup::Found(records) => told(address(&records).ok_or(Failure::DnsNoAddress)),
            // Only hostile sites have these, and they are not simulated.
            Lookup::Alias(_) | Lookup::Turns(_) | Lookup::Odd(..) => told(Err(Failure::DnsNoAddress)),
        }
    }

    fn respond(&self, question: &WebRequest<'_>) -> crate::fetch::WebReply {
        let url = question.url;
        let host = url.host().as_str();
        let Some(HostRecord { server, shown }) = self.host_record(host) else {
            let (connect, tls, then) =
                (Duration::ZERO, Duration::ZERO, ConnectionOutcome::Closed(Duration::ZERO));
            return crate::fetch::WebReply { connect, tls, shown: None, then };
        };
        let (connect, tls) = (server.round_trip, server.round_trip);
        if url.is_https() && shown.is_none() {
            // The handshake fails, and the request is never sent.
            return crate::fetch::WebReply {
                connect,
                tls,
                shown,
                then: ConnectionOutcome::Closed(Duration::ZERO),
            };
        }
        let then = match self.reaction(url) {
            Reaction::NoSuchHost | Reaction::Reset | Reaction::Acts(_) => {
                ConnectionOutcome::Closed(server.round_trip)
            }
            Reaction::Refused => ConnectionOutcome::Closed(Duration::ZERO),
            Reaction::Silence => ConnectionOutcome::Silence,
            Reaction::Response(response) => self.build_outcome(response, &server, question),
        };
        crate::fetch::WebReply { connect, tls, shown, then }
    }

    fn user_delays(&self, address: IpAddr) -> Option<UserDelays> {
        let servers = lock(&self.servers);
        let visited = servers.get(&address)?;
        visited.felt_so_far().user_delays(visited.server.bits_per_second)
    }

    fn prefetch(&self, url: &WebUrl) -> Option<Prefetched> {
        if self.web.counts_questions() {
            return None;
        }
        let reaction = self.web.respond(url.is_https(), url.host().as_str(), url.target());
        let foreseen = match &reaction {
            Reaction::Response(response) if response.cut_after.is_none() => Some(Prefetched {
                status: response.status,
                content_type: response.content_type.as_deref().map(str::to_owned),
                body: match &response.identity {
                    Some(identity) => Bytes::clone(identity),
                    None => response.identity_body().into_owned().into(),
                },
            }),
            _ => None,
        };
        lock(&self.foreseen).insert(url.as_str().to_owned(), reaction);
        foreseen
    }

    fn forget(&self, url: &WebUrl) {
        lock(&self.foreseen).remove(url.as_str());
    }
}

impl VisitedServer {
    /// The sums including the current hour.
    fn felt_so_far(&self) -> DelaySums {
        let middle = (self.hour as f64 + 0.5) * HARM_SPAN.as_secs_f64();
        self.felt.and(&harm(&self.server.at_second_of_day(middle), &self.visits))
    }
}

impl DelaySums {
    fn and(self, hour: &Harm) -> Self {
        let is_judged = hour.requests > MANY;
        Self {
            requests: self.requests + hour.requests,
            wait_without: self.wait_without + hour.wait_without * hour.requests,
            wait_with: self.wait_with + hour.wait_with * hour.requests,
            answer: self.answer + hour.answer * hour.requests,
            worst_hour: larger(self.worst_hour, is_judged.then(|| hour.extra_share())),
        }
    }

    /// None where nobody else uses the server.
    fn user_delays(&self, bits_per_second: f64) -> Option<UserDelays> {
        let mean = |sum: f64| Duration::try_from_secs_f64(sum / self.requests).ok();
        let felt = |wait| Some(UserDelay { wait: mean(wait)?, response: mean(wait + self.answer)? });
        Some(UserDelays {
            bits_per_second,
            requests: self.requests.round() as u64,
            without: felt(self.wait_without)?,
            with: felt(self.wait_with),
            worst_hour: self.worst_hour,
        })
    }
}

/// A survey uses IPv6 only where there is no IPv4.
fn address(records: &Records) -> Option<Vec<IpAddr>> {
    let address = records.v4.map(IpAddr::from).or(records.v6.map(IpAddr::from))?;
    Some(vec![address])
}

/// The defect of a certificate for a surveyor that trusts the authority of virtual Webs.
fn defect(kind: Certificate) -> Option<TlsError> {
    Some(match kind {
        Certificate::Valid => return None,
        Certificate::SelfSigned => TlsError::SelfSigned,
        Certificate::Expired => TlsError::Expired,
        Certificate::WrongName => TlsError::WrongName,
        Certificate::VersionOne => TlsError::OldVersion,
        Certificate::CriticalExtension => TlsError::CriticalExtension,
        Certificate::BrokenExtension | Certificate::TrailingBytes => TlsError::BadEncoding,
    })
}

fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}

/// A thread that panicked while holding the lock left only whole entries.
fn lock<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(requests: f64, wait_without: f64, wait_with: f64) -> Harm {
        Harm { requests, wait_without, wait_with, answer: 1.0 }
    }

    #[test]
    fn what_others_feel_is_the_mean_over_their_requests_and_the_worst_of_hours_that_have_many() {
        let felt = DelaySums::default().and(&hour(300.0, 1.0, 1.1)).and(&hour(100.0, 0.0, 1.0));
        let burden = felt.user_delays(512e3).unwrap();
        assert_eq!((burden.requests, burden.without.wait.as_millis()), (400, 750));
        assert_eq!(burden.without.response.as_millis(), 1750);
        // (300 × 1.1 + 100 × 1) / 400, and a second for the answer.
        let with = burden.with.unwrap();
        assert_eq!((with.wait.as_millis(), with.response.as_millis()), (1075, 2075));
        // A tenth of a second more on two; the hour with twice the time had only a hundred requests, which is
        // not enough.
        assert!((burden.worst_hour.unwrap() - 0.05).abs() < 1e-9);
    }

    #[test]
    fn an_hour_in_which_waits_grew_without_end_is_told_as_such() {
        let felt = DelaySums::default().and(&hour(300.0, 1.0, f64::INFINITY));
        let burden = felt.user_delays(512e3).unwrap();
        assert_eq!((burden.with, burden.worst_hour), (None, Some(f64::INFINITY)));
        assert_eq!(burden.without.wait.as_millis(), 1000);
    }

    #[test]
    fn a_server_that_nobody_else_uses_harms_nobody() {
        assert_eq!(DelaySums::default().and(&hour(0.0, 0.0, 1.0)).user_delays(512e3), None);
    }
}
