use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::error::SurveyError;
use crate::exchange::{Answer, Ask, Purpose};
use crate::walk::Content;

/// One line of a site tree's journal.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Entry {
    /// A question is being put to a server.
    Asked { number: u32, address: IpAddr, at: SystemTime },
    /// What came of a question.
    Heard(Box<Heard>),
    /// The question that was to be put last was never sent: no connection came about, or none was allowed.
    Unsent { number: u32 },
    /// The walk goes on, in the run of the survey that began at `run`.
    Opened { run: SystemTime, at: SystemTime },
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Heard {
    pub ask: Ask,
    pub answer: Answer,
    pub content: Content,
    /// What the page or file took when it last came whole, where the server said that it has not changed since.
    pub unchanged_bytes: Option<u64>,
}

impl Heard {
    /// Whether it is a page of its tree.
    pub(super) fn is_page(&self) -> bool {
        matches!(self.content, Content::Page(_)) && self.ask.purpose != Purpose::Probe
    }

    /// An answer that carries nothing for the walk.
    pub(super) fn nothing(ask: Ask, answer: Answer) -> Self {
        Self { ask, answer, content: Content::Nothing, unchanged_bytes: None }
    }
}

/// Ends with the format version of entries.
const MAGIC: &[u8; 8] = b"ccjrnl\0\x03";
/// Length and CRC-32 of an entry.
const PREFIX: usize = 8;
/// A page of 10,000 links of 2 kB each, and a robots.txt of 500 KiB, stay below this.
const MAX_ENTRY: u32 = 64 * 1024 * 1024;

/// A site tree's journal while the tree is being walked.
///
/// An entry is handed to the system with one write, so it outlasts the process; it is not
/// forced to the disk, for losing the last seconds in a power failure costs only repeated requests.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens a journal to write on, or makes it; what a crash left half written at its end is cut off.
    pub(super) fn open(path: &Path) -> Result<Self, SurveyError> {
        let wrong = || SurveyError::file("open", path);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(wrong())?;
        let mut reader = Reader::open(path)?;
        while reader.next()?.is_some() {}
        let cut = file.metadata().map_err(wrong())?.len().saturating_sub(reader.sound);
        if cut > 0 {
            tracing::warn!(journal = %path.display(), bytes = cut, "what a crash left half written is cut off");
        }
        file.set_len(reader.sound).map_err(wrong())?;
        file.seek(SeekFrom::End(0)).map_err(wrong())?;
        if reader.sound == 0 {
            file.write_all(MAGIC).map_err(SurveyError::file("write", path))?;
        }
        Ok(Self { path: path.to_owned(), file })
    }

    pub(super) fn write(&mut self, entry: &Entry) -> Result<(), SurveyError> {
        let mut bytes = vec![0; PREFIX];
        bytes = postcard::to_extend(entry, bytes)
            .map_err(|wrong| SurveyError::Journal { path: self.path.clone(), what: wrong.to_string() })?;
        let length = u32::try_from(bytes.len() - PREFIX).unwrap_or(u32::MAX);
        let check = crc32fast::hash(&bytes[PREFIX..]);
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes[4..PREFIX].copy_from_slice(&check.to_le_bytes());
        self.file.write_all(&bytes).map_err(SurveyError::file("write", &self.path))
    }
}

/// Reads a journal from its beginning to its end, or to where a crash cut it.
#[derive(Debug)]
pub(super) struct Reader {
    path: PathBuf,
    input: Option<BufReader<File>>,
    /// Bytes up to here are whole entries.
    sound: u64,
}

impl Reader {
    /// Opens a journal; one that is not there is empty.
    pub(super) fn open(path: &Path) -> Result<Self, SurveyError> {
        let path = path.to_owned();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(wrong) if wrong.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { path, input: None, sound: 0 });
            }
            Err(source) => return Err(SurveyError::File { operation: "open", path, source }),
        };
        let mut input = BufReader::with_capacity(64 * 1024, file);
        let mut magic = [0; MAGIC.len()];
        let whole = fill(&mut input, &mut magic).map_err(SurveyError::file("read", &path))?;
        if whole && magic != *MAGIC {
            let what = "this is no journal of this version".to_owned();
            return Err(SurveyError::Journal { path, what });
        }
        Ok(Self { path, input: whole.then_some(input), sound: if whole { MAGIC.len() as u64 } else { 0 } })
    }

    pub(super) fn next(&mut self) -> Result<Option<Entry>, SurveyError> {
        let entry = self.read_entry().map_err(SurveyError::file("read", &self.path))?;
        if entry.is_none() {
            self.input = None;
        }
        Ok(entry)
    }

    fn read_entry(&mut self) -> io::Result<Option<Entry>> {
        let Some(input) = &mut self.input else { return Ok(None) };
        let mut prefix = [0; PREFIX];
        if !fill(input, &mut prefix)? {
            return Ok(None);
        }
        let [a, b, c, d, check @ ..] = prefix;
        let length = u32::from_le_bytes([a, b, c, d]);
        if length > MAX_ENTRY {
            return Ok(None);
        }
        let mut bytes = vec![0; length as usize];
        if !fill(input, &mut bytes)? || crc32fast::hash(&bytes) != u32::from_le_bytes(check) {
            return Ok(None);
        }
        // Zeros, which a power failure may leave, are an empty entry with a right sum: no entry is empty.
        let entry = postcard::from_bytes(&bytes).ok();
        if entry.is_some() {
            self.sound += (PREFIX + bytes.len()) as u64;
        }
        Ok(entry)
    }
}

