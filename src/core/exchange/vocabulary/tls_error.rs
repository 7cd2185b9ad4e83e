use super::vocabulary;

vocabulary! {
    /// Why a certificate is not valid for its host: the closed list behind the column `tls_error`.
    ///
    /// If there are several reasons, the one is recorded that clients commonly report first.
    pub enum TlsError {
        /// The certificate has expired.
        Expired = "expired",
        /// The certificate is not valid yet.
        NotYetValid = "not_yet_valid",
        /// The certificate is for other names.
        WrongName = "wrong_name",
        /// The certificate was revoked.
        Revoked = "revoked",
        /// The certificate is not signed by the key of its issuer, or that key is too small to be accepted.
        BadSignature = "bad_signature",
        /// The certificate breaks the encoding rules (DER) or those of RFC 5280, for example by extra bytes
        /// at its end.
        BadEncoding = "bad_encoding",
        /// The certificate is not for use by servers.
        WrongPurpose = "wrong_purpose",
        /// The certificate is signed by its own key.
        SelfSigned = "self_signed",
        /// The issuer is not a trusted authority.
        UnknownIssuer = "unknown_issuer",
        /// The certificate has X.509 version 1 or 2, which cannot state its purpose.
        OldVersion = "old_version",
        /// The certificate has a critical extension that clients do not know.
        CriticalExtension = "critical_extension",
        /// The certificate is signed in a way that is no longer accepted, such as with SHA-1 or MD5.
        WeakSignature = "weak_signature",
        /// The key is an RSA key of fewer than 2048 bits.
        WeakKey = "weak_key",
        /// The certificate may be valid, but the handshake was signed with a key of a kind that cannot be
        /// verified here, such as P-521, Ed448 or RSA with more than 8192 bits.
        UnverifiedKey = "unverified_key",
        /// The certificate is not valid for another reason.
        Other = "other",
    }
}
