use super::counted::{ROWS, figure, share, share_of};
use crate::analysis::overview::{Infrastructure, NamedCount, ServerGroup};
use crate::records::units::thousands;
use crate::report::{Block, Cell, Column, Fact, Section, Table, percent};

/// The location of servers, and the number of sites that share one.
#[must_use]
pub(in crate::report) fn section(found: &Infrastructure) -> Section {
    let location = if found.located_servers == 0 {
        "no location database was used, so their countries are unknown".to_owned()
    } else {
        format!(
            "{} of the site trees with a known country are hosted abroad",
            share_of(found.offshore_trees, found.judged_trees)
        )
    };
    let lead = format!(
        "{} servers responded for {} site trees; {location}.",
        thousands(found.servers),
        thousands(found.hosted_trees)
    );
    let mut section = Section::new("infrastructure", "Location of servers", lead).with(facts(found));
    if found.located_servers > 0 {
        section = section
            .with(figure(
                "figure-countries",
                "Site trees by country of the server of their start URL",
                "country",
                "site trees",
                &by_trees(&found.countries),
            ))
            .with(places("table-countries", "Servers and site trees by country", "country", &found.countries))
            .with(offshore(found))
            .with(places("table-networks", "Servers and site trees by network", "network", &found.networks));
    }
    if found.located_servers == 0 {
        return section;
    }
    section.with(Block::Note(format!(
        "Abroad: the database places the server in another country than that of the country domain. \
         Databases are unreliable for anycast and content networks. Location check: {}.",
        found.location_doubt
    )))
}

fn facts(found: &Infrastructure) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("Servers", found.servers)
            .note(format!("{} with a known country", thousands(found.located_servers))),
        Fact::new("Hosts per server, mean", Cell::Number(found.hosts_per_address.mean, 1)),
        Fact::new("Median", Cell::Number(found.hosts_per_address.median, 1)),
        Fact::new("Most", Cell::Count(found.hosts_per_address.max as u64)),
        Fact::new(
            "Site trees that share a server with at least ten other sites",
            share(found.crowded_trees, found.hosted_trees),
        )
        .note(format!("on {} servers", thousands(found.crowded_servers))),
    ];
    if found.judged_trees > 0 {
        facts.push(
            Fact::new("Hosted abroad", share(found.offshore_trees, found.judged_trees))
                .note(format!("of {} site trees", thousands(found.judged_trees))),
        );
    }
    let concentration = &found.network_concentration;
    if concentration.networks > 0 {
        facts.extend([
            Fact::new("Networks", concentration.networks),
            Fact::new("Share of the three largest networks", Cell::Share(concentration.share_of_top_three))
                .note("of site trees"),
            Fact::new("Concentration of networks", Cell::Number(concentration.hhi, 3))
                .note("Herfindahl–Hirschman index: 1 if one network has everything"),
        ]);
    }
    facts
}

fn by_trees(places: &[ServerGroup]) -> Vec<NamedCount> {
    let counted =
        |location: &ServerGroup| NamedCount { name: location.name.clone(), count: location.site_trees };
    places.iter().filter(|location| location.site_trees > 0).map(counted).collect()
}

fn places(id: &str, caption: &str, what: &str, places: &[ServerGroup]) -> Table {
    let (servers, trees) =
        places.iter().fold((0, 0), |sum, location| (sum.0 + location.servers, sum.1 + location.site_trees));
    let columns = vec![
        Column::text(what),
        Column::number("servers", ""),
        Column::share("share of servers"),
        Column::number("site trees", ""),
        Column::share("share of site trees"),
    ];
    let rows = places.iter().take(ROWS).map(|location| {
        vec![
            location.name.clone().into(),
            Cell::Count(location.servers),
            share(location.servers, servers),
            Cell::Count(location.site_trees),
            share(location.site_trees, trees),
        ]
    });
    Table::new(id, caption, columns).with_rows(rows)
}

fn offshore(found: &Infrastructure) -> Table {
    let columns = vec![
        Column::text("country domain"),
        Column::number("site trees", ""),
        Column::number("abroad", ""),
        Column::share("share abroad"),
        Column::text("most of them in"),
    ];
    let rows = found.by_country_domain.iter().map(|domain| {
        vec![
            domain.country_domain.clone().into(),
            Cell::Count(domain.judged),
            Cell::Count(domain.offshore),
            share(domain.offshore, domain.judged),
            domain.foremost.clone().into(),
        ]
    });
    let caption = format!(
        "Site trees hosted abroad by country domain ({} of all)",
        percent(found.offshore_trees as f64 / found.judged_trees as f64)
    );
    Table::new("table-offshore", caption, columns).with_rows(rows)
}
