//! When our own link breaks, the survey pauses and probes; it does not give up the sites.
#![allow(clippy::disallowed_methods)] // The link between survey and space has its own sockets.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ccsurvey::records::{ExchangeRow, SiteRow};
use ccsurvey::settings::{Settings, Span};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::runtime::Runtime;

use crate::common::Space;
use crate::common::waiting::until;

/// A link to the name server and the gateway of a space that can be cut: then no packet comes back.
struct Link {
    is_cut: Arc<AtomicBool>,
    dns: SocketAddr,
    gateway: SocketAddr,
    runtime: Runtime,
}

impl Link {
    fn to(space: &Space) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let is_cut = Arc::new(AtomicBool::new(false));
        let (dns, gateway) = runtime.block_on(async {
            let dns = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
            // A connection that is not accepted soon gets no response, as on a link that is cut.
            let gateway = socket.listen(1).unwrap();
            let addresses = (dns.local_addr().unwrap(), gateway.local_addr().unwrap());
            tokio::spawn(forward_datagrams(dns, space.dns().parse().unwrap(), is_cut.clone()));
            tokio::spawn(forward_streams(gateway, space.gateway().parse().unwrap(), is_cut.clone()));
            addresses
        });
        Self { is_cut, dns, gateway, runtime }
    }

    /// Cuts the link while `work` is done.
    fn cut_while(&self, work: impl FnOnce()) {
        self.is_cut.store(true, Ordering::SeqCst);
        // Fills the queue of connections to be accepted, so that further ones get no response.
        let waiting = self.runtime.block_on(async {
            let mut waiting = Vec::new();
            while let Ok(Ok(stream)) =
                tokio::time::timeout(Duration::from_millis(50), TcpStream::connect(self.gateway)).await
            {
                waiting.push(stream);
            }
            waiting
        });
        work();
        drop(waiting);
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

async fn wait_while_cut(is_cut: &AtomicBool) {
    while is_cut.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn forward_datagrams(socket: UdpSocket, to: SocketAddr, is_cut: Arc<AtomicBool>) {
    let socket = Arc::new(socket);
    let mut buffer = [0; 2048];
    loop {
        let Ok((size, from)) = socket.recv_from(&mut buffer).await else { return };
        if is_cut.load(Ordering::SeqCst) {
            continue;
        }
        let (query, socket) = (buffer[..size].to_vec(), socket.clone());
        tokio::spawn(async move {
            let upstream = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            upstream.send_to(&query, to).await.unwrap();
            let mut response = [0; 2048];
            let received = tokio::time::timeout(Duration::from_secs(5), upstream.recv(&mut response)).await;
            if let Ok(Ok(size)) = received {
                let _ = socket.send_to(&response[..size], from).await;
            }
        });
    }
}

async fn forward_streams(listener: TcpListener, to: SocketAddr, is_cut: Arc<AtomicBool>) {
    loop {
        wait_while_cut(&is_cut).await;
        // A connection that came in meanwhile is served when the link is back.
        let Ok((mut near, _)) = listener.accept().await else { return };
        let is_cut = is_cut.clone();
        tokio::spawn(async move {
            wait_while_cut(&is_cut).await;
            let Ok(mut far) = TcpStream::connect(to).await else { return };
            tokio::select! {
                _ = copy_bidirectional(&mut near, &mut far) => {}
                // Data in flight is lost with the link.
                () = async { while !is_cut.load(Ordering::SeqCst) { tokio::time::sleep(Duration::from_millis(2)).await; } } => {
                    wait_while_cut(&is_cut).await;
                }
            }
        });
    }
}

/// How long the link is cut.
const CUT_DURATION: Duration = Duration::from_secs(16);

#[test]
fn a_survey_whose_own_link_breaks_pauses_and_gives_no_site_up() {
    let space = Space::serve("a_small_country");
    let undisturbed = space.survey(space.settings());
    let link = Link::to(&space);
    // Short compared with the cut, long compared with the hiccups of a busy machine.
    let short = Span(CUT_DURATION / 5);
    let settings = Settings {
        dns: Some(link.dns),
        gateway: Some(link.gateway),
        sites: 16,
        min_delay: Span(Duration::from_millis(20)),
        max_delay: Span(Duration::from_secs(4)),
        dns_timeout: short,
        connect_timeout: short,
        first_byte_timeout: short,
        idle_timeout: short,
        exchange_timeout: Span(CUT_DURATION / 2),
        ..space.settings()
    };
    let before = space.accesses().len();
    let surveyed = std::thread::scope(|scope| {
        scope.spawn(|| {
            until(|| space.accesses().len() >= before + 150);
            link.cut_while(|| {
                // Counted after the link is cut: however late this thread gets there, no request arrives
                // meanwhile.
                let seen = space.accesses().len();
                std::thread::sleep(CUT_DURATION);
                assert!(space.accesses().len() <= seen + 64, "the link was cut");
            });
        });
        space.survey(settings)
    });
    let outcomes = |sites: &[SiteRow], outcome| sites.iter().filter(|site| site.outcome == outcome).count();
    let (sites, undisturbed_sites) = (surveyed.rows::<SiteRow>(), undisturbed.rows::<SiteRow>());
    let extra = outcomes(&sites, "unreachable") - outcomes(&undisturbed_sites, "unreachable");
    // Without the pause, each of the sixteen visits would lose a site with every time-out of the cut.
    assert!(extra <= 16, "{extra} sites more are unreachable than the visits in flight");
    let failures = |rows: Vec<ExchangeRow>| rows.iter().filter(|row| row.failure.is_some()).count();
    let (lost, expected) = (failures(surveyed.rows()), failures(undisturbed.rows()));
    // The requests in flight, those that showed that the link is broken, and the probes.
    assert!(lost <= expected + 16 + 16 + 8, "{lost} failures, {expected} without a cut");
}
