use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::address::Host;
use crate::exchange::{Failure, Purpose};
use crate::fetch::{Burden, Looked, Question, Reply, Shown, Then, Web as Asked};
use crate::space::{Handshake, Lookup, Reaction, Response, Server, Web};

/// A virtual Web space as the fetch of a simulation asks it: what the gateway would do over sockets.
pub(super) struct InProcess {
    web: Arc<dyn Web>,
    visits: Mutex<HashMap<IpAddr, ()>>,
}

/// The time to live of every record, an hour, as the name server of a served world says.
const TTL: Duration = Duration::from_hours(1);
/// To a resolver next door that knows the answer; the surveyor's own network.
const LOOK_UP: Duration = Duration::from_millis(20);
/// Longer than anybody waits.
const NEVER: Duration = Duration::from_hours(24);

impl InProcess {
    pub(super) fn new(web: Arc<dyn Web>) -> Self {
        Self { web, visits: Mutex::default() }
    }

    fn reply(&self, question: &Question<'_>, server: &Server) -> Reply {
        let url = question.url;
        let (connect, tls) = (server.round_trip, server.round_trip);
        let shown = match self.web.handshake(url.host().as_str()) {
            Handshake::Closed => None,
            Handshake::Certificate(_) => Some(Shown { bytes: 0, defect: None }),
        };
        let then = match self.web.respond(url.is_https(), url.host().as_str(), url.target()) {
            Reaction::NoSuchHost | Reaction::Reset => Then::Closed(server.round_trip),
            Reaction::Silence => Then::Silence,
            Reaction::Response(response) => answer(response, server, question.purpose),
        };
        Reply { connect, tls, shown, then }
    }
}

impl Asked for InProcess {
    fn look_up(&self, host: &Host) -> Looked {
        let told = |addresses| Looked { addresses, lifetime: TTL, took: LOOK_UP };
        match self.web.lookup(host.as_str()) {
            Lookup::NoSuchName => told(Err(Failure::DnsNxdomain)),
            Lookup::ServerFailure => told(Err(Failure::DnsServfail)),
            Lookup::Silence => Looked { took: NEVER, ..told(Err(Failure::DnsTimeout)) },
            // A survey asks for IPv6 only where there is no IPv4.
            Lookup::Found(records) => {
                let address = records.v4.map(IpAddr::from).or(records.v6.map(IpAddr::from));
                told(address.map(|address| vec![address]).ok_or(Failure::DnsNoAddress))
            }
        }
    }

    fn ask(&self, question: &Question<'_>) -> Reply {
        match self.web.server(question.url.host().as_str()) {
            Some(server) => self.reply(question, &server),
            None => Reply {
                connect: Duration::ZERO,
                tls: Duration::ZERO,
                shown: None,
                then: Then::Closed(Duration::ZERO),
            },
        }
    }

    fn burden(&self, _address: IpAddr) -> Option<Burden> {
        let _x = self.visits.lock().unwrap_or_else(PoisonError::into_inner);
        None
    }
}

fn answer(response: Response, server: &Server, _purpose: Purpose) -> Then {
    Then::Answer {
        first_byte: server.round_trip + response.service,
        status: response.status,
        fields: fields(&response),
        cut_after: response.cut_after,
        body: response.body,
        bytes_per_second: server.bits_per_second * (1.0 - server.background) / 8.0,
    }
}

fn fields(response: &Response) -> Vec<(&'static str, String)> {
    let mut fields = vec![("server", response.server.to_owned())];
    fields.extend(response.content_type.as_ref().map(|is| ("content-type", is.to_string())));
    fields.extend(response.location.as_ref().map(|to| ("location", to.clone())));
    fields.push(if response.is_chunked {
        ("transfer-encoding", "chunked".to_owned())
    } else {
        ("content-length", response.body.len().to_string())
    });
    fields.push(("connection", "keep-alive".to_owned()));
    fields
}
