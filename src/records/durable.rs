//! Files that are there whole or not at all, also after a power cut.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The hidden name under which a file is written before it is renamed to its own. It does not
/// end like the file, so that `*.parquet` does not match it.
pub(super) fn hidden(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}{HIDDEN_END}"))
}

const HIDDEN_END: &str = ".tmp";

/// Whether a file of this name was left by a write that did not end.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(HIDDEN_END)
}

/// A file that is written piece by piece under its hidden name.
///
/// Where it is not finished, no hidden file is left, which on a full disk gives the room back.
#[derive(Debug)]
pub(super) struct Staging {
    path: PathBuf,
    file: File,
    is_finished: bool,
}

impl Staging {
    pub(super) fn begin(path: &Path) -> io::Result<Self> {
        let file = File::create(hidden(path))?;
        Ok(Self { path: path.to_owned(), file, is_finished: false })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Waits until it is on the disk, to be published.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.is_finished {
            // The error that came before is the one worth telling.
            let _ = fs::remove_file(hidden(&self.path));
        }
    }
}

/// Writes the bytes under the hidden name and waits until they are on the disk.
pub(super) fn stage(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut staging = Staging::begin(path)?;
    staging.write(bytes)?;
    staging.finish()
}

/// Makes a staged file visible in place of any older one.
pub(super) fn publish(path: &Path) -> io::Result<()> {
    fs::rename(hidden(path), path)
}

/// Waits until the names in a folder are on the disk.
///
/// # Errors
/// When the system cannot say so.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

/// Replaces a file by a whole new one.
///
/// # Errors
/// It cannot be written; the old one is then still there.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    stage(path, bytes)?;
    publish_in_folder(path)
}

/// Makes a staged file visible, and waits until its name is on the disk.
pub(super) fn publish_in_folder(path: &Path) -> io::Result<()> {
    publish(path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Replaces a file by what is written, which may be large.
///
/// # Errors
/// When it cannot be written; the old file is then still there.
pub fn replace_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let hidden = hidden(path);
    let written = File::create(&hidden).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    });
    if written.is_err() {
        // The first error is the one worth telling.
        let _ = fs::remove_file(&hidden);
    }
    written?;
    publish(path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Removes a file that may be gone already.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_name_is_no_parquet_file_to_a_glob() {
        let name = hidden(Path::new("tables/sites/000001.parquet"));
        assert_eq!(name, Path::new("tables/sites/.000001.parquet.tmp"));
        assert!(is_hidden(".000001.parquet.tmp") && !is_hidden("000001.parquet"));
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.json");
        replace(&path, b"old").unwrap();
        fs::create_dir(hidden(&path)).unwrap();
        replace(&path, b"new").unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}
