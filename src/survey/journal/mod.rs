//! Journals of trees: the requests and responses of each tree, as they are written, flushed, read and
//! replayed.

pub(super) mod entry;
pub(super) mod frame;
pub(super) mod history;
pub(super) mod keeper;
pub(super) mod replay;
pub(super) mod sent;

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::error::SurveyError;
use entry::{Entry, ExchangeRecord};
use frame::{PREFIX_BYTES, encode_frame};
use history::JournalHistory;
use keeper::Keeper;

/// Precedes the format version, which is one byte.
const MAGIC: &[u8; 7] = b"ccjrnl\0";
/// Version 3 has no [`Entry::Reading`], version 4 no [`Entry::WalkedBy`] and version 5 no [`Entry::Ended`].
/// Up to version 6 there is no [`Entry::Shared`], and responses lack the end that version 7 added
/// ([`ExchangeRecord::LATER`]). Version 7 has no [`Entry::Round`]. Early journals of version 8 lack a part of
/// that end: what a response shows of its host and page. All else is the same, so older journals are
/// continued as version 8.
const OLDEST: u8 = 3;
const VERSION: u8 = 8;
const HEAD_BYTES: usize = MAGIC.len() + 1;
/// A page of 10,000 links of 2 kB each, and a robots.txt of 500 KiB, stay below this.
const MAX_ENTRY: u32 = 64 * 1024 * 1024;

/// A site tree's journal while the tree is being walked.
///
/// An entry is passed to the operating system in one write, so it survives the death of the process. It is
/// forced to the disk some seconds later. A power cut takes only responses: the list of sent requests is kept
/// separately ([`Keeper`]).
///
/// A journal gets its name when its head is on the disk. A journal without a head has lost its entries, so
/// the requests sent to its site are unknown. It counts as damaged, and the tree fails instead of being
/// walked anew.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    end: Mutex<JournalEnd>,
    /// It was written since its last flush.
    is_dirty: Arc<AtomicBool>,
    /// Flushes the journal; none in a simulation.
    keeper: Option<Arc<Keeper>>,
}

/// Where the next entry is written.
#[derive(Debug)]
struct JournalEnd {
    file: Arc<File>,
    at: u64,
}

impl Journal {
    /// Opens a journal for appending, or creates it, and returns its history. What a crash left half written
    /// at its end is cut off.
    pub(super) fn open(path: &Path) -> Result<(Self, JournalHistory), SurveyError> {
        Self::open_with_keeper(path, None)
    }

    /// The same, for a journal that is flushed by a keeper.
    pub(super) fn open_with_keeper(
        path: &Path,
        keeper: Option<Arc<Keeper>>,
    ) -> Result<(Self, JournalHistory), SurveyError> {
        let cannot_open = || SurveyError::file("open", path);
        let mut reader = JournalReader::open(path)?;
        if reader.condition == JournalCondition::Damaged {
            let what = "this journal is damaged: the requests that its site received are unknown";
            return Err(SurveyError::Journal { path: path.to_owned(), what });
        }
        if reader.condition == JournalCondition::Missing {
            begin(path, keeper.is_some())?;
        }
        let (mut history, mut requests_after_damage) = (JournalHistory::default(), Vec::new());
        while let Some(entry) = reader.next()? {
            history.note(&entry);
            if reader.is_cut {
                requests_after_damage.push(entry);
            }
        }
        let mut file = OpenOptions::new().write(true).open(path).map_err(cannot_open())?;
        let sound_bytes = reader.sound_bytes.max(HEAD_BYTES as u64);
        let cut = file.metadata().map_err(cannot_open())?.len().saturating_sub(sound_bytes);
        if cut > 0 {
            tracing::warn!(journal = %path.display(), bytes = cut, "a crash left damaged or incomplete entries at the end of this journal: they are removed");
        }
        file.set_len(sound_bytes).map_err(cannot_open())?;
        file.write_all(&head()).map_err(SurveyError::file("write", path))?;
        let at = file.seek(SeekFrom::End(0)).map_err(cannot_open())?;
        let journal = Self {
            path: path.to_owned(),
            end: Mutex::new(JournalEnd { file: Arc::new(file), at }),
            is_dirty: Arc::default(),
            keeper,
        };
        journal.note_dirty(&journal.file());
        requests_after_damage.iter().try_for_each(|entry| journal.write(entry))?;
        Ok((journal, history))
    }

    pub(super) fn write(&self, entry: &Entry) -> Result<(), SurveyError> {
        self.append(entry).map(|_at| ())
    }

