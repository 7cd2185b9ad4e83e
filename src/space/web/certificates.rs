use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use rcgen::{
    CertificateParams, CustomExtension, DistinguishedName, DnType, Error, ExtendedKeyUsagePurpose, Issuer,
    KeyPair, KeyUsagePurpose, PublicKeyData, SanType, SerialNumber, SignatureAlgorithm, SigningKey,
    date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::version_one::version_one;
use crate::Certificate;

/// The authority of all virtual Webs. Its key is public and therefore worthless: a client that trusts this
/// authority outside a survey of a virtual Web can be deceived by anyone.
const AUTHORITY: &str = include_str!("../data/virtual-authority.pem");
const AUTHORITY_KEY: &[u8] = include_bytes!("../data/virtual-authority-key.der");
/// The subject of the authority's own certificate.
const AUTHORITY_NAME: &str = "ccsurvey virtual Web, worthless authority";
/// The subject of all server certificates; the names of a server are in the subject alternative name (RFC
/// 9525 §2).
const SERVER_NAME: &str = "virtual Web server";
/// The host in certificates with a wrong name.
const ANOTHER_HOST: &str = "www.another-host.example";

/// The years in which certificates are valid, wide enough for every survey.
const VALID: (i32, i32) = (2000, 2099);
const EXPIRED: (i32, i32) = (2000, 2001);
/// An OID under the enterprise number for examples (RFC 5612), which belongs to no one.
const UNKNOWN_EXTENSION: &[u64] = &[1, 3, 6, 1, 4, 1, 32_473, 1];
/// The basic constraints (RFC 5280 §4.2.1.9), a SEQUENCE.
const BASIC_CONSTRAINTS: &[u64] = &[2, 5, 29, 19];
/// NULL, in DER.
const NULL: [u8; 2] = [5, 0];

/// The most frequent length of an ECDSA signature on P-256 in DER: one of its two integers has its first bit
/// set and takes one more byte, as in half of all signatures.
const SIGNATURE_BYTES: usize = 71;

/// Makes the certificates of virtual hosts. All hosts share one key, generated once per process.
pub(crate) struct Mint {
    authority: Issuer<'static, Steady>,
    key: Steady,
}

static MINT: LazyLock<Result<Mint, Error>> = LazyLock::new(|| {
    let authority = Issuer::new(params_for(AUTHORITY_NAME), Steady(KeyPair::try_from(AUTHORITY_KEY)?));
    Ok(Mint { authority, key: Steady(KeyPair::generate()?) })
});

/// The certificate of the authority of all virtual Webs, for clients that must accept the certificates of its
/// hosts.
#[must_use]
pub fn ca_certificate_pem() -> &'static str {
    AUTHORITY
}

/// The number of certificate bytes that a host sends, as a survey counts them; 0 for a host that no
/// certificate can name.
///
/// The number depends only on the length of the name and on the kind of certificate: numbers and dates have
/// fixed widths, and signing is repeated until the signature has its most frequent length. Costs about 0.3
/// ms, once for each length.
#[must_use]
pub fn certificate_bytes(host: &str, kind: Certificate) -> u64 {
    static KNOWN: LazyLock<Mutex<HashMap<(usize, u64), u64>>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if !host.is_ascii() {
        return 0;
    }
    let key = (host.len(), kind as u64);
    if let Some(bytes) = known().get(&key) {
        return *bytes;
    }
    let made = Mint::get().ok().and_then(|mint| mint.certificate(host, kind).ok());
    let Some(bytes) = made.map(|certificate| certificate.len() as u64) else { return 0 };
    known().insert(key, bytes);
    bytes
}

/// What a certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateContents {
    /// The common name of its issuer.
    pub issuer: &'static str,
    /// The first and the last moment at which it is valid.
    pub valid: (SystemTime, SystemTime),
    /// The host for which it is valid; none in a certificate of X.509 version 1.
    pub name: Option<String>,
}

/// What the certificate of a host says.
#[must_use]
pub fn certificate_contents(host: &str, kind: Certificate) -> CertificateContents {
    let (from, to) = years(kind);
    CertificateContents {
        issuer: issuer(kind),
        valid: (date_time_ymd(from, 1, 1).into(), date_time_ymd(to, 12, 31).into()),
        name: (kind != Certificate::VersionOne).then(|| names(host, kind).to_owned()),
    }
}

/// The years in whose first and last day the validity of a certificate begins and ends.
fn years(kind: Certificate) -> (i32, i32) {
    if kind == Certificate::Expired { EXPIRED } else { VALID }
}

