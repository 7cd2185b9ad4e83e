use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use parking_lot::Mutex;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use tempfile::NamedTempFile;

use super::page;

pub(crate) type Versions = &'static [&'static SupportedProtocolVersion];
pub(crate) const ONLY_1_2: Versions = &[&TLS12];
pub(crate) const ONLY_1_3: Versions = &[&TLS13];

/// An HTTPS server on loopback, before it starts.
pub(crate) struct Plan {
    pub names: Vec<String>,
    pub years: (i32, i32),
    pub self_signed: bool,
    pub versions: Versions,
    pub reply: Vec<u8>,
    /// Closes the connection after each response.
    pub closing: bool,
    /// The protocols that it supports over TLS; if there are none, it sends no list.
    pub protocols: &'static [&'static [u8]],
    /// Sent after the handshake, before any request.
    pub greeting: &'static [u8],
}

/// An HTTPS server on loopback. It runs until the process ends.
pub(crate) struct TlsServer {
    pub address: SocketAddr,
    /// The certificate of its authority, as PEM.
    pub root: NamedTempFile,
    traffic: Arc<Traffic>,
}

#[derive(Default)]
struct Traffic {
    received: AtomicU64,
    sent: AtomicU64,
    request_head: Mutex<String>,
    closed: AtomicU64,
}

struct Counted {
    stream: TcpStream,
    traffic: Arc<Traffic>,
}

impl TlsServer {
    pub(crate) fn of(names: &[&str]) -> Plan {
        Plan {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            years: (2000, 2100),
            self_signed: false,
            versions: rustls::ALL_VERSIONS,
            reply: page(b"<p>secret", ""),
            closing: false,
            protocols: &[],
            greeting: b"",
        }
    }

    /// The last request head.
    pub(crate) fn request_head(&self) -> String {
        self.traffic.request_head.lock().clone()
    }

    /// The number of connections that it has closed.
    pub(crate) fn closed(&self) -> u64 {
        self.traffic.closed.load(Ordering::SeqCst)
    }

    /// Bytes received and sent over TCP so far.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.traffic.received.load(Ordering::SeqCst), self.traffic.sent.load(Ordering::SeqCst))
    }
}

impl Plan {
    pub(crate) fn start(self) -> TlsServer {
        let (chain, key, root_pem) = self.certificates();
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(self.versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, PrivatePkcs8KeyDer::from(key.serialize_der()).into())
            .unwrap();
        config.alpn_protocols = self.protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let mut root = NamedTempFile::new().unwrap();
        root.write_all(root_pem.as_bytes()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let traffic = Arc::<Traffic>::default();
        let (plan, config, seen) = (Arc::new(self), Arc::new(config), traffic.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let counted = Counted { stream, traffic: seen.clone() };
                let connection = ServerConnection::new(config.clone()).unwrap();
                let plan = plan.clone();
                let seen = seen.clone();
                thread::spawn(move || {
                    let mut tls = StreamOwned::new(connection, counted);
                    // A client that leaves does not fail the test. A client that continues its handshake
                    // would get a reset, and might lose the alert that was sent.
                    if plan.serve(&mut tls).is_err() {
                        let _ = tls.sock.stream.shutdown(Shutdown::Write);
                        let _ = io::copy(&mut tls.sock.stream, &mut io::sink());
                    }
                    seen.closed.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        TlsServer { address, root, traffic }
    }

    fn certificates(&self) -> (Vec<CertificateDer<'static>>, KeyPair, String) {
        let (from, to) = self.years;
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(self.names.clone()).unwrap();
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        if self.self_signed {
            let leaf = params.self_signed(&key).unwrap();
            return (vec![leaf.der().clone()], key, leaf.pem());
        }
        let mut authority = CertificateParams::new([]).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.distinguished_name.push(DnType::CommonName, "test authority");
        let authority_key = KeyPair::generate().unwrap();
        let root = authority.self_signed(&authority_key).unwrap();
        let issuer = Issuer::new(authority, authority_key);
        let leaf = params.signed_by(&key, &issuer).unwrap();
        (vec![leaf.der().clone(), root.der().clone()], key, root.pem())
    }

    fn serve(&self, tls: &mut StreamOwned<ServerConnection, Counted>) -> io::Result<()> {
        tls.write_all(self.greeting)?;
        loop {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") {
                tls.read_exact(&mut byte)?;
                head.push(byte[0]);
            }
            *tls.sock.traffic.request_head.lock() = String::from_utf8(head).unwrap();
            tls.write_all(&self.reply)?;
            tls.flush()?;
            if self.closing {
                return Ok(());
            }
        }
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.traffic.received.fetch_add(count as u64, Ordering::SeqCst);
        Ok(count)
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Counted first, so that a client that has read it finds it counted.
        self.traffic.sent.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        self.stream.write_all(bytes)?;
        Ok(bytes.len())
    }

    /// Writes all pieces: when rustls fails, it writes its remaining data only once.
    fn write_vectored(&mut self, pieces: &[io::IoSlice<'_>]) -> io::Result<usize> {
        pieces.iter().map(|piece| self.write(piece)).sum()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
