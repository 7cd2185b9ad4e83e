use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::address::{Host, WebUrl};
use crate::exchange::{self, Failure, Purpose, TlsError, skips_body};
use crate::fetch::{
    Clock, ConnectionOutcome, LookupResponse, Prefetched, SentCertificate, UserDelay, UserDelays, WebRequest,
};
use crate::space::{
    Certificate, CertificateContents, HARM_SPAN, Handshake, Harm, Lookup, Method, Reaction, Records,
    RequestFields, Response, Server, Visits, Web, WireResponse, certificate_bytes, certificate_contents,
    harm,
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
    prefetched: Mutex<HashMap<String, Reaction>>,
    clock: Clock,
}

/// The server and the certificate of a host.
#[derive(Clone)]
struct HostRecord {
    server: Server,
    sent_certificate: Option<SentCertificate>,
}

/// A server, and the delays of its other users during the survey.
struct VisitedServer {
    server: Server,
    /// The hour of the clock in which the last request came; `visits` is the load in that hour.
    hour: u64,
    visits: Visits,
    delays: DelaySums,
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
const LEAST_JUDGED_REQUESTS: f64 = 100.0;

/// The TTL of every record, an hour, as in the name server of a served world.
const TTL: Duration = Duration::from_hours(1);
/// Duration of a query to a resolver in the surveyor's own network.
const LOOKUP_TIME: Duration = Duration::from_millis(20);
/// Longer than any time-out.
const LONGEST_LOOKUP: Duration = Duration::from_hours(24);
/// The number of cached hosts; about 300 bytes each.
const MAX_HOSTS: usize = 10_000;

impl InProcess {
    /// A virtual Web on a clock that begins now.
    pub(super) fn new(web: Arc<dyn Web>, begins: SystemTime) -> Self {
        let clock = Clock::beginning_at(begins);
        Self { web, hosts: Mutex::default(), servers: Mutex::default(), prefetched: Mutex::default(), clock }
    }