    /// Appends an entry; returns its offset, for [`entry_at`].
    pub(super) fn append(&self, entry: &Entry) -> Result<u64, SurveyError> {
        let bytes = encode_frame(entry).map_err(|_too_large| SurveyError::Journal {
            path: self.path.clone(),
            what: "a response cannot be written as an entry",
        })?;
        let (at, file) = {
            let mut end = self.end.lock();
            (&*end.file).write_all(&bytes).map_err(SurveyError::file("write", &self.path))?;
            let at = end.at;
            end.at += bytes.len() as u64;
            (at, end.file.clone())
        };
        self.note_dirty(&file);
        Ok(at)
    }

    /// Waits until the whole journal is on the disk, except its name in the folder.
    pub(super) fn flush(&self) -> Result<(), SurveyError> {
        self.file().sync_data().map_err(SurveyError::file("flush", &self.path))
    }

    fn file(&self) -> Arc<File> {
        self.end.lock().file.clone()
    }

    fn note_dirty(&self, file: &Arc<File>) {
        if let Some(keeper) = &self.keeper
            && !self.is_dirty.swap(true, Ordering::SeqCst)
        {
            keeper.note_dirty(&self.path, file, &self.is_dirty);
        }
    }
}

/// Creates a journal without entries, which is whole from the first moment. If `is_flushed`, this holds even
/// over a power cut.
fn begin(path: &Path, is_flushed: bool) -> Result<(), SurveyError> {
    let unfinished = path.with_extension("begun");
    let write = || {
        let mut file = File::create(&unfinished)?;
        file.write_all(&head())?;
        if is_flushed { file.sync_data() } else { Ok(()) }
    };
    write().map_err(SurveyError::file("write", &unfinished))?;
    std::fs::rename(&unfinished, path).map_err(SurveyError::file("write", path))
}

fn head() -> [u8; HEAD_BYTES] {
    let mut head = [VERSION; HEAD_BYTES];
    head[..MAGIC.len()].copy_from_slice(MAGIC);
    head
}

/// What is found at the path of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JournalCondition {
    Missing,
    /// Its head is not that of a journal: it is empty, zeros, or anything else.
    Damaged,
    Sound,
}

/// Reads a journal from its beginning to its end, or to where a crash cut it.
#[derive(Debug)]
pub(super) struct JournalReader {
    path: PathBuf,
    condition: JournalCondition,
    input: Option<BufReader<File>>,
    /// The end of the whole entries, in bytes.
    sound_bytes: u64,
    /// A damaged entry was met.
    is_cut: bool,
}

/// The name of this operation in errors. It must not count as wrong usage: the user has named no such file.
const READ_BACK: &str = "read back";

