use std::fs::File;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// One request as the servers of the world saw it.
///
/// A failed TLS handshake is an access of its own, without method, path and bytes, because it is load too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Access {
    /// The virtual address of the host; none for hosts of no site.
    pub address: Option<IpAddr>,
    /// The requested host.
    pub host: String,
    /// Path and query as sent.
    pub path: String,
    /// The request method as sent.
    pub method: String,
    /// The value of `User-Agent` as sent.
    pub user_agent: String,
    /// When the first byte of the request arrived, in µs since 1970.
    pub arrival_us: u64,
    /// When the last piece of the response was handed to the network, in µs since 1970; without a response,
    /// when the connection ended.
    pub end_us: u64,
    /// Bytes of the response, its head included.
    pub sent_bytes: u64,
    /// Bytes of the request, its head included.
    pub received_bytes: u64,
    /// None without a response: the connection was closed or reset, or the client stopped waiting.
    pub status: Option<u16>,
    /// The number of the connection, counted from 1.
    pub connection: u64,
    /// Whether the request came over TLS.
    pub is_https: bool,
    /// Whether the client left before it had the whole response; then `end_us` is when the server noticed.
    pub client_left: bool,
}

/// The log of accesses: in memory up to a bound, and in a CSV file if there is one.
#[derive(Clone)]
pub(crate) struct AccessLog(Arc<Mutex<AccessNotes>>);

struct AccessNotes {
    kept: Vec<Access>,
    most_kept: usize,
    file: Option<csv::Writer<File>>,
    /// The first error of writing the file.
    failure: Option<String>,
}

impl AccessLog {
    pub(crate) fn open(file: Option<&Path>, most_kept: usize) -> std::io::Result<Self> {
        let file = file.map(File::create).transpose()?;
        let file = file.map(csv::Writer::from_writer);
        Ok(Self(Arc::new(Mutex::new(AccessNotes { kept: Vec::new(), most_kept, file, failure: None }))))
    }

    pub(crate) fn note(&self, access: Access) {
        let mut notes = self.notes();
        let written = notes.file.as_mut().map_or(Ok(()), |file| file.serialize(&access));
        if let Err(error) = written {
            notes.failure.get_or_insert(error.to_string());
        }
        if notes.kept.len() < notes.most_kept {
            notes.kept.push(access);
        }
    }

    pub(crate) fn accesses(&self) -> Vec<Access> {
        self.notes().kept.clone()
    }

    /// Flushes the file; returns the first error of writing it.
    pub(crate) fn flush(&self) -> Result<(), String> {
        let mut notes = self.notes();
        let flushed = notes.file.as_mut().map_or(Ok(()), csv::Writer::flush);
        if let Err(error) = flushed {
            notes.failure.get_or_insert(error.to_string());
        }
        notes.failure.clone().map_or(Ok(()), Err)
    }

    /// A task that panicked while logging leaves a valid list.
    fn notes(&self) -> MutexGuard<'_, AccessNotes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
