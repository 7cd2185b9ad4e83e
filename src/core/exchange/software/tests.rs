use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn by_fields(fields: &[(&str, &str)]) -> Option<(String, String)> {
    let fields = fields.iter().map(|(name, value)| (*name, value.as_bytes()));
    SiteSoftware::from_fields(fields).map(|software| (software.name, software.evidence))
}

fn by_generators(generators: &[&str]) -> Option<(String, String)> {
    let software = SiteSoftware::from_generators(generators.iter().copied());
    software.map(|software| (software.name, software.evidence))
}

fn pair(name: &str, evidence: &str) -> Option<(String, String)> {
    Some((name.to_owned(), evidence.to_owned()))
}

#[test]
fn each_kind_of_field_shows_its_software() {
    for (name, value, software) in [
        ("X-Generator", "Drupal 10 (https://www.drupal.org)", "Drupal"),
        ("x-drupal-cache", "HIT", "Drupal"),
        ("Link", "<https://a.ke/wp-json/>; rel=\"https://api.w.org/\"", "WordPress"),
        ("X-Redirect-By", "WordPress", "WordPress"),
        ("X-Shopify-Stage", "production", "Shopify"),
        ("Server", "Squarespace", "Squarespace"),
        ("X-Powered-CMS", "Bitrix Site Manager (bc2cad9153cb418bb2dfd5602c3c3754)", "Bitrix"),
        ("MicrosoftSharePointTeamServices", "16.0.0.10417", "SharePoint"),
        ("Liferay-Portal", "Liferay Community Edition Portal 7.4.3", "Liferay"),
        ("Composed-By", "SPIP 4.2.7 @ www.spip.net", "SPIP"),
        ("Powered-By", "PrestaShop", "PrestaShop"),
    ] {
        assert_eq!(by_fields(&[(name, value)]).map(|found| found.0).as_deref(), Some(software), "{name}");
    }
    assert_eq!(
        by_fields(&[("server", "nginx"), ("x-generator", "Drupal 9")]),
        pair("Drupal", "field: x-generator: Drupal 9")
    );
}

#[test]
fn fields_of_languages_servers_and_frameworks_show_nothing() {
    for field in [
        ("x-powered-by", "PHP/8.2.1"),
        ("x-powered-by", "Next.js"),
        ("x-powered-by", "ASP.NET"),
        ("server", "nginx"),
        ("link", "<https://a.ke/style.css>; rel=preload"),
        ("set-cookie", "PHPSESSID=1; path=/"),
        ("x-generator", ""),
    ] {
        assert_eq!(by_fields(&[field]), None, "{field:?}");
    }
}

#[test]
fn the_value_of_a_cookie_is_not_in_the_evidence() {
    let cookie = ("Set-Cookie", "MoodleSession=s3cr3t; path=/; secure");
    assert_eq!(by_fields(&[cookie]), pair("Moodle", "field: set-cookie: moodlesession"));
}

#[test]
fn a_generator_shows_software_and_its_version() {
    for (generator, software) in [
        ("WordPress 6.4.2", "WordPress"),
        ("Joomla! - Open Source Content Management", "Joomla"),
        ("Drupal 7 (http://drupal.org)", "Drupal"),
        ("TYPO3 4.5 CMS", "TYPO3"),
        ("Wix.com Website Builder", "Wix"),
        ("blogger", "Blogger"),
        ("MediaWiki 1.39.4", "MediaWiki"),
        ("DSpace 6.3", "DSpace"),
        ("Open Journal Systems 3.3.0.8", "Open Journal Systems"),
        ("Starfield Technologies; Go Daddy Website Builder 8.0.0000", "GoDaddy Website Builder"),
        ("concrete5 - 8.5.4", "Concrete CMS"),
        ("Hugo 0.111.3", "Hugo"),
        ("phpBB", "phpBB"),
    ] {
        assert_eq!(by_generators(&[generator]), pair(software, &format!("generator: {generator}")));
    }
    for other in ["", "Hugoland 2", "Microsoft FrontPage 4.0", "My own", "Next.js", "WordPressing"] {
        assert_eq!(by_generators(&[other]), None, "{other}");
    }
}