/// Fills the buffer, or says that the input ended before.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(wrong) if wrong.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(wrong) => Err(wrong),
    }
}

/// Questions put and answers heard, as a journal tells them one after the other.
///
/// A question that was sent more often than it was answered was in flight when a process died.
#[derive(Debug, Default)]
pub(super) struct Unanswered {
    /// To whom and when a question was put, for each time, until an answer to it is met.
    open: BTreeMap<u32, Vec<(IpAddr, SystemTime)>>,
    lost: Vec<(IpAddr, SystemTime)>,
}

/// What a journal says of the runs of the survey that wrote it.
#[derive(Debug, Default)]
pub(super) struct Past {
    pub unanswered: Unanswered,
    /// The time between the runs, in which nobody walked.
    pub between: Duration,
    run: Option<SystemTime>,
    latest: Option<SystemTime>,
}

impl Past {
    pub(super) fn of(path: &Path) -> Result<Self, SurveyError> {
        let (mut journal, mut past) = (Reader::open(path)?, Self::default());
        while let Some(entry) = journal.next()? {
            past.unanswered.note(&entry);
            past.pass(&entry);
        }
        Ok(past)
    }

    fn pass(&mut self, entry: &Entry) {
        match entry {
            Entry::Opened { run, at } => {
                if self.run.replace(*run).is_some_and(|before| before != *run) {
                    let stopped = self.latest.and_then(|latest| at.duration_since(latest).ok());
                    self.between += stopped.unwrap_or_default();
                }
                self.latest = self.latest.max(Some(*at));
            }
            Entry::Asked { at, .. } => self.latest = self.latest.max(Some(*at)),
            Entry::Heard(heard) => self.latest = self.latest.max(Some(heard.answer.ended())),
            Entry::Unsent { .. } => {}
        }
    }
}

impl Unanswered {
    pub(super) fn note(&mut self, entry: &Entry) {
        match entry {
            Entry::Asked { number, address, at } => {
                self.open.entry(*number).or_default().push((*address, *at));
            }
            Entry::Unsent { number } => {
                self.open.get_mut(number).and_then(Vec::pop);
            }
            Entry::Opened { .. } => {}
            // What was not asked once more answers nothing: an earlier time stays lost.
            Entry::Heard(heard) if heard.answer.failure.is_some_and(|it| !it.reached_the_network()) => {}
            Entry::Heard(heard) => {
                // The last time it was put is the one that was answered.
                let mut times = self.open.remove(&heard.ask.number).unwrap_or_default();
                times.pop();
                self.lost.append(&mut times);
            }
        }
    }

    /// How many times a question was put without an answer on record.
    pub(super) fn count(&self) -> u64 {
        self.each().count() as u64
    }

    /// To whom and when, each time.
    pub(super) fn each(&self) -> impl Iterator<Item = (IpAddr, SystemTime)> + '_ {
        self.lost.iter().chain(self.open.values().flatten()).copied()
    }
}

/// The recorded answers of a tree, given back by number. They were written in the order of their
/// arrival, so only few are held at a time.
pub(super) struct Replay {
    reader: Reader,
    ahead: HashMap<u32, Heard>,
    /// When the walk began.
    pub began: Option<SystemTime>,
}

impl Replay {
    pub(super) fn open(path: &Path) -> Result<Self, SurveyError> {
        Ok(Self { reader: Reader::open(path)?, ahead: HashMap::new(), began: None })
    }

    /// The answer to this question, if it is recorded; it can still be taken.
    pub(super) fn peek(&mut self, number: u32) -> Result<Option<&Heard>, SurveyError> {
        if let Some(heard) = self.take(number)? {
            self.ahead.insert(number, heard);
        }
        Ok(self.ahead.get(&number))
    }

