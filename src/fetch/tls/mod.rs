//! TLS: handshakes, certificates and their defects, and the ClientHello of old clients.

pub(super) mod bare_key;
pub(super) mod certificate;
pub(super) mod greeting;
pub(super) mod old_tls;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use parking_lot::Mutex;
use reqwest::tls::{TlsInfo, Version};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    ClientSessionMemoryCache, ClientSessionStore, Resumption, Tls12ClientSessionValue,
    Tls13ClientSessionValue, WebPkiServerVerifier,
};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, NamedGroup, RootCertStore, SignatureScheme,
};

use super::connect::Notes;
use super::{Clock, FetchError, Settings};
use crate::address::Host;
use crate::exchange::{Certificate, TlsError};
use bare_key::{SCHEMES, SignatureCheck, Signed, is_of_tls13, is_weak};

/// The TLS state that all lines share: protocol versions 1.2 and 1.3, and the root certificates (Mozilla's
/// and the user's).
pub(super) struct Tls {
    config: ClientConfig,
    webpki: Arc<WebPkiServerVerifier>,
    refuse: bool,
    clock: Clock,
}

/// The certificate of a line's server and its defect, in one word.
///
/// They are stored with the line, as are its sessions, because the certificate is not sent again in a resumed
/// session.
#[derive(Debug, Default)]
pub(super) struct CertificateCheck(Mutex<CheckedCertificate>);

#[derive(Debug, Default)]
struct CheckedCertificate {
    defect: Option<TlsError>,
    certificate: Option<Certificate>,
}

impl CertificateCheck {
    pub(super) fn defect(&self) -> Option<TlsError> {
        self.0.lock().defect
    }

    /// What the certificate says; none where none was sent.
    pub(super) fn certificate(&self) -> Option<Certificate> {
        self.0.lock().certificate.clone()
    }

    pub(super) fn set(&self, defect: Option<TlsError>) {
        self.0.lock().defect = defect;
    }

    pub(super) fn set_certificate(&self, certificate: Option<Certificate>) {
        self.0.lock().certificate = certificate;
    }

    /// Records a defect, unless one is recorded already.
    fn add(&self, defect: TlsError) {
        self.0.lock().defect.get_or_insert(defect);
    }
}

impl Tls {
    pub(super) fn new(settings: &Settings, clock: Clock) -> Result<Self, FetchError> {
        let fault = |error: String| FetchError::Tls(error);
        let provider = Arc::new(ring::default_provider());
        let roots = Arc::new(roots(&settings.extra_roots)?);
        let webpki = WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
            .build()
            .map_err(|error| fault(error.to_string()))?;
        let config = config(provider, webpki.clone()).map_err(|error| fault(error.to_string()))?;
        Ok(Self { config, webpki, refuse: settings.refuse_bad_certificates, clock })
    }

    /// The configuration for one line, with its own sessions and certificate check.
    pub(super) fn for_line(&self, host: &Host) -> (ClientConfig, Arc<CertificateCheck>) {
        let certificate_check = Arc::<CertificateCheck>::default();
        let name = host.as_str().trim_start_matches('[').trim_end_matches(']');
        let examiner = Examiner {
            webpki: self.webpki.clone(),
            name: ServerName::try_from(name.to_owned()).ok(),
            refuse: self.refuse,
            certificate_check: certificate_check.clone(),
            clock: self.clock,
        };
        let mut config = self.config.clone();
        config.dangerous().set_certificate_verifier(Arc::new(examiner));
        config.resumption = Resumption::store(Arc::new(Sessions(ClientSessionMemoryCache::new(SESSIONS))));
        (config, certificate_check)
    }
}

/// The number of sessions of a line: it contacts one host under one name.
const SESSIONS: usize = 1;

fn config(provider: Arc<CryptoProvider>, webpki: Arc<WebPkiServerVerifier>) -> Result<ClientConfig, Error> {
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_webpki_verifier(webpki)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// The TLS version in use, where it comes from a Web in process or a raw line and not from the library.
#[derive(Clone)]
pub(super) struct SpokenVersion(pub &'static str);

/// The TLS version of a response's connection, such as `TLSv1.3`.
pub(super) fn version(extensions: &http::Extensions) -> Option<String> {
    if let Some(SpokenVersion(name)) = extensions.get() {
        return Some((*name).to_owned());
    }
    let name = match extensions.get::<TlsInfo>()?.version()? {
        Version::TLS_1_2 => "TLSv1.2",
        Version::TLS_1_3 => "TLSv1.3",
        _ => return None,
    };
    Some(name.to_owned())
}

fn roots(files: &[PathBuf]) -> Result<RootCertStore, FetchError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for path in files {
        let pem =
            fs::read(path).map_err(|source| FetchError::RootsUnreadable { path: path.clone(), source })?;
        let certificates = CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok);
        if roots.add_parsable_certificates(certificates).0 == 0 {
            return Err(FetchError::NoRoots { path: path.clone() });
        }
    }
    Ok(roots)
}

