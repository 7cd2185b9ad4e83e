use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;

use crate::Oddity;

/// Size of the message header in bytes, and the offsets of its answer count and additional count (RFC 1035
/// §4.1.1).
const HEADER: usize = 12;
const ANSWERS: usize = 6;
const ADDITIONALS: usize = 10;
/// The TC bit, in the third byte of the header.
const TRUNCATED: u8 = 2;
/// A pointer to the name in the question (RFC 1035 §4.1.4), and type A.
const OWNER_AND_A: [u8; 4] = [0xc0, HEADER as u8, 0, 1];
/// One hour, as the four bytes of a TTL.
const TTL: [u8; 4] = [0, 0, 0x0e, 0x10];
/// Classes: Internet and Chaos.
const IN: [u8; 2] = [0, 1];
const CH: [u8; 2] = [0, 3];

/// Whether a query for records of this kind never gets a response.
pub(super) fn is_silent(oddity: Oddity, kind: RecordType) -> bool {
    oddity == Oddity::V6Silent && kind == RecordType::AAAA
}

/// The response code that replaces the records in a query of this type.
pub(super) fn code(oddity: Oddity, kind: RecordType) -> Option<ResponseCode> {
    match (oddity, kind) {
        (Oddity::V4Fails, RecordType::A) | (Oddity::V6Fails, RecordType::AAAA) => {
            Some(ResponseCode::ServFail)
        }
        (Oddity::V6Denied, RecordType::AAAA) => Some(ResponseCode::NXDomain),
        (Oddity::RefusedTersely, _) => Some(ResponseCode::Refused),
        _ => None,
    }
}

/// Distorts a well-formed response that ends with the requested records.
pub(super) fn distort(mut answer: Vec<u8>, oddity: Oddity, is_udp: bool) -> Vec<u8> {
    let has_answers = count(&answer, ANSWERS) > 0;
    match oddity {
        Oddity::CutWithinRecord if is_udp => {
            answer[2] |= TRUNCATED;
            answer.truncate(answer.len() - 3);
        }
        Oddity::CutUnsaid if is_udp && has_answers => answer.truncate(answer.len() - 3),
        Oddity::BrokenAdditional => {
            increment(&mut answer, ADDITIONALS);
            answer.extend([&OWNER_AND_A[..], &IN, &TTL, &[0, 200, 1]].concat());
        }
        Oddity::ShortAddress if has_answers => {
            increment(&mut answer, ANSWERS);
            answer.extend([&OWNER_AND_A[..], &IN, &TTL, &[0, 3, 41, 90, 0]].concat());
        }
        Oddity::ForeignClass if has_answers => {
            increment(&mut answer, ANSWERS);
            answer.extend([&OWNER_AND_A[..], &CH, &TTL, &[0, 4, 41, 90, 0, 9]].concat());
        }
        Oddity::RefusedTersely => {
            answer.truncate(HEADER);
            answer[4..].fill(0);
        }
        _ => {}
    }
    answer
}

fn count(message: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([message[at], message[at + 1]])
}

fn increment(message: &mut [u8], at: usize) {
    let incremented = count(message, at) + 1;
    message[at..at + 2].copy_from_slice(&incremented.to_be_bytes());
}
