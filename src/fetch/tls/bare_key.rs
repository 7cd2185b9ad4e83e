//! Verifies the signature of a handshake with the bare key of a certificate, whatever the rest of the
//! certificate is.
//!
//! rustls parses the whole certificate for this, and so refuses servers whose certificates only cause a
//! warning in browsers: X.509 version 1, unknown critical extensions, odd encodings, RSA keys of 1024 bits.
//! This module reads only the key.
//!
//! ring cannot verify some keys: RSA below 1024 bits, below 2048 bits with PSS (the only RSA signature of TLS
//! 1.3) or above 8192 bits, P-521, Ed448, compressed points. Their signatures count as good, and `tls_error`
//! records that they were not verified. Little is lost by that: a survey accepts every certificate, so an
//! attacker who could forge such a signature could just as well present another certificate; nothing secret
//! is sent, and the pages read are marked. Where invalid certificates are refused, these are refused too.

use ring::signature::{
    self, ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1,
    ED25519, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
};
use rustls::SignatureScheme;

use super::certificate::{self, PublicKey};

/// RSA with a key that is restricted to PSS (RFC 8446 §4.2.3), for which rustls has no names.
const RSA_PSS_PSS_SHA256: SignatureScheme = SignatureScheme::Unknown(0x0809);
const RSA_PSS_PSS_SHA384: SignatureScheme = SignatureScheme::Unknown(0x080a);
const RSA_PSS_PSS_SHA512: SignatureScheme = SignatureScheme::Unknown(0x080b);

/// The schemes that are offered. First come those of browsers in their order, in which a 512-bit RSA key
/// finds a scheme for which it is long enough. Of the others, Firefox offers those with SHA-1, and curl the
/// rest.
pub(in crate::fetch) const SCHEMES: [SignatureScheme; 16] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
    SignatureScheme::RSA_PKCS1_SHA512,
    SignatureScheme::ED25519,
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED448,
    RSA_PSS_PSS_SHA256,
    RSA_PSS_PSS_SHA384,
    RSA_PSS_PSS_SHA512,
    SignatureScheme::RSA_PKCS1_SHA1,
    SignatureScheme::ECDSA_SHA1_Legacy,
];

/// The sizes of RSA keys that ring supports, in bits; below the second size only with some schemes.
const RSA_BITS: [usize; 3] = [1024, 2048, 8192];

/// The result of checking a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fetch) enum SignatureCheck {
    Good,
    Forged,
    Unverifiable,
}

pub(in crate::fetch) struct Signed<'a> {
    pub scheme: SignatureScheme,
    pub message: &'a [u8],
    pub signature: &'a [u8],
}

impl Signed<'_> {
    /// Whether the key of a certificate signed the message; none where the certificate has no readable key.
    pub(in crate::fetch) fn check(&self, leaf: &[u8]) -> Option<SignatureCheck> {
        Some(match certificate::public_key(leaf)? {
            PublicKey::Rsa { modulus, exponent } => self.check_rsa(modulus, exponent),
            PublicKey::P256(point) => self.check_point(point, false),
            PublicKey::P384(point) => self.check_point(point, true),
            PublicKey::Ed25519(key) if self.scheme == SignatureScheme::ED25519 => {
                self.checked(UnparsedPublicKey::new(&ED25519, key))
            }
            PublicKey::Ed25519(_) => SignatureCheck::Forged,
            PublicKey::Other => SignatureCheck::Unverifiable,
        })
    }

    fn check_rsa(&self, modulus: &[u8], exponent: &[u8]) -> SignatureCheck {
        let Some((parameters, least_bits)) = rsa_parameters(self.scheme) else {
            return SignatureCheck::Forged;
        };
        let is_known = (least_bits..=RSA_BITS[2]).contains(&bits(modulus)) && is_usual_exponent(exponent);
        if !is_known {
            return SignatureCheck::Unverifiable;
        }
        let key = RsaPublicKeyComponents { n: modulus, e: exponent };
        outcome(key.verify(parameters, self.message, self.signature).is_ok())
    }

    /// A key on P-256 or P-384. TLS 1.3 binds a hash to a curve, TLS 1.2 does not.
    fn check_point(&self, point: &[u8], is_p384: bool) -> SignatureCheck {
        let algorithm = match (self.scheme, is_p384) {
            (SignatureScheme::ECDSA_NISTP256_SHA256, false) => &ECDSA_P256_SHA256_ASN1,
            (SignatureScheme::ECDSA_NISTP384_SHA384, false) => &ECDSA_P256_SHA384_ASN1,
            (SignatureScheme::ECDSA_NISTP256_SHA256, true) => &ECDSA_P384_SHA256_ASN1,
            (SignatureScheme::ECDSA_NISTP384_SHA384, true) => &ECDSA_P384_SHA384_ASN1,
            (SignatureScheme::ECDSA_NISTP521_SHA512 | SignatureScheme::ECDSA_SHA1_Legacy, _) => {
                return SignatureCheck::Unverifiable;
            }
            _ => return SignatureCheck::Forged,
        };
        // SEC 1 §2.3.3: all other points are compressed.
        if point.first() != Some(&4) {
            return SignatureCheck::Unverifiable;
        }
        self.checked(UnparsedPublicKey::new(algorithm, point))
    }

    fn checked(&self, key: UnparsedPublicKey<&[u8]>) -> SignatureCheck {
        outcome(key.verify(self.message, self.signature).is_ok())
    }
}

