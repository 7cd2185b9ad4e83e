use super::{Chart, Table};

/// A chart with what is needed to understand it without seeing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// As that of a table; its data table has the id `ID-data`.
    pub id: String,
    /// What is drawn; the page numbers figures by itself.
    pub caption: String,
    /// What the chart shows, in words with numbers, for those who do not see it.
    pub alt: String,
    pub chart: Chart,
    /// All that is drawn, and what belongs to it.
    pub data: Table,
}

impl Figure {
    /// A figure; the table gets its id and caption from it.
    #[must_use]
    pub fn new(
        id: &str,
        caption: impl Into<String>,
        alt: impl Into<String>,
        chart: impl Into<Chart>,
        data: Table,
    ) -> Self {
        let caption = caption.into();
        let data = Table { id: format!("{id}-data"), caption: caption.clone(), ..data };
        Self { id: id.to_owned(), caption, alt: alt.into(), chart: chart.into(), data }
    }
}