/// The common name of the issuer of a certificate.
pub(crate) fn issuer(kind: Certificate) -> &'static str {
    if kind == Certificate::SelfSigned { SERVER_NAME } else { AUTHORITY_NAME }
}

/// The name in the certificate of a host.
pub(crate) fn names(host: &str, kind: Certificate) -> &str {
    if kind == Certificate::WrongName { ANOTHER_HOST } else { host }
}

impl Mint {
    pub(crate) fn get() -> Result<&'static Self, Error> {
        MINT.as_ref().map_err(Clone::clone)
    }

    /// The certificate of a host; as usual, the certificate of the authority is not sent along.
    pub(crate) fn certificate(
        &self,
        host: &str,
        kind: Certificate,
    ) -> Result<CertificateDer<'static>, Error> {
        let name = names(host, kind);
        let (from, to) = years(kind);
        let mut params = params_for(SERVER_NAME);
        params.subject_alt_names = vec![SanType::DnsName(name.try_into()?)];
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 12, 31));
        params.serial_number = Some(serial(host, kind));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let extension = match kind {
            Certificate::CriticalExtension => Some((UNKNOWN_EXTENSION, true)),
            Certificate::BrokenExtension => Some((BASIC_CONSTRAINTS, false)),
            _ => None,
        };
        params.custom_extensions.extend(extension.map(|(kind, is_critical)| {
            let mut extension = CustomExtension::from_oid_content(kind, NULL.to_vec());
            extension.set_criticality(is_critical);
            extension
        }));
        let made = match kind {
            Certificate::SelfSigned => params.self_signed(&self.key)?,
            _ => params.signed_by(&self.key, &self.authority)?,
        };
        let made = made.der().clone();
        Ok(match kind {
            Certificate::VersionOne => {
                let signed = version_one(&made, |signed| self.authority.key().sign(signed));
                signed.ok_or(Error::CouldNotParseCertificate)??.into()
            }
            Certificate::TrailingBytes => [&made, &[0; 2][..]].concat().into(),
            _ => made,
        })
    }

    /// The private key of all hosts.
    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.0.serialize_der()).into()
    }
}

fn params_for(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}

/// A serial number of 16 bytes. Its first byte is neither 0 nor negative, so it always takes 16 bytes. It
/// differs for each host, because browsers reject two certificates with the same number.
fn serial(host: &str, kind: Certificate) -> SerialNumber {
    let mut bytes = xxh3_128_with_seed(host.as_bytes(), kind as u64).to_be_bytes();
    bytes[0] = bytes[0] & 0x3f | 0x40;
    SerialNumber::from_slice(&bytes)
}

/// A key whose signatures all have the same length.
struct Steady(KeyPair);

impl PublicKeyData for Steady {
    fn der_bytes(&self) -> &[u8] {
        self.0.der_bytes()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl SigningKey for Steady {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        loop {
            let signature = self.0.sign(message)?;
            if signature.len() == SIGNATURE_BYTES {
                return Ok(signature);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Certificate; 8] = [
        Certificate::Valid,
        Certificate::SelfSigned,
        Certificate::Expired,
        Certificate::WrongName,
        Certificate::VersionOne,
        Certificate::CriticalExtension,
        Certificate::BrokenExtension,
        Certificate::TrailingBytes,
    ];

    #[test]
    fn the_length_of_a_certificate_depends_on_the_length_of_the_name_and_the_kind() {
        let mint = Mint::get().unwrap();
        for kind in KINDS {
            for length in [4, 60, 117, 130, 200] {
                for letter in ["a", "b", "7"] {
                    let host = letter.repeat(length - 3) + ".ke";
                    for _ in 0..2 {
                        let bytes = mint.certificate(&host, kind).unwrap().len() as u64;
                        assert_eq!(bytes, certificate_bytes(&host, kind), "{host} {kind:?}");
                    }
                }
            }
        }
        assert_eq!(
            KINDS.map(|kind| certificate_bytes("www.example.ke", kind)),
            [407, 384, 405, 417, 333, 427, 418, 409]
        );
        assert_eq!(certificate_bytes("kein\u{e9}.ke", Certificate::Valid), 0);
    }

    #[test]
    fn no_two_hosts_have_a_number_in_common() {
        let numbers: Vec<Vec<u8>> = ["a.ke", "b.ke"]
            .iter()
            .flat_map(|host| KINDS.map(|kind| serial(host, kind).to_bytes()))
            .collect();
        let distinct: std::collections::HashSet<&Vec<u8>> = numbers.iter().collect();
        assert_eq!(distinct.len(), numbers.len());
        assert!(numbers.iter().all(|number| number.len() == 16));
    }
}
