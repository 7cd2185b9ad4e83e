use super::mmdb::{NetworkEntry, RecordSize, Value, write};
use crate::space::Network;

/// 2026-11-01 00:00 UTC, in seconds since 1970: fixed, so that the same addresses make the same
/// bytes.
const BUILD_EPOCH: u64 = 1_793_491_200;

/// A location database for the addresses of virtual Web spaces, in the layout of the common
/// country and network databases in one: `country.iso_code`, `autonomous_system_number` and
/// `autonomous_system_organization`.
///
/// ```
/// use ccsurvey::space::{NETWORKS, geo_database};
/// let bytes = geo_database(NETWORKS);
/// assert!(bytes.len() < 64 * 1024);
/// ```
#[must_use]
pub fn geo_database(networks: &[Network]) -> Vec<u8> {
    let entries: Vec<NetworkEntry> = networks.iter().map(entry).collect();
    let description = "Addresses of virtual Web spaces; made by ccsurvey space geo";
    let metadata = vec![
        ("build_epoch", Value::U64(BUILD_EPOCH)),
        ("database_type", Value::Text("ccsurvey-Country-ASN".to_owned())),
        ("description", Value::Map(vec![("en", Value::Text(description.to_owned()))])),
        ("languages", Value::List(vec![Value::Text("en".to_owned())])),
    ];
    write(&entries, RecordSize::Bits24, metadata)
}

fn entry(network: &Network) -> NetworkEntry {
    let country = vec![("iso_code", Value::Text(network.country.to_owned()))];
    NetworkEntry {
        first: network.first,
        prefix: network.prefix,
        value: Value::Map(vec![
            ("country", Value::Map(country)),
            ("autonomous_system_number", Value::U32(network.asn)),
            ("autonomous_system_organization", Value::Text(network.organization.to_owned())),
        ]),
    }
}

#[cfg(test)]
mod tests {
    use maxminddb::{Reader, geoip2};

    use super::*;
    use crate::space::NETWORKS;

    #[test]
    fn the_database_locates_every_network() {
        let reader = Reader::from_source(geo_database(NETWORKS)).unwrap();
        reader.verify().unwrap();
        for network in NETWORKS {
            let found = reader.lookup(network.first).unwrap();
            let country: geoip2::Country = found.decode().unwrap().unwrap();
            assert_eq!(country.country.iso_code, Some(network.country));
            let asn: geoip2::Asn = found.decode().unwrap().unwrap();
            assert_eq!(asn.autonomous_system_number, Some(network.asn));
            assert_eq!(asn.autonomous_system_organization, Some(network.organization));
        }
        assert!(!reader.lookup("8.8.8.8".parse().unwrap()).unwrap().has_data());
    }

    #[test]
    fn the_database_in_data_is_the_one_made_here() {
        assert!(include_bytes!("../../../data/demo-geo.mmdb").as_slice() == geo_database(NETWORKS));
    }
}
