//! What a power cut leaves of a folder: only flushed data. `strace` shows which data was flushed.
#![cfg(target_os = "linux")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::skipped::skip;

/// Whether `strace` works here.
pub(crate) fn can_trace(test: &str) -> bool {
    let traced = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).status();
    let is_available = traced.is_ok_and(|status| status.success());
    if !is_available {
        skip(test, "there is no strace (tests/setup installs it), or it may not watch");
    }
    is_available
}

/// The system calls by which a program changes files.
const CALLS: &str = "openat,write,pwrite64,lseek,ftruncate,rename,renameat,renameat2,mkdir,fsync,fdatasync";

/// The program under `strace`, which writes the program's system calls to `trace`.
pub(crate) fn traced(program: &Path, trace: &Path) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-f", "--seccomp-bpf", "-y", "-s", "0", "-e", &format!("trace={CALLS}"), "-o"]);
    strace.arg(trace).arg(program);
    strace
}

/// Files as they are on the disk.
#[derive(Default)]
pub(crate) struct Disk {
    files: HashMap<PathBuf, Written>,
    /// Files and folders, and whether their names survive a cut.
    names: HashMap<PathBuf, bool>,
    /// Offset of the next write, by file descriptor.
    offsets: HashMap<String, u64>,
    /// Calls that have begun, by thread: the first part of their line, and the number of bytes that they
    /// flush.
    unfinished: HashMap<String, (String, Option<u64>)>,
}

#[derive(Clone, Copy, Default)]
struct Written {
    length: u64,
    /// Number of bytes that are on the disk.
    flushed: u64,
}

impl Disk {
    /// A disk that holds everything in a folder.
    pub(crate) fn from_folder(folder: &Path) -> Self {
        let mut disk = Self::default();
        for path in walk(folder) {
            let length = fs::metadata(&path).unwrap().len();
            if path.is_file() {
                disk.files.insert(path.clone(), Written { length, flushed: length });
            }
            disk.names.insert(path, true);
        }
        disk
    }

    /// Applies the system calls of a program.
    pub(crate) fn apply_trace(mut self, trace: &Path) -> Self {
        for line in String::from_utf8_lossy(&fs::read(trace).unwrap()).lines() {
            let Some((thread, call)) = line.split_once(' ') else { continue };
            let call = call.trim_start();
            if let Some(unfinished) = call.strip_suffix("<unfinished ...>") {
                let flushed_length = self.flush_length(unfinished);
                self.unfinished.insert(thread.to_owned(), (unfinished.trim_end().to_owned(), flushed_length));
            } else if let Some((_, end)) =
                call.strip_prefix("<... ").and_then(|it| it.split_once(" resumed>"))
            {
                if let Some((unfinished, flushed_length)) = self.unfinished.remove(thread) {
                    self.apply(&format!("{unfinished}{end}"), flushed_length);
                }
            } else {
                let flushed_length = self.flush_length(call);
                self.apply(call, flushed_length);
            }
        }
        self
    }

    /// The number of bytes that are on the disk after this call, if it flushes a file.
    fn flush_length(&self, call: &str) -> Option<u64> {
        let (name, rest) = call.split_once('(')?;
        let (_, path) = descriptor(rest).filter(|_| matches!(name, "fsync" | "fdatasync"))?;
        Some(self.files.get(&path).map_or(0, |written| written.length))
    }