    fn since_epoch(&self) -> Duration {
        self.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn host_record(&self, host: &str) -> Option<HostRecord> {
        let mut hosts = self.hosts.lock();
        if let Some(record) = hosts.get(host) {
            return record.clone();
        }
        let record = self
            .web
            .server(host)
            .map(|server| HostRecord { server, sent_certificate: self.certificate(host) });
        if hosts.len() >= MAX_HOSTS {
            hosts.clear();
        }
        hosts.insert(host.to_owned(), record.clone());
        record
    }

    fn certificate(&self, host: &str) -> Option<SentCertificate> {
        let Handshake::Certificate(kind) = self.web.handshake(host) else { return None };
        let contents = Some(contents(certificate_contents(host, kind)));
        Some(SentCertificate { bytes: certificate_bytes(host, kind), contents, defect: defect(kind) })
    }

    /// The reaction to a request of a URL: prefetched, or computed now.
    fn reaction(&self, url: &WebUrl) -> Reaction {
        let prefetched = self.prefetched.lock().remove(url.as_str());
        prefetched.unwrap_or_else(|| self.web.respond(url.is_https(), url.host().as_str(), url.target()))
    }

    fn build_outcome(
        &self,
        mut response: Response,
        server: &Server,
        request: &WebRequest<'_>,
    ) -> ConnectionOutcome {
        let method = if request.purpose == Purpose::Head { Method::Head } else { Method::Get };
        let service = response.service;
        let request_fields = RequestFields {
            method,
            accepts_gzip: true,
            if_none_match: request.if_none_match.map(str::to_owned),
            if_modified_since: request.if_modified_since.map(str::to_owned),
            ..RequestFields::default()
        };
        let identity = response.identity.take();
        let WireResponse { status, fields, body, is_cut, .. } =
            WireResponse::new(response, &request_fields, false);
        let now = &server.at_second_of_day(self.since_epoch().as_secs_f64());
        // Other users wait for the link. They also slow a response down, but that is not part of the survey's
        // use of the link.
        let without_others = Server { background: 0.0, ..*now };
        let content_type = fields.iter().find(|(name, _)| *name == "Content-Type");
        let content_type = content_type.map(|(_, value)| value.as_str());
        let mut busy_time = without_others.transfer_time(body.len() as u64);
        if skips_body(request.purpose, status, content_type) {
            // The server learns of the hang-up a round trip later; the bytes that it sends until then are
            // wasted.
            busy_time = busy_time.min(server.round_trip.mul_f64((1.0 - now.background).max(0.0)));
        }
        self.add_visit(server, busy_time);
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
    fn add_visit(&self, server: &Server, busy: Duration) {
        let (hour, busy) = (self.since_epoch().as_secs() / HARM_SPAN.as_secs(), busy.as_secs_f64());
        let mut servers = self.servers.lock();
        let visited = servers.entry(server.address).or_insert_with(|| VisitedServer {
            server: *server,
            hour,
            visits: Visits::default(),
            delays: DelaySums::default(),
        });
        if visited.hour != hour {
            visited.delays = visited.delays_so_far();
            (visited.hour, visited.visits) = (hour, Visits::default());
        }
        visited.visits.busy += busy;
        visited.visits.busy_squared += busy * busy;
    }
}

impl crate::fetch::Web for InProcess {
    fn look_up(&self, host: &Host) -> LookupResponse {
        let lookup_answer =
            |addresses| LookupResponse { addresses, aliases: Vec::new(), lifetime: TTL, took: LOOKUP_TIME };
        match self.web.lookup(host.as_str()) {
            Lookup::NoSuchName => lookup_answer(Err(Failure::DnsNxdomain)),
            Lookup::ServerFailure => lookup_answer(Err(Failure::DnsServfail)),
            Lookup::Silence => {
                LookupResponse { took: LONGEST_LOOKUP, ..lookup_answer(Err(Failure::DnsTimeout)) }
            }
            Lookup::Found(records) => {
                let aliases = records.aliases().filter_map(|alias| Host::parse(alias).ok()).collect();
                let addresses = addresses(&records).ok_or(Failure::DnsNoAddress);
                LookupResponse { aliases, ..lookup_answer(addresses) }
            }
            // Only hostile sites have these, and they are not simulated.
            Lookup::Alias(_) | Lookup::Turns(_) | Lookup::Odd(..) => {
                lookup_answer(Err(Failure::DnsNoAddress))
            }
        }
    }

    fn respond(&self, request: &WebRequest<'_>) -> crate::fetch::WebResponse {
        let url = request.url;
        let host = url.host().as_str();
        let Some(HostRecord { server, sent_certificate }) = self.host_record(host) else {
            let (connect, tls, outcome) =
                (Duration::ZERO, Duration::ZERO, ConnectionOutcome::Closed(Duration::ZERO));
            return crate::fetch::WebResponse { connect, tls, sent_certificate: None, outcome };
        };
        let (connect, tls) = (server.round_trip, server.round_trip);
        if url.is_https() && sent_certificate.is_none() {
            // The handshake fails, and the request is never sent.
            return crate::fetch::WebResponse {
                connect,
                tls,
                sent_certificate,
                outcome: ConnectionOutcome::Closed(Duration::ZERO),
            };
        }
        let outcome = match self.reaction(url) {
            Reaction::NoSuchHost | Reaction::Reset | Reaction::Acts(_) => {
                ConnectionOutcome::Closed(server.round_trip)
            }
            Reaction::Refused => ConnectionOutcome::Closed(Duration::ZERO),
            Reaction::Silence => ConnectionOutcome::Silence,
            Reaction::Response(response) => self.build_outcome(response, &server, request),
        };
        crate::fetch::WebResponse { connect, tls, sent_certificate, outcome }
    }

    fn user_delays(&self, address: IpAddr) -> Option<UserDelays> {
        let servers = self.servers.lock();
        let visited = servers.get(&address)?;
        visited.delays_so_far().user_delays(visited.server.bits_per_second)
    }

    fn prefetch(&self, url: &WebUrl) -> Option<Prefetched> {
        if self.web.counts_requests() {
            return None;
        }
        let reaction = self.web.respond(url.is_https(), url.host().as_str(), url.target());
        let prefetched = match &reaction {
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
        self.prefetched.lock().insert(url.as_str().to_owned(), reaction);
        prefetched
    }

    fn forget(&self, url: &WebUrl) {
        self.prefetched.lock().remove(url.as_str());
    }
}

impl VisitedServer {
    /// The sums including the current hour.
    fn delays_so_far(&self) -> DelaySums {
        let middle = (self.hour as f64 + 0.5) * HARM_SPAN.as_secs_f64();
        self.delays.plus(&harm(&self.server.at_second_of_day(middle), &self.visits))
    }
}

impl DelaySums {
    fn plus(self, hour: &Harm) -> Self {
        let is_judged = hour.requests > LEAST_JUDGED_REQUESTS;
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
        let delays = |wait| Some(UserDelay { wait: mean(wait)?, response: mean(wait + self.answer)? });
        Some(UserDelays {
            bits_per_second,
            requests: self.requests.round() as u64,
            without: delays(self.wait_without)?,
            with: delays(self.wait_with),
            worst_hour: self.worst_hour,
        })
    }
}

/// IPv4 comes first: a survey uses IPv6 only where no IPv4 address is alive.
fn addresses(records: &Records) -> Option<Vec<IpAddr>> {
    let addresses: Vec<IpAddr> =
        records.v4.map(IpAddr::from).into_iter().chain(records.v6.map(IpAddr::from)).collect();
    (!addresses.is_empty()).then_some(addresses)
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

/// What a certificate says, as a survey records it.
fn contents(contents: CertificateContents) -> exchange::Certificate {
    let CertificateContents { issuer, valid: (from, until), name } = contents;
    exchange::Certificate {
        issuer: Some(issuer.to_owned()),
        valid_from: Some(from),
        valid_until: Some(until),
        names: name.into_iter().collect(),
    }
}

fn larger(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    first.into_iter().chain(second).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(requests: f64, wait_without: f64, wait_with: f64) -> Harm {
        Harm { requests, wait_without, wait_with, answer: 1.0 }
    }

    #[test]
    fn what_others_feel_is_the_mean_over_their_requests_and_the_worst_of_hours_that_have_many() {
        let delays = DelaySums::default().plus(&hour(300.0, 1.0, 1.1)).plus(&hour(100.0, 0.0, 1.0));
        let hourly_harm = delays.user_delays(512e3).unwrap();
        assert_eq!((hourly_harm.requests, hourly_harm.without.wait.as_millis()), (400, 750));
        assert_eq!(hourly_harm.without.response.as_millis(), 1750);
        // (300 × 1.1 + 100 × 1) / 400, and a second for the answer.
        let with = hourly_harm.with.unwrap();
        assert_eq!((with.wait.as_millis(), with.response.as_millis()), (1075, 2075));
        // A tenth of a second more on two; the hour with twice the time had only a hundred requests, which is
        // not enough.
        assert!((hourly_harm.worst_hour.unwrap() - 0.05).abs() < 1e-9);
    }

    #[test]
    fn an_hour_in_which_waits_grew_without_end_is_told_as_such() {
        let delays = DelaySums::default().plus(&hour(300.0, 1.0, f64::INFINITY));
        let hourly_harm = delays.user_delays(512e3).unwrap();
        assert_eq!((hourly_harm.with, hourly_harm.worst_hour), (None, Some(f64::INFINITY)));
        assert_eq!(hourly_harm.without.wait.as_millis(), 1000);
    }

    #[test]
    fn a_server_that_nobody_else_uses_harms_nobody() {
        assert_eq!(DelaySums::default().plus(&hour(0.0, 0.0, 1.0)).user_delays(512e3), None);
    }
}
