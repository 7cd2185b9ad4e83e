use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is written under another name beside its target and replaces the target when it is complete. A
/// failure leaves the old file as it was. A pipe or a device is written to directly, and a link stays a link.
pub(super) struct Replacement {
    out: BufWriter<File>,
    file: PathBuf,
    /// The path of the unfinished file.
    temporary: Option<PathBuf>,
}

impl Replacement {
    /// # Errors
    /// When the file cannot be written there.
    pub(super) fn create(file: &Path) -> io::Result<Self> {
        let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        if fs::metadata(&file).is_ok_and(|existing| !existing.is_file()) {
            let out = BufWriter::new(File::options().write(true).open(&file)?);
            return Ok(Self { out, file, temporary: None });
        }
        let mut temporary = file.as_os_str().to_owned();
        temporary.push(".new");
        let temporary = PathBuf::from(temporary);
        Ok(Self { out: BufWriter::new(File::create(&temporary)?), file, temporary: Some(temporary) })
    }

    /// Replaces the target by the complete file.
    ///
    /// # Errors
    /// When the rest of the file cannot be written.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.file)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // The earlier error is the one to report.
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finished_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        fs::write(&file, "old").unwrap();
        let mut unfinished = Replacement::create(&file).unwrap();
        unfinished.write_all(b"half").unwrap();
        drop(unfinished);
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        let mut whole = Replacement::create(&file).unwrap();
        whole.write_all(b"new").unwrap();
        whole.finish().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["page.html", "latest.html"].map(|name| folder.path().join(name));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut page = Replacement::create(&link).unwrap();
        page.write_all(b"new").unwrap();
        page.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }
}
