use super::*;

fn host(site: &str, name: &str, http: &str) -> HostRow {
    HostRow {
        host: name.into(),
        site: site.into(),
        cctld: "ke".into(),
        http: http.into(),
        https: "not_requested".into(),
        pages: 1,
        ..HostRow::default()
    }
}

fn part(hosts: Vec<HostRow>) -> HostsOfPart {
    let mut sites: BTreeMap<String, Vec<HostRow>> = BTreeMap::new();
    for host in hosts {
        sites.entry(host.site.clone()).or_default().push(host);
    }
    HostsOfPart { sites }
}

fn tally(before: Vec<HostRow>, after: Vec<HostRow>) -> (Tally, Vec<(String, ChangedFact, String, String)>) {
    let (mut tally, mut changes) = (Tally::default(), Vec::new());
    tally.add_part(&part(before), &part(after), |host, (fact, before, after)| {
        changes.push((host.host.clone(), fact, before, after));
    });
    (tally, changes)
}

#[test]
fn a_host_that_was_not_requested_is_not_dead() {
    let (tally, changes) = tally(
        vec![
            host("a.ke", "a.ke", "page"),
            host("b.ke", "b.ke", "page"),
            host("c.ke", "c.ke", "page"),
            host("d.ke", "d.ke", "no_response"),
        ],
        vec![
            host("a.ke", "a.ke", "no_response"),
            host("b.ke", "b.ke", "not_requested"),
            host("d.ke", "d.ke", "page"),
            host("e.ke", "e.ke", "page"),
        ],
    );
    assert_eq!((tally.hosts.before(), tally.hosts.after()), (3, 2));
    assert_eq!((tally.hosts.born(), tally.hosts.died(), tally.hosts.lost_sight()), (2, 1, 2));
    assert_eq!(tally.sites, tally.hosts, "each site has one host");
    let presence: Vec<_> = changes
        .iter()
        .map(|(host, fact, before, after)| (host.as_str(), *fact, before.as_str(), after.as_str()))
        .collect();
    assert_eq!(
        presence,
        [
            ("a.ke", ChangedFact::Presence, "responds", "no_response"),
            ("b.ke", ChangedFact::Presence, "responds", "not_requested"),
            ("c.ke", ChangedFact::Presence, "responds", "not_seen"),
            ("d.ke", ChangedFact::Presence, "no_response", "responds"),
            ("e.ke", ChangedFact::Presence, "not_seen", "responds"),
        ]
    );
}

#[test]
fn a_site_is_described_by_its_host_with_most_pages() {
    let hoster = |mut row: HostRow, asn: u32, pages: u64| {
        (row.asn, row.pages) = (Some(asn), pages);
        row
    };
    let (tally, changes) = tally(
        vec![
            hoster(host("a.ke", "a.ke", "redirect"), 1, 0),
            hoster(host("a.ke", "www.a.ke", "page"), 2, 9),
            hoster(host("b.ke", "b.ke", "page"), 5, 1),
        ],
        vec![
            hoster(host("a.ke", "a.ke", "redirect"), 1, 0),
            hoster(host("a.ke", "www.a.ke", "page"), 3, 7),
            hoster(host("b.ke", "b.ke", "page"), 5, 1),
        ],
    );
    assert_eq!(changes, [("www.a.ke".to_owned(), ChangedFact::Network, "AS2".to_owned(), "AS3".to_owned())]);
    assert_eq!(tally.compared[&ChangedFact::Network], 2);
    assert_eq!(tally.changes[&ChangedFact::Network], HashMap::from([(("AS2".into(), "AS3".into()), 1)]));
    assert_eq!(tally.pages, [10, 8]);
}

#[test]
fn a_share_counts_sites_of_which_both_surveys_know_it() {
    let https = |mut row: HostRow, door: &str| {
        row.https = door.into();
        row
    };
    let (tally, _) = tally(
        vec![
            https(host("a.ke", "a.ke", "page"), "no_response"),
            https(host("b.ke", "b.ke", "page"), "page"),
            https(host("c.ke", "c.ke", "page"), "not_requested"),
        ],
        vec![
            https(host("a.ke", "a.ke", "to_https"), "page"),
            https(host("b.ke", "b.ke", "page"), "page"),
            https(host("c.ke", "c.ke", "page"), "page"),
        ],
    );
    assert_eq!(tally.shares[0], PairedCounts { both: 1, gained: 1, ..PairedCounts::default() });
}
