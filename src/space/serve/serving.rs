use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::access::{Access, AccessLog};
use super::dns::NameServer;
use super::gateway::Gateway;
use super::link::ServerLinks;
use super::tls::TlsHosts;
use crate::Web;

/// How a world is served.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// The address of the name server, for UDP and TCP; port 0 picks a free port.
    pub dns: SocketAddr,
    /// The address of the gateway, which plays all Web servers; port 0 picks a free port.
    pub gateway: SocketAddr,
    /// A CSV file of all accesses, flushed every second.
    pub log: Option<PathBuf>,
    /// Accesses kept in memory, about 200 bytes each; later ones go to the file only.
    pub most_kept: usize,
    /// All times of the world are divided by this factor.
    pub speed: f64,
}

impl Default for ServeSettings {
    fn default() -> Self {
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self { dns: loopback, gateway: loopback, log: None, most_kept: 1_000_000, speed: 1.0 }
    }
}

/// Why a world cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The name server cannot listen.
    #[error("the name server cannot listen at {0}: {1}")]
    Dns(SocketAddr, io::Error),
    /// The gateway cannot listen.
    #[error("the gateway cannot listen at {0}: {1}")]
    Gateway(SocketAddr, io::Error),
    /// The log cannot be written.
    #[error("the access log {0} cannot be written: {1}")]
    Log(PathBuf, String),
    /// The speed is not above 0.
    #[error("the speed is {0}, expected a number above 0")]
    Speed(f64),
}

/// A world that is served until [`Served::shutdown`] or until this is dropped.
pub struct Served {
    /// The address of the name server.
    pub dns_addr: SocketAddr,
    /// The address of the gateway.
    pub gateway_addr: SocketAddr,
    log_file: Option<PathBuf>,
    log: AccessLog,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

/// How often the access log is flushed.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// Serves a world over real DNS, HTTP and HTTPS, on the current runtime.
///
/// # Errors
/// When an address is in use, the log cannot be created, or the speed is not above 0.
pub async fn serve(world: Arc<dyn Web>, settings: ServeSettings) -> Result<Served, ServeError> {
    if !(settings.speed.is_finite() && settings.speed > 0.0) {
        return Err(ServeError::Speed(settings.speed));
    }
    let log = AccessLog::open(settings.log.as_deref(), settings.most_kept)
        .map_err(|error| ServeError::Log(settings.log.clone().unwrap_or_default(), error.to_string()))?;
    let no_dns = |error| ServeError::Dns(settings.dns, error);
    let name_server = NameServer::bind(settings.dns).await.map_err(no_dns)?;
    let dns_addr = name_server.address().map_err(no_dns)?;
    let no_gateway = |error| ServeError::Gateway(settings.gateway, error);
    let listener = TcpListener::bind(settings.gateway).await.map_err(no_gateway)?;
    let gateway_addr = listener.local_addr().map_err(no_gateway)?;

    let (stop, stopped) = watch::channel(false);
    let gateway = Arc::new(Gateway {
        world: Arc::clone(&world),
        log: log.clone(),
        links: ServerLinks::new(settings.speed),
        hosts: TlsHosts::default(),
        stop: stopped,
        connections: AtomicU64::new(0),
        turn_counts: Mutex::default(),
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(name_server.run(world));
    tasks.spawn(gateway.run(listener));
    if settings.log.is_some() {
        tasks.spawn(keep_up_to_date(log.clone()));
    }
    Ok(Served { dns_addr, gateway_addr, log_file: settings.log, log, stop, tasks })
}

impl Served {
    /// The accesses so far, in the order in which they ended.
    #[must_use]
    pub fn access_log(&self) -> Vec<Access> {
        self.log.accesses()
    }

    /// Stops serving: closes open connections and writes the rest of the access log.
    ///
    /// # Errors
    /// When the access log could not be written, now or earlier.
    pub async fn shutdown(mut self) -> Result<(), ServeError> {
        // Sending fails only if every task has ended already.
        let _ = self.stop.send(true);
        self.tasks.shutdown().await;
        self.log.flush().map_err(|error| ServeError::Log(self.log_file.take().unwrap_or_default(), error))
    }
}

/// The log keeps a write error, and shutdown reports it.
async fn keep_up_to_date(log: AccessLog) {
    let mut every = tokio::time::interval(FLUSH_EVERY);
    loop {
        every.tick().await;
        let _ = log.flush();
    }
}
