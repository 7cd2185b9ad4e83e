//! The table of hosts equals what the virtual Web knows of its hosts, wherever something was requested; and
//! it costs its servers no request.

use std::collections::BTreeMap;
use std::path::Path;

use ccsurvey::analysis::for_each_host;
use ccsurvey::exchange::{ContentClass, ContentGroup, Door};
use ccsurvey::records::{ExchangeRow, HostRow};
use ccsurvey::settings::Settings;
use ccsurvey::space::{FeedBack, HostTruth};

use crate::common::Space;

fn hosts(space: &Space) -> (Vec<HostRow>, Vec<ExchangeRow>, BTreeMap<String, HostTruth>) {
    let authority = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/virtual-authority.pem");
    let surveyed = space.survey(Settings { sites: 16, ca: vec![authority], ..space.settings() });
    let mut rows = Vec::new();
    for_each_host(&surveyed.dir(), |more| {
        rows.extend(more);
        Ok(())
    })
    .unwrap();
    let truth = space.truth(8, FeedBack::Link).hosts;
    (rows, surveyed.rows(), truth.into_iter().map(|host| (host.host.clone(), host)).collect())
}

/// The words of the truth that a door of the table may have.
fn is_same_door(row: &str, truth: &str) -> bool {
    match Door::named(row).unwrap() {
        Door::NotRequested => true,
        Door::Page => truth == "page",
        Door::ToHttps => truth == "redirect_https",
        Door::Redirect => truth == "redirect",
        // The front page may be forbidden, or not have been requested.
        Door::RobotsOnly | Door::File => !["refused", "reset", "no_tls", "no_name"].contains(&truth),
        Door::ClientError | Door::Challenge => truth == "client_error",
        Door::ServerError => truth == "server_error",
        Door::TlsFailure => truth == "no_tls",
        Door::NoResponse => ["refused", "reset", "silent", "no_tls"].contains(&truth),
        Door::NoName => ["no_name", "name_fails", "name_silent", "no_address"].contains(&truth),
    }
}

fn words(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().split(' ').filter(|word| !word.is_empty()).collect()
}

#[test]
fn a_survey_knows_of_hosts_what_the_world_knows_and_only_where_it_sent_a_request() {
    let space = Space::serve("hosts_tell_what_runs_them");
    let (rows, exchanges, truth) = hosts(&space);
    assert!(rows.len() > 60, "{} hosts", rows.len());
    let (mut pages, mut cms, mut chains) = (0, 0, 0);
    let mut unlike = Vec::new();
    for row in &rows {
        let host = &row.host;
        let Some(known) = truth.get(host) else {
            // Links also lead to names that do not exist.
            assert_eq!((row.requests, row.https.as_str()), (0, "not_requested"), "{host}");
            assert!(["no_name", "not_requested"].contains(&row.http.as_str()), "{host}: {}", row.http);
            continue;
        };
        let sent = exchanges.iter().filter(|exchange| exchange.host == *host && exchange.was_sent());
        assert_eq!(row.requests, sent.count() as u64, "{host}");
        assert!(is_same_door(&row.http, &known.http), "{host} http: {} is {}", row.http, known.http);
        assert!(is_same_door(&row.https, &known.https), "{host} https: {} is {}", row.https, known.https);
        if row.addresses.is_some() {
            let addresses: Vec<&str> = known.ipv4.iter().chain(&known.ipv6).map(String::as_str).collect();
            assert_eq!(words(row.addresses.as_deref()), addresses, "{host}");
            assert_eq!(words(row.aliases.as_deref()), words(known.aliases.as_deref()), "{host}");
            chains += u64::from(words(row.aliases.as_deref()).len() > 1);
        }
        if let Some(has_ipv6) = row.has_ipv6 {
            assert_eq!(has_ipv6, known.ipv6.is_some(), "{host}");
        }
        if let Some(certificate) = &row.certificate {
            assert_eq!(Some(certificate), known.certificate.as_ref(), "{host}");
            assert_eq!(row.certificate_issuer, known.issuer, "{host}");
            assert_eq!(words(row.certificate_names.as_deref()), words(known.names.as_deref()), "{host}");
        }
        if let Some(hsts) = row.hsts {
            assert_eq!(hsts, known.hsts.is_some(), "{host}");
        }
        if row.server.is_some() {
            assert_eq!(row.server, known.server, "{host}");
        }
        if row.robots.is_some() {
            assert_eq!(
                words(row.sitemaps.as_deref()),
                words(known.sitemaps.as_deref()),
                "{host}: {:?}",
                row.robots
            );
        }
        // Facts of pages are those of front pages.
        if let Some(content) = &row.content {
            pages += 1;
            assert_eq!(row.generator, known.generator, "{host}");
            let name = row.cms.as_deref().map(str::to_lowercase);
            assert_eq!(name, known.cms, "{host}: {:?}", row.cms_evidence);
            cms += u64::from(row.cms.is_some());
            let content = ContentClass::named(content).unwrap();
            let expected = known.content.as_deref();
            let is_none = content.group() == ContentGroup::None;
            let told = if is_none { Some(content.as_str()) } else { None };
            if told != expected {
                unlike.push(format!("{host} is {expected:?}, not {content} ({:?})", row.content_evidence));
            }
            if let (Some(found), Some(written)) = (&row.text_language, &known.language) {
                assert_eq!(found, written, "{host}");
            }
            assert_eq!(row.language, known.declared_language.as_deref().map(str::to_lowercase), "{host}");
        }
    }
    assert!(unlike.is_empty(), "{unlike:#?}");
    assert!(pages > 25 && cms > 8 && chains > 2, "{pages} pages, {cms} with a CMS, {chains} chains");
}
