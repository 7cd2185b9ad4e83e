use super::Settings;

impl Settings {
    /// Why site owners could not reach the operator of this survey, if that is so. A survey that stays on
    /// this machine needs no contact.
    #[must_use]
    pub fn contact_refusal(&self) -> Option<String> {
        const EXPECTED: &str =
            "a URL or mail address, for example https://example.org/survey or survey@example.org";
        match self.contact.as_deref() {
            Some(contact) if is_contact(contact) => None,
            Some(contact) => Some(format!("--contact is '{}', expected {EXPECTED}", contact.escape_debug())),
            None if self.is_loopback_only() => None,
            None => Some(format!(
                "no --contact given: site owners must be able to reach you; give {EXPECTED} (not needed if --dns \
                 and --gateway are on this machine)"
            )),
        }
    }
}

/// Whether a text is valid in a User-Agent comment (RFC 9110 §5.6.5) and names a URL or mail address.
fn is_contact(text: &str) -> bool {
    let is_sendable = text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '(' | ')' | '\\'));
    let is_web = ["http://", "https://"].iter().any(|scheme| {
        text.strip_prefix(scheme)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '['))
    });
    let mail = text.strip_prefix("mailto:").unwrap_or(text);
    let is_mail = mail.split_once('@').is_some_and(|(user, host)| {
        !user.is_empty() && !host.contains('@') && host.starts_with(|c: char| c.is_ascii_alphanumeric())
    });
    is_sendable && (is_web || (is_mail && !text.contains("//")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_a_url_or_a_mail_address() {
        for text in
            ["https://example.org/survey", "http://[2001:db8::1]/", "mailto:a@b.example", "a@b.example"]
        {
            assert!(is_contact(text), "{text}");
        }
        for text in [
            "",
            "me",
            "https://",
            "https://a b",
            "a@",
            "@b.example",
            "ftp://x@y",
            "a@b\n",
            "a@b@c",
            "http://a/)",
        ] {
            assert!(!is_contact(text), "{text}");
        }
    }
}
