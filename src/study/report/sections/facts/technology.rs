use super::counted::{ROWS, figure, share, table};
use crate::analysis::overview::{NamedCount, Technology};
use crate::report::{Block, Cell, Column, Section, Table, percent};

/// The software of servers and the formats of pages.
#[must_use]
pub(in crate::report) fn section(technology: &Technology) -> Section {
    let by_trees: Vec<NamedCount> =
        technology.software.iter().map(|software| counted(&software.name, software.site_trees)).collect();
    Section::new("technology", "Technology", lead(technology))
        .with(figure(
            "figure-software",
            "Server software by site trees",
            "software",
            "site trees",
            &sorted(by_trees),
        ))
        .with_filled(software(technology))
        .with_filled(table(
            "table-http",
            "HTTP versions of responses",
            "version",
            "responses",
            &technology.http_versions,
        ))
        .with_filled(table(
            "table-encryption",
            "Encryption of front pages",
            "version",
            "front pages",
            &technology.encryption,
        ))
        .with_filled(table(
            "table-certificates",
            "Certificates of encrypted front pages",
            "certificate",
            "front pages",
            &technology.certificates,
        ))
        .with_filled(table(
            "table-compression",
            "Compression of pages",
            "Content-Encoding",
            "pages",
            &technology.compression,
        ))
        .with_filled(charsets(technology))
        .with_filled(table(
            "table-languages",
            "Languages that front pages declare",
            "language",
            "front pages",
            &technology.languages,
        ))
        .with(Block::Note(
            "Software is the product that the header Server names, without its version; it is not verified. A front page \
             is the first 2xx response at the start URL or where it redirects. Encodings have the \
             names of the WHATWG standard, in which ISO-8859-1 is windows-1252."
                .to_owned(),
        ))
}

fn lead(technology: &Technology) -> String {
    let percent_of = |list: &[NamedCount], is_counted: &dyn Fn(&str) -> bool| {
        let all: u64 = list.iter().map(|counted| counted.count).sum();
        let matching: u64 =
            list.iter().filter(|counted| is_counted(&counted.name)).map(|counted| counted.count).sum();
        percent(matching as f64 / all as f64)
    };
    let valid = if technology.certificates.is_empty() {
        String::new()
    } else {
        let share = percent_of(&technology.certificates, &|name| name == "valid");
        format!(", {share} of these with a valid certificate")
    };
    format!(
        "{} of the front pages are encrypted{valid}; {} of the pages are compressed.",
        percent_of(&technology.encryption, &|name| name.starts_with("TLS")),
        percent_of(&technology.compression, &|name| name != "not compressed"),
    )
}

fn counted(name: &str, count: u64) -> NamedCount {
    NamedCount { name: name.to_owned(), count }
}

fn sorted(mut list: Vec<NamedCount>) -> Vec<NamedCount> {
    list.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    list
}

fn software(technology: &Technology) -> Table {
    let columns = vec![
        Column::text("software"),
        Column::number("servers", ""),
        Column::share("share of servers"),
        Column::number("site trees", ""),
        Column::share("share of site trees"),
    ];
    let rows = technology.software.iter().take(ROWS).map(|software| {
        vec![
            software.name.clone().into(),
            Cell::Count(software.servers),
            share(software.servers, technology.servers),
            Cell::Count(software.site_trees),
            share(software.site_trees, technology.site_trees),
        ]
    });
    let caption = "Server software by servers (addresses that responded) and by site trees (whose start URL got a \
         response)";
    Table::new("table-software", caption, columns).with_rows(rows)
}

fn charsets(technology: &Technology) -> Table {
    let columns = vec![
        Column::text("declared in Content-Type"),
        Column::text("read in"),
        Column::number("pages", ""),
        Column::share("share"),
    ];
    let rows = technology.charsets.iter().take(ROWS).map(|pair| {
        vec![
            pair.declared.clone().into(),
            pair.used.clone().into(),
            Cell::Count(pair.pages),
            share(pair.pages, technology.pages),
        ]
    });
    let caption =
        "Character encodings: the one that the header declares, and the one in which pages were read";
    Table::new("table-charsets", caption, columns).with_rows(rows)
}