fn outcome(is_good: bool) -> SignatureCheck {
    if is_good { SignatureCheck::Good } else { SignatureCheck::Forged }
}

/// The RSA parameters of a scheme, and the smallest key that ring supports for it.
fn rsa_parameters(scheme: SignatureScheme) -> Option<(&'static RsaParameters, usize)> {
    let [small, usual, _] = RSA_BITS;
    Some(match scheme {
        SignatureScheme::RSA_PKCS1_SHA1 => (&signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY, small),
        SignatureScheme::RSA_PKCS1_SHA256 => {
            (&signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, small)
        }
        SignatureScheme::RSA_PKCS1_SHA384 => (&signature::RSA_PKCS1_2048_8192_SHA384, usual),
        SignatureScheme::RSA_PKCS1_SHA512 => {
            (&signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY, small)
        }
        SignatureScheme::RSA_PSS_SHA256 | RSA_PSS_PSS_SHA256 => (&signature::RSA_PSS_2048_8192_SHA256, usual),
        SignatureScheme::RSA_PSS_SHA384 | RSA_PSS_PSS_SHA384 => (&signature::RSA_PSS_2048_8192_SHA384, usual),
        SignatureScheme::RSA_PSS_SHA512 | RSA_PSS_PSS_SHA512 => (&signature::RSA_PSS_2048_8192_SHA512, usual),
        _ => return None,
    })
}

/// Whether a scheme may sign a TLS 1.3 handshake (RFC 8446 §4.2.3): neither PKCS #1 nor SHA-1.
pub(in crate::fetch) fn is_of_tls13(scheme: SignatureScheme) -> bool {
    !matches!(
        scheme,
        SignatureScheme::RSA_PKCS1_SHA1
            | SignatureScheme::ECDSA_SHA1_Legacy
            | SignatureScheme::RSA_PKCS1_SHA256
            | SignatureScheme::RSA_PKCS1_SHA384
            | SignatureScheme::RSA_PKCS1_SHA512
    )
}

/// Whether a certificate has an RSA key smaller than authorities may certify (2048 bits, CA/Browser Forum
/// Baseline Requirements §6.1.5).
pub(in crate::fetch) fn is_weak(leaf: &[u8]) -> bool {
    match certificate::public_key(leaf) {
        Some(PublicKey::Rsa { modulus, .. }) => bits(modulus) < RSA_BITS[1],
        _ => false,
    }
}

/// The number of bits in a big-endian number without leading zeros.
fn bits(number: &[u8]) -> usize {
    number.first().map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize)
}

