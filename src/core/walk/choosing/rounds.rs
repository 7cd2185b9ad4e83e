use crate::exchange::{Class, Depth, Outcome};
use crate::walk::entry::UrlState;
use crate::walk::settings::waiting::{Rounds, Waiting};
use crate::walk::state::Walk;
use crate::walk::tree::listing::Listing;

/// A walk in rounds requests in each round what is worth its price, best first over all its levels: it
/// passes over them from the shallowest to the deepest until nothing that waits is worth the price. What it
/// has by then waits for the next round.
impl Walk {
    pub(in crate::walk) fn rounds(&mut self) -> Option<&mut Rounds> {
        self.auto.as_mut().and_then(|auto| auto.rounds.as_mut())
    }

    /// Whether the walk waits for the next round.
    pub(in crate::walk) fn is_between_rounds(&mut self) -> bool {
        self.rounds().is_some_and(|rounds| !rounds.is_running)
    }

    /// Whether URLs wait for a later pass or round.
    pub(in crate::walk) fn has_waiting(&self) -> bool {
        let rounds = self.auto.as_ref().and_then(|auto| auto.rounds.as_ref());
        rounds.is_some_and(|rounds| rounds.next_level(Depth(0)).is_some())
    }

    /// A page is requested.
    pub(in crate::walk) fn note_requested(&mut self) {
        if let Some(rounds) = self.rounds() {
            rounds.has_requested = true;
        }
    }

    /// Begins the next round: from now on a request must be expected to bring `price` new external hosts.
    /// Call it after [`Step::RoundOver`](crate::walk::Step::RoundOver) or [`Self::end_round`].
    pub fn next_round(&mut self, price: f64) {
        let Some(auto) = &mut self.auto else { return };
        auto.appraiser.set_price(price);
        let Some(rounds) = &mut auto.rounds else { return };
        rounds.is_running = true;
        rounds.has_requested = false;
        // At level 0 the walk goes on where it was.
        if self.depth > Depth(0) && self.list.is_done() && self.ending.is_none() {
            self.begin_next_level(Depth(0));
        }
    }

    /// Ends the round before the walk has requested all that is worth its price. Call it only while no
    /// request is in flight, and without a [`Self::poll`] before it: whether a URL that waits may be requested
    /// is decided in the round in which it has its turn. Decided here, it would depend on the time, and on
    /// what is on record for another URL.
    pub fn end_round(&mut self) {
        while self.ending.is_none()
            && !self.is_between_rounds()
            && self.list.is_done()
            && self.pending.is_empty()
        {
            self.finish_level();
        }
        if self.ending.is_some() {
            return;
        }
        if self.depth > Depth(0) {
            self.set_aside_level();
            self.file_found();
        }
        if let Some(rounds) = self.rounds() {
            rounds.is_running = false;
        }
    }

    /// What waits for the next round.
    #[must_use]
    pub fn waiting(&self) -> Waiting {
        let Some(auto) = &self.auto else { return Waiting::default() };
        let Some(rounds) = &auto.rounds else { return Waiting::default() };
        let mut waiting = Waiting { is_entering: self.depth == Depth(0), ..Waiting::default() };
        for entry in rounds.waiting.iter().flatten().filter(|entry| entry.skipped.is_none()) {
            match entry.doubtful() {
                Some(candidate) => waiting.scores.push(auto.appraiser.score(candidate)),
                None => waiting.certain += 1,
            }
        }
        waiting.scores.sort_by(|one, other| other.total_cmp(one));
        waiting
    }

    /// Ends the walk between two rounds: there is no further one. What waits is left out.
    pub fn end_rounds(&mut self) {
        if self.ending.is_some() {
            return;
        }
        if self.depth == Depth(0) {
            return self.end(Outcome::RequestBudget);
        }
        while let Some(depth) = self.rounds().and_then(|rounds| rounds.next_level(Depth(0))) {
            self.begin_level(depth);
            while !self.list.is_done() {
                self.pass(Class::Yield);
            }
        }
        let outcome = self.outcome_without_waiting();
        self.end(outcome);
    }

    /// Moves the URLs of the level that have not had their turn to those that wait.
    pub(in crate::walk) fn set_aside_level(&mut self) {
        let (depth, list) = (self.depth, std::mem::take(&mut self.list));
        let Some(auto) = &mut self.auto else { return };
        auto.chosen = 0;
        if let Some(rounds) = &mut auto.rounds {
            list.into_upcoming().for_each(|entry| rounds.push(depth, entry));
        }
    }

    /// All responses of a level are merged: goes on with the next level on which URLs wait, begins another
    /// pass, or ends the round.
    pub(in crate::walk) fn finish_level_of_round(&mut self) {
        self.file_found();
        self.begin_next_level(self.depth.next());
    }

    /// Goes on with the first level from `depth` on at which URLs wait.
    fn begin_next_level(&mut self, depth: Depth) {
        let Some(rounds) = self.rounds() else { return };
        let next = rounds.next_level(depth).or_else(|| {
            let begins_again = rounds.has_requested;
            rounds.has_requested = false;
            rounds.next_level(Depth(0)).filter(|_| begins_again)
        });
        match next {
            Some(depth) => self.begin_level(depth),
            None if self.has_waiting() => {
                if let Some(rounds) = self.rounds() {
                    rounds.is_running = false;
                }
            }
            None => {
                let outcome = self.outcome_without_waiting();
                self.end(outcome);
            }
        }
    }

    fn begin_level(&mut self, depth: Depth) {
        let Some(rounds) = self.rounds() else { return };
        let entries = std::mem::take(&mut rounds.waiting[usize::from(depth.0)]);
        self.list = entries.into_iter().collect::<Listing>();
        self.depth = depth;
        if let Some(auto) = &mut self.auto {
            auto.chosen = 0;
        }
    }

    /// The URLs found on pages of this level wait on the next one.
    fn file_found(&mut self) {
        let depth = self.depth.next();
        self.evaluate_evidence();
        let (next, finders) = self.take_next_level();
        if depth > self.settings.depth {
            let Some(rounds) = self.rounds() else { return };
            next.iter().for_each(|url| rounds.too_deep.push(&url));
            return;
        }
        for (url, finder) in next.iter().zip(finders) {
            self.known.insert(url.page_key(), UrlState::Listed);
            let entry = self.entry(url, depth, finder.as_ref());
            if let Some(rounds) = self.rounds() {
                rounds.push(depth, entry);
            }
        }
    }

    fn outcome_without_waiting(&mut self) -> Outcome {
        let has_deeper = self.rounds().is_some_and(|rounds| !rounds.too_deep.is_empty());
        let usual = if has_deeper { Outcome::Depth } else { self.outcome_without_links() };
        self.outcome_of_hosts().unwrap_or(usual)
    }

    /// The walk has ended: what waits gets this class.
    pub(in crate::walk) fn count_waiting(&mut self, class: Class) {
        let Some(rounds) = self.rounds() else { return };
        let (waiting, too_deep) = (std::mem::take(&mut rounds.waiting), std::mem::take(&mut rounds.too_deep));
        for (depth, entries) in (0..).map(Depth).zip(waiting) {
            entries.iter().filter(|entry| !entry.again).for_each(|_| self.counts.level(depth).count(class));
        }
        let deeper = self.settings.depth.next();
        let count = too_deep.iter().filter(|url| self.is_found(url)).count();
        (0..count).for_each(|_| self.counts.level(deeper).count(Class::Depth));
    }
}
