use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, Error};
use x509_parser::prelude::{ASN1Time, FromDer, GeneralName, X509Certificate, X509Name};

use crate::exchange::{Certificate, TlsError};

/// The number of characters kept of a name in a certificate; the longest host name is shorter.
const MAX_NAME: usize = 256;

/// What a certificate says; none if it is so broken that a parser gives up.
pub(in crate::fetch) fn contents(leaf: &[u8]) -> Option<Certificate> {
    let (_, certificate) = X509Certificate::from_der(leaf).ok()?;
    let validity = certificate.validity();
    let alternatives = certificate.subject_alternative_name().ok().flatten();
    let names = alternatives.into_iter().flat_map(|extension| &extension.value.general_names);
    let names = names.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(shortened(name)),
        _ => None,
    });
    Some(Certificate {
        issuer: issuer(certificate.issuer()),
        valid_from: time(&validity.not_before),
        valid_until: time(&validity.not_after),
        names: names.take(Certificate::MAX_NAMES).collect(),
    })
}

fn issuer(name: &X509Name<'_>) -> Option<String> {
    let organisation = name.iter_organization().next();
    let text = organisation.or_else(|| name.iter_common_name().next())?.as_str().ok()?;
    Some(shortened(text.trim())).filter(|text| !text.is_empty())
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_NAME).collect()
}

/// RFC 5280 §4.1.2.5 has dates up to the year 9999. None before 1970.
fn time(time: &ASN1Time) -> Option<SystemTime> {
    let seconds = u64::try_from(time.timestamp()).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// The reason why a certificate is not valid for its host.
pub(in crate::fetch) fn defect(error: &Error, leaf: &CertificateDer<'_>) -> TlsError {
    let Error::InvalidCertificate(reason) = error else {
        return TlsError::Other;
    };
    match reason {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsError::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => TlsError::NotYetValid,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            TlsError::WrongName
        }
        CertificateError::Revoked => TlsError::Revoked,
        CertificateError::BadSignature => TlsError::BadSignature,
        CertificateError::BadEncoding => TlsError::BadEncoding,
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            TlsError::WrongPurpose
        }
        // A self-signed certificate has no known issuer, or is a CA's used as a server's.
        _ if is_self_issued(leaf) => TlsError::SelfSigned,
        CertificateError::UnknownIssuer => TlsError::UnknownIssuer,
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            TlsError::WeakSignature
        }
        CertificateError::Other(error) => error.0.downcast_ref().map_or(TlsError::Other, from_webpki_error),
        _ => TlsError::Other,
    }
}

/// Reasons for which rustls has no variant.
fn from_webpki_error(error: &webpki::Error) -> TlsError {
    use webpki::Error;
    match error {
        Error::UnsupportedCertVersion => TlsError::OldVersion,
        Error::UnsupportedCriticalExtension => TlsError::CriticalExtension,
        Error::CaUsedAsEndEntity => TlsError::WrongPurpose,
        Error::ExtensionValueInvalid
        | Error::InvalidSerialNumber
        | Error::MalformedDnsIdentifier
        | Error::MalformedExtensions
        | Error::MalformedNameConstraint
        | Error::SignatureAlgorithmMismatch => TlsError::BadEncoding,
        _ => TlsError::Other,
    }
}

/// Whether issuer and subject are the same name (RFC 5280 §4.1.2.4 and §4.1.2.6).
fn is_self_issued(leaf: &[u8]) -> bool {
    fields(leaf).is_some_and(|fields| fields.issuer == fields.subject)
}

