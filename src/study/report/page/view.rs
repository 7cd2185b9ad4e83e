use minijinja::Value;
use serde::Serialize;

use super::csv;
use crate::promises::Judgement;
use crate::report::draw::{Drawing, PageWidth, draw, legend};
use crate::report::text::{plain, unbroken};
use crate::report::{Block, Cell, Fact, Figure, Form, Part, Report, Section, Table, Verdicts};

/// The data of the page template. All texts have passed [`plain`]; the template escapes them.
#[derive(Serialize)]
pub(super) struct PageView {
    title: String,
    subtitle: String,
    /// The style sheet. It is our own and is not escaped.
    style: Value,
    banners: Vec<(String, String)>,
    facts: Vec<FactView>,
    sections: Vec<SectionView>,
}

#[derive(Serialize)]
struct SectionView {
    id: &'static str,
    title: String,
    lead: String,
    blocks: Vec<BlockView>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum BlockView {
    Heading {
        text: String,
    },
    Text {
        text: String,
    },
    Note {
        text: String,
    },
    Facts {
        facts: Vec<FactView>,
        /// Whether most of the values are sentences, which need wider columns.
        is_prose: bool,
    },
    Table {
        table: TableView,
    },
    Figure {
        figure: FigureView,
    },
    Verdicts {
        id: String,
        caption: String,
        list: Vec<VerdictView>,
    },
}

#[derive(Serialize)]
struct FactView {
    name: String,
    value: String,
    note: String,
}

#[derive(Serialize)]
struct VerdictView {
    promise: String,
    word: &'static str,
    class: &'static str,
    evidence: String,
}

#[derive(Serialize)]
struct TableView {
    id: String,
    caption: String,
    /// Whether intervals are below their values, so that the table is not wider than the page.
    is_tight: bool,
    columns: Vec<ColumnView>,
    rows: Vec<Vec<CellView>>,
    /// A URL in which everything but letters, digits and `,.-_:` is percent-encoded. It is not escaped.
    csv: Value,
}

#[derive(Serialize)]
struct ColumnView {
    head: String,
    meaning: &'static str,
    is_number: bool,
}

#[derive(Serialize)]
struct CellView {
    text: String,
    meaning: &'static str,
    interval: Option<String>,
    is_number: bool,
    is_words: bool,
}

#[derive(Serialize)]
struct FigureView {
    number: usize,
    id: String,
    caption: String,
    alt: String,
    legend: Vec<LegendView>,
    drawings: Vec<DrawingView>,
    data: TableView,
}

#[derive(Serialize)]
struct LegendView {
    name: String,
    meaning: &'static str,
    swatch: DrawingView,
}

#[derive(Serialize)]
struct DrawingView {
    class: &'static str,
    view_box: String,
    /// SVG from the drawing room, with its texts escaped.
    inside: Value,
}

impl PageView {
    pub(super) fn new(report: &Report, style: &'static str) -> Self {
        let mut figures = 0;
        Self {
            title: plain(&report.title),
            subtitle: plain(&report.subtitle),
            style: Value::from_safe_string(style.to_owned()),
            banners: report
                .banners
                .iter()
                .map(|banner| (plain(&banner.title), plain(&banner.text)))
                .collect(),
            facts: report.facts.iter().map(FactView::new).collect(),
            sections: report.sections.iter().map(|section| SectionView::new(section, &mut figures)).collect(),
        }
    }
}

impl SectionView {
    /// `figures` counts the figures of the whole page.
    fn new(section: &Section, figures: &mut usize) -> Self {
        Self {
            id: section.id,
            title: plain(&section.title),
            lead: plain_lines(&section.lead),
            blocks: section.blocks.iter().map(|block| BlockView::new(block, figures)).collect(),
        }
    }
}

/// From this number of characters on, a value counts as a sentence rather than a number or a name.
const SENTENCE: usize = 40;

impl BlockView {
    fn new(block: &Block, figures: &mut usize) -> Self {
        match block {
            Block::Heading(text) => Self::Heading { text: plain(text) },
            Block::Text(text) => Self::Text { text: plain_lines(text) },
            Block::Note(text) => Self::Note { text: plain_lines(text) },
            Block::Facts(facts) => {
                let facts: Vec<FactView> = facts.iter().map(FactView::new).collect();
                let long = facts.iter().filter(|fact| fact.value.chars().count() > SENTENCE).count();
                Self::Facts { is_prose: 2 * long > facts.len(), facts }
            }
            Block::Table(table) => Self::Table { table: TableView::new(table) },
            Block::Figure(figure) => {
                *figures += 1;
                Self::Figure { figure: FigureView::new(figure, *figures) }
            }
            Block::Verdicts(Verdicts { id, caption, list }) => Self::Verdicts {
                id: id.clone(),
                caption: plain_lines(caption),
                list: list.iter().map(VerdictView::new).collect(),
            },
        }
    }
}

/// A text of our own, of any length, which may contain names from outside.
fn plain_lines(text: &str) -> String {
    unbroken(&text.split(' ').map(plain).collect::<Vec<_>>().join(" "))
}

impl FactView {
    fn new(fact: &Fact) -> Self {
        Self {
            name: plain(&fact.name),
            value: plain_lines(&fact.value.display()),
            note: plain_lines(&fact.note),
        }
    }
}

impl VerdictView {
    fn new((promise, judgement, evidence): &(String, Judgement, String)) -> Self {
        let (word, class) = match judgement {
            Judgement::Held => ("held", "held"),
            Judgement::Broken => ("broken", "broken"),
            Judgement::NotJudged => ("not shown", "not-shown"),
        };
        Self { promise: plain_lines(promise), word, class, evidence: plain_lines(evidence) }
    }
}

/// From this number of interval columns on, a page has no space for values and intervals side by side.
const MANY_INTERVALS: usize = 4;

impl TableView {
    fn new(table: &Table) -> Self {
        let row = |row: &Vec<Cell>| {
            let cells = table.columns.iter().zip(row);
            cells.map(|(column, cell)| CellView::new(column.form != Form::Text, cell)).collect()
        };
        Self {
            id: table.id.clone(),
            caption: plain_lines(&table.caption),
            is_tight: table.columns.iter().filter(|column| column.form == Form::Interval).count()
                >= MANY_INTERVALS,
            columns: (table.columns.iter())
                .map(|column| ColumnView {
                    head: plain(&column.head),
                    meaning: column.meaning,
                    is_number: column.form != Form::Text,
                })
                .collect(),
            rows: table.rows.iter().map(row).collect(),
            csv: Value::from_safe_string(csv::href(table)),
        }
    }
}

impl CellView {
    fn new(is_number: bool, cell: &Cell) -> Self {
        Self {
            text: plain(&cell.value()),
            meaning: cell.meaning(),
            interval: cell.interval(),
            is_number,
            is_words: matches!(cell, Cell::Text(_) | Cell::Word(..)),
        }
    }
}

impl FigureView {
    fn new(figure: &Figure, number: usize) -> Self {
        let entry = |(part, swatch): (Part, crate::report::draw::Swatch)| LegendView {
            name: plain(&part.name),
            meaning: part.meaning,
            swatch: DrawingView::new(swatch.draw(), "swatch"),
        };
        Self {
            number,
            id: figure.id.clone(),
            caption: plain_lines(&figure.caption),
            alt: plain_lines(&figure.alt),
            legend: legend(&figure.chart).into_iter().map(entry).collect(),
            drawings: (PageWidth::ALL.into_iter())
                .map(|room| DrawingView::new(draw(&figure.chart, room), room.class()))
                .collect(),
            data: TableView::new(&figure.data),
        }
    }
}

impl DrawingView {
    fn new(drawing: Drawing, class: &'static str) -> Self {
        Self { class, view_box: drawing.view_box, inside: Value::from_safe_string(drawing.inside) }
    }
}
