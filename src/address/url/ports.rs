/// Whether browsers refuse to connect to this port. A service other than the Web listens there (mail, a name
/// server, a shell), and a page could make every client that follows its links talk to it.
///
/// ```
/// use ccsurvey_address::is_refused_port;
/// assert!(is_refused_port(25) && !is_refused_port(8080));
/// ```
#[must_use]
pub fn is_refused_port(port: u16) -> bool {
    REFUSED.binary_search(&port).is_ok()
}

/// All bad ports of the WHATWG Fetch standard (§2.9, "port blocking"), in ascending order.
const REFUSED: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order_and_each_port_stands_in_it_once() {
        assert!(REFUSED.is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn mail_names_shells_and_chat_are_refused_and_the_webs_ports_are_not() {
        for port in [0, 22, 25, 53, 110, 143, 465, 514, 587, 995, 4190, 5060, 6000, 6666, 6669, 10080] {
            assert!(is_refused_port(port), "{port}");
        }
        for port in
            [80, 81, 443, 591, 3000, 5000, 5062, 6664, 6670, 8000, 8008, 8080, 8443, 10079, 10081, u16::MAX]
        {
            assert!(!is_refused_port(port), "{port}");
        }
    }
}
