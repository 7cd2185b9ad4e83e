use hickory_resolver::proto::op::{Header, Message, MessageType, Query, ResponseCode};
use hickory_resolver::proto::rr::{DNSClass, Name, Record};
use hickory_resolver::proto::serialize::binary::{BinDecodable, BinDecoder};

/// Reads the response to a query; none where the bytes are not that: another identifier, not a response,
/// another question.
///
/// Reads it as glibc does. Only the answer section counts: the sections after it may be broken. A record that
/// cannot be read is skipped as long as its frame is whole. Where the section itself ends early, or the
/// message says so (TC), the response is marked as truncated and has no records (RFC 2181 §9: such a response
/// is not used).
pub(super) fn read(bytes: &[u8], query: &Message) -> Option<Message> {
    if bytes.first_chunk() != Some(&query.metadata.id.to_be_bytes()) {
        return None;
    }
    let mut decoder = BinDecoder::new(bytes);
    let mut response = Message::response(query.metadata.id, query.metadata.op_code);
    response.queries.clone_from(&query.queries);
    let Ok(Header { metadata, counts }) = Header::read(&mut decoder) else {
        return Some(truncated(response));
    };
    if metadata.message_type != MessageType::Response {
        return None;
    }
    response.metadata = metadata;
    let has_failed = metadata.response_code != ResponseCode::NoError;
    match questions(&mut decoder, counts.queries) {
        Some(echoed) if echoed == query.queries => {}
        // Some servers do not repeat the question when they fail.
        Some(echoed) if echoed.is_empty() && has_failed => {}
        Some(_) => return None,
        None => return Some(truncated(response)),
    }
    if metadata.truncation {
        return Some(truncated(response));
    }
    match answers(bytes, decoder.index(), counts.answers) {
        Some(answers) => response.answers = answers,
        None => return Some(truncated(response)),
    }
    Some(response)
}

fn truncated(mut response: Message) -> Message {
    response.metadata.truncation = true;
    response.metadata.response_code = ResponseCode::NoError;
    response
}

fn questions(decoder: &mut BinDecoder<'_>, count: u16) -> Option<Vec<Query>> {
    (0..count).map(|_| Query::read(decoder).ok()).collect()
}

/// The records of class IN; none where some are missing.
fn answers(bytes: &[u8], start: usize, count: u16) -> Option<Vec<Record>> {
    let mut answers = Vec::new();
    let mut offset = start;
    for _ in 0..count {
        let end = end_of_record(bytes, offset)?;
        let record = Record::read(&mut decoder_at(bytes, offset)?);
        answers.extend(record.ok().filter(|record| record.dns_class == DNSClass::IN));
        offset = end;
    }
    Some(answers)
}

/// The end of a record's frame (RFC 1035 §3.2.1): name, type, class, TTL, and data preceded by its length.
fn end_of_record(bytes: &[u8], start: usize) -> Option<usize> {
    let mut decoder = decoder_at(bytes, start)?;
    Name::read(&mut decoder).ok()?;
    let _type_class_and_ttl = decoder.read_slice(8).ok()?;
    let length = decoder.read_u16().ok()?.unverified(/* the slice is checked */);
    decoder.read_slice(length.into()).ok()?;
    Some(decoder.index())
}

