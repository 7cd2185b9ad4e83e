use crate::Certificate;
use crate::model::content::{Content, Url};
use crate::web::Lookup;

/// What a host does at the front page of one scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// A page with status 200.
    Page,
    /// A redirect to the same host with https.
    RedirectHttps,
    /// Any other redirect.
    Redirect,
    /// A status from 400 to 499.
    ClientError,
    /// A status from 500 on.
    ServerError,
    /// The connection is refused.
    Refused,
    /// The connection is reset.
    Reset,
    /// The server accepts the request and never responds.
    Silent,
    /// The handshake fails, because the host has no TLS.
    NoTls,
    /// The name does not exist.
    NoName,
    /// The name server fails.
    NameFails,
    /// The name server never responds.
    NameSilent,
    /// The name has no address.
    NoAddress,
}

impl Door {
    /// None for a host with an address.
    pub(super) fn from_lookup(lookup: &Lookup) -> Option<Self> {
        match lookup {
            Lookup::NoSuchName => Some(Self::NoName),
            Lookup::ServerFailure => Some(Self::NameFails),
            Lookup::Silence => Some(Self::NameSilent),
            Lookup::Found(records) if !records.has_address() => Some(Self::NoAddress),
            _ => None,
        }
    }

    pub(super) fn from_content(front: &Url, content: &Content) -> Self {
        match content {
            Content::Refused => Self::Refused,
            Content::Reset => Self::Reset,
            Content::Silence => Self::Silent,
            Content::Status(400..=499) => Self::ClientError,
            Content::Status(_) => Self::ServerError,
            Content::Redirect(_, to) if to.is_https && !front.is_https && to.host == front.host => {
                Self::RedirectHttps
            }
            Content::Redirect(..) => Self::Redirect,
            Content::Page(_) | Content::File(_) | Content::RobotsTxt(_) => Self::Page,
        }
    }

    /// Whether there is an HTTP response.
    pub(super) fn responds(self) -> bool {
        matches!(
            self,
            Self::Page | Self::RedirectHttps | Self::Redirect | Self::ClientError | Self::ServerError
        )
    }

    pub(super) fn column_value(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::RedirectHttps => "redirect_https",
            Self::Redirect => "redirect",
            Self::ClientError => "client_error",
            Self::ServerError => "server_error",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Silent => "silent",
            Self::NoTls => "no_tls",
            Self::NoName => "no_name",
            Self::NameFails => "name_fails",
            Self::NameSilent => "name_silent",
            Self::NoAddress => "no_address",
        }
    }
}

/// The word for a certificate; the sites of the model have the first four only.
pub(super) fn certificate_word(kind: Certificate) -> &'static str {
    match kind {
        Certificate::Valid => "valid",
        Certificate::SelfSigned => "self_signed",
        Certificate::Expired => "expired",
        Certificate::WrongName => "wrong_name",
        Certificate::VersionOne
        | Certificate::CriticalExtension
        | Certificate::BrokenExtension
        | Certificate::TrailingBytes => "broken",
    }
}
