use super::counted::{CountBasis, ordered, share_of};
use crate::analysis::Completeness;
use crate::analysis::overview::LinkGraph;
use crate::records::units::{count, thousands};
use crate::report::{Block, Cell, Fact, Section};

/// The graph of sites: what a survey that follows links can find.
#[must_use]
pub(in crate::report) fn section(graph: &LinkGraph, completeness: &Completeness) -> Section {
    let lead = format!(
        "No other surveyed site links to {} of the surveyed sites in the country domains, so that only a start list \
         shows them; {} are isolated: they also link to none.",
        share_of(graph.without_links_in, graph.surveyed),
        share_of(graph.isolated, graph.surveyed),
    );
    let section = Section::new("graph", "What links can find", lead);
    if graph.sites == 0 {
        return section;
    }
    let basis = CountBasis { row_noun: "linking sites", unit: "sites", whole: graph.sites };
    let caption = "Sites of the country domains by the number of other surveyed sites that link to them";
    let cut = if completeness.is_partial() {
        " The survey is partial: links of sites that are not done are missing."
    } else {
        ""
    };
    section
        .with(ordered("figure-in-degree", caption, basis, &graph.in_degrees))
        .with(Block::Facts(facts(graph)))
        .with(Block::Note(format!(
            "A link counts once for each pair of sites, and links to other sites only. Links of {} that were only linked \
             to are not known, and neither are those on pages that were not fetched: the real shares without links are \
             lower. The column linking_sites of the table hosts has the number for each host.{cut}",
            count(graph.sites - graph.surveyed, "site")
        )))
}

fn facts(graph: &LinkGraph) -> Vec<Fact> {
    let of_sites = |sites: u64| share_of(sites, graph.sites);
    let mut facts = vec![
        Fact::new("Sites known", graph.sites).note(format!("{} of them surveyed", thousands(graph.surveyed))),
        Fact::new("Pairs of linked sites", graph.edges),
        Fact::new("Linking sites per site", Cell::Number(graph.in_degree.mean, 1)).note(format!(
            "median {}, at most {}",
            Cell::Number(graph.in_degree.median, 0).display(),
            Cell::Number(graph.in_degree.max, 0).display()
        )),
        Fact::new("Surveyed sites without links out", graph.without_links_out)
            .note(share_of(graph.without_links_out, graph.surveyed)),
        Fact::new("Groups that links connect", graph.components)
            .note("in either direction; an isolated site is one"),
        Fact::new("Largest group", of_sites(graph.largest_component)).note("of the sites known"),
        Fact::new("Largest group that is connected both ways", of_sites(graph.largest_strong_component))
            .note("each site can be reached from each other one"),
    ];
    facts.extend(graph.hosts.map(|[hosts, unlinked]| {
        Fact::new("Hosts that no other site links to", unlinked).note(share_of(unlinked, hosts))
    }));
    facts
}