impl JournalReader {
    /// Opens a journal; one that is missing or damaged has no entries.
    pub(super) fn open(path: &Path) -> Result<Self, SurveyError> {
        let path = path.to_owned();
        let without_input =
            |path, condition| Self { path, condition, input: None, sound_bytes: 0, is_cut: false };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(without_input(path, JournalCondition::Missing));
            }
            Err(source) => return Err(SurveyError::File { operation: "open", path, source }),
        };
        let mut input = BufReader::with_capacity(64 * 1024, file);
        let mut head = [0; HEAD_BYTES];
        let is_whole = read_full(&mut input, &mut head).map_err(SurveyError::file(READ_BACK, &path))?;
        match head.strip_prefix(MAGIC).filter(|_| is_whole) {
            Some([OLDEST..=VERSION]) => Ok(Self {
                path,
                condition: JournalCondition::Sound,
                input: Some(input),
                sound_bytes: HEAD_BYTES as u64,
                is_cut: false,
            }),
            Some([1..=u8::MAX]) => Err(SurveyError::JournalVersion(path)),
            _ => Ok(without_input(path, JournalCondition::Damaged)),
        }
    }

    /// What was found at its path.
    pub(super) fn condition(&self) -> JournalCondition {
        self.condition
    }

    /// The next entry. After a damaged entry, only requests are returned: they were sent, even if their
    /// responses are lost.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, SurveyError> {
        loop {
            match self.read_entry().map_err(SurveyError::file(READ_BACK, &self.path))? {
                FoundEntry::End => {
                    self.input = None;
                    return Ok(None);
                }
                FoundEntry::Damage => self.is_cut = true,
                FoundEntry::Entry(entry, bytes) if !self.is_cut => {
                    self.sound_bytes += bytes;
                    return Ok(Some(entry));
                }
                FoundEntry::Entry(entry @ (Entry::Sending { .. } | Entry::Unsent { .. }), _) => {
                    return Ok(Some(entry));
                }
                FoundEntry::Entry(..) => {}
            }
        }
    }

    /// The offset of the entry that is read next, as long as none was damaged.
    pub(super) fn offset(&self) -> u64 {
        self.sound_bytes
    }

    /// The history according to all remaining entries.
    pub(super) fn history(mut self) -> Result<JournalHistory, SurveyError> {
        let mut history = JournalHistory::default();
        while let Some(entry) = self.next()? {
            history.note(&entry);
        }
        Ok(history)
    }

    /// The number of requests that were sent and have a result, according to all remaining entries.
    pub(super) fn sent(mut self) -> Result<u64, SurveyError> {
        let mut sent = 0;
        while let Some(entry) = self.next()? {
            let record = entry.into_record();
            sent += u64::from(record.is_some_and(|record| record.response.was_sent()));
        }
        Ok(sent)
    }

    fn read_entry(&mut self) -> io::Result<FoundEntry> {
        let Some(input) = &mut self.input else { return Ok(FoundEntry::End) };
        let mut prefix = [0; PREFIX_BYTES];
        if !read_full(input, &mut prefix)? {
            return Ok(FoundEntry::End);
        }
        let [a, b, c, d, checksum @ ..] = prefix;
        let length = u32::from_le_bytes([a, b, c, d]);
        if length > MAX_ENTRY {
            return Ok(FoundEntry::End);
        }
        let length = length as usize;
        // The bytes that an earlier version did not write follow the entry.
        let mut bytes = vec![0; length + ExchangeRecord::LATER.len()];
        if !read_full(input, &mut bytes[..length])? {
            return Ok(FoundEntry::End);
        }
        if crc32fast::hash(&bytes[..length]) != u32::from_le_bytes(checksum) {
            return Ok(FoundEntry::Damage);
        }
        bytes[length..].copy_from_slice(&ExchangeRecord::LATER);
        // Zeros, which a power failure may leave, look like an empty entry with a correct checksum. No entry
        // is empty.
        let entry = postcard::from_bytes(&bytes).ok();
        Ok(entry.map_or(FoundEntry::Damage, |entry| FoundEntry::Entry(entry, (PREFIX_BYTES + length) as u64)))
    }
}

/// The entry at an offset that [`Journal::append`] or [`JournalReader::offset`] returned; none if there is no
/// such entry any more.
pub(super) fn entry_at(path: &Path, at: u64) -> Result<Option<Entry>, SurveyError> {
    let mut reader = JournalReader::open(path)?;
    if let Some(input) = &mut reader.input {
        input.seek(SeekFrom::Start(at)).map_err(SurveyError::file(READ_BACK, path))?;
    }
    match reader.read_entry().map_err(SurveyError::file(READ_BACK, path))? {
        FoundEntry::Entry(entry, _) => Ok(Some(entry)),
        FoundEntry::Damage | FoundEntry::End => Ok(None),
    }
}

/// What is found at an offset of a journal.
enum FoundEntry {
    /// An entry, and the number of bytes that it takes.
    Entry(Entry, u64),
    Damage,
    /// Nothing, or what a crash left half written.
    End,
}

