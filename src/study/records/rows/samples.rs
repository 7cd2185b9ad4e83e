//! Rows with arbitrary content, for the tests of this room.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::exchange::{Class, ClassCounts};
use crate::records::{
    ExchangeRow, LevelRow, LinkRow, PageLinkRow, RobotsRow, SegmentRows, ServerRow, SiteRow, Timestamp,
};

/// Few distinct texts, so that they repeat; some are empty, long or not Latin.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just("example.ke".to_owned()), Just(String::new()), ".{0,8}", "[a-zé漢\\u{0}]{0,60}"]
}

fn time() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp)
}

/// Finite, as durations are; NaN would not equal itself.
fn number() -> impl Strategy<Value = f64> {
    -1e12..1e12
}

fn classes() -> impl Strategy<Value = ClassCounts> {
    vec(any::<u64>(), Class::ALL.len()).prop_map(|urls| {
        let mut counts = ClassCounts::default();
        Class::ALL.iter().zip(urls).for_each(|(class, urls)| counts[*class] = urls);
        counts
    })
}

macro_rules! arbitrary {
    ($row:ident: $($field:ident = $strategy:expr),+ $(,)?) => {
        impl $row {
            pub(in crate::records) fn arbitrary() -> impl Strategy<Value = Self> {
                // Tuples of strategies have at most twelve members; a chain of maps has no such limit.
                let row = Just(Self::default());
                // Boxed, because types nested as deep as a table is wide take the compiler minutes.
                $(let row = (row, $strategy).prop_map(|(row, $field)| Self { $field, ..row }).boxed();)+
                row
            }
        }
    };
}

arbitrary!(ExchangeRow: site = text(), url = text(), host = text(), address = option::of(text()),
    depth = option::of(any::<u16>()), purpose = text(), method = text(), started = time(),
    status = option::of(any::<u16>()), failure = option::of(text()), content_type = option::of(text()),
    charset = option::of(text()), language = option::of(text()), sent_bytes = any::<u64>(),
    received_bytes = any::<u64>(), body_bytes = any::<u64>(), dns_ms = option::of(number()),
    connect_ms = option::of(number()), tls_ms = option::of(number()),
    first_byte_ms = option::of(number()), total_ms = option::of(number()),
    http_version = option::of(text()), tls_version = option::of(text()), server = option::of(text()),
    location = option::of(text()), body_hash = option::of(text()), last_modified = option::of(text()),
    etag = option::of(text()), internal_links = option::of(any::<u32>()),
    external_links = option::of(any::<u32>()), tls_error = option::of(text()),
    content_encoding = option::of(text()), title = option::of(text()), connections = any::<u32>(),
    number = any::<u32>(), seed = any::<u16>(), excluded_by = option::of(text()),
    unchanged_bytes = option::of(any::<u64>()), text_simhash = option::of(text()),
    withheld_urls = option::of(any::<u32>()), new_external_urls = option::of(any::<u32>()),
    new_external_hosts = option::of(any::<u32>()), new_internal_urls = option::of(any::<u32>()));

arbitrary!(LinkRow: site = text(), depth = any::<u16>(), page = text(), url = text(), host = text(),
    target_site = text(), element = text(), nofollow = any::<bool>(), in_survey = any::<bool>(),
    seed = any::<u16>());

arbitrary!(SiteRow: site = text(), cctld = option::of(text()), start_url = text(),
    parent_site = option::of(text()), generation = any::<u32>(), outcome = text(),
    deepest = option::of(any::<u16>()), requests = any::<u64>(), pages = any::<u64>(),
    received_bytes = any::<u64>(), busy_ms = number(), external_urls = any::<u64>(),
    external_hosts = any::<u64>(), external_sites = any::<u64>(), address = option::of(text()),
    country = option::of(text()), asn = option::of(any::<u32>()), as_org = option::of(text()),
    server = option::of(text()), started = time(), finished = time(), seed = any::<u16>(),
    sent_bytes = any::<u64>(), probe_requests = any::<u64>(), robots_requests = any::<u64>(), internal_urls = any::<u64>(),
    trap_pattern = option::of(text()));

arbitrary!(LevelRow: site = text(), depth = any::<u16>(), requests = any::<u64>(), pages = any::<u64>(),
    received_bytes = any::<u64>(), busy_ms = number(), internal_urls = any::<u64>(),
    external_urls = any::<u64>(), external_hosts = any::<u64>(), external_sites = any::<u64>(),
    sent_bytes = any::<u64>(), connections = any::<u64>(), seed = any::<u16>(), classes = classes());

arbitrary!(ServerRow: address = text(), hosts = any::<u32>(), sites = any::<u32>(),
    country = option::of(text()), asn = option::of(any::<u32>()), as_org = option::of(text()),
    server = option::of(text()), requests = any::<u64>(), received_bytes = any::<u64>(),
    busy_ms = number(), smallest_gap_ms = option::of(number()), most_parallel = any::<u32>(),
    most_requests_per_minute = any::<u32>(), sent_bytes = any::<u64>(), connections = any::<u64>());

arbitrary!(PageLinkRow: site = text(), seed = any::<u16>(), page = text(), position = any::<u32>(),
    url = text(), element = text(), nofollow = any::<bool>(), is_internal = any::<bool>(),
    spelled = option::of(text()));

arbitrary!(RobotsRow: site = text(), seed = any::<u16>(), url = text(), status = any::<u16>(), body = text());

/// A segment with a few rows at most in each table.
pub(in crate::records) fn segment() -> impl Strategy<Value = SegmentRows> {
    let rows = 0..4usize;
    (
        vec(ExchangeRow::arbitrary(), rows.clone()),
        vec(LinkRow::arbitrary(), rows.clone()),
        vec(SiteRow::arbitrary(), rows.clone()),
        vec(LevelRow::arbitrary(), rows.clone()),
        vec(PageLinkRow::arbitrary(), rows.clone()),
        vec(RobotsRow::arbitrary(), rows),
    )
        .prop_map(|(exchanges, links, sites, levels, page_links, robots)| SegmentRows {
            exchanges,
            links,
            sites,
            levels,
            page_links,
            robots,
        })
}

/// One site with the given number of links, identified by its name.
pub(in crate::records) fn site(name: &str, links: usize) -> SegmentRows {
    let site = || name.to_owned();
    SegmentRows {
        exchanges: vec![ExchangeRow { site: site(), ..ExchangeRow::default() }],
        links: vec![LinkRow { site: site(), ..LinkRow::default() }; links],
        sites: vec![SiteRow { site: site(), ..SiteRow::default() }],
        levels: vec![LevelRow { site: site(), ..LevelRow::default() }],
        ..SegmentRows::default()
    }
}