/// The key of a certificate, if it is of a kind that this room supports. Numbers have no leading zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fetch) enum PublicKey<'a> {
    Rsa {
        modulus: &'a [u8],
        exponent: &'a [u8],
    },
    /// A point on the curve (SEC 1 §2.3.3).
    P256(&'a [u8]),
    P384(&'a [u8]),
    Ed25519(&'a [u8]),
    Other,
}

/// The key of a certificate; none where the bytes up to the key are not a certificate.
pub(in crate::fetch) fn public_key(leaf: &[u8]) -> Option<PublicKey<'_>> {
    let (algorithm, rest) = element(fields(leaf)?.key, SEQUENCE)?;
    let (bits, _) = element(rest, BIT_STRING)?;
    // The bits are preceded by the number of unused bits in the last byte: none in a key.
    let (_unused, key) = bits.split_first()?;
    let (kind, parameters) = element(algorithm, OBJECT_IDENTIFIER)?;
    Some(match kind {
        RSA_ENCRYPTION | RSASSA_PSS => {
            let (numbers, _) = element(key, SEQUENCE)?;
            let (modulus, rest) = element(numbers, INTEGER)?;
            let (exponent, _) = element(rest, INTEGER)?;
            PublicKey::Rsa { modulus: without_zeros(modulus), exponent: without_zeros(exponent) }
        }
        EC_PUBLIC_KEY => match element(parameters, OBJECT_IDENTIFIER) {
            Some((P_256, _)) => PublicKey::P256(key),
            Some((P_384, _)) => PublicKey::P384(key),
            _ => PublicKey::Other,
        },
        ED_25519 => PublicKey::Ed25519(key),
        _ => PublicKey::Other,
    })
}

/// A number read as positive, whatever its first bit is.
fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

/// The parts of a certificate that are used, as DER. Libraries parse all of it, and so reject certificates
/// that must be read here.
struct CertificateFields<'a> {
    issuer: &'a [u8],
    subject: &'a [u8],
    /// Algorithm and key, one after the other.
    key: &'a [u8],
}

fn fields(leaf: &[u8]) -> Option<CertificateFields<'_>> {
    let (certificate, _) = element(leaf, SEQUENCE)?;
    let (mut fields, _) = element(certificate, SEQUENCE)?;
    if let Some((_version, rest)) = element(fields, EXPLICIT_0) {
        fields = rest;
    }
    let (_serial, rest) = element(fields, INTEGER)?;
    let (_signature, rest) = element(rest, SEQUENCE)?;
    let (issuer, rest) = element(rest, SEQUENCE)?;
    let (_validity, rest) = element(rest, SEQUENCE)?;
    let (subject, rest) = element(rest, SEQUENCE)?;
    let (key, _) = element(rest, SEQUENCE)?;
    Some(CertificateFields { issuer, subject, key })
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OBJECT_IDENTIFIER: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const EXPLICIT_0: u8 = 0xa0;

/// Object identifiers of keys and curves: 1.2.840.113549.1.1.1 and .10 (RFC 4055), 1.2.840.10045.2.1,
/// 1.2.840.10045.3.1.7 and 1.3.132.0.34 (RFC 5480), 1.3.101.112 (RFC 8410).
const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const RSASSA_PSS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10];
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P_256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P_384: &[u8] = &[0x2b, 0x81, 4, 0, 0x22];
const ED_25519: &[u8] = &[0x2b, 0x65, 0x70];

