//! A world whose hosts show what runs them: the network serves what the process serves, to the byte.

#![allow(clippy::disallowed_methods)] // Clients of the tests.

use std::net::IpAddr;
use std::sync::Arc;

use hickory_proto::rr::{RData, RecordType};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::reaction_tests::greet;
use super::tests::look_up;
use crate::model::site::{Role, Site};
use crate::{
    Certificate, Handshake, Lookup, Reaction, RequestFields, ServeSettings, Web, WireResponse, World, serve,
};

fn world() -> Arc<World> {
    let text = include_str!("../../../tests/worlds/hosts_tell_what_runs_them.toml");
    Arc::new(World::parse(text).unwrap())
}

/// All hosts with an address.
fn hosts(world: &World) -> Vec<String> {
    (0..world.sites.count)
        .map(|index| Site::new(world, index))
        .flat_map(|site| [Role::Main, Role::Bare, Role::Sub].map(|role| site.host(role).to_owned()))
        .filter(|host| world.server(host).is_some())
        .collect()
}

/// All bytes of the response to a request after which the connection is closed.
async fn ask<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, host: &str, target: &str) -> Vec<u8> {
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn the_network_serves_the_fields_and_bytes_of_the_process_under_both_schemes() {
    let world = world();
    let served = serve(world.clone(), ServeSettings::default()).await.unwrap();
    let mut seen = [0, 0];
    for host in hosts(&world) {
        for (is_https, target) in [(false, "/"), (false, "/robots.txt"), (true, "/"), (true, "/robots.txt")] {
            let is_trusted = world.handshake(&host) == Handshake::Certificate(Certificate::Valid);
            let reaction = world.respond(is_https, &host, target);
            let Reaction::Response(response) = reaction else { continue };
            if is_https && !is_trusted {
                continue;
            }
            let expected = WireResponse::new(response, &RequestFields::default(), true).to_bytes();
            let tcp = TcpStream::connect(served.gateway_addr).await.unwrap();
            let bytes = match is_https {
                true => ask(greet(tcp, &host).await.unwrap(), &host, target).await,
                false => ask(tcp, &host, target).await,
            };
            assert!(bytes == expected, "{host}{target}: {}", String::from_utf8_lossy(&bytes));
            seen[usize::from(is_https)] += 1;
        }
    }
    assert!(seen[0] > 60 && seen[1] > 40, "{seen:?}");
    served.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_name_server_sends_the_chain_of_aliases_and_the_addresses_of_its_end() {
    let world = world();
    let served = serve(world.clone(), ServeSettings::default()).await.unwrap();
    let (mut chains, mut both) = (0, 0);
    for host in hosts(&world) {
        let Lookup::Found(records) = world.lookup(&host) else { panic!("{host}") };
        let families =
            [(RecordType::A, records.v4.map(IpAddr::from)), (RecordType::AAAA, records.v6.map(IpAddr::from))];
        for (kind, address) in families {
            let answer = look_up(served.dns_addr, &host, kind).await;
            if answer.metadata.truncation {
                assert!(records.is_truncated);
                continue;
            }
            let (mut owner, mut addresses, mut aliases) = (format!("{host}."), Vec::new(), Vec::new());
            for record in &answer.answers {
                assert_eq!(record.name.to_ascii().trim_end_matches('.'), owner.trim_end_matches('.'));
                match &record.data {
                    RData::CNAME(to) => {
                        owner = to.0.to_ascii();
                        aliases.push(owner.trim_end_matches('.').to_owned());
                    }
                    RData::A(v4) => addresses.push(IpAddr::from(v4.0)),
                    RData::AAAA(v6) => addresses.push(IpAddr::from(v6.0)),
                    other => panic!("{host}: {other:?}"),
                }
            }
            assert_eq!(aliases, records.aliases().collect::<Vec<_>>(), "{host}");
            assert_eq!(addresses, address.into_iter().collect::<Vec<_>>(), "{host}");
            chains += usize::from(aliases.len() == 2);
        }
        both += usize::from(records.v4.is_some() && records.v6.is_some());
    }
    assert!(chains > 10 && both > 10, "{chains} {both}");
}

#[tokio::test]
async fn each_name_of_a_chain_resolves_by_itself() {
    let world = world();
    let served = serve(world.clone(), ServeSettings::default()).await.unwrap();
    let chained = hosts(&world).into_iter().find_map(|host| match world.lookup(&host) {
        Lookup::Found(records) if records.aliases().count() == 2 && !records.is_truncated => {
            Some((host, records))
        }
        _ => None,
    });
    let (host, records) = chained.unwrap();
    look_up(served.dns_addr, &host, RecordType::A).await;
    for (alias, rest) in records.aliases().zip([1, 0]) {
        let answer = look_up(served.dns_addr, alias, RecordType::A).await;
        assert_eq!(answer.answers.len(), rest + 1, "{alias}");
    }
}
