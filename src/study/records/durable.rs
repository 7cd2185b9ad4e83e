//! Files that exist whole or not at all, even after a power failure.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The hidden name of a file while it is being written; the file is then renamed to its final name. The
/// hidden name has another extension, so `*.parquet` does not match it.
pub(super) fn hidden(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}{HIDDEN_END}"))
}

const HIDDEN_END: &str = ".tmp";

/// Whether a write that did not finish left a file of this name.
#[must_use]
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(HIDDEN_END)
}

/// A file that is written piece by piece under its hidden name.
///
/// If the write does not finish, the hidden file is removed. On a full disk this frees the space again.
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

    /// Waits until the file is on the disk and ready to be published.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        #[cfg(test)]
        steps::note("bytes", &self.path);
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.is_finished {
            // The earlier error is the one to report.
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

/// Makes a staged file visible and replaces any older one.
pub(super) fn publish(path: &Path) -> io::Result<()> {
    fs::rename(hidden(path), path)?;
    #[cfg(test)]
    steps::note("name", path);
    Ok(())
}

/// Waits until the names in a folder are on the disk.
///
/// # Errors
/// If the system cannot confirm it.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()?;
    #[cfg(test)]
    steps::note("folder", folder);
    Ok(())
}

/// Creates a folder and its parents so that they survive a power failure. Returns whether the folder is new.
///
/// # Errors
/// If the folder cannot be created.
pub fn make_folder(folder: &Path) -> io::Result<bool> {
    let is_new = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let new: Vec<_> = folder.ancestors().take_while(is_new).collect();
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above)?;
    }
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        made => made?,
    }
    new.iter().filter_map(|folder| folder.parent()).try_for_each(sync_folder)?;
    Ok(true)
}

/// Replaces a file by a new one in one step.
///
/// # Errors
/// If the new file cannot be written. The old file is then still there.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    stage(path, bytes)?;
    publish_in_folder(path)
}

/// Makes a staged file visible and waits until its name is on the disk.
pub(super) fn publish_in_folder(path: &Path) -> io::Result<()> {
    publish(path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Replaces a file by the bytes that `write` produces, which may be many.
///
/// # Errors
/// If the new file cannot be written. The old file is then still there.
pub fn replace_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let hidden = hidden(path);
    let written = File::create(&hidden).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    });
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&hidden);
    }
    written?;
    #[cfg(test)]
    steps::note("bytes", path);
    publish_in_folder(path)
}

/// Removes a file; a file that does not exist is no error.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The file operations of this thread, in order, for tests of a power failure. `bytes` and `folder` are on
/// the disk at that point; a `name` is on the disk only when its folder is.
#[cfg(test)]
pub(super) mod steps {
    use std::cell::RefCell;
    use std::path::Path;

    thread_local! {
        static STEPS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    pub(crate) fn note(step: &str, path: &Path) {
        let name = |path: Option<&Path>| {
            path.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
        };
        let step = format!("{step} {}/{}", name(path.parent()), name(Some(path)));
        STEPS.with_borrow_mut(|steps| steps.push(step));
    }

    pub(crate) fn take() -> Vec<String> {
        STEPS.take()
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
        assert!(!is_hidden(".notes") && !is_hidden("notes.tmp"));
    }

    #[test]
    fn a_file_is_replaced_when_its_bytes_are_on_the_disk_and_its_name_is_there_on_return() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("survey");
        fs::create_dir(&folder).unwrap();
        let path = folder.join("manifest.json");
        let whole = ["bytes survey/manifest.json".to_owned(), "name survey/manifest.json".to_owned()];
        let name = |steps: &[String]| assert_eq!(steps, [&whole[..], &[folder_step(&folder)]].concat());
        steps::take();
        replace(&path, b"one").unwrap();
        name(&steps::take());
        replace_with(&path, |out| out.write_all(b"two")).unwrap();
        name(&steps::take());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        sync_folder(&folder.join("gone")).unwrap_err();
    }

    fn folder_step(folder: &Path) -> String {
        let parent = folder.parent().and_then(Path::file_name).unwrap().to_string_lossy();
        format!("folder {parent}/survey")
    }

    #[test]
    fn the_names_of_new_folders_are_on_the_disk() {
        let parent = tempfile::tempdir().unwrap();
        let above = parent.path().join("surveys");
        let folder = above.join("2026/kenya");
        steps::take();
        assert!(make_folder(&folder).unwrap());
        let step = |folder: &Path| {
            let name =
                |path: Option<&Path>| path.unwrap().file_name().unwrap().to_string_lossy().into_owned();
            format!("folder {}/{}", name(folder.parent()), name(Some(folder)))
        };
        assert_eq!(steps::take(), [step(&above.join("2026")), step(&above), step(parent.path())]);
        assert!(!make_folder(&folder).unwrap() && steps::take().is_empty());
        fs::write(folder.join("file"), "").unwrap();
        make_folder(&folder.join("file/below")).unwrap_err();
        make_folder(&folder.join("x".repeat(300))).unwrap_err();
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_no_hidden_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("servers.parquet");
        let mut staging = Staging::begin(&path).unwrap();
        staging.write(b"half").unwrap();
        assert!(hidden(&path).exists());
        drop(staging);
        assert!(!hidden(&path).exists());
        let full = |_: &mut dyn Write| Err(io::ErrorKind::StorageFull.into());
        assert_eq!(replace_with(&path, full).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_gone_is_removed_and_what_cannot_be_removed_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        remove_if_there(&path).unwrap();
        assert!(!path.exists());
        remove_if_there(&path).unwrap();
        fs::create_dir(&path).unwrap();
        remove_if_there(&path).unwrap_err();
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
