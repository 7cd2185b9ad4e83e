//! Location databases: the country and the network of an address.

pub(super) mod place;

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use maxminddb::{MaxMindDbError, Reader, Within, WithinOptions};
use serde::{Deserialize, Serialize};

use super::{GeoLocation, Timestamp};
use crate::address::server_at;

/// The user's databases of addresses, in the order given: for each fact, the first database that has it wins.
/// Each database was checked as a whole when it was opened and is held in memory.
pub struct Geo {
    databases: Vec<(GeoDatabase, Reader<Vec<u8>>)>,
}

/// Identifies a database in the manifest and the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeoDatabase {
    /// The file as the user named it.
    pub file: PathBuf,
    /// The type in the database's metadata, such as `GeoLite2-ASN`.
    pub database_type: String,
    /// The build time in the database's metadata.
    pub built: Timestamp,
}

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GeoError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", .file.display())]
    File {
        /// The database.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a database, or is damaged.
    #[error(
        "{} is not a valid address database ({reason}); expected a complete .mmdb file such as \
         GeoLite2-Country, GeoLite2-ASN or DB-IP Lite", .file.display()
    )]
    Corrupt {
        /// The database.
        file: PathBuf,
        /// The message of the database reader.
        reason: String,
    },
    /// The database holds other data.
    #[error(
        "{} has neither countries nor autonomous systems (its type is '{database_type}'); expected one \
         such as GeoLite2-Country, GeoLite2-ASN or DB-IP Lite", .file.display()
    )]
    Irrelevant {
        /// The database.
        file: PathBuf,
        /// The type in the database's metadata.
        database_type: String,
    },
}

impl Geo {
    /// Reads and checks the databases. Without databases every lookup is unknown.
    ///
    /// The check visits every record once: about a second for a database of countries.
    ///
    /// # Errors
    /// Names the first file that cannot be read, is corrupt or cut short, or holds neither countries nor
    /// autonomous systems.
    pub fn open(files: &[PathBuf]) -> Result<Self, GeoError> {
        let databases = files.iter().map(|file| open(file)).collect::<Result<_, _>>()?;
        Ok(Self { databases })
    }

    /// Looks up the location of an address. Facts that no database has are none.
    #[must_use]
    pub fn lookup(&self, address: IpAddr) -> GeoLocation {
        let address = server_at(address);
        self.databases.iter().fold(GeoLocation::default(), |known, (_, reader)| {
            known.or(|| {
                reader.lookup(address).map(|record| GeoLocation::from_record(&record)).unwrap_or_default()
            })
        })
    }

    /// Whether a database has the autonomous systems of IPv4 addresses. A database of IPv6 addresses alone
    /// covers little of a Web.
    #[must_use]
    pub fn knows_systems(&self) -> bool {
        self.databases.iter().any(|(_, reader)| knows_ipv4(reader, |place| place.asn.is_some()))
    }

    /// Whether there are databases, and all of them cover IPv6 addresses only.
    #[must_use]
    pub fn is_of_ipv6_alone(&self) -> bool {
        let knows_one = |reader: &Reader<Vec<u8>>| knows_ipv4(reader, |place| !place.is_unknown());
        !self.databases.is_empty() && !self.databases.iter().any(|(_, reader)| knows_one(reader))
    }

    /// Describes each database, in the order given.
    pub fn describe(&self) -> impl Iterator<Item = &GeoDatabase> {
        self.databases.iter().map(|(database, _)| database)
    }
}

fn open(file: &Path) -> Result<(GeoDatabase, Reader<Vec<u8>>), GeoError> {
    let bytes = fs::read(file).map_err(|source| GeoError::File { file: file.to_owned(), source })?;
    let corrupt =
        |error: MaxMindDbError| GeoError::Corrupt { file: file.to_owned(), reason: error.to_string() };
    let reader = Reader::from_source(described(bytes)).map_err(corrupt)?;
    reader.verify().map_err(corrupt)?;
    let metadata = reader.metadata();
    let database = GeoDatabase {
        file: file.to_owned(),
        database_type: metadata.database_type.clone(),
        built: Timestamp::from(metadata.build_time().map_err(corrupt)?),
    };
    if !knows(&reader, |place| !place.is_unknown()).map_err(corrupt)? {
        let database_type = database.database_type;
        return Err(GeoError::Irrelevant { file: file.to_owned(), database_type });
    }
    Ok((database, reader))
}

/// Adds a description to a database that has none. Databases that people make themselves often lack it
/// (MaxMind-DB-Writer-python, issue 16). The format requires one, so its reader rejects the file.
///
/// The metadata are a map at the end of the file, with a control byte before each value: `0xe0` plus the
/// number of entries before a map, `0x40` plus the number of bytes before a text.
fn described(mut bytes: Vec<u8>) -> Vec<u8> {
    let Some(marker) = memchr::memmem::rfind(&bytes, METADATA) else { return bytes };
    let start = marker + METADATA.len();
    match memchr::memmem::find(&bytes[start..], DESCRIPTION) {
        Some(key) => {
            let value = start + key + DESCRIPTION.len();
            if bytes.get(value) == Some(&EMPTY_MAP) {
                bytes.splice(value..=value, NO_DESCRIPTION.iter().copied());
            }
        }
        None => {
            let is_short_map = |entries: &&mut u8| (EMPTY_MAP..LONG_MAP).contains(&**entries);
            if let Some(entries) = bytes.get_mut(start).filter(is_short_map) {
                *entries += 1;
                bytes.extend(DESCRIPTION);
                bytes.extend(NO_DESCRIPTION);
            }
        }
    }
    bytes
}

/// The marker before the metadata (MaxMind DB File Format 2.0).
const METADATA: &[u8] = b"\xab\xcd\xefMaxMind.com";
const DESCRIPTION: &[u8] = b"\x4bdescription";
const EMPTY_MAP: u8 = 0xe0;
/// A map of 28 entries. Longer maps need further size bytes; the format defines nine keys.
const LONG_MAP: u8 = 0xfc;
/// `{"en": "none"}`
const NO_DESCRIPTION: &[u8] = b"\xe1\x42en\x44none";

/// Whether at least one record has the wanted fact; usually the first has.
fn knows(reader: &Reader<Vec<u8>>, wanted: impl Fn(&GeoLocation) -> bool) -> Result<bool, MaxMindDbError> {
    any(reader.networks(WithinOptions::default())?, wanted)
}

/// As [`knows`], for records of IPv4 addresses. A database that was opened is valid.
fn knows_ipv4(reader: &Reader<Vec<u8>>, wanted: impl Fn(&GeoLocation) -> bool) -> bool {
    let Ok(all) = "0.0.0.0/0".parse() else { return false };
    reader.within(all, WithinOptions::default()).and_then(|records| any(records, wanted)).unwrap_or(false)
}

fn any(records: Within<'_, Vec<u8>>, wanted: impl Fn(&GeoLocation) -> bool) -> Result<bool, MaxMindDbError> {
    for record in records {
        if wanted(&GeoLocation::from_record(&record?)) {
            return Ok(true);
        }
    }
    Ok(false)
}
