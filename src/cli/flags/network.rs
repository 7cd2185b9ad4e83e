use std::net::SocketAddr;

use clap::Args;

use super::{set, set_some};
use crate::survey::{Settings, Span};

#[derive(Args, Debug)]
#[command(next_help_heading = "Network")]
pub struct Network {
    /// The name server to ask, e.g. 127.0.0.1:53. A survey asks for many names: use a resolver of your
    /// own rather than a public one [default: those of the system]
    #[arg(long, value_name = "ADDR:PORT", value_parser = socket)]
    dns: Option<SocketAddr>,

    /// Where every connection goes, whatever the address of the server: a virtual Web space [default:
    /// to the servers]
    #[arg(long, value_name = "ADDR:PORT", value_parser = socket)]
    gateway: Option<SocketAddr>,

    /// Go to loopback, private and other special addresses too. On the real Web any page or name could
    /// then point the survey into your own network [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    permit_special_addresses: Option<bool>,

    /// Take no page from a server whose certificate is not valid for its name; otherwise it is noted
    /// and used [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    refuse_bad_certificates: Option<bool>,

    /// How long to wait for a name's addresses [default: 10s]
    #[arg(long, value_name = "TIME")]
    dns_timeout: Option<Span>,

    /// How long to wait for a connection [default: 10s]
    #[arg(long, value_name = "TIME")]
    connect_timeout: Option<Span>,

    /// How long to wait for the end of the TLS handshake [default: 10s]
    #[arg(long, value_name = "TIME")]
    tls_timeout: Option<Span>,

    /// How long to wait for the first byte of an answer [default: 30s]
    #[arg(long, value_name = "TIME")]
    first_byte_timeout: Option<Span>,

    /// How long to wait for each further byte [default: 20s]
    #[arg(long, value_name = "TIME")]
    idle_timeout: Option<Span>,

    /// How long a whole exchange may take; a server that sends slowly is busy all that time [default:
    /// 1m]
    #[arg(long, value_name = "TIME")]
    exchange_timeout: Option<Span>,
}

impl Network {
    pub(super) fn apply(self, settings: &mut Settings) {
        set_some(&mut settings.dns, self.dns);
        set_some(&mut settings.gateway, self.gateway);
        set(&mut settings.permit_special_addresses, self.permit_special_addresses);
        set(&mut settings.refuse_bad_certificates, self.refuse_bad_certificates);
        set(&mut settings.dns_timeout, self.dns_timeout);
        set(&mut settings.connect_timeout, self.connect_timeout);
        set(&mut settings.tls_timeout, self.tls_timeout);
        set(&mut settings.first_byte_timeout, self.first_byte_timeout);
        set(&mut settings.idle_timeout, self.idle_timeout);
        set(&mut settings.exchange_timeout, self.exchange_timeout);
    }
}

/// # Errors
/// When the text is not an address with a port.
pub(in crate::cli) fn socket(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address and a port, for example 127.0.0.1:53".to_owned())
}