/// The content of the first DER element if it has this tag, and the bytes after it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let (&length, rest) = rest.split_first()?;
    if first != tag {
        return None;
    }
    if length < 0x80 {
        return rest.split_at_checked(length.into());
    }
    // The long form: this number of bytes holds the length; a certificate is below 16 MiB.
    let (length, rest) = rest.split_at_checked(usize::from(length & 0x7f)).filter(|(l, _)| l.len() <= 3)?;
    let length = length.iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte));
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_self_signed_certificate_is_told_from_one_of_an_unknown_issuer() {
        let alone = rcgen::generate_simple_self_signed(["a.ke".to_owned()]).unwrap();
        assert!(is_self_issued(alone.cert.der()));
        let (authority_key, key) = (rcgen::KeyPair::generate().unwrap(), rcgen::KeyPair::generate().unwrap());
        let mut authority = rcgen::CertificateParams::new([]).unwrap();
        authority.distinguished_name.push(rcgen::DnType::CommonName, "some authority");
        let signer = rcgen::Issuer::new(authority, authority_key);
        let issued =
            rcgen::CertificateParams::new(["a.ke".to_owned()]).unwrap().signed_by(&key, &signer).unwrap();
        assert!(!is_self_issued(issued.der()));
        let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        assert_eq!(defect(&unknown, alone.cert.der()), TlsError::SelfSigned);
        assert_eq!(defect(&unknown, issued.der()), TlsError::UnknownIssuer);
    }

    #[test]
    fn the_key_of_a_certificate_is_read_as_far_as_it_is_known() {
        let key = |algorithm| {
            let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
            let params = rcgen::CertificateParams::new(["a.ke".to_owned()]).unwrap();
            (params.self_signed(&key).unwrap().der().to_vec(), key.public_key_raw().to_vec())
        };
        let (leaf, raw) = key(&rcgen::PKCS_ECDSA_P256_SHA256);
        assert_eq!(public_key(&leaf), Some(PublicKey::P256(&raw)));
        let (leaf, raw) = key(&rcgen::PKCS_ECDSA_P384_SHA384);
        assert_eq!(public_key(&leaf), Some(PublicKey::P384(&raw)));
        let (leaf, raw) = key(&rcgen::PKCS_ED25519);
        assert_eq!(public_key(&leaf), Some(PublicKey::Ed25519(&raw)));
        for end in 0..leaf.len() {
            assert_eq!(public_key(&leaf[..end]), None, "{end}");
        }
        assert_eq!(without_zeros(&[0, 0, 1, 0]), [1, 0]);
    }

    #[test]
    fn a_certificate_tells_who_issued_it_for_which_names_and_until_when() {
        let mut params = rcgen::CertificateParams::new(["a.ke".to_owned(), "www.a.ke".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2026, 1, 2);
        params.not_after = rcgen::date_time_ymd(2027, 3, 4);
        let (authority_key, key) = (rcgen::KeyPair::generate().unwrap(), rcgen::KeyPair::generate().unwrap());
        let issued_by = |pushed: &[(rcgen::DnType, &str)]| {
            let mut authority = rcgen::CertificateParams::new([]).unwrap();
            authority.distinguished_name = rcgen::DistinguishedName::new();
            pushed.iter().for_each(|(kind, text)| authority.distinguished_name.push(kind.clone(), *text));
            let issuer = rcgen::Issuer::new(authority, &authority_key);
            contents(params.signed_by(&key, &issuer).unwrap().der()).unwrap()
        };
        let common_name = (rcgen::DnType::CommonName, "R11");
        let read = issued_by(&[common_name.clone(), (rcgen::DnType::OrganizationName, "Let's Encrypt")]);
        assert_eq!(read.issuer.as_deref(), Some("Let's Encrypt"));
        assert_eq!(read.names, ["a.ke", "www.a.ke"]);
        let days = |days: u64| Some(UNIX_EPOCH + Duration::from_secs(days * 86_400));
        assert_eq!((read.valid_from, read.valid_until), (days(20_455), days(20_881)));
        assert_eq!(issued_by(&[common_name]).issuer.as_deref(), Some("R11"));
        assert_eq!(issued_by(&[]).issuer, None);
    }

    proptest! {
        #[test]
        fn a_certificate_with_any_bytes_in_it_is_looked_at_without_panic(
            at in any::<proptest::sample::Index>(),
            bytes in proptest::collection::vec(any::<u8>(), 1..8),
        ) {
            let alone = rcgen::generate_simple_self_signed(["a.ke".to_owned()]).unwrap();
            let mut leaf = alone.cert.der().to_vec();
            let start = at.index(leaf.len());
            leaf.splice(start..(start + bytes.len()).min(leaf.len()), bytes);
            let _ = (is_self_issued(&leaf), public_key(&leaf), contents(&leaf));
        }

        #[test]
        fn any_bytes_are_looked_at_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = (is_self_issued(&bytes), public_key(&bytes), contents(&bytes));
        }
    }
}
