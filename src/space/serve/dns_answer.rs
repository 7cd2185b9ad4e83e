use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use hickory_proto::ProtoError;
use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME, SOA};
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType};

use super::odd_answer;
use crate::{Lookup, Oddity, Records, Web};

/// Time to live of every record, in seconds: one hour, a common value for hosts.
const TTL: u32 = 3600;
/// How long a client may cache that a name does not exist, in seconds (RFC 2308 §5).
const NEGATIVE_TTL: u32 = 900;
/// The largest UDP response that needs no fragments, in bytes: DNS flag day 2020.
const UDP_BYTES: u16 = 1232;
/// Aliases remembered; when there are more, the table is cleared.
const MOST_ALIASES: usize = 10_000;

/// The responses of the name server of a world: addresses, aliases, and errors.
pub(crate) struct Resolver {
    world: Arc<dyn Web>,
    /// The records of alias targets in earlier responses, for clients that query those names next.
    aliases: Mutex<HashMap<String, Records>>,
    /// Number of queries for names whose records change with each query.
    turns: Mutex<HashMap<(String, RecordType), usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Udp,
    Tcp,
}

impl Resolver {
    pub(crate) fn new(world: Arc<dyn Web>) -> Self {
        Self { world, aliases: Mutex::default(), turns: Mutex::default() }
    }

    /// The response to a query; none if the message is no query or the world is silent.
    pub(crate) fn respond(&self, bytes: &[u8], transport: Transport) -> Option<Vec<u8>> {
        let request = Message::from_vec(bytes).ok()?;
        if request.metadata.message_type != MessageType::Query {
            return None;
        }
        let mut answer = Message::response(request.metadata.id, request.metadata.op_code);
        answer.metadata.recursion_desired = request.metadata.recursion_desired;
        answer.metadata.recursion_available = true;
        answer.metadata.authoritative = true;
        if request.edns.is_some() {
            let mut edns = Edns::new();
            edns.set_max_payload(UDP_BYTES);
            answer.set_edns(edns);
        }
        let (code, oddity) = match request.queries.as_slice() {
            [query] if request.metadata.op_code == OpCode::Query => {
                // Copied from the query, in the same case.
                answer.add_query(query.clone());
                self.look_up(query, transport, &mut answer)?
            }
            _ => (ResponseCode::NotImp, None),
        };
        answer.metadata.response_code = code;
        let Some(oddity) = oddity else { return answer.to_vec().ok() };
        answer.edns = None;
        Some(odd_answer::distort(answer.to_vec().ok()?, oddity, transport == Transport::Udp))
    }

    /// None if no response is ever sent.
    fn look_up(
        &self,
        query: &Query,
        transport: Transport,
        answer: &mut Message,
    ) -> Option<(ResponseCode, Option<Oddity>)> {
        let name = query.name().to_ascii().to_ascii_lowercase();
        let name = name.trim_end_matches('.');
        let (mut ttl, mut odd) = (TTL, None);
        let found = match self.find(name) {
            Lookup::Silence => return None,
            Lookup::ServerFailure => return Some((ResponseCode::ServFail, None)),
            Lookup::NoSuchName => None,
            Lookup::Found(records) => Some(records),
            Lookup::Alias(alias) => Some(Records { alias: Some(alias), ..Records::default() }),
            Lookup::Turns(turns) => {
                ttl = 0;
                Some(self.records_in_turn(name, query.query_type(), turns))
            }
            Lookup::Odd(records, oddity) => {
                odd = Some(oddity);
                if odd_answer::is_silent(oddity, query.query_type()) {
                    return None;
                }
                if let Some(code) = odd_answer::code(oddity, query.query_type()) {
                    return Some((code, odd));
                }
                Some(records)
            }
        };
        let code = if found.is_some() { ResponseCode::NoError } else { ResponseCode::NXDomain };
        let records = found.unwrap_or_default();
        if records.is_truncated && transport == Transport::Udp {
            answer.metadata.truncation = true;
            return Some((code, odd));
        }
        // A name that cannot be encoded has no records.
        answer.answers = answers(query, &records, ttl).unwrap_or_default();
        let is_alias = |record: &Record| record.record_type() == RecordType::CNAME;
        if query.query_type() != RecordType::CNAME && answer.answers.iter().all(is_alias) {
            answer.authorities.extend(authority(query.name()));
        }
        Some((code, odd))
    }

    /// The records for this query; queries are counted for each record type.
    fn records_in_turn(&self, name: &str, kind: RecordType, mut turns: Vec<Records>) -> Records {
        let mut query_counts = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier_queries = query_counts.entry((name.to_owned(), kind)).or_default();
        let index = (*earlier_queries).min(turns.len().saturating_sub(1));
        *earlier_queries += 1;
        if turns.is_empty() { Records::default() } else { turns.swap_remove(index) }
    }

    fn find(&self, name: &str) -> Lookup {
        let aliases = || self.aliases.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.world.lookup(name);
        match &found {
            Lookup::NoSuchName => aliases().get(name).cloned().map_or(found, Lookup::Found),
            Lookup::Found(records) => {
                let mut aliases = aliases();
                if aliases.len() >= MOST_ALIASES {
                    aliases.clear();
                }
                let mut rest = records.clone();
                while let Some(alias) = rest.alias.take() {
                    rest = without_first_alias(rest);
                    aliases.insert(alias.to_ascii_lowercase(), rest.clone());
                }
                drop(aliases);
                found
            }
            _ => found,
        }
    }
}

/// The records of the target of an alias whose name was taken: the next name of the chain is its alias.
fn without_first_alias(mut records: Records) -> Records {
    let mut more = std::mem::take(&mut records.more_aliases).into_iter();
    records.alias = more.next();
    records.more_aliases = more.collect();
    records
}

/// The aliases, if there are any, then the requested records of its target.
fn answers(query: &Query, records: &Records, ttl: u32) -> Result<Vec<Record>, ProtoError> {
    if query.query_class() != DNSClass::IN {
        return Ok(Vec::new());
    }
    let mut owner = query.name().clone();
    let mut answers = Vec::new();
    for alias in records.aliases() {
        let alias = Name::from_ascii(format!("{}.", alias.trim_end_matches('.')))?;
        answers.push(Record::from_rdata(owner, ttl, RData::CNAME(CNAME(alias.clone()))));
        owner = alias;
    }
    let v4 = records.v4.iter().chain(&records.more_v4).map(|address: &Ipv4Addr| RData::A(A(*address)));
    let v6 = records.v6.map(|address: Ipv6Addr| RData::AAAA(AAAA(address)));
    let is_wanted = |data: &RData| [data.record_type(), RecordType::ANY].contains(&query.query_type());
    let addresses = v4.chain(v6).filter(is_wanted);
    answers.extend(addresses.map(|data| Record::from_rdata(owner.clone(), ttl, data)));
    Ok(answers)
}

/// The SOA record that limits negative caching (RFC 2308 §3). It is that of the top-level domain, as if the
/// whole country were one zone.
fn authority(name: &Name) -> Option<Record> {
    let zone = name.trim_to(1);
    let server = Name::from_ascii("ns").ok()?.append_domain(&zone).ok()?;
    let mailbox = Name::from_ascii("hostmaster").ok()?.append_domain(&zone).ok()?;
    let soa = SOA::new(server, mailbox, 1, 7200, 1800, 604_800, NEGATIVE_TTL);
    Some(Record::from_rdata(zone, NEGATIVE_TTL, RData::SOA(soa)))
}
