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

/// The user's databases of addresses, in the order given: the first that knows a thing is
/// believed. Each is held in memory whole and was checked whole when it was opened.
pub struct Geo {
    databases: Vec<(GeoDatabase, Reader<Vec<u8>>)>,
}

/// Which database it was, for the manifest and the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeoDatabase {
    /// The file as the user named it.
    pub file: PathBuf,
    /// What it calls itself: `GeoLite2-ASN`.
    pub database_type: String,
    /// As its metadata tell.
    pub built: Timestamp,
}

/// Why a database is not used.
#[derive(Debug, thiserror::Error)]
pub enum GeoError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", .file.display())]
    File {
        /// Of the database.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is no database, or a damaged one.
    #[error(
        "{} is not a sound address database ({reason}); expected a complete .mmdb file such as \
         GeoLite2-Country, GeoLite2-ASN or DB-IP Lite", .file.display()
    )]
    Corrupt {
        /// Of the database.
        file: PathBuf,
        /// What its reader says.
        reason: String,
    },
    /// The database tells something else.
    #[error(
        "{} knows neither countries nor autonomous systems (it is a '{database_type}'); expected one \
         such as GeoLite2-Country, GeoLite2-ASN or DB-IP Lite", .file.display()
    )]
    Irrelevant {
        /// Of the database.
        file: PathBuf,
        /// What it calls itself.
        database_type: String,
    },
}

impl Geo {
    /// Reads and checks the databases; none is a `Geo` that knows nothing.
    ///
    /// Checking visits every record once: about a second for a database of countries.
    ///
    /// # Errors
    /// Names the first file that cannot be read, is corrupt or cut short, or holds neither
    /// countries nor autonomous systems.
    pub fn open(files: &[PathBuf]) -> Result<Self, GeoError> {
        let databases = files.iter().map(|file| open(file)).collect::<Result<_, _>>()?;
        Ok(Self { databases })
    }

    /// Where an address is; what no database knows is none.
    #[must_use]
    pub fn lookup(&self, address: IpAddr) -> GeoLocation {
        let address = server_at(address);
        self.databases.iter().fold(GeoLocation::default(), |known, (_, reader)| {
            known.or(|| {
                reader.lookup(address).map(|record| GeoLocation::from_record(&record)).unwrap_or_default()
            })
        })
    }

    /// Whether a database tells autonomous systems of IPv4 addresses; one of IPv6 addresses alone tells little of a Web.
    #[must_use]
    pub fn knows_systems(&self) -> bool {
        self.databases.iter().any(|(_, reader)| knows_ipv4(reader, |place| place.asn.is_some()))
    }

    /// Whether there are databases, and all of them are of IPv6 addresses alone.
    #[must_use]
    pub fn is_of_ipv6_alone(&self) -> bool {
        let knows_one = |reader: &Reader<Vec<u8>>| knows_ipv4(reader, |place| !place.is_unknown());
        !self.databases.is_empty() && !self.databases.iter().any(|(_, reader)| knows_one(reader))
    }

    /// What each database is, in the order given.
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

/// The bytes of a database with a description, where it has none: those that people make themselves often lack it
/// (MaxMind-DB-Writer-python, issue 16), the format wants one, and its reader therefore refuses the file.
///
/// The metadata are a map at the end of the file, a control byte before each value: `0xe0` and the number of entries
/// before a map, `0x40` and the number of bytes before a text.
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

/// What stands before the metadata (MaxMind DB File Format 2.0).
const METADATA: &[u8] = b"\xab\xcd\xefMaxMind.com";
const DESCRIPTION: &[u8] = b"\x4bdescription";
const EMPTY_MAP: u8 = 0xe0;
/// A map of 28 entries; more are counted in further bytes, and the format has nine.
const LONG_MAP: u8 = 0xfc;
/// `{"en": "none"}`
const NO_DESCRIPTION: &[u8] = b"\xe1\x42en\x44none";

/// Whether one record at least tells what is wanted; usually the first does.
fn knows(reader: &Reader<Vec<u8>>, wanted: impl Fn(&GeoLocation) -> bool) -> Result<bool, MaxMindDbError> {
    any(reader.networks(WithinOptions::default())?, wanted)
}

/// The same of records of IPv4 addresses; a database that was opened is sound.
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
