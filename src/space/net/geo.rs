/// A location database for the addresses of virtual Webs. It combines the layouts of the common country and
/// network databases: `country.iso_code`, `autonomous_system_number` and `autonomous_system_organization`. It
/// locates only [`NETWORKS`](super::NETWORKS).
pub const GEO_DATABASE: &[u8] = include_bytes!("../data/demo-geo.mmdb");

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::IpAddr;
    use std::path::Path;

    use maxminddb::{Reader, geoip2};
    use maxminddb_writer::Database;
    use maxminddb_writer::metadata::IpVersion;
    use maxminddb_writer::paths::IpAddrWithMask;
    use serde::Serialize;

    use super::*;
    use crate::{NETWORKS, Network};

    /// 2026-11-01 00:00 UTC, in seconds since 1970: fixed, so that the same addresses make the same
    /// bytes.
    const BUILD_EPOCH: u64 = 1_793_491_200;

    #[test]
    fn the_database_locates_every_network() {
        let reader = Reader::from_source(GEO_DATABASE).unwrap();
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

    /// Run it with `CCSURVEY_WRITE_GEO` set to write the file, after a change of the networks.
    #[test]
    fn the_database_in_data_is_the_one_made_of_the_networks() {
        let made = database(NETWORKS);
        if std::env::var_os("CCSURVEY_WRITE_GEO").is_some() {
            std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/demo-geo.mmdb"), made)
                .unwrap();
        } else {
            assert!(GEO_DATABASE == made, "run this test with CCSURVEY_WRITE_GEO=1");
        }
    }

    fn database(networks: &[Network]) -> Vec<u8> {
        let mut database = Database::default();
        let metadata = &mut database.metadata;
        metadata.ip_version = IpVersion::V6;
        metadata.binary_format_major_version = 2;
        metadata.build_epoch = BUILD_EPOCH;
        metadata.database_type = "ccsurvey-Country-ASN".to_owned();
        metadata.languages = vec!["en".to_owned()];
        let description = "Addresses of virtual Web spaces; made by ccsurvey space geo";
        metadata.description = [("en".to_owned(), description.to_owned())].into();
        for network in networks {
            let value = Record {
                country: [("iso_code", network.country)].into(),
                autonomous_system_number: network.asn,
                autonomous_system_organization: network.organization,
            };
            let value = database.insert_value(value).unwrap();
            database.insert_node(block(network), value);
        }
        database.write_to(Vec::new()).unwrap()
    }

    #[derive(Serialize)]
    struct Record {
        country: BTreeMap<&'static str, &'static str>,
        autonomous_system_number: u32,
        autonomous_system_organization: &'static str,
    }

    /// IPv4 lies in the IPv6 address tree below ::/96.
    fn block(network: &Network) -> IpAddrWithMask {
        match network.first {
            IpAddr::V4(first) => {
                let first = u128::from(u32::from(first));
                IpAddrWithMask::new(IpAddr::V6(first.into()), 96 + network.prefix)
            }
            IpAddr::V6(_) => IpAddrWithMask::new(network.first, network.prefix),
        }
    }
}
