use std::collections::{BTreeMap, HashSet};
use std::{fs, io};

use super::entry::Entry;
use super::frame;
use super::keeper::{FILE_NAMES, SentRequest};
use super::{Journal, JournalCondition, JournalReader};
use crate::frontier::Frontier;
use crate::records::durable;
use crate::survey::error::SurveyError;
use crate::survey::folder::Folder;

/// Restores requests that a power cut took from the journals of unfinished trees. Afterwards the journals on
/// the disk hold all requests that were sent. Without a power cut they may still need a flush: a killed
/// process may have left its writes to the operating system.
pub(in crate::survey) fn recover(folder: &Folder, frontier: &Frontier) -> Result<(), SurveyError> {
    let mut has_changed = false;
    for (tree, sent) in read(folder)? {
        if frontier.open_tree(tree)?.is_none() {
            continue;
        }
        let path = folder.journal(tree);
        let mut reader = JournalReader::open(&path)?;
        // The tree of a damaged journal fails.
        if reader.condition() == JournalCondition::Damaged {
            continue;
        }
        let mut known = HashSet::new();
        while let Some(entry) = reader.next()? {
            if let Entry::Sending { number, at, .. } = entry {
                known.insert((number, at));
            }
        }
        let lost: Vec<_> = sent.into_iter().filter(|sent| !known.contains(&(sent.number, sent.at))).collect();
        has_changed = true;
        if lost.is_empty() {
            let flushed = fs::File::open(&path).and_then(|journal| journal.sync_data());
            flushed.map_err(SurveyError::file("flush", &path))?;
            continue;
        }
        let requests = lost.len();
        tracing::warn!(journal = %path.display(), requests, "this journal lost requests in a power cut: they count as sent");
        let (journal, _) = Journal::open(&path)?;
        for SentRequest { number, address, at, .. } in lost {
            journal.write(&Entry::Sending { number, address, at })?;
        }
        journal.flush()?;
    }
    let journals = folder.journals();
    if has_changed {
        durable::sync_folder(&journals).map_err(SurveyError::file("flush", &journals))?;
    }
    Ok(())
}

/// The sent requests by tree number.
fn read(folder: &Folder) -> Result<BTreeMap<u64, Vec<SentRequest>>, SurveyError> {
    let mut trees = BTreeMap::<u64, Vec<SentRequest>>::new();
    for name in FILE_NAMES {
        let path = folder.journals().join(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // Either an earlier version wrote the journals, or the journals hold everything.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(SurveyError::File { operation: "open", path, source }),
        };
        for sent in frame::entries::<SentRequest>(&bytes) {
            trees.entry(sent.tree).or_default().push(sent);
        }
    }
    Ok(trees)
}
