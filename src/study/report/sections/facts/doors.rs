use super::counted::{CountBasis, ordered, share, share_of};
use crate::analysis::overview::{Doors, NamedCount};
use crate::records::units::count;
use crate::report::{Block, Cell, Column, Section, Table};

/// Which doors of the sites work: http and https, bare name and `www.`.
#[must_use]
pub(in crate::report) fn section(doors: &Doors) -> Section {
    let lead = format!("The survey tried the four front pages of {}.", count(doors.sites, "site"));
    let pages: Vec<NamedCount> =
        doors.doors.iter().map(|door| NamedCount { name: door.name.clone(), count: door.page }).collect();
    let columns = vec![
        Column::text("front page"),
        Column::number("tried", "sites"),
        Column::number("responded", "sites"),
        Column::number("with a page", "sites"),
        Column::number("redirected", "sites"),
        Column::share("share with a page"),
    ];
    let rows = doors.doors.iter().map(|door| {
        vec![
            door.name.clone().into(),
            Cell::Count(door.tried),
            Cell::Count(door.answered),
            Cell::Count(door.page),
            Cell::Count(door.led_elsewhere),
            share(door.page, door.tried),
        ]
    });
    let parts: Vec<String> = doors
        .doors
        .iter()
        .map(|door| format!("{} {}", door.name, share_of(door.answered, door.tried)))
        .collect();
    Section::new("doors", "Front pages by scheme and name", lead)
        .with(ordered(
            "figure-doors",
            "Sites with a working front page, by scheme and name",
            CountBasis { row_noun: "front page", unit: "sites", whole: doors.sites },
            &pages,
        ))
        .with(Table::new("table-doors", "Outcomes of the four front pages of sites", columns).with_rows(rows))
        .with(Block::Note(format!(
            "Tried: the front page or its robots.txt was requested. Responded: any status was received, for robots.txt too: \
             {}. Redirected: the front page redirects to another front page of the site, or to another site. A front page is \
             not tried if its host opted out, or if rules forbid a front page that was tried before.",
            parts.join(", ")
        )))
}
