use std::ops::Range;
use std::sync::Arc;

use crate::address::{UrlList, WebUrl};
use crate::walk::entry::{UrlState, UrlStates};

/// The number of pages that must bring nothing but more of their kind before that is more than chance: a
/// month of a calendar.
pub(in crate::walk) const LEAST_PAGES: usize = 30;
/// Bits of 64 in which the `SimHash` of near duplicates may differ (Manku, Jain, Das Sarma 2007).
pub(in crate::walk) const NEAR_BITS: u32 = 3;

/// A page that was read, and the new URLs on it.
pub(in crate::walk) struct PageRead {
    pub url: Arc<WebUrl>,
    /// The `SimHash` of its text.
    pub simhash: Option<u64>,
    /// The `SimHash` of its text, or the hash of its bytes if it has no words.
    pub text: u64,
    /// It repeats the text of earlier pages.
    pub is_repeat: bool,
    /// The number of new external URLs.
    pub externals: usize,
    /// The number of new hosts among these.
    pub external_hosts: usize,
    /// New internal URLs, by their index in the list of the next level.
    pub found: Range<usize>,
}

/// The facts about a tree that are looked up while a level is weighed.
#[derive(Clone, Copy)]
pub(in crate::walk) struct LevelView<'a> {
    /// The domain that does not vary.
    pub site: &'a str,
    /// The links of the level's pages.
    pub found: &'a UrlList,
    pub known: &'a UrlStates,
}

impl LevelView<'_> {
    /// The new URLs of a page that the next level will request, except those that the rule on scripts bounds.
    pub(in crate::walk) fn children(&self, page: &PageRead) -> impl Iterator<Item = WebUrl> {
        let is_next =
            |url: &WebUrl| !url.is_query() && self.known.get(&url.page_key()) == Some(&UrlState::Found);
        page.found.clone().filter_map(|at| self.found.get(at)).filter(is_next)
    }
}

/// The pages of one shape on one level.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::walk) struct ShapeTally {
    pages: usize,
    /// Pages that are near duplicates of the first of their shape.
    alike: usize,
    first: Option<u64>,
    /// New URLs of the shape.
    own: usize,
    /// New URLs that are not of the shape, or of a pattern that no page had; external URLs too.
    others: usize,
    /// New URLs of the shape that have a date.
    dated: usize,
    /// New URLs of the shape that repeat a known page below the part that varies.
    twins: usize,
}

/// The marks of sites without end in a URL.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::walk) struct NameMarks {
    pub is_dated: bool,
    pub is_twin: bool,
}

/// The pages of one shape on the levels in a row on which it was quiet.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::walk) struct ShapeStreak {
    pub levels: u16,
    pages: usize,
    alike: usize,
    /// The text to which the shape's pages are compared.
    pub first: Option<u64>,
}

impl ShapeTally {
    pub(in crate::walk) fn add_page(&mut self, page: &PageRead, streak: Option<&ShapeStreak>) {
        self.first = self.first.or_else(|| streak.and_then(|streak| streak.first)).or(page.simhash);
        let is_near = |(one, other): (u64, u64)| (one ^ other).count_ones() <= NEAR_BITS;
        self.pages += 1;
        self.alike += usize::from(self.first.zip(page.simhash).is_some_and(is_near));
        self.others += page.externals;
    }

    pub(in crate::walk) fn add_url(&mut self, is_own: bool, marks: NameMarks) {
        self.own += usize::from(is_own);
        self.others += usize::from(!is_own);
        self.dated += usize::from(is_own && marks.is_dated);
        self.twins += usize::from(is_own && marks.is_twin);
    }

    /// Whether the pages brought more of their kind and nothing else.
    pub(in crate::walk) fn is_quiet(&self) -> bool {
        self.own > 0 && self.others == 0
    }

    /// Whether at least half of the new URLs have the same mark.
    pub(in crate::walk) fn is_endless_by_name(&self) -> bool {
        2 * self.dated.max(self.twins) >= self.own
    }
}

impl ShapeStreak {
    /// Adds a quiet level.
    pub(in crate::walk) fn and(self, tally: &ShapeTally) -> Self {
        Self {
            levels: self.levels.saturating_add(1),
            pages: self.pages + tally.pages,
            alike: self.alike + tally.alike,
            first: tally.first,
        }
    }

    pub(in crate::walk) fn is_long(&self, levels: u16) -> bool {
        self.levels >= levels && self.pages >= LEAST_PAGES
    }

