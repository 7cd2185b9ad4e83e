use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv6Addr, UdpSocket};

/// The usual port of Web servers; nothing is sent to it.
const PORT: u16 = 443;
/// The system has no IPv6 at all: `EAFNOSUPPORT` of Linux and of the BSDs, for which `ErrorKind` has no
/// variant.
const NO_SUCH_FAMILY: [i32; 2] = [97, 47];

/// Whether this machine has a route to an address. Nothing is sent: connecting a UDP socket only queries the
/// routing table.
///
/// An IPv4 route is always assumed: a machine that has lost it should wait, not record servers as
/// unreachable.
pub(super) fn has_route(address: IpAddr) -> bool {
    if address.is_ipv4() {
        return true;
    }
    #[allow(clippy::disallowed_methods)] // The room with the sockets.
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0));
    !socket.and_then(|socket| socket.connect((address, PORT))).is_err_and(|error| is_no_route(&error))
}

fn is_no_route(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NetworkUnreachable
            | ErrorKind::HostUnreachable
            | ErrorKind::AddrNotAvailable
            | ErrorKind::Unsupported
    ) || error.raw_os_error().is_some_and(|code| NO_SUCH_FAMILY.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_there_unless_the_system_says_that_there_is_none() {
        assert!(has_route([102, 0, 0, 1].into()));
        for (code, is_missing) in [(101, true), (99, true), (97, true), (24, false), (13, false)] {
            assert_eq!(is_no_route(&io::Error::from_raw_os_error(code)), is_missing, "{code}");
        }
    }
}
