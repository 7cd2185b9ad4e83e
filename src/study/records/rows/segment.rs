use crate::records::{ExchangeRow, LevelRow, LinkRow, PageLinkRow, RobotsRow, Row, SiteRow};

/// The rows of one segment. Their number is the caller's bound on memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SegmentRows {
    /// Requests.
    pub exchanges: Vec<ExchangeRow>,
    /// External links.
    pub links: Vec<LinkRow>,
    /// Site trees.
    pub sites: Vec<SiteRow>,
    /// Depth levels of site trees.
    pub levels: Vec<LevelRow>,
    /// Empty unless the survey keeps pages.
    pub page_links: Vec<PageLinkRow>,
    /// The robots.txt files, where the survey keeps pages.
    pub robots: Vec<RobotsRow>,
}

impl SegmentRows {
    /// The number of rows for each table.
    #[must_use]
    pub fn of_tables(&self) -> [(&'static str, usize); 6] {
        [
            (ExchangeRow::TABLE, self.exchanges.len()),
            (LinkRow::TABLE, self.links.len()),
            (PageLinkRow::TABLE, self.page_links.len()),
            (RobotsRow::TABLE, self.robots.len()),
            (LevelRow::TABLE, self.levels.len()),
            (SiteRow::TABLE, self.sites.len()),
        ]
    }

    /// The number of rows of all tables, one measure of when a segment is full.
    #[must_use]
    pub fn len(&self) -> usize {
        self.of_tables().iter().map(|(_, rows)| rows).sum()
    }

    /// The bytes of the texts that can be long, such as URLs and robots.txt files: the other measure of when a
    /// segment is full.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.exchanges.iter().map(exchange_text_bytes).sum::<usize>()
            + self.links.iter().map(|row| row.page.len() + row.url.len()).sum::<usize>()
            + self.page_links.iter().map(|row| row.page.len() + row.url.len()).sum::<usize>()
            + self.page_links.iter().filter_map(|row| row.spelled.as_ref()).map(String::len).sum::<usize>()
            + self.robots.iter().map(|row| row.url.len() + row.body.len()).sum::<usize>()
    }

    /// Appends the rows of another segment.
    pub fn append(&mut self, mut other: Self) {
        self.exchanges.append(&mut other.exchanges);
        self.links.append(&mut other.links);
        self.sites.append(&mut other.sites);
        self.levels.append(&mut other.levels);
        self.page_links.append(&mut other.page_links);
        self.robots.append(&mut other.robots);
    }

    /// Whether no table has a row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn exchange_text_bytes(row: &ExchangeRow) -> usize {
    let texts = [&row.sitemaps, &row.certificate_names, &row.aliases, &row.hsts, &row.powered_by];
    row.url.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
}
