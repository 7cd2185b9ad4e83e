use std::fs::File;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// One request as the servers of the world saw it.
///
/// A TLS handshake that failed is an access of its own, without method, path and bytes: it is load, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Access {
    /// The virtual address that the host stands at; none for hosts of no site.
    pub address: Option<IpAddr>,
    /// That was asked for.
    pub host: String,
    /// Path and query as sent.
    pub path: String,
    /// As sent.
    pub method: String,
    /// As sent.
    pub user_agent: String,
    /// When the first byte of the request had come, in µs since 1970.
    pub arrival_us: u64,
    /// When the last piece of the answer was handed over to the network, in µs since 1970; without
    /// an answer, when the connection ended.
    pub end_us: u64,
    /// Bytes of the answer, its head included.
    pub sent_bytes: u64,
    /// Bytes of the request, its head included.
    pub received_bytes: u64,
    /// None when there was no answer: the connection was closed or reset, or the client tired of waiting.
    pub status: Option<u16>,
    /// Counts connections from 1.
    pub connection: u64,
    /// Over TLS.
    pub is_https: bool,
    /// Whether the client was gone before it had the whole answer: `end_us` is when the server noticed.
    pub client_left: bool,
}

/// Where accesses are noted: in memory up to a bound, and in a CSV file if there is one.
#[derive(Clone)]
pub(crate) struct AccessLog(Arc<Mutex<AccessNotes>>);

struct AccessNotes {
    kept: Vec<Access>,
    most_kept: usize,
    file: Option<csv::Writer<File>>,
    /// The first thing that went wrong with the file.
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

    /// Brings the file up to date; tells the first failure of writing it.
    pub(crate) fn flush(&self) -> Result<(), String> {
        let mut notes = self.notes();
        let flushed = notes.file.as_mut().map_or(Ok(()), csv::Writer::flush);
        if let Err(error) = flushed {
            notes.failure.get_or_insert(error.to_string());
        }
        notes.failure.clone().map_or(Ok(()), Err)
    }

    /// A task that panicked while noting leaves a list that is still whole.
    fn notes(&self) -> MutexGuard<'_, AccessNotes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