/// Odd, at least 3 and of at most 33 bits: ring rejects all others.
fn is_usual_exponent(exponent: &[u8]) -> bool {
    (2..=33).contains(&bits(exponent)) && exponent.last().is_some_and(|last| last % 2 == 1)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use proptest::prelude::*;
    use rcgen::{
        CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, SigningKey,
    };

    const MESSAGE: &[u8] = b"what was said";

    fn signed(scheme: SignatureScheme, signature: &[u8]) -> Signed<'_> {
        Signed { scheme, message: MESSAGE, signature }
    }

    fn leaf(key: &KeyPair) -> Vec<u8> {
        CertificateParams::new(["a.ke".to_owned()]).unwrap().self_signed(key).unwrap().der().to_vec()
    }

    #[test]
    fn a_signature_is_good_with_its_key_and_scheme_and_forged_with_others() {
        for (algorithm, scheme) in [
            (&PKCS_ECDSA_P256_SHA256, SignatureScheme::ECDSA_NISTP256_SHA256),
            (&PKCS_ECDSA_P384_SHA384, SignatureScheme::ECDSA_NISTP384_SHA384),
            (&PKCS_ED25519, SignatureScheme::ED25519),
        ] {
            let [key, other] = [(); 2].map(|()| KeyPair::generate_for(algorithm).unwrap());
            let signature = key.sign(MESSAGE).unwrap();
            assert_eq!(signed(scheme, &signature).check(&leaf(&key)), Some(SignatureCheck::Good));
            assert_eq!(signed(scheme, &signature).check(&leaf(&other)), Some(SignatureCheck::Forged));
            let wrong = signed(SignatureScheme::RSA_PSS_SHA256, &signature);
            assert_eq!(wrong.check(&leaf(&key)), Some(SignatureCheck::Forged));
            let other_message = Signed { message: b"something else", ..signed(scheme, &signature) };
            assert_eq!(other_message.check(&leaf(&key)), Some(SignatureCheck::Forged));
        }
        assert_eq!(signed(SignatureScheme::ED25519, b"").check(b"no certificate"), None);
    }

    #[test]
    fn keys_that_ring_refuses_cannot_be_verified() {
        let key = |bits: usize| {
            let mut modulus = vec![0xff; bits / 8];
            modulus[0] = 0xff >> ((8 - bits % 8) % 8);
            modulus
        };
        let unverifiable = SignatureCheck::Unverifiable;
        for (bits, exponent, scheme, checked) in [
            (512, &[1, 0, 1][..], SignatureScheme::RSA_PKCS1_SHA256, unverifiable),
            (1024, &[1, 0, 1], SignatureScheme::RSA_PKCS1_SHA256, SignatureCheck::Forged),
            (1024, &[1, 0, 1], SignatureScheme::RSA_PSS_SHA256, unverifiable),
            (2048, &[1, 0, 1], SignatureScheme::RSA_PSS_SHA256, SignatureCheck::Forged),
            (16_384, &[1, 0, 1], SignatureScheme::RSA_PSS_SHA256, unverifiable),
            (2048, &[1, 0, 0], SignatureScheme::RSA_PSS_SHA256, unverifiable),
            (2048, &[1], SignatureScheme::RSA_PSS_SHA256, unverifiable),
            (2048, &[1, 0, 1], SignatureScheme::ED25519, SignatureCheck::Forged),
        ] {
            let checked_as = signed(scheme, &[7; 128]).check_rsa(&key(bits), exponent);
            assert_eq!(checked_as, checked, "{bits} bits, {exponent:?}, {scheme:?}");
        }
        let compressed = signed(SignatureScheme::ECDSA_NISTP256_SHA256, b"").check_point(&[2; 33], false);
        assert_eq!(compressed, unverifiable);
    }

    #[test]
    fn each_scheme_is_offered_once_and_all_those_of_rustls() {
        let distinct: HashSet<u16> = SCHEMES.iter().map(|scheme| u16::from(*scheme)).collect();
        assert_eq!(distinct.len(), SCHEMES.len());
        let known =
            rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes();
        assert!(known.iter().all(|scheme| SCHEMES.contains(scheme)), "{known:?}");
        assert!(!is_of_tls13(SignatureScheme::RSA_PKCS1_SHA256) && is_of_tls13(RSA_PSS_PSS_SHA256));
    }

    proptest! {
        #[test]
        fn any_key_and_signature_are_checked_without_panic(
            modulus in proptest::collection::vec(any::<u8>(), 0..300),
            exponent in proptest::collection::vec(any::<u8>(), 0..6),
            signature in proptest::collection::vec(any::<u8>(), 0..300),
            scheme in any::<u16>(),
        ) {
            let signed = Signed { scheme: scheme.into(), message: MESSAGE, signature: &signature };
            prop_assert_ne!(signed.check_rsa(&modulus, &exponent), SignatureCheck::Good);
            prop_assert_ne!(signed.check_point(&modulus, true), SignatureCheck::Good);
        }
    }
}
