use crate::World;
use crate::draw::{Key, by_share};
use crate::web::Certificate;

/// Whether a site speaks TLS, and with which certificate on all its hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tls {
    None,
    /// Both schemes serve the same content.
    Also(Certificate),
    /// Every http URL, that of robots.txt included, redirects to https.
    Only(Certificate),
    /// Plain http is not served.
    Alone(Certificate, ClosedPort),
}

/// How a port that is not served ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClosedPort {
    Refused,
    Reset,
}

impl Tls {
    pub(crate) fn draw(world: &World, site: Key) -> Self {
        let (shares, doors) = (&world.https, &world.doors);
        if !site.draw("speaks TLS").happens(shares.share) {
            return Self::None;
        }
        let bad = [
            (shares.self_signed_share, Certificate::SelfSigned),
            (shares.expired_share, Certificate::Expired),
            (shares.wrong_name_share, Certificate::WrongName),
        ];
        let certificate = by_share(site.draw("certificate"), &bad).unwrap_or(Certificate::Valid);
        let port_80 =
            [(doors.refused_80_share, ClosedPort::Refused), (doors.reset_80_share, ClosedPort::Reset)];
        if let Some(shut) = by_share(site.draw("port 80"), &port_80) {
            return Self::Alone(certificate, shut);
        }
        if site.draw("https only").happens(shares.only_share) {
            Self::Only(certificate)
        } else {
            Self::Also(certificate)
        }
    }

    pub(crate) fn certificate(self) -> Option<Certificate> {
        match self {
            Self::None => None,
            Self::Also(certificate) | Self::Only(certificate) | Self::Alone(certificate, _) => {
                Some(certificate)
            }
        }
    }

    /// Whether other sites link to this one with https.
    pub(crate) fn is_linked_with_https(self) -> bool {
        self != Self::None
    }

    /// Whether the site links to itself with https.
    pub(crate) fn links_itself_with_https(self) -> bool {
        matches!(self, Self::Only(_) | Self::Alone(..))
    }

    /// How requests under this scheme fail; none if the scheme is served.
    pub(crate) fn shut(self, is_https: bool) -> Option<ClosedPort> {
        match self {
            Self::None if is_https => Some(ClosedPort::Reset),
            Self::Alone(_, shut) if !is_https => Some(shut),
            _ => None,
        }
    }
}