/// Fills the buffer; returns false if the input ended before.
fn read_full(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::exchange::Failure;
    use crate::survey::journal::entry::ExchangeRecord;
    use crate::survey::journal::entry::tests::{failed_exchange, record};
    use crate::walk::Content;

    fn numbers(path: &Path) -> Vec<u32> {
        let mut reader = JournalReader::open(path).unwrap();
        std::iter::from_fn(|| reader.next().unwrap())
            .filter_map(|entry| match entry {
                Entry::Received(record) => Some(record.request.number),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_journal_cut_anywhere_keeps_its_whole_entries_and_is_written_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let (journal, _) = Journal::open(&path).unwrap();
        (0..3).for_each(|number| journal.write(&record(number)).unwrap());
        let whole = std::fs::read(&path).unwrap();
        for length in HEAD_BYTES..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let kept = numbers(&path);
            assert!(kept.len() < 3 && kept.iter().copied().eq(0..kept.len() as u32), "cut at {length}");
            Journal::open(&path).unwrap().0.write(&record(9)).unwrap();
            let expected: Vec<u32> = kept.into_iter().chain([9]).collect();
            assert_eq!(numbers(&path), expected, "cut at {length}");
        }
    }

    #[test]
    fn zeros_at_the_end_of_a_journal_hide_nothing_that_is_written_after_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        Journal::open(&path).unwrap().0.write(&record(0)).unwrap();
        for zeros in [1, PREFIX_BYTES, 296, 100_000] {
            let mut bytes = std::fs::read(&path).unwrap();
            let whole = bytes.len();
            bytes.resize(whole + zeros, 0);
            std::fs::write(&path, bytes).unwrap();
            let number = numbers(&path).len() as u32;
            Journal::open(&path).unwrap().0.write(&record(number)).unwrap();
            assert!(numbers(&path).into_iter().eq(0..=number), "{zeros} zeros");
        }
    }

    #[test]
    fn questions_behind_a_flipped_bit_stay_on_record_as_put() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let (journal, _) = Journal::open(&path).unwrap();
        let at = |number| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(u64::from(number));
        for number in 0..3 {
            let address = [41, 90, 0, 1].into();
            journal.write(&Entry::Sending { number, address, at: at(number) }).unwrap();
            journal.write(&record(number)).unwrap();
        }
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        for _ in 0..2 {
            let (_, history) = Journal::open(&path).unwrap();
            assert_eq!(
                history.unanswered.sent_requests().map(|(_, time)| time).collect::<Vec<_>>(),
                [at(1), at(2)]
            );
            assert_eq!(numbers(&path), [0]);
        }
    }

    #[test]
    fn a_flipped_bit_ends_a_journal() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let (journal, _) = Journal::open(&path).unwrap();
        (0..3).for_each(|number| journal.write(&record(number)).unwrap());
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(numbers(&path), [0]);
    }

    #[test]
    fn a_journal_without_its_head_is_damaged_and_tells_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let mut flipped = head().to_vec();
        flipped[2] ^= 1;
        let cut = head()[..5].to_vec();
        let without_version = [&MAGIC[..], &[0; 100]].concat();
        for bytes in [Vec::new(), vec![0; 10_000], cut, flipped, without_version, b"something else".to_vec()]
        {
            std::fs::write(&path, &bytes).unwrap();
            let error = Journal::open(&path).unwrap_err();
            assert!(
                error.is_of_one_site() && error.to_string().contains("1.journal: this journal is damaged")
            );
            assert!(
                numbers(&path).is_empty()
                    && JournalReader::open(&path).unwrap().history().unwrap().unanswered.count() == 0
            );
        }
    }

    #[test]
    fn a_journal_of_a_later_version_stops_all_work() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        for version in [VERSION + 1, u8::MAX, 1] {
            std::fs::write(&path, [&MAGIC[..], &[version], b" and more"].concat()).unwrap();
            let error = Journal::open(&path).unwrap_err();
            assert!(matches!(error, SurveyError::JournalVersion(_)) && !error.is_of_one_site());
        }
    }

    #[test]
    fn a_journal_that_cannot_be_read_is_not_taken_for_one_that_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let (file, folder) = (dir.path().join("file"), dir.path().join("folder.journal"));
        std::fs::write(&file, "").unwrap();
        std::fs::create_dir(&folder).unwrap();
        for path in [file.join("1.journal"), folder] {
            assert!(matches!(JournalReader::open(&path), Err(SurveyError::File { .. })), "{path:?}");
        }
        assert!(JournalReader::open(&dir.path().join("2.journal")).unwrap().next().unwrap().is_none());
    }

    #[test]
    fn an_answer_of_a_megabyte_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let content = Content::Robots(vec![b'#'; 1_100_000]);
        let large = ExchangeRecord { content, ..failed_exchange(0, Failure::Reset) };
        let (journal, _) = Journal::open(&path).unwrap();
        journal.write(&Entry::Received(Box::new(large.clone()))).unwrap();
        journal.write(&record(1)).unwrap();
        let mut reader = JournalReader::open(&path).unwrap();
        let Some(Entry::Received(read)) = reader.next().unwrap() else { panic!() };
        assert!(*read == large);
        assert_eq!(numbers(&path), [0, 1]);
    }

    #[test]
    fn a_journal_of_an_earlier_version_is_read_and_written_on() {
        for version in OLDEST..VERSION {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("1.journal");
            Journal::open(&path).unwrap().0.write(&record(0)).unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[HEAD_BYTES - 1] = version;
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(numbers(&path), [0]);
            Journal::open(&path).unwrap().0.write(&record(1)).unwrap();
            assert_eq!(numbers(&path), [0, 1]);
            assert_eq!(std::fs::read(&path).unwrap()[..HEAD_BYTES], head());
        }
    }
}
