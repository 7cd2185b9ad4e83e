use std::net::Ipv4Addr;
use std::sync::Arc;

use hickory_proto::op::{Edns, Message, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};

use super::dns_answer::{Resolver, Transport};
use crate::fake_web::{FakeWeb, V4, V6};

fn answers() -> Resolver {
    Resolver::new(Arc::new(FakeWeb::quick()))
}

fn query(name: &str, kind: RecordType) -> Message {
    let mut message = Message::query();
    message.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
    message
}

fn ask(answers: &Resolver, name: &str, kind: RecordType) -> Option<Message> {
    let answer = answers.respond(&query(name, kind).to_vec().unwrap(), Transport::Udp)?;
    Some(Message::from_vec(&answer).unwrap())
}

fn data(message: &Message) -> Vec<RData> {
    message.answers.iter().map(|record| record.data.clone()).collect()
}

#[test]
fn a_host_has_the_addresses_it_has() {
    let answers = answers();
    let (v4, v6) = (RData::A(V4.into()), RData::AAAA(V6.into()));
    for (name, kind, expected) in [
        ("any.ke.", RecordType::A, vec![v4.clone()]),
        ("any.ke.", RecordType::AAAA, vec![]),
        ("six.ke.", RecordType::A, vec![]),
        ("six.ke.", RecordType::AAAA, vec![v6.clone()]),
        ("both.ke.", RecordType::AAAA, vec![v6.clone()]),
        ("both.ke.", RecordType::ANY, vec![v4, v6]),
        ("empty.ke.", RecordType::A, vec![]),
        ("any.ke.", RecordType::MX, vec![]),
    ] {
        let answer = ask(&answers, name, kind).unwrap();
        assert_eq!(answer.metadata.response_code, ResponseCode::NoError, "{name} {kind}");
        assert_eq!(data(&answer), expected, "{name} {kind}");
        assert_eq!(answer.authorities.is_empty(), !expected.is_empty(), "{name} {kind}");
    }
}

#[test]
fn an_alias_leads_to_the_addresses_and_resolves_itself() {
    let answers = answers();
    let answer = ask(&answers, "alias.ke.", RecordType::A).unwrap();
    let (first, second) = (&answer.answers[0], &answer.answers[1]);
    assert!(matches!(&first.data, RData::CNAME(to) if to.0.to_ascii() == "srv7.Hoster.example."));
    assert_eq!(
        (second.name.to_ascii(), &second.data),
        ("srv7.Hoster.example.".to_owned(), &RData::A(V4.into()))
    );
    let answer = ask(&answers, "alias.ke.", RecordType::AAAA).unwrap();
    assert_eq!((answer.answers.len(), answer.authorities.len()), (1, 1));
    let answer = ask(&answers, "SRV7.hoster.example.", RecordType::A).unwrap();
    assert_eq!(data(&answer), [RData::A(V4.into())]);
}

#[test]
fn trouble_with_names_is_as_the_world_says() {
    let answers = answers();
    let code = |name| ask(&answers, name, RecordType::A).map(|answer| answer.metadata.response_code);
    assert_eq!(code("nobody.example."), Some(ResponseCode::NXDomain));
    assert_eq!(code("failing.ke."), Some(ResponseCode::ServFail));
    assert_eq!(code("silent.ke."), None);
    let nobody = ask(&answers, "nobody.example.", RecordType::A).unwrap();
    assert_eq!(nobody.authorities[0].name.to_ascii(), "example.");
    assert!(matches!(&nobody.authorities[0].data, RData::SOA(soa) if soa.minimum == 900));
}

#[test]
fn an_answer_that_is_truncated_is_whole_over_tcp() {
    let (answers, query) = (answers(), query("long.ke.", RecordType::A).to_vec().unwrap());
    let short = Message::from_vec(&answers.respond(&query, Transport::Udp).unwrap()).unwrap();
    assert!(short.metadata.truncation && short.answers.is_empty());
    let whole = Message::from_vec(&answers.respond(&query, Transport::Tcp).unwrap()).unwrap();
    assert!(!whole.metadata.truncation);
    assert_eq!(data(&whole), [RData::A(V4.into())]);
}

#[test]
fn the_question_comes_back_as_it_was_asked() {
    let mut asked = query("wWw.AnY.kE.", RecordType::A);
    asked.set_edns(Edns::new());
    let answer = answers().respond(&asked.to_vec().unwrap(), Transport::Udp).unwrap();
    let answer = Message::from_vec(&answer).unwrap();
    assert_eq!(answer.queries[0].name().to_ascii(), "wWw.AnY.kE.");
    assert_eq!(answer.answers[0].name.to_ascii(), "wWw.AnY.kE.");
    assert_eq!(answer.edns.unwrap().max_payload(), 1232);
    assert!(ask(&answers(), "any.ke.", RecordType::A).unwrap().edns.is_none());
}

#[test]
fn what_is_no_query_is_not_answered() {
    let answers = answers();
    let mut answer = query("any.ke.", RecordType::A);
    answer.metadata.message_type = hickory_proto::op::MessageType::Response;
    for bytes in [answer.to_vec().unwrap(), b"nonsense".to_vec(), Vec::new()] {
        assert_eq!(answers.respond(&bytes, Transport::Udp), None);
    }
}

#[test]
fn an_alias_alone_is_asked_on_by_who_asks() {
    let answer = ask(&answers(), "chain.ke.", RecordType::A).unwrap();
    assert_eq!((answer.answers.len(), answer.authorities.len()), (1, 1));
    assert!(matches!(&answer.answers[0].data, RData::CNAME(to) if to.0.to_ascii() == "any.ke."));
}

#[test]
fn records_that_change_have_their_turns_and_are_not_to_be_kept() {
    let answers = answers();
    for expected in [1, 0, 0] {
        let answer = ask(&answers, "turns.ke.", RecordType::A).unwrap();
        assert_eq!(answer.answers.len(), expected);
        assert!(answer.answers.iter().all(|record| record.ttl == 0));
    }
}

#[test]
fn a_host_may_have_several_addresses() {
    let several = vec![RData::A(V4.into()), RData::A(Ipv4Addr::new(10, 0, 0, 1).into())];
    assert_eq!(data(&ask(&answers(), "many.ke.", RecordType::A).unwrap()), several);
}