    /// The answer to this question, if it is recorded.
    pub(super) fn take(&mut self, number: u32) -> Result<Option<Heard>, SurveyError> {
        if let Some(heard) = self.ahead.remove(&number) {
            return Ok(Some(heard));
        }
        while let Some(entry) = self.reader.next()? {
            match entry {
                Entry::Asked { at, .. } => self.began = self.began.or(Some(at)),
                Entry::Heard(heard) if heard.ask.number == number => return Ok(Some(*heard)),
                Entry::Heard(heard) => {
                    self.ahead.insert(heard.ask.number, *heard);
                }
                Entry::Unsent { .. } | Entry::Opened { .. } => {}
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::WebUrl;
    use crate::exchange::Failure;

    fn heard(number: u32) -> Entry {
        failed(number, Failure::Reset)
    }

    fn failed(number: u32, failure: Failure) -> Entry {
        let url = WebUrl::parse(&format!("http://a.ke/{number}")).unwrap();
        let ask = Ask { number, url, purpose: Purpose::Page, depth: None };
        let answer = Answer::not_asked(SystemTime::UNIX_EPOCH, None, failure, None);
        let content = Content::Robots(vec![number as u8; 50]);
        Entry::Heard(Box::new(Heard { ask, answer, content, unchanged_bytes: None }))
    }

    fn numbers(path: &Path) -> Vec<u32> {
        let mut reader = Reader::open(path).unwrap();
        std::iter::from_fn(|| reader.next().unwrap())
            .filter_map(|entry| match entry {
                Entry::Heard(heard) => Some(heard.ask.number),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_journal_cut_anywhere_keeps_its_whole_entries_and_is_written_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let mut journal = Journal::open(&path).unwrap();
        (0..3).for_each(|number| journal.write(&heard(number)).unwrap());
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let kept = numbers(&path);
            assert!(kept.len() < 3 && kept.iter().copied().eq(0..kept.len() as u32), "cut at {length}");
            Journal::open(&path).unwrap().write(&heard(9)).unwrap();
            let expected: Vec<u32> = kept.into_iter().chain([9]).collect();
            assert_eq!(numbers(&path), expected, "cut at {length}");
        }
    }

    #[test]
    fn zeros_at_the_end_of_a_journal_hide_nothing_that_is_written_after_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        Journal::open(&path).unwrap().write(&heard(0)).unwrap();
        for zeros in [1, PREFIX, 296, 100_000] {
            let mut bytes = std::fs::read(&path).unwrap();
            let whole = bytes.len();
            bytes.resize(whole + zeros, 0);
            std::fs::write(&path, bytes).unwrap();
            let number = numbers(&path).len() as u32;
            Journal::open(&path).unwrap().write(&heard(number)).unwrap();
            assert!(numbers(&path).into_iter().eq(0..=number), "{zeros} zeros");
        }
    }

    #[test]
    fn a_flipped_bit_ends_a_journal() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let mut journal = Journal::open(&path).unwrap();
        (0..3).for_each(|number| journal.write(&heard(number)).unwrap());
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(numbers(&path), [0]);
    }

    #[test]
    fn every_time_a_question_was_put_in_vain_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let mut journal = Journal::open(&path).unwrap();
        let at = |second| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(second);
        let asked = |number, second| Entry::Asked { number, address: [41, 90, 0, 1].into(), at: at(second) };
        let refused = failed(3, Failure::ServerBudget);
        [
            asked(0, 1),
            heard(0),
            asked(1, 2),
            asked(1, 3),
            heard(1),
            asked(2, 4),
            asked(2, 5),
            asked(3, 6),
            refused,
            asked(4, 7),
            Entry::Unsent { number: 4 },
            asked(5, 8),
            Entry::Unsent { number: 5 },
            asked(5, 9),
            heard(5),
        ]
        .iter()
        .for_each(|entry| journal.write(entry).unwrap());
        let unanswered = Past::of(&path).unwrap().unanswered;
        let times: Vec<_> = unanswered.each().map(|(_, time)| time).collect();
        assert_eq!(times, [at(2), at(4), at(5), at(6)], "what was not asked again is no answer");
        assert_eq!(unanswered.count(), 4);
    }

    #[test]
    fn the_time_between_runs_is_told_from_a_put_off() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let mut journal = Journal::open(&path).unwrap();
        let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        let opened = |run, second| Entry::Opened { run: at(run), at: at(second) };
        let asked = |number, second| Entry::Asked { number, address: [41, 90, 0, 1].into(), at: at(second) };
        // Put off from 20 to 100; killed while it asked at 110; resumed at 500, killed at once, resumed at 700.
        [opened(1, 10), asked(0, 20), opened(1, 100), asked(1, 110), opened(450, 500), opened(690, 700)]
            .iter()
            .for_each(|entry| journal.write(entry).unwrap());
        assert_eq!(Past::of(&path).unwrap().between, Duration::from_secs(390 + 200));
    }

    #[test]
    fn answers_that_came_in_another_order_are_given_back_by_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let mut journal = Journal::open(&path).unwrap();
        [0, 2, 1, 4].iter().for_each(|number| journal.write(&heard(*number)).unwrap());
        let mut replay = Replay::open(&path).unwrap();
        let taken: Vec<bool> = (0..5).map(|number| replay.take(number).unwrap().is_some()).collect();
        assert_eq!(taken, [true, true, true, false, true]);
    }

    #[test]
    fn a_file_that_is_no_journal_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        std::fs::write(&path, b"something else").unwrap();
        let message = Journal::open(&path).unwrap_err().to_string();
        assert!(message.ends_with(
            "1.journal: this is no journal of this version; move this file away to walk the site anew"
        ));
    }
}
