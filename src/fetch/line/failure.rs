use std::error::Error;
use std::io;
use std::io::ErrorKind;

use crate::exchange::Failure;
use crate::fetch::connect::{Moments, Slow};

/// The failure that an error of the HTTP client means, when no head of a response arrived.
///
/// Goes through the chain of causes from the outside in; the first cause that is specific decides.
pub(in crate::fetch) fn classify(error: &reqwest::Error, moments: &Moments) -> Failure {
    if error.is_builder() {
        // A URL that cannot be written into a request; nothing was sent.
        return Failure::BadHttp;
    }
    if let Some(failure) = causes(error).find_map(|cause| from_cause(cause, moments)) {
        return failure;
    }
    if moments.ready.is_some() || moments.connect_start.is_none() {
        Failure::Reset
    } else if moments.tls_start.is_some() {
        Failure::TlsHandshake
    } else {
        Failure::ConnectUnreachable
    }
}

/// Whether the server refused our TLS in a way that is typical of servers with older TLS. A server that has
/// shown a certificate has accepted a version and a suite of ours, and its refusal has another reason.
pub(in crate::fetch) fn may_speak_older_tls(error: &reqwest::Error, moments: &Moments) -> bool {
    use rustls::{AlertDescription, Error};
    let refusal = causes(error).find_map(|cause| cause.downcast_ref::<Error>());
    match refusal {
        _ if moments.certificate_bytes.is_some() => false,
        // Besides the alerts that name the version or the suites, those of servers that fail on extensions
        // newer than themselves.
        Some(Error::AlertReceived(alert)) => matches!(
            alert,
            AlertDescription::ProtocolVersion
                | AlertDescription::HandshakeFailure
                | AlertDescription::UnexpectedMessage
                | AlertDescription::IllegalParameter
                | AlertDescription::DecodeError
                | AlertDescription::ExportRestriction
                | AlertDescription::InternalError
        ),
        Some(error) => from_tls_error(error) == Failure::TlsTooOld,
        None => false,
    }
}

/// An error and its causes, from the outside in.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| inner(*error))
}

/// The next cause. `io::Error::source` skips an error that an `io::Error` wraps, so it is taken from
/// `get_ref`.
fn inner<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

fn from_cause(error: &(dyn Error + 'static), moments: &Moments) -> Option<Failure> {
    if let Some(slow) = error.downcast_ref::<Slow>() {
        return Some(match slow {
            Slow::Connect => Failure::ConnectTimeout,
            Slow::Handshake => Failure::TlsTimeout,
        });
    }
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(from_tls_error(error));
    }
    if error.is::<rustls::pki_types::InvalidDnsNameError>() {
        return Some(Failure::TlsHandshake);
    }
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        // On a connection kept alive it may be a closing message, such as 408. On a new connection its text
        // is lost: it may be an early response, HTTP/2 or another protocol.
        return if moments.connect_start.is_some() && server_spoke_first(error) {
            Some(Failure::OddHttp)
        } else {
            from_http_error(error)
        };
    }
    let error = error.downcast_ref::<io::Error>()?;
    if error.get_ref().is_some_and(|wrapped| wrapped.is::<rustls::Error>() || wrapped.is::<io::Error>()) {
        return None;
    }
    Some(from_io_error(error.kind(), moments))
}

/// The failure of a TLS handshake.
pub(in crate::fetch) fn from_handshake_error(error: &io::Error, moments: &Moments) -> Failure {
    match error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>()) {
        Some(error) => from_tls_error(error),
        None => from_io_error(error.kind(), moments),
    }
}

/// A server that shares no version with us says so in an alert (RFC 8446 §6.2, `protocol_version`), or sends
/// a hello with its own version all the same. The alert `handshake_failure` may mean old cipher suites or an
/// unknown host name; `no_application_protocol` means that the server does not support HTTP/1.1 (RFC 7301
/// §3.2).
fn from_tls_error(error: &rustls::Error) -> Failure {
    use rustls::{AlertDescription, Error, PeerIncompatible, PeerMisbehaved};
    match error {
        Error::InvalidCertificate(_) => Failure::TlsCertificate,
        Error::AlertReceived(AlertDescription::ProtocolVersion)
        | Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        )
        | Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedCipherSuite) => Failure::TlsTooOld,
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) => Failure::TlsHttp2Only,
        Error::AlertReceived(_) => Failure::TlsAlert,
        _ => Failure::TlsHandshake,
    }
}

/// hyper's message for a head beyond its buffer or `MOST_FIELDS`; the method that identifies it exists only
/// in servers.
const TOO_LARGE: &str = "message head is too large";

/// hyper's message for bytes that arrived before a request was sent; no method identifies it.
const UNEXPECTED: &str = "received unexpected message from connection";

/// Whether the server sent bytes before the request.
fn server_spoke_first(error: &hyper::Error) -> bool {
    causes(error).any(|cause| cause.is::<hyper::Error>() && cause.to_string() == UNEXPECTED)
}

fn from_http_error(error: &hyper::Error) -> Option<Failure> {
    if error.is_parse() {
        // Data that does not begin like HTTP at all is not an error to the library: it takes such data for a
        // page without a head.
        Some(if error.to_string() == TOO_LARGE { Failure::HeaderTooLarge } else { Failure::OddHttp })
    } else if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        Some(Failure::Reset)
    } else {
        None
    }
}

fn from_io_error(kind: ErrorKind, moments: &Moments) -> Failure {
    let connected = moments.ready.is_some() || moments.connect_start.is_none();
    match kind {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => Failure::Reset,
        _ if connected => Failure::Reset,
        _ if moments.tls_start.is_some() => Failure::TlsHandshake,
        ErrorKind::ConnectionRefused => Failure::ConnectRefused,
        ErrorKind::TimedOut => Failure::ConnectTimeout,
        _ => Failure::ConnectUnreachable,
    }
}
