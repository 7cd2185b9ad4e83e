use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::ServerConfig;
use rustls::crypto::ring::{default_provider, sign::any_ecdsa_type};
use rustls::server::NoServerSessionStorage;
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use crate::Certificate;
use crate::web::certificates::Mint;

/// The TLS configurations of the hosts of a world: versions 1.2 and 1.3, each host with its own certificate.
///
/// Sessions are never resumed. Thus every handshake shows the certificate, and the counts of a survey do not
/// depend on whether a ticket arrived before a connection was closed.
#[derive(Default)]
pub(crate) struct TlsHosts(Mutex<HashMap<(String, u64), Arc<ServerConfig>>>);

/// Hosts whose certificates are kept, about 3 kB each; a new certificate costs one signature.
const MOST_HOSTS: usize = 4096;

impl TlsHosts {
    /// The TLS configuration of a host with this kind of certificate.
    pub(crate) fn config(&self, host: &str, kind: Certificate) -> io::Result<Arc<ServerConfig>> {
        let key = (host.to_owned(), kind as u64);
        let hosts = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = hosts().get(&key) {
            return Ok(Arc::clone(known));
        }
        let config = Arc::new(config(host, kind)?);
        let mut hosts = hosts();
        if hosts.len() >= MOST_HOSTS {
            hosts.clear();
        }
        hosts.insert(key, Arc::clone(&config));
        Ok(config)
    }
}

fn config(host: &str, kind: Certificate) -> io::Result<ServerConfig> {
    let mint = Mint::get().map_err(io::Error::other)?;
    let certificate = mint.certificate(host, kind).map_err(io::Error::other)?;
    let key = any_ecdsa_type(&mint.key()).map_err(io::Error::other)?;
    let resolver = SingleCertAndKey::from(CertifiedKey::new(vec![certificate], key));
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(resolver));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}
