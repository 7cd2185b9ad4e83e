use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::Folder;
use crate::records::durable;
use crate::survey::error::SurveyError;

/// A survey's folder while it is being created, by one process at a time.
///
/// The process that creates it holds the lock of a file in it, [`MARK`], from before the first look until the
/// manifest is written. So if two processes create a survey in one folder at once, one succeeds and the other
/// gets an error. No process removes what another one has created. A mark whose lock nobody holds shows that
/// a process died here.
pub(in crate::survey) struct CreationLock {
    folder: Folder,
    lock: File,
    /// The folder did not exist before.
    is_new: bool,
}

/// The file that shows that a survey is being created.
const MARK: &str = ".making";
/// The files that are created before the manifest, which comes last.
const PARTS: [&str; 8] =
    ["journal", "tables", "survey.toml", "start.csv", "rates.json", "focus.json", "since.redb", "state.redb"];

impl CreationLock {
    /// Claims a folder that does not exist or is empty. The remains of a process that died while it created a
    /// survey there are an error, or are removed if `anew` is set: no request was sent to a server yet.
    pub(in crate::survey) fn begin(dir: &Path, anew: bool) -> Result<Self, SurveyError> {
        check_folder(dir)?;
        let creation = Self::lock(dir)?;
        // No other process is creating a survey here now, and the manifest stays.
        if dir.join("manifest.json").exists() {
            creation.forget();
            return Err(SurveyError::folder_in_use(dir));
        }
        if !creation.parts().is_empty() {
            if !anew {
                return Err(SurveyError::Unfinished(dir.to_owned()));
            }
            creation.remove_parts();
        }
        let journals = creation.folder.journals();
        if let Err(error) = fs::create_dir(&journals) {
            creation.undo();
            return Err(SurveyError::File { operation: "create folder", path: journals, source: error });
        }
        Ok(creation)
    }

    pub(in crate::survey) fn folder(&self) -> Folder {
        self.folder.clone()
    }

    /// Ends a successful creation.
    pub(in crate::survey) fn complete(self) {
        self.forget();
    }

    /// Removes the created files. A folder without a survey in it would only block the next attempt.
    pub(in crate::survey) fn undo(self) {
        self.remove_parts();
        let (dir, is_new) = (self.folder.dir.clone(), self.is_new);
        self.forget();
        if is_new {
            // The folder stays if another process has put something into it meanwhile.
            let _ = fs::remove_dir(dir);
        }
    }

    fn lock(dir: &Path) -> Result<Self, SurveyError> {
        let mark = mark_path(dir);
        let to_error = |source| SurveyError::File { operation: "create", path: mark.clone(), source };
        loop {
            let is_new = durable::make_folder(dir).map_err(SurveyError::file("create folder", dir))?;
            let opened = OpenOptions::new().create(true).append(true).open(&mark);
            let lock = match opened {
                Ok(file) => file,
                // A process that failed has removed the folder in between.
                Err(error) if error.kind() == ErrorKind::NotFound && !dir.exists() => continue,
                Err(source) => return Err(to_error(source)),
            };
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(SurveyError::InUse(dir.to_owned())),
                Err(TryLockError::Error(source)) => return Err(to_error(source)),
            }
            // The mark may belong to a process that has removed it since.
            if is_same_file(&lock, &mark).map_err(to_error)? {
                return Ok(Self { folder: Folder::open(dir), lock, is_new });
            }
        }
    }

    /// The files that were created here so far.
    fn parts(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder.dir).into_iter().flatten().filter_map(Result::ok);
        let part_entries = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_part));
        part_entries.map(|entry| entry.path()).collect()
    }

    fn remove_parts(&self) {
        for part in self.parts() {
            // The error that led here is the one to report. Files that cannot be removed are found by the
            // next creation.
            let _ = if part.is_dir() { fs::remove_dir_all(part) } else { fs::remove_file(part) };
        }
    }

    fn forget(self) {
        // Removed under the lock, so that its next holder sees that the mark is gone.
        let _ = fs::remove_file(mark_path(&self.folder.dir));
        drop(self.lock);
    }
}

/// Refuses a folder with other files in it, before anything is written there.
fn check_folder(dir: &Path) -> Result<(), SurveyError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(_) => return Err(SurveyError::folder_in_use(dir)),
    };
    let names: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    let is_being_made = names.iter().any(|name| name == MARK);
    // A folder that exists and is empty may have been created for us by a mount or a script.
    let is_ours = names.iter().all(|name| name.to_str().is_some_and(is_part));
    if is_being_made || is_ours { Ok(()) } else { Err(SurveyError::folder_in_use(dir)) }
}

/// Whether a file is created before the manifest, or was being written under a temporary name.
fn is_part(name: &str) -> bool {
    PARTS.contains(&name) || durable::is_hidden(name)
}

fn mark_path(dir: &Path) -> PathBuf {
    dir.join(MARK)
}

/// Whether the open file is the one at this path.
#[cfg(unix)]
pub(in crate::survey) fn is_same_file(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let file_at_path = match fs::metadata(path) {
        Ok(file_at_path) => file_at_path,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let held_file = file.metadata()?;
    Ok((held_file.dev(), held_file.ino()) == (file_at_path.dev(), file_at_path.ino()))
}

/// On these systems an open file cannot be removed, so it keeps its name.
#[cfg(not(unix))]
pub(in crate::survey) fn is_same_file(_file: &File, path: &Path) -> io::Result<bool> {
    Ok(path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(dir: &Path) -> Result<CreationLock, String> {
        CreationLock::begin(dir, false).map_err(|error| error.to_string())
    }

    #[test]
    fn the_second_who_makes_a_survey_in_a_folder_is_told_and_removes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("kenya");
        let first = begin(&dir).unwrap();
        let message = begin(&dir).err().unwrap();
        assert!(message.ends_with("kenya: another process is working on this survey"), "{message}");
        assert!(dir.join("journal").is_dir());
        first.undo();
        assert!(!dir.exists());
        begin(&dir).unwrap().complete();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "the journals' folder");
    }

    #[test]
    fn what_a_dead_process_left_is_in_the_way_unless_it_is_to_be_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        drop(begin(dir).unwrap());
        let message = begin(dir).err().unwrap();
        assert!(
            message.ends_with(
                "holds a survey whose creation was interrupted: remove the folder and start again"
            ),
            "{message}"
        );
        fs::write(dir.join("survey.toml"), "depth = ").unwrap();
        CreationLock::begin(dir, true).unwrap().undo();
        assert_eq!(fs::read_dir(dir).unwrap().count(), 0, "the folder was there before");
    }

    #[test]
    fn a_folder_with_anything_else_in_it_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "").unwrap();
        let message = begin(folder.path()).err().unwrap();
        assert!(message.ends_with("exists and is not an empty folder: choose another one"), "{message}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