/// A decoder for the whole message at this position, because names may point back to anywhere in it.
fn decoder_at(bytes: &[u8], start: usize) -> Option<BinDecoder<'_>> {
    Some(BinDecoder::new(bytes).clone(u16::try_from(start).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_resolver::proto::op::OpCode;
    use hickory_resolver::proto::rr::rdata::{A, CNAME, TXT};
    use hickory_resolver::proto::rr::{RData, RecordType};
    use proptest::prelude::*;

    const ID: u16 = 0x1234;

    fn query() -> Message {
        let mut query = Message::query();
        query.metadata.id = ID;
        query.add_query(Query::query(Name::from_ascii("www.a.ke.").unwrap(), RecordType::A));
        query
    }

    /// An alias, two addresses, and a record after them.
    fn response() -> Message {
        let [name, alias] = ["www.a.ke.", "web.b.ke."].map(|name| Name::from_ascii(name).unwrap());
        let mut response = Message::response(ID, OpCode::Query);
        response.queries = query().queries;
        response.add_answer(Record::from_rdata(name, 60, RData::CNAME(CNAME(alias.clone()))));
        for last in [1, 2] {
            let address = RData::A(A::new(102, 0, 0, last));
            response.add_answer(Record::from_rdata(alias.clone(), 60, address));
        }
        response.add_additional(Record::from_rdata(alias, 60, RData::TXT(TXT::new(vec!["x".to_owned()]))));
        response
    }

    fn encode(message: &Message) -> Vec<u8> {
        message.to_vec().unwrap()
    }

    fn read_answers(bytes: &[u8]) -> Option<Vec<Record>> {
        read(bytes, &query()).filter(|message| !message.metadata.truncation).map(|message| message.answers)
    }

    /// The length of the message up to the end of its answers.
    fn end_of_answers() -> usize {
        let mut shorter = response();
        shorter.additionals.clear();
        encode(&shorter).len()
    }

    #[test]
    fn a_response_that_ends_within_its_answers_is_truncated_whatever_it_says_and_later_whole() {
        let bytes = encode(&response());
        for end in 0..=bytes.len() {
            let read = read(&bytes[..end], &query());
            if end < 2 {
                assert!(read.is_none(), "{end}");
                continue;
            }
            let read = read.unwrap();
            let is_whole = end >= end_of_answers();
            assert_eq!(read.metadata.truncation, !is_whole, "{end}");
            assert_eq!(read.answers, if is_whole { response().answers } else { Vec::new() }, "{end}");
        }
    }

    /// RFC 2181 §9.
    #[test]
    fn of_a_response_that_says_that_it_is_truncated_nothing_is_used() {
        let mut response = response();
        response.metadata.truncation = true;
        let bytes = encode(&response);
        for end in [12 + 14, end_of_answers() - 3, bytes.len()] {
            let read = read(&bytes[..end], &query()).unwrap();
            assert!(read.metadata.truncation && read.answers.is_empty(), "{end}");
        }
    }

    #[test]
    fn what_follows_the_answers_may_be_anything() {
        let mut bytes = encode(&response());
        bytes.truncate(end_of_answers());
        bytes.extend([0xc0, 0xff, 0, 1, 0, 1]);
        assert_eq!(read_answers(&bytes), Some(response().answers));
    }

    #[test]
    fn a_record_that_cannot_be_read_is_skipped_and_one_of_another_class_too() {
        let bytes = encode(&response());
        let good = response().answers;
        // The last address: its data, preceded by their length, TTL, class.
        let end = end_of_answers();
        let mut short = bytes.clone();
        short.splice(end - 6..end, [0, 3, 102, 0, 0]);
        assert_eq!(read_answers(&short), Some(good[..2].to_vec()), "an address of three bytes");
        let mut chaos = bytes.clone();
        chaos[end - 11] = 3;
        assert_eq!(read_answers(&chaos), Some(good[..2].to_vec()), "class CH");
    }

    #[test]
    fn what_is_not_the_response_to_the_query_is_passed_over() {
        let response_bytes = encode(&response());
        let mut wrong_id = response_bytes.clone();
        wrong_id[1] ^= 1;
        let mut no_response = response_bytes.clone();
        no_response[2] &= 0x7f;
        let mut wrong_query = response();
        wrong_query.queries[0].set_name(Name::from_ascii("www.b.ke.").unwrap());
        let mut no_query = response();
        no_query.queries.clear();
        for bytes in [wrong_id, no_response, encode(&wrong_query), encode(&no_query)] {
            assert!(read(&bytes, &query()).is_none());
        }
        let mut failed = Message::response(ID, OpCode::Query);
        failed.metadata.response_code = ResponseCode::Refused;
        let read = read(&encode(&failed), &query()).unwrap();
        assert_eq!(read.metadata.response_code, ResponseCode::Refused);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic_and_none_but_whole_answers_used(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..300),
            is_ours: bool,
        ) {
            if is_ours && bytes.len() > 2 {
                let good = encode(&response());
                let kept = bytes.len().min(good.len()) / 2;
                bytes[..kept].copy_from_slice(&good[..kept]);
            }
            if let Some(read) = read(&bytes, &query()) {
                prop_assert_eq!(&read.queries, &query().queries);
                prop_assert!(!read.metadata.truncation || read.answers.is_empty());
                prop_assert!(read.answers.iter().all(|record| record.dns_class == DNSClass::IN));
            }
        }

        #[test]
        fn a_flipped_byte_behind_the_answers_changes_nothing(offset in 0_usize..40, by in 1_u8..) {
            let mut bytes = encode(&response());
            let position = (end_of_answers() + offset).min(bytes.len() - 1);
            bytes[position] ^= by;
            prop_assert_eq!(read_answers(&bytes), Some(response().answers));
        }
    }
}
