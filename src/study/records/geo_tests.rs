//! Tests of location databases, which are built here byte by byte after the `MaxMind` DB file format
//! specification 2.0.

use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;

use proptest::prelude::*;

use super::{Geo, GeoError, GeoLocation, Timestamp};

/// A value of the data section.
#[derive(Clone)]
enum DatabaseValue {
    Text(&'static str),
    Short(u16),
    Number(u32),
    Long(u64),
    Map(Vec<(&'static str, DatabaseValue)>),
    List(Vec<DatabaseValue>),
}

use DatabaseValue::{List, Long, Map, Number, Short, Text};

impl DatabaseValue {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Text(text) => write_text(text, out),
            Short(number) => {
                out.push(5 << 5 | 2);
                out.extend(number.to_be_bytes());
            }
            Long(number) => {
                out.extend([8, 2]);
                out.extend(number.to_be_bytes());
            }
            Number(number) => {
                out.push(6 << 5 | 4);
                out.extend(number.to_be_bytes());
            }
            Map(entries) => {
                out.push(7 << 5 | u8::try_from(entries.len()).unwrap());
                for (key, value) in entries {
                    write_text(key, out);
                    value.write(out);
                }
            }
            List(values) => {
                out.extend([u8::try_from(values.len()).unwrap(), 4]);
                for value in values {
                    value.write(out);
                }
            }
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    match u8::try_from(text.len()).unwrap() {
        length @ 0..29 => out.push(2 << 5 | length),
        length => out.extend([0x5d, length - 29]),
    }
    out.extend(text.as_bytes());
}

/// An IPv4 database with a record for one network of the given prefix length.
fn database(database_type: &'static str, network: [u8; 4], prefix: usize, record: &DatabaseValue) -> Vec<u8> {
    let description = Some(Map(vec![("en", Text("made for a test"))]));
    database_with(description, database_type, network, prefix, record)
}

/// As [`database`], with this description, if any.
fn database_with(
    description: Option<DatabaseValue>,
    database_type: &'static str,
    network: [u8; 4],
    prefix: usize,
    record: &DatabaseValue,
) -> Vec<u8> {
    let bits = u32::from_be_bytes(network);
    let nodes = u32::try_from(prefix).unwrap();
    let mut out = Vec::new();
    for node in 0..nodes {
        let next = if node + 1 == nodes { nodes + 16 } else { node + 1 };
        let mut branches = [nodes, nodes];
        branches[usize::from(bits << node >> 31 == 1)] = next;
        for branch in branches {
            out.extend(&branch.to_be_bytes()[1..]);
        }
    }
    out.extend([0; 16]);
    record.write(&mut out);
    out.extend(b"\xab\xcd\xefMaxMind.com");
    let mut metadata = vec![
        ("binary_format_major_version", Short(2)),
        ("binary_format_minor_version", Short(0)),
        ("build_epoch", Long(1_700_000_000)),
        ("database_type", Text(database_type)),
        ("ip_version", Short(4)),
        ("languages", List(vec![Text("en")])),
        ("node_count", Number(nodes)),
        ("record_size", Short(24)),
    ];
    if let Some(description) = description {
        metadata.insert(4, ("description", description));
    }
    Map(metadata).write(&mut out);
    out
}

fn country_record() -> DatabaseValue {
    Map(vec![("country", Map(vec![("iso_code", Text("KE")), ("geoname_id", Number(192_950))]))])
}

fn asn_record() -> DatabaseValue {
    Map(vec![
        ("autonomous_system_number", Number(64_500)),
        ("autonomous_system_organization", Text("Example Networks")),
    ])
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Opens databases that all have a record for 192.0.2.0/24 and looks up an address in it.
    fn look_up(&self, records: &[DatabaseValue]) -> GeoLocation {
        let files: Vec<PathBuf> = records
            .iter()
            .enumerate()
            .map(|(number, record)| {
                self.file(&format!("{number}.mmdb"), &database("Test", [192, 0, 2, 0], 24, record))
            })
            .collect();
        Geo::open(&files).unwrap().lookup(address("192.0.2.7"))
    }
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn location(country: &str, asn: u32, as_org: &str) -> GeoLocation {
    let (country, as_org) = (Some(country.into()), Some(as_org.into()));
    GeoLocation { country, asn: Some(asn), as_org, time_zone: None }
}

#[test]
fn country_and_system_come_from_two_files() {
    assert_eq!(
        Folder::new().look_up(&[country_record(), asn_record()]),
        location("KE", 64_500, "Example Networks")
    );
}

#[test]
fn a_flat_database_is_understood() {
    let flat = Map(vec![
        ("asn", Text("AS64501")),
        ("as_name", Text("Flat Networks")),
        ("country", Text("Kenya")),
        ("country_code", Text("ke")),
    ]);
    assert_eq!(Folder::new().look_up(&[flat]), location("KE", 64_501, "Flat Networks"));
    let short = Map(vec![("country", Text("TZ")), ("asn", Number(64_502))]);
    let found = Folder::new().look_up(&[short]);
    assert_eq!((found.country.as_deref(), found.asn), (Some("TZ"), Some(64_502)));
}

/// Records in the layouts that database makers document, with our own values.
#[test]
fn the_layouts_of_known_databases_are_understood() {
    let expected = location("KE", 64_500, "Example Networks");
    let system = |asn: DatabaseValue, key: &'static str| {
        Map(vec![("asn", asn), (key, Text("Example Networks")), ("country_code", Text("KE"))])
    };
    let named = |key: &'static str| (key, Text("Example Networks"));
    for (maker, record) in [
        (
            "IPinfo Lite",
            Map(vec![
                ("asn", Text("AS64500")),
                ("as_name", Text("Example Networks")),
                ("as_domain", Text("example.ke")),
                ("continent", Text("Africa")),
                ("continent_code", Text("AF")),
                ("country", Text("Kenya")),
                ("country_code", Text("KE")),
            ]),
        ),
        (
            "IPinfo ASN",
            Map(vec![
                ("asn", Text("AS64500")),
                ("domain", Text("example.ke")),
                named("name"),
                ("country", Text("KE")),
                ("type", Text("isp")),
            ]),
        ),
        (
            "IPLocate",
            Map(vec![
                ("asn", Number(64_500)),
                ("name", Text("EXNET")),
                named("org"),
                ("country_code", Text("KE")),
                ("domain", Text("example.ke")),
            ]),
        ),
        (
            "IP2Location",
            Map(vec![("country", Map(vec![("iso_code", Text("KE"))])), ("asn", Text("64500")), named("as")]),
        ),
        (
            "DB-IP Lite and iptoasn",
            Map(vec![
                ("autonomous_system_number", Number(64_500)),
                named("autonomous_system_organization"),
                ("country", Map(vec![("iso_code", Text("KE"))])),
            ]),
        ),
        (
            "GeoIP2 Enterprise",
            Map(vec![
                (
                    "traits",
                    Map(vec![
                        ("autonomous_system_number", Number(64_500)),
                        named("autonomous_system_organization"),
                    ]),
                ),
                ("country", Map(vec![("iso_code", Text("KE"))])),
            ]),
        ),
        (
            "number and name in one",
            Map(vec![("as", Text("AS64500 Example Networks")), ("country", Text("KE"))]),
        ),
        (
            "nested",
            Map(vec![
                ("as", Map(vec![("number", Number(64_500)), ("organization", Map(vec![named("name")]))])),
                ("country", Text("ke")),
            ]),
        ),
        (
            "ipdata",
            Map(vec![
                ("asn", Map(vec![("asn", Text("AS64500")), named("name"), ("type", Text("isp"))])),
                ("country_code", Text("KE")),
            ]),
        ),
        ("others", system(Text("as64500"), "organization")),
        ("others", system(Long(64_500), "isp")),
    ] {
        assert_eq!(Folder::new().look_up(&[record]), expected, "{maker}");
    }
}

#[test]
fn a_name_without_a_system_is_no_organisation() {
    let country =
        Map(vec![("country", Text("KE")), ("name", Text("Kenya")), ("org", Text("Example Networks"))]);
    assert_eq!(
        Folder::new().look_up(&[country]),
        GeoLocation { country: Some("KE".into()), ..GeoLocation::default() }
    );
    let numbers = Map(vec![("asn", Text("AS64500")), ("as", Text("AS64500")), ("name", Text("64500"))]);
    assert_eq!(Folder::new().look_up(&[numbers]).as_org, None);
}

#[test]
fn a_database_without_a_description_is_read() {
    let folder = Folder::new();
    for description in [None, Some(Map(Vec::new()))] {
        let bytes = database_with(description, "Own", [192, 0, 2, 0], 24, &asn_record());
        let file = folder.file("own.mmdb", &bytes);
        let geo = Geo::open(std::slice::from_ref(&file)).unwrap();
        assert_eq!(geo.lookup(address("192.0.2.7")).asn, Some(64_500));
        assert_eq!(geo.describe().next().unwrap().database_type, "Own");
        for cut in 0..bytes.len() {
            assert!(
                Geo::open(&[folder.file("cut.mmdb", &bytes[..cut])]).is_err(),
                "{cut} of {} bytes",
                bytes.len()
            );
        }
    }
}

#[test]
fn the_first_file_that_knows_a_thing_is_believed() {
    let second = Map(vec![("country_code", Text("TZ")), ("asn", Number(64_503))]);
    let found = Folder::new().look_up(&[country_record(), second]);
    assert_eq!((found.country.as_deref(), found.asn), (Some("KE"), Some(64_503)));
}

#[test]
fn where_an_address_is_registered_is_not_where_it_is() {
    let record = Map(vec![
        ("registered_country", Map(vec![("iso_code", Text("US"))])),
        ("autonomous_system_number", Number(64_504)),
    ]);
    assert_eq!(Folder::new().look_up(&[record]).country, None);
}

#[test]
fn unknown_addresses_and_no_databases_are_no_error() {
    let folder = Folder::new();
    let file = folder.file("c.mmdb", &database("GeoLite2-Country", [192, 0, 2, 0], 24, &country_record()));
    let geo = Geo::open(&[file]).unwrap();
    assert!(geo.lookup(address("198.51.100.1")).is_unknown());
    assert!(geo.lookup(address("2001:db8::1")).is_unknown());
    assert_eq!(geo.lookup(address("::ffff:192.0.2.9")).country.as_deref(), Some("KE"));
    assert!(Geo::open(&[]).unwrap().lookup(address("192.0.2.7")).is_unknown());
}

/// An IPv6 database with a record for one network.
fn database_of_version_6(network: &str, bits: u8) -> Vec<u8> {
    use maxminddb_writer::{Database, metadata::IpVersion, paths::IpAddrWithMask};
    let mut database = Database::default();
    let metadata = &mut database.metadata;
    (metadata.ip_version, metadata.binary_format_major_version) = (IpVersion::V6, 2);
    (metadata.build_epoch, metadata.database_type) = (1, "Own".to_owned());
    metadata.description = [("en".to_owned(), "made for a test".to_owned())].into();
    let record = std::collections::BTreeMap::from([("autonomous_system_number", 64_500)]);
    let value = database.insert_value(record).unwrap();
    database.insert_node(IpAddrWithMask::new(address(network), bits), value);
    database.write_to(Vec::new()).unwrap()
}

#[test]
fn a_database_of_ipv6_alone_is_told_from_one_that_knows_ipv4_too() {
    let folder = Folder::new();
    let ipv6_file = folder.file("6.mmdb", &database_of_version_6("2001:db8::", 32));
    let both = folder.file("both.mmdb", &database_of_version_6("::192.0.2.0", 120));
    for (files, is_of_ipv6_alone) in
        [(vec![&ipv6_file], true), (vec![&both], false), (vec![&ipv6_file, &both], false), (vec![], false)]
    {
        let files: Vec<PathBuf> = files.into_iter().cloned().collect();
        let geo = Geo::open(&files).unwrap();
        assert_eq!(geo.is_of_ipv6_alone(), is_of_ipv6_alone, "{files:?}");
        assert_eq!(geo.knows_systems(), !is_of_ipv6_alone && !files.is_empty(), "{files:?}");
    }
}

#[test]
fn a_database_tells_its_name_and_its_date() {
    let folder = Folder::new();
    let file = folder.file("a.mmdb", &database("GeoLite2-ASN", [192, 0, 2, 0], 24, &asn_record()));
    let geo = Geo::open(std::slice::from_ref(&file)).unwrap();
    let known = geo.describe().next().unwrap();
    assert_eq!((&known.file, known.database_type.as_str()), (&file, "GeoLite2-ASN"));
    assert_eq!(known.built, "2023-11-14T22:13:20Z".parse::<Timestamp>().unwrap());
}

#[test]
fn a_file_that_is_missing_or_of_another_kind_is_named() {
    let folder = Folder::new();
    let missing = Geo::open(&[folder.0.path().join("none.mmdb")]).err().unwrap();
    assert!(matches!(missing, GeoError::File { .. }) && missing.to_string().contains("none.mmdb"));
    let text = Geo::open(&[folder.file("list.mmdb", b"ip,country\n")]).err().unwrap().to_string();
    assert!(text.contains("list.mmdb is not a valid address database"), "{text}");
    assert!(text.contains("expected a complete .mmdb file such as GeoLite2-Country"), "{text}");
    let other = Map(vec![("is_anonymous", Number(1))]);
    let file = folder.file("x.mmdb", &database("Anonymous-IP", [192, 0, 2, 0], 24, &other));
    let text = Geo::open(&[file]).err().unwrap().to_string();
    assert!(
        text.contains("has neither countries nor autonomous systems (its type is 'Anonymous-IP')"),
        "{text}"
    );
}

#[test]
fn every_database_cut_short_is_refused() {
    let folder = Folder::new();
    let whole = database("GeoLite2-Country", [192, 0, 2, 0], 24, &country_record());
    for length in 0..whole.len() {
        let file = folder.file("cut.mmdb", &whole[..length]);
        assert!(matches!(Geo::open(&[file]), Err(GeoError::Corrupt { .. })), "{length} bytes");
    }
}

#[test]
fn a_damaged_search_tree_is_refused_when_it_is_opened() {
    let folder = Folder::new();
    let mut damaged = database("GeoLite2-Country", [192, 0, 2, 0], 24, &country_record());
    damaged[23 * 6..24 * 6].fill(0x7f);
    let file = folder.file("damaged.mmdb", &damaged);
    assert!(matches!(Geo::open(&[file]), Err(GeoError::Corrupt { .. })));
}

#[test]
fn the_database_of_the_virtual_web_spaces_is_sound() {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/demo-geo.mmdb"));
    let geo = Geo::open(&[file]).unwrap();
    assert_eq!(geo.lookup(address("41.90.0.1")).country.as_deref(), Some("KE"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn damaged_bytes_are_refused_or_looked_up_without_a_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        ip in any::<u32>(),
    ) {
        let folder = Folder::new();
        let mut bytes = database("GeoLite2-Country", [192, 0, 2, 0], 24, &country_record());
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        if let Ok(geo) = Geo::open(&[folder.file("damaged.mmdb", &bytes)]) {
            let _ = geo.lookup(IpAddr::V4(ip.into()));
            let _ = geo.lookup(address("192.0.2.7"));
        }
    }
}

#[test]
fn the_time_zone_of_a_place_is_read_wherever_databases_have_it() {
    let nested = Map(vec![("location", Map(vec![("time_zone", Text("America/Denver"))]))]);
    for record in [
        nested,
        Map(vec![("time_zone", Text("America/Denver"))]),
        Map(vec![("timezone", Text("America/Denver"))]),
    ] {
        let found = Folder::new().look_up(&[country_record(), record]);
        assert_eq!(
            (found.country.as_deref(), found.time_zone.as_deref()),
            (Some("KE"), Some("America/Denver"))
        );
    }
}
