use std::net::IpAddr;

use hickory_proto::rr::{RData, Record};

/// The addresses in the answers of a name server, in their order.
pub(super) fn addresses_in(answers: &[Record]) -> Vec<IpAddr> {
    let address = |record: &Record| match &record.data {
        RData::A(a) => Some(IpAddr::V4(a.0)),
        RData::AAAA(aaaa) => Some(IpAddr::V6(aaaa.0)),
        _ => None,
    };
    answers.iter().filter_map(address).collect()
}
