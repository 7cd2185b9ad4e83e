use super::counted::{CountBasis, ordered, share, share_of};
use crate::analysis::overview::{Doors, NamedCount};
use crate::records::units::count;
use crate::report::{Block, Cell, Column, Section, Table};

/// Which doors of the sites work: http and https, bare name and `www.`.
#[must_use]
pub(in crate::report) fn section(doors: &Doors) -> Section {
    let lead = format!("All four front pages of {} were asked for.", count(doors.sites, "site"));
    let pages: Vec<NamedCount> =
        doors.doors.iter().map(|door| NamedCount { name: door.name.clone(), count: door.page }).collect();
    let columns = vec![
        Column::text("door"),
        Column::number("tried", "sites"),
        Column::number("answered", "sites"),
        Column::number("gave a page", "sites"),
        Column::number("led elsewhere", "sites"),
        Column::share("share that gave a page"),
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
    let told: Vec<String> = doors
        .doors
        .iter()
        .map(|door| format!("{} {}", door.name, share_of(door.answered, door.tried)))
        .collect();
    Section::new("doors", "Doors of sites", lead)
        .with(ordered(
            "figure-doors",
            "Sites with a working front page, by scheme and name",
            CountBasis { what: "door", unit: "sites", whole: doors.sites },
            &pages,
        ))
        .with(Table::new("table-doors", "Outcomes at the doors of sites", columns).with_rows(rows))
        .with(Block::Note(format!(
            "Tried: the front page or its robots.txt was asked for. Answered: any status came, for robots.txt too: \
             {}. Led elsewhere: the front page redirects, to another door of the site or to another site. A door is \
             not tried where its host opted out, or where rules forbid the front page of a door tried before.",
            told.join(", ")
        )))
}
