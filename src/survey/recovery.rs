use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::SystemTime;

use super::error::SurveyError;
use super::journal::{Entry, Heard, Journal, Reader};
use super::parts::Parts;
use super::past::{Past, Unanswered};
use super::progress::Snapshot;
use super::tally::{Tally, TreeTally, server_of};
use crate::address::Site;
use crate::exchange::{Answer, Failure, Purpose};
use crate::frontier::Lease;
use crate::promises::{Fact, Judge, Wishes};
use crate::records::{SiteRow, read_table};

/// What the journals say of servers and their states, as they are stored, do not know yet.
#[derive(Default)]
pub(super) struct Recalled {
    /// When the last exchange ended that the stored state knows.
    stored: HashMap<IpAddr, Option<SystemTime>>,
    answers: Vec<Answered>,
    /// Questions without an answer on record: to whom, and when they were put.
    unanswered: Vec<(IpAddr, SystemTime)>,
    /// Exchanges that may overlap with some that were not seen when the tally was stored.
    late: Vec<Answered>,
    /// What the journals tell beside the tally that is stored.
    pub tally: Tally,
    /// Before this nothing is late.
    since: Option<SystemTime>,
}

/// An exchange that a journal tells of.
#[derive(Clone)]
struct Answered {
    site: Site,
    address: IpAddr,
    purpose: Purpose,
    answer: Answer,
}

impl Answered {
    /// The Crawl-delay of its host is not on record.
    fn fact(&self) -> Fact<'_> {
        let Self { site, address, purpose, answer } = self;
        let (address, purpose, against) = (*address, *purpose, Wishes::default());
        Fact { site, address, purpose, answer, crawl_delay: None, against }
    }
}

impl Recalled {
    /// `stored` is the tally of the trees that are finished.
    pub(super) fn beside(stored: &Tally) -> Self {
        let since = stored.as_of.and_then(|time| time.checked_sub(Judge::HORIZON));
        Self { since, ..Self::default() }
    }

    /// Reads the journal of a tree that is not finished; gives the number of questions without an answer on record.
    pub(super) fn read(
        &mut self,
        parts: &Parts,
        lease: &Lease,
        totals: &mut Totals,
    ) -> Result<u64, SurveyError> {
        let path = parts.folder.journal(lease.order);
        let mut journal = Reader::open(&path)?;
        let mut unanswered = Unanswered::default();
        let mut tally = TreeTally::of(&lease.site);
        while let Some(entry) = journal.next()? {
            unanswered.note(&entry);
            tally.note(&entry);
            self.take(parts, &lease.site, entry, totals)?;
        }
        let unreadable = unanswered.unreadable();
        if !unreadable.is_empty() {
            let (mut journal, _past) = Journal::open(&path)?;
            for heard in unreadable {
                tracing::error!(
                    url = heard.ask.url.as_str(),
                    "an answer cannot be read: please report this page"
                );
                let entry = Entry::Heard(Box::new(heard));
                journal.write(&entry)?;
                unanswered.note(&entry);
                tally.note(&entry);
                self.take(parts, &lease.site, entry, totals)?;
            }
        }
        self.tally.add(&tally.tally);
        self.unanswered.extend(unanswered.each());
        Ok(unanswered.count())
    }

    fn take(
        &mut self,
        parts: &Parts,
        site: &Site,
        entry: Entry,
        totals: &mut Totals,
    ) -> Result<(), SurveyError> {
        let (Entry::Heard(heard) | Entry::Tried(heard)) = entry else { return Ok(()) };
        totals.add(&heard);
        let Some(address) = server_of(&heard.answer) else { return Ok(()) };
        let stored = self.stored_end(parts, address)?;
        let ended = heard.answer.ended();
        let answered =
            Answered { site: site.clone(), address, purpose: heard.ask.purpose, answer: heard.answer };
        if self.since.is_none_or(|since| ended >= since) {
            self.late.push(answered.clone());
        }
        if stored.is_none_or(|end| ended > end) {
            self.answers.push(answered);
        }
        Ok(())
    }

    fn stored_end(&mut self, parts: &Parts, address: IpAddr) -> Result<Option<SystemTime>, SurveyError> {
        if let Some(end) = self.stored.get(&address) {
            return Ok(*end);
        }
        parts.remember(address)?;
        let end = parts.load().state_of(address).and_then(|state| state.ledger.last_end());
        self.stored.insert(address, end);
        Ok(end)
    }

    /// Books it all in the order in which it happened.
    pub(super) fn book(mut self, parts: &Parts) -> Result<(), SurveyError> {
        self.answers.sort_by_key(|answered| answered.answer.ended());
        for answered in &self.answers {
            let Answered { address, purpose, answer, .. } = answered;
            let (mut load, mut judge) = (parts.load(), parts.judge());
            judge.meet(*address, load.state_of(*address));
            load.recall(*address, *purpose, answer);
            judge.note_burden(*address, &load);
            judge.note_rest(&answered.fact());
        }
        self.late.sort_by_key(|answered| answered.answer.ended());
        for answered in &self.late {
            parts.judge().recall(&answered.fact());
        }
        self.unanswered.sort_by_key(|(_, at)| *at);
        for (address, at) in self.unanswered {
            parts.remember(address)?;
            parts.load().recall_in_flight(address, at, parts.now());
        }
        Ok(())
    }
}

/// Questions that were put and have no answer on record, over the whole survey.
pub(super) fn unrecorded(parts: &Parts) -> Result<u64, SurveyError> {
    let mut sum = parts.frontier().unrecorded()?;
    for order in parts.folder.journaled()? {
        sum += Past::of(&parts.folder.journal(order))?.unanswered.count();
    }
    Ok(sum)
}
/// What was done by earlier runs, as far as it is recorded.
#[derive(Default)]
pub(super) struct Totals {
    pages: u64,
    requests: u64,
    sent_bytes: u64,
    received_bytes: u64,
    external_urls: u64,
}

impl Totals {
    pub(super) fn of_tables(dir: &Path) -> Result<Self, SurveyError> {
        let mut totals = Self::default();
        for segment in read_table::<SiteRow>(dir)? {
            for row in segment? {
                totals.pages += row.pages;
                totals.requests += row.requests;
                totals.sent_bytes += row.sent_bytes;
                totals.received_bytes += row.received_bytes;
                totals.external_urls += row.external_urls;
            }
        }
        Ok(totals)
    }

    fn add(&mut self, heard: &Heard) {
        self.pages += u64::from(heard.is_page());
        self.requests += u64::from(heard.answer.failure.is_none_or(Failure::reached_the_network));
        self.sent_bytes += heard.answer.wire.sent;
        self.received_bytes += heard.answer.wire.received;
    }

    pub(super) fn put_into(self, now: &mut Snapshot) {
        now.pages = self.pages;
        now.requests = self.requests;
        now.sent_bytes = self.sent_bytes;
        now.received_bytes = self.received_bytes;
        now.external_urls = self.external_urls;
    }
}