    fn apply(&mut self, call: &str, flushed_length: Option<u64>) {
        let Some((name, rest)) = call.split_once('(') else { return };
        let Some((arguments, result)) = rest.rsplit_once(" = ") else { return };
        let arguments = arguments.trim_end().trim_end_matches(')');
        let Ok(result_number) = result.split([' ', '<']).next().unwrap_or_default().parse::<i64>() else {
            return;
        };
        if result_number < 0 {
            return;
        }
        let number = result_number.unsigned_abs();
        match name {
            "openat" => {
                let Some((opened, path)) = descriptor(result) else { return };
                self.offsets.insert(opened, 0);
                if arguments.contains("O_CREAT") && !self.names.contains_key(&path) {
                    self.names.insert(path.clone(), false);
                    self.files.insert(path, Written::default());
                } else if arguments.contains("O_TRUNC") {
                    self.files.insert(path, Written::default());
                }
            }
            "lseek" => self.offsets.extend(descriptor(rest).map(|(opened, _)| (opened, number))),
            "write" | "pwrite64" => {
                let Some((opened, path)) = descriptor(rest) else { return };
                let offset = self.offsets.entry(opened).or_default();
                let end = if name == "write" {
                    *offset += number;
                    *offset
                } else {
                    let last = arguments.rsplit(", ").next();
                    last.and_then(|argument| argument.parse::<u64>().ok()).unwrap_or_else(|| panic!("{call}"))
                        + number
                };
                if let Some(written) = self.files.get_mut(&path) {
                    written.length = written.length.max(end);
                }
            }
            "ftruncate" => {
                let Some((_, path)) = descriptor(rest) else { return };
                let length = arguments.rsplit(", ").next();
                let length: u64 =
                    length.and_then(|length| length.parse().ok()).unwrap_or_else(|| panic!("{call}"));
                if let Some(written) = self.files.get_mut(&path) {
                    *written = Written { length, flushed: written.flushed.min(length) };
                }
            }
            "rename" | "renameat" | "renameat2" => {
                let [from, to] =
                    <[PathBuf; 2]>::try_from(quoted(arguments)).unwrap_or_else(|_| panic!("{call}"));
                self.names.remove(&from);
                // If the name existed before, either the old or the new file is there.
                self.names.entry(to.clone()).or_insert(false);
                self.files.retain(|path, _| !path.starts_with(&to));
                // A renamed folder takes its content along.
                let moved = |path: &Path| path.strip_prefix(&from).ok().map(|rest| join(&to, rest));
                self.files =
                    self.files.drain().map(|(path, it)| (moved(&path).unwrap_or(path), it)).collect();
                let names = self.names.drain().map(|(path, it)| (moved(&path).unwrap_or(path), it));
                self.names = names.collect();
            }
            "mkdir" => self.names.extend(quoted(arguments).pop().map(|path| (path, false))),
            "fsync" | "fdatasync" => {
                let Some((_, path)) = descriptor(rest) else { return };
                if let Some(written) = self.files.get_mut(&path) {
                    written.flushed =
                        written.flushed.max(flushed_length.unwrap_or_default()).min(written.length);
                }
                for (named, is_kept) in &mut self.names {
                    *is_kept |= named.parent() == Some(&path);
                }
            }
            _ => {}
        }
    }

    /// Writes to `surviving` what a cut leaves of `folder` in its current state.
    pub(crate) fn cut(&self, folder: &Path, surviving: &Path) {
        let is_kept = |path: &Path| {
            let within = path.ancestors().take_while(|it| it.starts_with(folder) && *it != folder);
            within.into_iter().all(|it| self.names.get(it) == Some(&true))
        };
        fs::create_dir_all(surviving).unwrap();
        for path in folders(folder).into_iter().filter(|path| is_kept(path)) {
            fs::create_dir_all(surviving.join(path.strip_prefix(folder).unwrap())).unwrap();
        }
        for path in files(folder).into_iter().filter(|path| is_kept(path)) {
            let mut bytes = fs::read(&path).unwrap();
            let Written { flushed, .. } = self.files.get(&path).copied().unwrap_or_default();
            // The store writes in place, flushes by itself and repairs what a cut leaves: it is kept whole.
            if path.extension().is_none_or(|kind| kind != "redb") {
                bytes.truncate(usize::try_from(flushed).unwrap());
            }
            fs::write(surviving.join(path.strip_prefix(folder).unwrap()), bytes).unwrap();
        }
    }
}

/// `12</path/of/file>, …`: the descriptor and the path.
fn descriptor(text: &str) -> Option<(String, PathBuf)> {
    let (number, rest) = text.split_once('<')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let (path, _) = rest.split_once('>').filter(|_| is_number)?;
    Some((number.to_owned(), PathBuf::from(path)))
}

fn join(folder: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { folder.to_owned() } else { folder.join(rest) }
}

fn quoted(arguments: &str) -> Vec<PathBuf> {
    arguments.split('"').skip(1).step_by(2).map(PathBuf::from).collect()
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let below: Vec<PathBuf> = found.iter().filter(|path| path.is_dir()).flat_map(|path| walk(path)).collect();
    found.extend(below);
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    walk(folder).into_iter().filter(|path| path.is_file()).collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    walk(folder).into_iter().filter(|path| path.is_dir()).collect()
}
