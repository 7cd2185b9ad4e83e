use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, Error};

/// Why a certificate is not valid for its host, in one word of a short list.
pub(super) fn defect(error: &Error, leaf: &CertificateDer<'_>) -> &'static str {
    let Error::InvalidCertificate(reason) = error else {
        return "other";
    };
    match reason {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "not_yet_valid",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => "wrong_name",
        CertificateError::Revoked => "revoked",
        CertificateError::BadSignature => "bad_signature",
        CertificateError::BadEncoding => "bad_encoding",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => "wrong_purpose",
        // A self-signed certificate has no known issuer, or is a CA's used as a server's.
        _ if is_self_issued(leaf) => "self_signed",
        CertificateError::UnknownIssuer => "unknown_issuer",
        _ => "other",
    }
}

/// Whether issuer and subject are the same name (RFC 5280 §4.1.2.4 and §4.1.2.6).
fn is_self_issued(leaf: &[u8]) -> bool {
    names(leaf).is_some_and(|(issuer, subject)| issuer == subject)
}

/// Issuer and subject of a certificate, as DER.
fn names(leaf: &[u8]) -> Option<(&[u8], &[u8])> {
    let (certificate, _) = element(leaf, SEQUENCE)?;
    let (mut fields, _) = element(certificate, SEQUENCE)?;
    if let Some((_version, rest)) = element(fields, EXPLICIT_0) {
        fields = rest;
    }
    let (_serial, rest) = element(fields, INTEGER)?;
    let (_signature, rest) = element(rest, SEQUENCE)?;
    let (issuer, rest) = element(rest, SEQUENCE)?;
    let (_validity, rest) = element(rest, SEQUENCE)?;
    let (subject, _) = element(rest, SEQUENCE)?;
    Some((issuer, subject))
}

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
const EXPLICIT_0: u8 = 0xa0;

/// The content of the first DER element if it has this tag, and what follows it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let (&length, rest) = rest.split_first()?;
    if first != tag {
        return None;
    }
    if length < 0x80 {
        return rest.split_at_checked(length.into());
    }
    // The long form: so many bytes hold the length; a certificate is below 16 MiB.
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
        assert_eq!(defect(&unknown, alone.cert.der()), "self_signed");
        assert_eq!(defect(&unknown, issued.der()), "unknown_issuer");
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = is_self_issued(&bytes);
        }
    }
}