#[test]
fn the_generator_of_a_plugin_does_not_hide_that_of_the_software() {
    let plugins = ["Elementor 3.18.3; features: e_dom_optimization", "Powered by Slider Revolution 6.6.18"];
    assert_eq!(
        by_generators(&[plugins[0], "WordPress 6.4.2", plugins[1]]),
        pair("WordPress", "generator: WordPress 6.4.2")
    );
    let alone = by_generators(&["WooCommerce 8.2.1", plugins[1]]);
    assert_eq!(alone, pair("WordPress", "generator: WooCommerce 8.2.1"));
}

#[test]
fn references_count_on_the_pages_own_host_and_builders_where_the_page_loads_from_them() {
    let found = |text: &str, is_own, is_loaded| {
        let reference = Reference { text: text.as_bytes(), is_own, is_loaded };
        SiteSoftware::from_references([reference].into_iter()).map(|found| found.evidence)
    };
    assert_eq!(found("/wp-content/themes/x.css", true, true).as_deref(), Some("path: /wp-content/"));
    assert_eq!(found("//a.ke/blog/wp-includes/x.js", true, true).as_deref(), Some("path: /wp-includes/"));
    assert_eq!(found("//b.ke/wp-content/x.js", false, true), None);
    assert_eq!(found("/share?url=/wp-content/x", true, true), None, "what a query passes on");
    assert_eq!(found("//cdn.shopify.com/s/x.js", false, true).as_deref(), Some("host: cdn.shopify.com"));
    assert_eq!(found("//cdn.shopify.com/s/x.png", false, false), None, "a picture of another site");
    assert_eq!(found("//notcdn.shopify.com.a.ke/s/x.js", false, true), None);
    assert_eq!(found("//irp.cdn-website.com/x.css", false, true).as_deref(), Some("host: cdn-website.com"));
}

#[test]
fn a_generator_takes_precedence_over_fields_and_fields_over_paths() {
    let software = |evidence: &str| Some(SiteSoftware { name: String::new(), evidence: evidence.to_owned() });
    let (generator, field, path) = (software("generator: x"), software("field: y"), software("path: /z/"));
    assert_eq!(SiteSoftware::preferred(generator.clone(), field.clone()), generator);
    assert_eq!(SiteSoftware::preferred(path.clone(), field.clone()), field);
    assert_eq!(SiteSoftware::preferred(path.clone(), None), path);
    assert_eq!(SiteSoftware::preferred(None, field.clone()), field);
    assert_eq!(SiteSoftware::preferred(None, None), None);
}

#[test]
fn every_software_is_listed_once_with_a_rule_in_lower_case() {
    let text = include_str!("../../data/site-software.toml");
    let mut names = HashSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("name = ") {
            Some(name) => assert!(names.insert(name), "{name}"),
            None => assert_eq!(line, line.to_lowercase()),
        }
    }
    assert!(names.len() >= 80);
}

proptest! {
    #[test]
    fn any_field_generator_and_reference_is_read_without_panic(
        name in "[a-zA-Z-]{0,20}|x-generator|set-cookie|link", value in any::<Vec<u8>>(), text in any::<String>(),
        is_own in any::<bool>(), is_loaded in any::<bool>(),
    ) {
        if let Some(found) = SiteSoftware::from_fields([(name.as_str(), &value[..])].into_iter()) {
            prop_assert!(found.evidence.len() < 600 && !found.evidence.contains('\n'));
        }
        let _ = SiteSoftware::from_generators([text.as_str()].into_iter());
        let reference = Reference { text: &value, is_own, is_loaded };
        let _ = SiteSoftware::from_references([reference].into_iter());
    }
}
