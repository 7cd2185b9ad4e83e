use super::World;
use super::draw::Key;
use super::response::Certificate;
use super::site::by_share;

/// Whether a site speaks TLS, and with which certificate on all its hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tls {
    None,
    /// Both schemes show the same.
    Also(Certificate),
    /// Every http URL, that of robots.txt included, redirects to https.
    Only(Certificate),
}

impl Tls {
    pub fn draw(world: &World, site: Key) -> Self {
        let shares = &world.https;
        if !site.draw("speaks TLS").happens(shares.share) {
            return Self::None;
        }
        let bad = [
            (shares.self_signed_share, Certificate::SelfSigned),
            (shares.expired_share, Certificate::Expired),
            (shares.wrong_name_share, Certificate::WrongName),
        ];
        let certificate = by_share(site.draw("certificate"), &bad).unwrap_or(Certificate::Valid);
        if site.draw("https only").happens(shares.only_share) {
            Self::Only(certificate)
        } else {
            Self::Also(certificate)
        }
    }

    pub fn certificate(self) -> Option<Certificate> {
        match self {
            Self::None => None,
            Self::Also(certificate) | Self::Only(certificate) => Some(certificate),
        }
    }

    /// How other sites link to this one.
    pub fn is_linked_with_https(self) -> bool {
        self != Self::None
    }

    /// How the site links to itself.
    pub fn links_itself_with_https(self) -> bool {
        matches!(self, Self::Only(_))
    }

    /// Whether a request gets through to the site under a scheme.
    pub fn takes(self, is_https: bool) -> bool {
        !is_https || self != Self::None
    }
}
