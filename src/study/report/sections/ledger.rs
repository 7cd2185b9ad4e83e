use crate::analysis::Completeness;
use crate::analysis::overview::{FoundFiles, Ledger, ServerTotals, Spread};
use crate::promises::{Judgement, Verdict};
use crate::records::units::{bytes, thousands};
use crate::report::{Block, Cell, Column, Section, Table, Verdicts};

/// The load on servers, and whether promises were kept.
#[must_use]
pub(in crate::report) fn section(ledger: &Ledger, completeness: &Completeness) -> Section {
    let count = |judgement| ledger.promises.iter().filter(|verdict| verdict.judgement == judgement).count();
    let of = if completeness.is_under_way() { "In the site trees that are done: " } else { "" };
    let lead = format!(
        "{of}{} addresses received requests: half of them {} or fewer, and the busiest one {}. Of {} promises \
         that the tables can show, {} were kept and {} broken.",
        thousands(ledger.requests.count),
        Cell::Number(ledger.requests.median, 0).display(),
        thousands(ledger.requests.max as u64),
        count(Judgement::Held) + count(Judgement::Broken),
        count(Judgement::Held),
        count(Judgement::Broken),
    );
    let section = Section::new("ledger", "The load on servers", lead)
        .with(Verdicts {
            id: "promises".to_owned(),
            caption: "The promises on load, judged by the times, addresses and responses of the exchanges"
                .to_owned(),
            list: ledger.promises.iter().map(verdict).collect(),
        })
        .with(spreads(ledger))
        .with(most_burdened(&ledger.most_burdened))
        .with(Block::Note(format!(
            "Load counts at the address that received the request, over {}. Requests in a minute: the most that began within any 60 seconds.",
            if completeness.is_under_way() {
                "the site trees that are done; the table servers also has the requests of all others"
            } else {
                "the whole survey"
            }
        )));
    if ledger.found.unchanged.answers > 0 { section.with(unchanged(ledger.found)) } else { section }
}

fn unchanged(found: FoundFiles) -> Block {
    let unchanged = found.unchanged;
    Block::Note(format!(
        "{} of {} pages and files had not changed since an earlier survey (status 304). Servers sent {} for them \
         instead of {}. Pages among them count as pages, with the links that were recorded then.",
        thousands(unchanged.answers),
        thousands(found.answers),
        bytes(unchanged.received_bytes),
        bytes(unchanged.whole_bytes),
    ))
}

fn verdict(judged: &Verdict) -> (String, Judgement, String) {
    (judged.promise.clone(), judged.judgement, judged.evidence.clone())
}

fn spreads(ledger: &Ledger) -> Table {
    let heads = ["median", "mean", "95 %", "most", "sum"];
    let columns = [Column::text("load"), Column::text("unit")]
        .into_iter()
        .chain(heads.map(|head| Column::number(head, "")));
    let row = |name: &str, unit: &str, of: &Spread, form: &dyn Fn(f64) -> Cell| {
        let values = [of.median, of.mean, of.p95, of.max, of.sum].map(form);
        [Cell::from(name), Cell::from(unit)].into_iter().chain(values).collect::<Vec<_>>()
    };
    // A percentile between two servers may be a fraction of a request.
    let requests = |value: f64| Cell::Number(value, usize::from(value.fract() > 0.0));
    let rows = [
        row("requests", "requests", &ledger.requests, &requests),
        row("bytes, both ways", "bytes", &ledger.bytes, &|value| Cell::Bytes(value.round() as u64)),
        row("busy time", "ms", &ledger.busy_ms, &Cell::Milliseconds),
    ];
    Table::new("table-load", "Load of an address over the whole survey", columns.collect()).with_rows(rows)
}

fn most_burdened(list: &[ServerTotals]) -> Table {
    let columns = vec![
        Column::text("address"),
        Column::text("country"),
        Column::text("network"),
        Column::number("sites", ""),
        Column::number("requests", ""),
        Column::number("bytes", "bytes"),
        Column::number("busy time", "ms"),
        Column::number("shortest pause", "ms"),
        Column::number("at once", "requests"),
        Column::number("in a minute", "requests"),
    ];
    let rows = list.iter().map(|server| {
        vec![
            server.address.clone().into(),
            server.country.clone().into(),
            server.network.clone().into(),
            server.sites.map(u64::from).into(),
            Cell::Count(server.load.requests),
            Cell::Bytes(server.load.bytes),
            Cell::Milliseconds(server.load.busy_ms),
            server.load.smallest_gap_ms.map_or(Cell::Missing, Cell::Milliseconds),
            Cell::Count(server.load.most_parallel.into()),
            Cell::Count(server.load.most_per_minute.into()),
        ]
    });
    Table::new("table-burdened", "The ten addresses with the most busy time, then the most requests", columns)
        .with_rows(rows)
}