    /// Whether nine of ten pages were near duplicates.
    pub(in crate::walk) fn is_alike(&self) -> bool {
        10 * self.alike >= 9 * self.pages
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn page(simhash: Option<u64>, externals: usize) -> PageRead {
        let url = Arc::new(WebUrl::parse("http://a.ke/1").unwrap());
        PageRead { url, simhash, text: 0, is_repeat: false, externals, external_hosts: 0, found: 0..0 }
    }

    /// The tally of a level with pages of these texts.
    fn read(texts: &[Option<u64>], streak: Option<&ShapeStreak>) -> ShapeTally {
        let mut tally = ShapeTally::default();
        texts.iter().for_each(|text| tally.add_page(&page(*text, 0), streak));
        tally
    }

    #[test]
    fn a_shape_is_quiet_where_its_pages_bring_their_own_kind_and_nothing_else() {
        let is_quiet = |own, others, externals: &[usize]| {
            let mut tally = ShapeTally::default();
            externals.iter().for_each(|externals| tally.add_page(&page(None, *externals), None));
            (0..own).for_each(|_| tally.add_url(true, NameMarks::default()));
            (0..others).for_each(|_| tally.add_url(false, NameMarks::default()));
            tally.is_quiet()
        };
        assert!(is_quiet(1, 0, &[0]) && is_quiet(40, 0, &[0, 0]));
        assert!(!is_quiet(0, 0, &[0]), "an end is no growth");
        assert!(!is_quiet(40, 1, &[0]) && !is_quiet(40, 0, &[0, 2, 0]) && !is_quiet(0, 1, &[0]));
    }

    #[test]
    fn a_shape_is_endless_by_name_where_half_of_its_new_urls_have_one_mark() {
        let is_endless = |dated: usize, twins: usize, plain: usize| {
            let mut tally = ShapeTally::default();
            (0..dated).for_each(|_| tally.add_url(true, NameMarks { is_dated: true, is_twin: false }));
            (0..twins).for_each(|_| tally.add_url(true, NameMarks { is_dated: false, is_twin: true }));
            (0..plain).for_each(|_| tally.add_url(true, NameMarks::default()));
            // The marks of URLs that are not of the shape do not count for it.
            (0..50).for_each(|_| tally.add_url(false, NameMarks { is_dated: true, is_twin: true }));
            tally.is_endless_by_name()
        };
        assert!(is_endless(5, 0, 5) && is_endless(0, 5, 5) && is_endless(5, 5, 0));
        assert!(
            !is_endless(5, 0, 6) && !is_endless(0, 5, 6) && !is_endless(4, 4, 1),
            "marks are not added up"
        );
    }

    #[test]
    fn texts_are_alike_that_differ_in_three_bits_from_the_first_of_the_streak() {
        let (text, near, far) = (Some(0b1010), Some(0b1101), Some(0b1_0101));
        let alike = |texts: &[Option<u64>], streak| read(texts, streak).alike;
        assert_eq!(alike(&[text, text, near, far, None], None), 3);
        assert_eq!(alike(&[None, near, text], None), 2, "the first that has a text");
        let streak = ShapeStreak { first: far, ..ShapeStreak::default() };
        assert_eq!(alike(&[text, far, text], Some(&streak)), 1, "compared to the level before");
        let streak =
            ShapeStreak::default().and(&read(&[text, near, far], None)).and(&read(&[near, None], None));
        assert_eq!((streak.levels, streak.pages, streak.alike), (2, 5, 3));
    }

    #[test]
    fn a_streak_is_long_by_its_levels_and_its_pages() {
        let is_long = |levels: u16, pages: usize| {
            let (none, rest) = (ShapeTally::default(), read(&vec![None; pages], None));
            (1..levels).fold(ShapeStreak::default(), |streak, _| streak.and(&none)).and(&rest).is_long(3)
        };
        assert!(is_long(3, 30) && is_long(4, 31));
        assert!(!is_long(2, 100) && !is_long(3, 29) && !is_long(9, 29));
    }

    #[test]
    fn a_streak_is_alike_where_nine_of_ten_of_its_pages_are() {
        let is_alike = |alike: usize, others: usize| {
            let texts = [vec![Some(1); alike], vec![None; others]].concat();
            ShapeStreak::default().and(&read(&texts, None)).is_alike()
        };
        assert!(is_alike(9, 1) && is_alike(30, 0) && is_alike(18, 2) && !is_alike(9, 2) && !is_alike(0, 1));
    }
}
