use minijinja::Value;
use serde::Serialize;

use super::csv;
use crate::promises::Judgement;
use crate::report::draw::{Drawing, PageWidth, draw, legend};
use crate::report::text::{plain, unbroken};
use crate::report::{Block, Cell, Fact, Figure, Form, Part, Report, Section, Table, Verdicts};

/// What the template of the page shows. All words are plain; the template escapes them.
#[derive(Serialize)]
pub(super) struct PageView {
    title: String,
    subtitle: String,
    /// The style sheet; it is ours and stands as it is.
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
        /// Most of them are sentences, which want wider columns.
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
    /// Intervals stand below their values, so that the table is not wider than the page.
    is_tight: bool,
    columns: Vec<ColumnView>,
    rows: Vec<Vec<CellView>>,
    /// A URL with all but letters, digits and `,.-_:` percent-encoded; it stands as it is.
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
    /// SVG as the drawing room wrote it, with words escaped.
    inside: Value,
}

impl PageView {
    pub(super) fn of(report: &Report, style: &'static str) -> Self {
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
            facts: report.facts.iter().map(FactView::of).collect(),
            sections: report.sections.iter().map(|section| SectionView::of(section, &mut figures)).collect(),
        }
    }
}

impl SectionView {
    /// `figures` counts through the page.
    fn of(section: &Section, figures: &mut usize) -> Self {
        Self {
            id: section.id,
            title: plain(&section.title),
            lead: whole(&section.lead),
            blocks: section.blocks.iter().map(|block| BlockView::of(block, figures)).collect(),
        }
    }
}

/// Characters from which on a value is a sentence rather than a number or a name.
const SENTENCE: usize = 40;

impl BlockView {
    fn of(block: &Block, figures: &mut usize) -> Self {
        match block {
            Block::Heading(text) => Self::Heading { text: plain(text) },
            Block::Text(text) => Self::Text { text: whole(text) },
            Block::Note(text) => Self::Note { text: whole(text) },
            Block::Facts(facts) => {
                let facts: Vec<FactView> = facts.iter().map(FactView::of).collect();
                let long = facts.iter().filter(|fact| fact.value.chars().count() > SENTENCE).count();
                Self::Facts { is_prose: 2 * long > facts.len(), facts }
            }
            Block::Table(table) => Self::Table { table: TableView::of(table) },
            Block::Figure(figure) => {
                *figures += 1;
                Self::Figure { figure: FigureView::of(figure, *figures) }
            }
            Block::Verdicts(Verdicts { id, caption, list }) => Self::Verdicts {
                id: id.clone(),
                caption: whole(caption),
                list: list.iter().map(VerdictView::of).collect(),
            },
        }
    }
}

/// A text of ours, of any length, which may name words of strangers.
fn whole(text: &str) -> String {
    unbroken(&text.split(' ').map(plain).collect::<Vec<_>>().join(" "))
}

impl FactView {
    fn of(fact: &Fact) -> Self {
        Self { name: plain(&fact.name), value: whole(&fact.value.shown()), note: whole(&fact.note) }
    }
}

impl VerdictView {
    fn of((promise, judgement, evidence): &(String, Judgement, String)) -> Self {
        let (word, class) = match judgement {
            Judgement::Held => ("held", "held"),
            Judgement::Broken => ("broken", "broken"),
            Judgement::NotJudged => ("not shown", "not-shown"),
        };
        Self { promise: whole(promise), word, class, evidence: whole(evidence) }
    }
}

/// Columns of a value and its interval side by side that a page has no room for.
const TIGHT: usize = 4;

impl TableView {
    fn of(table: &Table) -> Self {
        let row = |row: &Vec<Cell>| {
            let cells = table.columns.iter().zip(row);
            cells.map(|(column, cell)| CellView::of(column.form != Form::Text, cell)).collect()
        };
        Self {
            id: table.id.clone(),
            caption: whole(&table.caption),
            is_tight: table.columns.iter().filter(|column| column.form == Form::Interval).count() >= TIGHT,
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
    fn of(is_number: bool, cell: &Cell) -> Self {
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
    fn of(figure: &Figure, number: usize) -> Self {
        let entry = |(part, swatch): (Part, crate::report::draw::Swatch)| LegendView {
            name: plain(&part.name),
            meaning: part.meaning,
            swatch: DrawingView::of(swatch.draw(), "swatch"),
        };
        Self {
            number,
            id: figure.id.clone(),
            caption: whole(&figure.caption),
            alt: whole(&figure.alt),
            legend: legend(&figure.chart).into_iter().map(entry).collect(),
            drawings: (PageWidth::ALL.into_iter())
                .map(|room| DrawingView::of(draw(&figure.chart, room), room.class()))
                .collect(),
            data: TableView::of(&figure.data),
        }
    }
}

impl DrawingView {
    fn of(drawing: Drawing, class: &'static str) -> Self {
        Self { class, view_box: drawing.view_box, inside: Value::from_safe_string(drawing.inside) }
    }
}