/// Records the defect of a certificate, and accepts the certificate all the same unless set to refuse. The
/// signatures of the handshake are really verified, with the bare key where only the key of the certificate
/// can be read. A key that nothing here can verify is accepted like a bad certificate (see
/// [`bare_key`](bare_key)).
#[derive(Debug)]
struct Examiner {
    webpki: Arc<WebPkiServerVerifier>,
    /// The host of the line: with a gateway, the URL does not always name it.
    name: Option<ServerName<'static>>,
    refuse: bool,
    certificate_check: Arc<CertificateCheck>,
    /// The clock of the survey: the clock of an agent's machine may be wrong.
    clock: Clock,
}

impl ServerCertVerifier for Examiner {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let unix_time = self.clock.system_time_now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = UnixTime::since_unix_epoch(unix_time);
        let bytes: usize = leaf.len() + intermediates.iter().map(|der| der.len()).sum::<usize>();
        Notes::certificates(bytes as u64);
        self.certificate_check.set_certificate(certificate::contents(leaf));
        let name = self.name.as_ref().unwrap_or(name);
        match self.webpki.verify_server_cert(leaf, intermediates, name, ocsp, now) {
            Ok(_) if is_weak(leaf) => {
                let error = CertificateError::ApplicationVerificationFailure;
                self.accept_bad(TlsError::WeakKey, error.into())
            }
            Ok(verified) => {
                self.certificate_check.set(None);
                Ok(verified)
            }
            Err(error) => self.accept_bad(certificate::defect(&error, leaf), error),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verified = self.webpki.verify_tls12_signature(message, leaf, signed);
        verified.or_else(|error| self.verify_by_bare_key(message, leaf, signed, error))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verified = self.webpki.verify_tls13_signature(message, leaf, signed);
        verified.or_else(|error| {
            if is_of_tls13(signed.scheme) {
                return self.verify_by_bare_key(message, leaf, signed, error);
            }
            Err(error)
        })
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        if self.refuse { self.webpki.supported_verify_schemes() } else { SCHEMES.to_vec() }
    }
}

impl Examiner {
    fn accept_bad(&self, defect: TlsError, error: Error) -> Result<ServerCertVerified, Error> {
        self.certificate_check.set(Some(defect));
        if self.refuse { Err(error) } else { Ok(ServerCertVerified::assertion()) }
    }

    /// Verifies with the bare key a signature that could not be verified with the whole certificate because
    /// of `error`.
    fn verify_by_bare_key(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
        error: Error,
    ) -> Result<HandshakeSignatureValid, Error> {
        let (scheme, signature) = (signed.scheme, signed.signature());
        if self.refuse || !self.supported_verify_schemes().contains(&scheme) {
            return Err(error);
        }
        match (Signed { scheme, message, signature }).check(leaf) {
            Some(SignatureCheck::Good) => Ok(HandshakeSignatureValid::assertion()),
            Some(SignatureCheck::Unverifiable) => {
                self.certificate_check.add(TlsError::UnverifiedKey);
                Ok(HandshakeSignatureValid::assertion())
            }
            Some(SignatureCheck::Forged) | None => Err(error),
        }
    }
}

/// Stores sessions, so that a new connection to the same server costs it no new signature. The TLS library
/// asks for a session as the handshake begins; at that moment this type records that TCP is connected.
#[derive(Debug)]
struct Sessions(ClientSessionMemoryCache);

impl ClientSessionStore for Sessions {
    fn set_kx_hint(&self, name: ServerName<'static>, group: NamedGroup) {
        self.0.set_kx_hint(name, group);
    }

    fn kx_hint(&self, name: &ServerName<'_>) -> Option<NamedGroup> {
        self.0.kx_hint(name)
    }

    fn set_tls12_session(&self, name: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.0.set_tls12_session(name, session);
    }

    fn tls12_session(&self, name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.0.tls12_session(name)
    }

    fn remove_tls12_session(&self, name: &ServerName<'static>) {
        self.0.remove_tls12_session(name);
    }

    fn insert_tls13_ticket(&self, name: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        self.0.insert_tls13_ticket(name, ticket);
    }

    fn take_tls13_ticket(&self, name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        Notes::note_tls_start();
        self.0.take_tls13_ticket(name)
    }
}
