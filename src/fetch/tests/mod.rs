//! Exchanges with servers on loopback that behave like servers on the Web.

#![allow(clippy::disallowed_methods)] // Servers of the tests have sockets and clocks of their own.

mod bodies;
mod connections;
mod encryption;
mod gateway;
mod hosts;
mod in_process;
mod mishaps;
mod name_server;
mod pages;
mod server;
mod tls_server;
mod wire;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use super::{Clock, Fetcher, Manner, Settings, Timeouts, Unmetered};
use crate::address::{OptOuts, WebUrl};
use crate::exchange::{Depth, Failure, Purpose, Request, Response, Validators};
use server::Server;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// An address where no process listens.
const NOBODY: SocketAddr = SocketAddr::new(LOOPBACK, 1);
/// Short for tests of a time-out; all others get `AMPLE`.
const SHORT: Duration = Duration::from_millis(150);
const AMPLE: Duration = Duration::from_secs(20);

fn settings() -> Settings {
    let timeouts =
        Timeouts { dns: AMPLE, connect: AMPLE, tls: AMPLE, first_byte: AMPLE, idle: AMPLE, whole: AMPLE };
    let shortest_pause = Duration::ZERO;
    Settings {
        dns: Some(NOBODY),
        permit_special_addresses: true,
        timeouts,
        shortest_pause,
        ..Settings::default()
    }
}

fn fetcher(settings: Settings) -> Fetcher {
    Fetcher::new(settings, Arc::new(OptOuts::default()), Clock::system()).unwrap()
}

fn request(url: &str, purpose: Purpose) -> Request {
    Request { number: 0, url: WebUrl::parse(url).unwrap(), purpose, depth: Some(Depth(0)) }
}

async fn get(fetcher: &Fetcher, server: &Server) -> (Response, Vec<u8>) {
    fetcher.fetch(&request(&server.url("/"), Purpose::Page), LOOPBACK, u64::MAX).await
}

/// The result of a request to a server that sends `reply` after the request and closes the connection.
async fn serve_and_fetch(reply: impl Into<Vec<u8>>) -> (Response, Vec<u8>) {
    serve_and_fetch_with(settings(), reply).await
}

async fn serve_and_fetch_with(settings: Settings, reply: impl Into<Vec<u8>>) -> (Response, Vec<u8>) {
    let server = Server::responding_once(reply).await;
    get(&fetcher(settings), &server).await
}

fn page(body: &[u8], fields: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n{fields}\r\n");
    [head.as_bytes(), body].concat()
}

/// Lets the tasks of connections run, so that a connection is back in the pool, or its end has been noticed;
/// all of them run on this thread.
async fn settle() {
    for _ in 0..500 {
        tokio::task::yield_now().await;
    }
}

fn failure(response: &(Response, Vec<u8>)) -> Option<Failure> {
    response.0.failure
}
