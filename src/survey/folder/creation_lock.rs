use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::Folder;
use crate::records::durable;
use crate::survey::error::SurveyError;

/// A survey's folder while it is being made, by one process at a time.
///
/// The process that makes it holds the lock of a file in it, [`MARK`], from before the first look until the manifest is
/// written. So if two begin a survey in one folder at once, one does and the other gets an error; no process removes
/// what another has made; and a mark without a holder says that a process died here.
pub(in crate::survey) struct CreationLock {
    folder: Folder,
    lock: File,
    /// The folder was not there before.
    is_new: bool,
}

/// What shows that a survey is being made.
const MARK: &str = ".making";
/// What is made before the manifest, which comes last.
const PARTS: [&str; 8] =
    ["journal", "tables", "survey.toml", "start.csv", "rates.json", "focus.json", "since.redb", "state.redb"];

impl CreationLock {
    /// Claims a folder that is not there or is empty. What a process left that died making a survey there is in the
    /// way, or is removed to begin `anew`: no server was asked yet.
    pub(in crate::survey) fn begin(dir: &Path, anew: bool) -> Result<Self, SurveyError> {
        look_at(dir)?;
        let making = Self::lock(dir)?;
        // No other process is at work on it now, and what is there stays.
        if dir.join("manifest.json").exists() {
            making.forget();
            return Err(SurveyError::folder_in_use(dir));
        }
        if !making.parts().is_empty() {
            if !anew {
                return Err(SurveyError::Unfinished(dir.to_owned()));
            }
            making.remove_parts();
        }
        let journals = making.folder.journals();
        if let Err(error) = fs::create_dir(&journals) {
            making.undo();
            return Err(SurveyError::File { operation: "make folder", path: journals, source: error });
        }
        Ok(making)
    }

    pub(in crate::survey) fn folder(&self) -> Folder {
        self.folder.clone()
    }

    /// The survey is made.
    pub(in crate::survey) fn done(self) {
        self.forget();
    }

    /// Removes what was made. A folder without a survey in it would only be in the way of the next try.
    pub(in crate::survey) fn undo(self) {
        self.remove_parts();
        let (dir, is_new) = (self.folder.dir.clone(), self.is_new);
        self.forget();
        if is_new {
            // It stays where somebody else has put something into it meanwhile.
            let _ = fs::remove_dir(dir);
        }
    }

    fn lock(dir: &Path) -> Result<Self, SurveyError> {
        let mark = mark_of(dir);
        let to_error = |source| SurveyError::File { operation: "make", path: mark.clone(), source };
        loop {
            let is_new = durable::make_folder(dir).map_err(SurveyError::file("make folder", dir))?;
            let opened = OpenOptions::new().create(true).append(true).open(&mark);
            let lock = match opened {
                Ok(file) => file,
                // Somebody who failed has removed the folder in between.
                Err(error) if error.kind() == ErrorKind::NotFound && !dir.exists() => continue,
                Err(source) => return Err(to_error(source)),
            };
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(SurveyError::InUse(dir.to_owned())),
                Err(TryLockError::Error(source)) => return Err(to_error(source)),
            }
            // It may be the mark of somebody who has removed it since.
            if is_same(&lock, &mark).map_err(to_error)? {
                return Ok(Self { folder: Folder::open(dir), lock, is_new });
            }
        }
    }

    /// What was made here so far.
    fn parts(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder.dir).into_iter().flatten().filter_map(Result::ok);
        let made = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_part));
        made.map(|entry| entry.path()).collect()
    }

    fn remove_parts(&self) {
        for part in self.parts() {
            // The error that led here is the one worth telling; what cannot be removed is found by the next look.
            let _ = if part.is_dir() { fs::remove_dir_all(part) } else { fs::remove_file(part) };
        }
    }

    fn forget(self) {
        // While the lock is held, so that its next holder sees that the mark is gone.
        let _ = fs::remove_file(mark_of(&self.folder.dir));
        drop(self.lock);
    }
}

/// Refuses what is plainly in the way before anything is written there.
fn look_at(dir: &Path) -> Result<(), SurveyError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(_) => return Err(SurveyError::folder_in_use(dir)),
    };
    let names: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    let is_being_made = names.iter().any(|name| name == MARK);
    // A folder that is there and empty may have been made for us by a mount or a script.
    let is_ours = names.iter().all(|name| name.to_str().is_some_and(is_part));
    if is_being_made || is_ours { Ok(()) } else { Err(SurveyError::folder_in_use(dir)) }
}

/// Whether a file is made before the manifest, or was on its way there.
fn is_part(name: &str) -> bool {
    PARTS.contains(&name) || durable::is_hidden(name)
}

fn mark_of(dir: &Path) -> PathBuf {
    dir.join(MARK)
}

/// Whether the open file is the one of that name.
#[cfg(unix)]
pub(in crate::survey) fn is_same(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let there = match fs::metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let here = file.metadata()?;
    Ok((here.dev(), here.ino()) == (there.dev(), there.ino()))
}

/// Where an open file cannot be removed, its name stays its own.
#[cfg(not(unix))]
pub(in crate::survey) fn is_same(_file: &File, path: &Path) -> io::Result<bool> {
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
        let told = begin(&dir).err().unwrap();
        assert!(told.ends_with("kenya: another process is at work on this survey"), "{told}");
        assert!(dir.join("journal").is_dir());
        first.undo();
        assert!(!dir.exists());
        begin(&dir).unwrap().done();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "the journals' folder");
    }

    #[test]
    fn what_a_dead_process_left_is_in_the_way_unless_it_is_to_be_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        drop(begin(dir).unwrap());
        let told = begin(dir).err().unwrap();
        assert!(
            told.ends_with("is a survey that was only half made: remove the folder and begin again"),
            "{told}"
        );
        fs::write(dir.join("survey.toml"), "depth = ").unwrap();
        CreationLock::begin(dir, true).unwrap().undo();
        assert_eq!(fs::read_dir(dir).unwrap().count(), 0, "the folder was there before");
    }

    #[test]
    fn a_folder_with_anything_else_in_it_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "").unwrap();
        let told = begin(folder.path()).err().unwrap();
        assert!(told.ends_with("exists and is not an empty folder: choose another one"), "{told}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
