use hickory_resolver::proto::op::ResponseCode;

use futures_util::future::join_all;
use hickory_resolver::proto::rr::RecordType;

use super::name_server::{DnsReply, TestNameServer};
use super::*;
use crate::address::{Host, OptOut};
use crate::exchange::NameLookup;
use crate::exchange::Wire;
use crate::fetch::Located;

fn of(server: &TestNameServer) -> Settings {
    Settings { dns: Some(server.address), permit_special_addresses: false, ..settings() }
}

async fn locate(fetcher: &Fetcher, name: &str) -> Located {
    fetcher.locate(&Host::parse(name).unwrap()).await
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

async fn known(fetcher: &Fetcher, name: &str) -> NameLookup {
    fetcher.name_lookup(&Host::parse(name).unwrap()).await.unwrap()
}

#[tokio::test]
async fn a_host_has_its_smallest_address_and_is_asked_for_once() {
    let server =
        TestNameServer::serving(|_, _| DnsReply::Addresses(&["102.0.0.10", "102.0.0.9", "2c0f::1"])).await;
    let fetcher = fetcher(of(&server));
    let first = locate(&fetcher, "a.ke").await;
    assert_eq!(first.address, Ok(ip("102.0.0.9")));
    assert!(first.dns.is_some() && first.refused.is_none());
    assert_eq!(locate(&fetcher.clone(), "A.ke.").await, Located { dns: None, ..first });
    let known = known(&fetcher, "a.ke").await;
    let addresses = ["102.0.0.9", "102.0.0.10", "2c0f::1"].map(ip).to_vec();
    assert_eq!(known, NameLookup { aliases: Vec::new(), addresses, has_ipv6: Some(true) });
    let mut query_log = server.query_log();
    query_log.sort();
    assert_eq!(query_log, ["a.ke. A", "a.ke. AAAA"]);
}

/// With a gateway no route is needed: whether this machine has IPv6 makes no difference.
fn without_routes(server: &TestNameServer) -> Settings {
    Settings { gateway: Some(NOBODY), ..of(server) }
}

#[tokio::test]
async fn ipv6_is_taken_where_there_is_no_ipv4_address() {
    let server = TestNameServer::serving(|_, _| DnsReply::Addresses(&["2c0f::2", "2c0f::1"])).await;
    assert_eq!(locate(&fetcher(without_routes(&server)), "a.ke").await.address, Ok(ip("2c0f::1")));
}

#[tokio::test]
async fn ipv6_that_is_never_answered_delays_nothing() {
    let server = TestNameServer::serving(|_, kind| match kind {
        RecordType::A => DnsReply::Addresses(&["102.0.0.1"]),
        _ => DnsReply::Silence,
    })
    .await;
    let fetcher = fetcher(of(&server));
    assert_eq!(locate(&fetcher, "a.ke").await.address, Ok(ip("102.0.0.1")));
    assert_eq!(known(&fetcher, "a.ke").await.has_ipv6, None, "it is silent");
}

#[tokio::test]
async fn what_fails_in_one_family_does_not_hide_the_other() {
    let server = TestNameServer::serving(|name, kind| match (name, kind) {
        ("v4-fails.ke." | "v4-denied.ke.", RecordType::AAAA) => DnsReply::Addresses(&["2c0f::1"]),
        ("v4-fails.ke.", _) => DnsReply::Code(ResponseCode::ServFail),
        ("v4-denied.ke.", _) => DnsReply::Code(ResponseCode::NXDomain),
        (_, RecordType::A) => DnsReply::Addresses(&["102.0.0.1"]),
        ("v6-fails.ke.", _) => DnsReply::Code(ResponseCode::ServFail),
        _ => DnsReply::Code(ResponseCode::NXDomain),
    })
    .await;
    let fetcher = fetcher(without_routes(&server));
    for (name, address) in [
        ("v4-fails.ke", "2c0f::1"),
        ("v4-denied.ke", "2c0f::1"),
        ("v6-fails.ke", "102.0.0.1"),
        ("v6-denied.ke", "102.0.0.1"),
    ] {
        assert_eq!(locate(&fetcher, name).await.address, Ok(ip(address)), "{name}");
    }
    assert_eq!(known(&fetcher, "v6-fails.ke").await.has_ipv6, None, "nobody knows");
    assert_eq!(known(&fetcher, "v6-denied.ke").await.has_ipv6, Some(false));
}

#[tokio::test]
async fn ipv6_is_taken_when_all_ipv4_is_dead_and_not_when_it_is_opted_out() {
    let server = TestNameServer::serving(|_, _| DnsReply::Addresses(&["102.0.0.1", "2c0f::1"])).await;
    let fetcher = fetcher(without_routes(&server));
    let host = Host::parse("a.ke").unwrap();
    let dead = [ip("102.0.0.1")];
    assert_eq!(fetcher.locate_excluding(&host, &dead).await.address, Ok(ip("2c0f::1")));
    assert_eq!(fetcher.locate(&host).await.address, Ok(ip("102.0.0.1")));
    let opt_out = Arc::new(OptOuts::from(OptOut::parse("102.0.0.0/8").unwrap()));
    let fetcher = Fetcher::new(without_routes(&server), opt_out, Clock::system()).unwrap();
    assert_eq!(locate(&fetcher, "a.ke").await.address, Err(Failure::OptedOut));
    known(&fetcher, "a.ke").await;
    assert_eq!(locate(&fetcher, "a.ke").await.address, Err(Failure::OptedOut), "whatever else is known");
}

#[tokio::test]
async fn an_alias_that_only_ipv6_has_counts_as_one() {
    let server = TestNameServer::serving(|_, kind| match kind {
        RecordType::AAAA => DnsReply::Alias("web.left-alone.ke.", &["2c0f::1"]),
        _ => DnsReply::Addresses(&["102.0.0.1"]),
    })
    .await;
    let opt_out = Arc::new(OptOuts::from(OptOut::parse("left-alone.ke").unwrap()));
    let fetcher = Fetcher::new(without_routes(&server), opt_out, Clock::system()).unwrap();
    let _ = locate(&fetcher, "www.a.ke").await;
    known(&fetcher, "www.a.ke").await;
    assert_eq!(locate(&fetcher, "www.a.ke").await.address, Err(Failure::OptedOut));
    let (response, _) =
        fetcher.fetch(&request("http://www.a.ke/", Purpose::Page), ip("102.0.0.1"), u64::MAX).await;
    assert_eq!((response.failure, response.wire), (Some(Failure::OptedOut), Wire::default()));
}

#[tokio::test]
async fn an_alias_is_followed() {
    let server = TestNameServer::serving(|name, _| match name {
        "www.a.ke." => DnsReply::Alias("cdn.b.ke.", &["102.0.0.1"]),
        "far.a.ke." => DnsReply::Alias("www.a.ke.", &[]),
        "cdn.b.ke." => DnsReply::Addresses(&["102.0.0.1"]),
        _ => DnsReply::Code(ResponseCode::NXDomain),
    })
    .await;
    let fetcher = fetcher(of(&server));
    assert_eq!(locate(&fetcher, "www.a.ke").await.address, Ok(ip("102.0.0.1")));
    assert_eq!(locate(&fetcher, "far.a.ke").await.address, Ok(ip("102.0.0.1")));
}

#[tokio::test]
async fn an_alias_of_who_opted_out_leads_nowhere() {
    let server = TestNameServer::serving(|name, _| match name {
        "www.a.ke." => DnsReply::Alias("web.left-alone.ke.", &["102.0.0.1"]),
        "far.a.ke." => DnsReply::Alias("www.a.ke.", &[]),
        _ => DnsReply::Addresses(&["102.0.0.1"]),
    })
    .await;
    let opt_out = Arc::new(OptOuts::from(OptOut::parse("left-alone.ke").unwrap()));
    let fetcher = Fetcher::new(of(&server), opt_out, Clock::system()).unwrap();
    for name in ["www.a.ke", "far.a.ke", "www.a.ke"] {
        assert_eq!(locate(&fetcher, name).await.address, Err(Failure::OptedOut), "{name}");
    }
    assert_eq!(locate(&fetcher, "a.ke").await.address, Ok(ip("102.0.0.1")));
}

#[tokio::test]
async fn an_alias_of_who_opts_out_later_leads_nowhere_from_then_on() {
    let server = TestNameServer::serving(|_, _| DnsReply::Alias("web.left-alone.ke.", &["102.0.0.1"])).await;
    let opt_out = Arc::new(OptOuts::default());
    // Whatever fails, nothing leaves this machine.
    let settings = Settings { gateway: Some(NOBODY), ..of(&server) };
    let fetcher = Fetcher::new(settings, opt_out.clone(), Clock::system()).unwrap();
    let address = locate(&fetcher, "www.a.ke").await.address.unwrap();
    opt_out.replace(OptOut::parse("left-alone.ke").unwrap(), || std::time::SystemTime::UNIX_EPOCH);
    let (response, _) = fetcher.fetch(&request("http://www.a.ke/", Purpose::Page), address, u64::MAX).await;
    assert_eq!((response.failure, response.wire), (Some(Failure::OptedOut), Wire::default()));
    assert_eq!(locate(&fetcher, "www.a.ke").await.address, Err(Failure::OptedOut));
    opt_out.replace(OptOut::default(), || std::time::SystemTime::UNIX_EPOCH);
    assert_eq!(locate(&fetcher, "www.a.ke").await.address, Ok(address));
}

#[tokio::test]
async fn a_truncated_answer_is_fetched_over_tcp() {
    let server = TestNameServer::serving(|_, _| DnsReply::OverTcp(&["102.0.0.1"])).await;
    assert_eq!(locate(&fetcher(of(&server)), "a.ke").await.address, Ok(ip("102.0.0.1")));
    assert!(server.query_log().contains(&"a.ke. A tcp".to_owned()));
}

#[tokio::test]
async fn an_answer_that_ends_within_a_record_is_fetched_over_tcp_and_one_broken_behind_its_addresses_used() {
    let server = TestNameServer::serving(|name, _| match name {
        "cut.ke." => DnsReply::Cut(&["102.0.0.1", "102.0.0.2"]),
        _ => DnsReply::BrokenBehind(&["102.0.0.1"]),
    })
    .await;
    let fetcher = fetcher(of(&server));
    for name in ["cut.ke", "broken.ke"] {
        assert_eq!(locate(&fetcher, name).await.address, Ok(ip("102.0.0.1")), "{name}");
    }
    let query_log = server.query_log();
    assert!(
        query_log.contains(&"cut.ke. A tcp".to_owned())
            && !query_log.contains(&"broken.ke. A tcp".to_owned())
    );
}

/// The name server closes each TCP connection after a response (RFC 7766 §6.2.4).
#[tokio::test]
async fn no_look_up_fails_because_the_connection_of_another_was_closed() {
    let server = TestNameServer::serving(|_, _| DnsReply::OverTcp(&["102.0.0.1", "2c0f::1"])).await;
    let fetcher = fetcher(of(&server));
    let names: Vec<String> = (0..100).map(|number| format!("a{number}.ke")).collect();
    let located = join_all(names.iter().map(|name| locate(&fetcher, name))).await;
    for (name, located) in names.iter().zip(located) {
        assert_eq!(located.address, Ok(ip("102.0.0.1")), "{name}");
        assert_eq!(known(&fetcher, name).await.has_ipv6, Some(true), "{name}");
    }
}

#[tokio::test]
async fn every_way_dns_fails_has_its_word() {
    let server = TestNameServer::serving(|name, _| match name {
        "none.ke." => DnsReply::Code(ResponseCode::NXDomain),
        "empty.ke." => DnsReply::Addresses(&[]),
        "broken.ke." => DnsReply::Code(ResponseCode::ServFail),
        "refused.ke." => DnsReply::Code(ResponseCode::Refused),
        _ => DnsReply::Silence,
    })
    .await;
    let mut settings = of(&server);
    settings.timeouts.dns = 2 * SHORT;
    let fetcher = fetcher(settings);
    for (name, failure) in [
        ("none.ke", Failure::DnsNxdomain),
        ("empty.ke", Failure::DnsNoAddress),
        ("broken.ke", Failure::DnsServfail),
        ("refused.ke", Failure::DnsServfail),
        ("silent.ke", Failure::DnsTimeout),
    ] {
        let located = locate(&fetcher, name).await;
        assert_eq!(located.address, Err(failure), "{name}");
        assert!(located.dns.is_some());
        assert_eq!(locate(&fetcher, name).await, Located { dns: None, ..located }, "{name} again");
    }
    let query_count = |question: &str| server.query_log().iter().filter(|query| *query == question).count();
    assert_eq!((query_count("none.ke. A"), query_count("broken.ke. A")), (1, 2));
}

#[tokio::test]
async fn an_answer_that_is_no_dns_is_no_address() {
    let server = TestNameServer::serving(|_, _| DnsReply::Garbage).await;
    let mut settings = of(&server);
    settings.timeouts.dns = SHORT;
    let located = locate(&fetcher(settings), "a.ke").await;
    assert!(matches!(located.address, Err(Failure::DnsServfail | Failure::DnsTimeout)), "{located:?}");
}

#[tokio::test]
async fn names_that_lead_to_special_addresses_are_refused_and_the_address_told() {
    let server = TestNameServer::serving(|name, _| match name {
        "inside.ke." => DnsReply::Addresses(&["169.254.169.254", "10.0.0.1"]),
        "both.ke." => DnsReply::Addresses(&["10.0.0.1", "102.0.0.1"]),
        _ => DnsReply::Addresses(&["::ffff:127.0.0.1"]),
    })
    .await;
    let fetcher = fetcher(of(&server));
    let inside = locate(&fetcher, "inside.ke").await;
    assert_eq!((inside.address, inside.refused), (Err(Failure::AddressRefused), Some(ip("10.0.0.1"))));
    assert_eq!(locate(&fetcher, "both.ke").await.address, Ok(ip("102.0.0.1")));
    assert_eq!(locate(&fetcher, "mapped.ke").await.refused, Some(ip("127.0.0.1")));
    assert_eq!(locate(&fetcher, "[::1]").await.address, Err(Failure::AddressRefused));
    assert_eq!(locate(&fetcher, "localhost").await.address, Err(Failure::AddressRefused));
}

#[tokio::test]
async fn an_opted_out_host_is_not_even_looked_up_and_an_opted_out_address_not_contacted() {
    let names = TestNameServer::serving(|_, _| DnsReply::Addresses(&["127.0.0.1"])).await;
    let server = Server::responding(page(b"", "")).await;
    let opt_out = crate::address::OptOut::parse("left-alone.ke\n127.0.0.0/30\n").unwrap();
    let settings = Settings { permit_special_addresses: true, ..of(&names) };
    let fetcher = Fetcher::new(settings, Arc::new(opt_out.into()), Clock::system()).unwrap();
    assert_eq!(locate(&fetcher, "www.left-alone.ke").await.address, Err(Failure::OptedOut));
    assert!(names.query_log().is_empty());
    let located = locate(&fetcher, "a.ke").await;
    assert_eq!((located.address, located.refused), (Err(Failure::OptedOut), Some(LOOPBACK)));
    for url in [format!("http://a.ke:{}/", server.address.port()), server.url("/")] {
        let (response, _) = fetcher.fetch(&request(&url, Purpose::Page), LOOPBACK, u64::MAX).await;
        assert_eq!(response.failure, Some(Failure::OptedOut), "{url}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn the_last_gate_checks_the_address_itself() {
    let server = Server::responding(page(b"", "")).await;
    let strict = fetcher(Settings { permit_special_addresses: false, ..settings() });
    assert_eq!(failure(&get(&strict, &server).await), Some(Failure::AddressRefused));
    let other = request(&server.url("/"), Purpose::Page);
    let (response, _) = fetcher(settings()).fetch(&other, ip("127.0.0.2"), u64::MAX).await;
    assert_eq!(response.failure, Some(Failure::AddressRefused));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_server_that_does_not_know_options_is_asked_without_them() {
    for zone in [
        (|_: &str, _| DnsReply::WithoutOptions(&["102.0.0.1"], ResponseCode::FormErr))
            as fn(&str, RecordType) -> DnsReply,
        |_, _| DnsReply::WithoutOptions(&["102.0.0.1"], ResponseCode::NotImp),
    ] {
        let server = TestNameServer::serving(zone).await;
        assert_eq!(locate(&fetcher(of(&server)), "a.ke").await.address, Ok(ip("102.0.0.1")));
    }
    let server = TestNameServer::serving(|_, _| DnsReply::Code(ResponseCode::FormErr)).await;
    assert_eq!(locate(&fetcher(of(&server)), "a.ke").await.address, Err(Failure::DnsServfail));
}

/// Names that exist in zones, whether or not a registry would assign them today.
#[tokio::test]
async fn names_that_browsers_ask_for_are_asked_for() {
    let names = [
        "-dash.hosts.ke",
        "dash-.hosts.ke",
        "a+b.hosts.ke",
        "under_score.ke",
        "a--b.ke",
        "xn--a.ke",
        "a!$&'()*,;=~b.ke",
    ];
    for name in names {
        let server = TestNameServer::serving(|_, _| DnsReply::Alias("-a+b.left.ke.", &["102.0.0.1"])).await;
        let located = locate(&fetcher(of(&server)), name).await;
        assert_eq!(located.address, Ok(ip("102.0.0.1")), "{name}");
        let query_log = server.query_log();
        assert!(query_log.iter().all(|query| query.replace('\\', "").starts_with(name)), "{query_log:?}");
    }
}
