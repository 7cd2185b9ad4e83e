use super::evidence::PageRead;

/// Pages that bring nothing but more of their kind, before that is more than chance: a month of a calendar.
pub(super) const LEAST_PAGES: usize = 30;
/// Bits of 64 in which the `SimHash` of near duplicates may differ (Manku, Jain, Das Sarma 2007).
const NEAR_BITS: u32 = 3;

/// What the pages of one shape were like on one level.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pages: usize,
    /// Pages that are near duplicates of the first of their shape.
    alike: usize,
    first: Option<u64>,
    /// New URLs of the shape.
    own: usize,
    /// New URLs that are not of the shape, or of a pattern that no page had; external ones too.
    others: usize,
    /// New URLs of the shape that have a date.
    dated: usize,
    /// New URLs of the shape that repeat a known page below what varies.
    twins: usize,
}

/// What a URL's name tells of sites without end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub is_dated: bool,
    pub is_twin: bool,
}

/// What the pages of one shape were like on the levels in a row on which it was quiet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Streak {
    pub levels: u16,
    pages: usize,
    alike: usize,
    /// The text that the shape's pages are compared to.
    pub first: Option<u64>,
}

impl Tally {
    pub(super) fn add_page(&mut self, page: &PageRead, streak: Option<&Streak>) {
        self.first = self.first.or_else(|| streak.and_then(|streak| streak.first)).or(page.simhash);
        let is_near = |(one, other): (u64, u64)| (one ^ other).count_ones() <= NEAR_BITS;
        self.pages += 1;
        self.alike += usize::from(self.first.zip(page.simhash).is_some_and(is_near));
        self.others += page.externals;
    }

    pub(super) fn add_url(&mut self, is_own: bool, marks: Marks) {
        self.own += usize::from(is_own);
        self.others += usize::from(!is_own);
        self.dated += usize::from(is_own && marks.is_dated);
        self.twins += usize::from(is_own && marks.is_twin);
    }

    /// Whether the pages brought more of their kind and nothing else.
    pub(super) fn is_quiet(&self) -> bool {
        self.own > 0 && self.others == 0
    }

    /// Whether most of the new URLs have a mark.
    pub(super) fn is_endless_by_name(&self) -> bool {
        2 * self.dated.max(self.twins) >= self.own
    }
}

impl Streak {
    /// One quiet level more.
    pub(super) fn and(self, tally: &Tally) -> Self {
        Self {
            levels: self.levels.saturating_add(1),
            pages: self.pages + tally.pages,
            alike: self.alike + tally.alike,
            first: tally.first,
        }
    }

    pub(super) fn is_long(&self, levels: u16) -> bool {
        self.levels >= levels && self.pages >= LEAST_PAGES
    }

    /// Whether nine of ten pages were near duplicates.
    pub(super) fn is_alike(&self) -> bool {
        10 * self.alike >= 9 * self.pages
    }
}
