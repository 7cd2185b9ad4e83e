use super::super::tables::group::{network, software_family};
use crate::exchange::{ContentClass, ContentGroup, Door, DoorGroup};
use crate::records::{ChangedFact, HostRow, Presence};

/// Whether a survey met a host.
pub(super) fn presence(host: Option<&HostRow>) -> Presence {
    let Some(host) = host else { return Presence::NotSeen };
    let is = |group: DoorGroup| [&host.http, &host.https].into_iter().any(|door| is_in(door, group));
    if is(DoorGroup::Open) {
        Presence::Responds
    } else if is(DoorGroup::Shut) {
        Presence::NoResponse
    } else {
        Presence::NotRequested
    }
}

fn is_in(door: &str, group: DoorGroup) -> bool {
    Door::named(door).is_some_and(|door| door.group() == group)
}

/// The facts that differ between two surveys of a host that responds in both, with their values.
pub(super) fn changed<'h>(
    before: &'h HostRow,
    after: &'h HostRow,
) -> impl Iterator<Item = (ChangedFact, String, String)> + use<'h> {
    ChangedFact::ALL.iter().filter_map(|fact| {
        let (before, after) = (value(*fact, before)?, value(*fact, after)?);
        (before != after).then_some((*fact, before, after))
    })
}

/// The value of a fact; none where it is not known. Presence is compared on its own.
pub(super) fn value(fact: ChangedFact, host: &HostRow) -> Option<String> {
    let door = |door: &String| Some(door.clone()).filter(|door| !is_in(door, DoorGroup::Unknown));
    let word = |is_so: Option<bool>| is_so.map(|is_so| if is_so { "yes" } else { "no" }.to_owned());
    match fact {
        ChangedFact::Presence => None,
        ChangedFact::Http => door(&host.http),
        ChangedFact::Https => door(&host.https),
        ChangedFact::Hsts => word(host.hsts),
        ChangedFact::Certificate => host.certificate.clone(),
        ChangedFact::Issuer => host.certificate_issuer.clone(),
        ChangedFact::Ipv6 => word(host.has_ipv6),
        ChangedFact::Software => host.server.as_deref().map(|server| software_family(server).to_owned()),
        ChangedFact::Cms => host.cms.clone(),
        ChangedFact::Content => host.content.clone(),
        ChangedFact::TextLanguage => host.text_language.clone(),
        ChangedFact::Language => host.language.clone(),
        ChangedFact::Robots => host.robots.clone(),
        ChangedFact::Country => host.country.clone(),
        ChangedFact::Network => host.asn.map(|asn| network(asn, host.as_org.as_deref())),
    }
}

/// The meaning of a value of a fact that is one of our words.
#[must_use]
pub fn meaning_of_value(value: &str) -> Option<&'static str> {
    let content = || ContentClass::named(value).map(ContentClass::meaning);
    Door::named(value).map(Door::meaning).or_else(content)
}

/// A property of a site that a share counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Property {
    pub name: &'static str,
    /// Whether a host has it; none where that is not known.
    pub of: fn(&HostRow) -> Option<bool>,
}

/// The shares that a comparison shows.
pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "have a front page over https", of: |host| is_page(&host.https) },
    Property {
        name: "lead from http to https",
        of: |host| known(&host.http).map(|door| door == Door::ToHttps),
    },
    Property { name: "ask browsers for https only (HSTS)", of: |host| host.hsts },
    Property {
        name: "have a valid certificate",
        of: |host| host.certificate.as_deref().map(|word| word == "valid"),
    },
    Property { name: "have an IPv6 address", of: |host| host.has_ipv6 },
    Property { name: "have content of their own", of: has_content },
    Property {
        name: "show a content management system",
        of: |host| host.content.as_ref().map(|_| host.cms.is_some()),
    },
    Property { name: "forbid the front page in robots.txt", of: |host| forbids(host) },
    Property {
        name: "turn the survey away by a challenge",
        of: |host| host.robots.as_ref().map(|_| host.challenge.is_some()),
    },
    Property { name: "stand in the country of their name", of: stands_at_home },
];

/// Parked, empty and broken pages have none.
fn has_content(host: &HostRow) -> Option<bool> {
    let class = host.content.as_deref().and_then(ContentClass::named)?;
    Some(class.group() != ContentGroup::None)
}

fn known(door: &str) -> Option<Door> {
    Door::named(door).filter(|door| door.group() != DoorGroup::Unknown)
}

fn is_page(door: &str) -> Option<bool> {
    known(door).map(|door| door == Door::Page)
}

fn forbids(host: &HostRow) -> Option<bool> {
    host.robots.as_deref().map(|word| word == "forbids_front_page")
}

/// Country domains are ISO 3166 codes but for `uk`.
fn stands_at_home(host: &HostRow) -> Option<bool> {
    let domain = host.cctld.rsplit('.').next().unwrap_or_default().to_ascii_uppercase();
    let home = if domain == "UK" { "GB" } else { &domain };
    host.country.as_deref().map(|country| country == home)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(http: &str, https: &str) -> HostRow {
        HostRow { http: http.into(), https: https.into(), ..HostRow::default() }
    }

    #[test]
    fn a_host_is_present_if_any_door_is_open() {
        let presence_of = |http, https| presence(Some(&host(http, https)));
        assert_eq!(presence_of("no_response", "page"), Presence::Responds);
        assert_eq!(presence_of("client_error", "not_requested"), Presence::Responds);
        assert_eq!(presence_of("no_name", "not_requested"), Presence::NoResponse);
        assert_eq!(presence_of("not_requested", "not_requested"), Presence::NotRequested);
        assert_eq!(presence(None), Presence::NotSeen);
    }

    #[test]
    fn a_fact_is_compared_where_both_surveys_know_it() {
        let before = HostRow {
            server: Some("Apache/2.4.1".into()),
            country: Some("DE".into()),
            hsts: Some(false),
            ..host("page", "not_requested")
        };
        let after = HostRow {
            server: Some("Apache/2.4.9".into()),
            country: None,
            hsts: Some(true),
            language: Some("sw".into()),
            ..host("to_https", "page")
        };
        let changes: Vec<_> = changed(&before, &after).collect();
        assert_eq!(
            changes,
            [
                (ChangedFact::Http, "page".into(), "to_https".into()),
                (ChangedFact::Hsts, "no".into(), "yes".into())
            ]
        );
    }

    #[test]
    fn home_is_the_country_of_the_domain() {
        for (cctld, country, is_home) in [
            ("ke", Some("KE"), Some(true)),
            ("co.uk", Some("GB"), Some(true)),
            ("ke", Some("US"), Some(false)),
            ("ke", None, None),
        ] {
            let host =
                HostRow { cctld: cctld.into(), country: country.map(str::to_owned), ..HostRow::default() };
            assert_eq!(stands_at_home(&host), is_home, "{cctld} {country:?}");
        }
    }
}
