use memchr::memmem;

use super::vocabulary::vocabulary;

vocabulary! {
    /// The evidence that a response is a challenge or a block page in place of the requested page: the closed
    /// list behind the column `challenge`.
    pub enum Challenge {
        /// Cloudflare: the field `cf-mitigated: challenge`, or the script of its challenge page.
        Cloudflare = "cf_mitigated",
        /// Cloudflare: the title of an interstitial or a block page, such as "Just a moment..." or "Attention
        /// Required!".
        CloudflareTitle = "cloudflare_title",
        /// AWS WAF: the field `x-amzn-waf-action` (status 202 or 405), or the title "Human Verification".
        AwsWaf = "aws_waf",
        /// CloudFront: a refusal with the title "ERROR: The request could not be satisfied".
        CloudFront = "cloudfront",
        /// Vercel: the field `x-vercel-mitigated`, or the title "Vercel Security Checkpoint".
        Vercel = "vercel",
        /// SiteGround: the field `sg-captcha` (status 202), or a page that leads to
        /// `/.well-known/sgcaptcha/`.
        SiteGround = "sg_captcha",
        /// Sucuri: the field `x-sucuri-block`, a refusal with `x-sucuri-id`, or the title of its firewall.
        Sucuri = "sucuri",
        /// DDoS-Guard: a refusal with `server: ddos-guard`, or the title "DDoS-Guard".
        DdosGuard = "ddos_guard",
        /// DataDome: a refusal with the field `x-datadome`, or a page that leads to its captcha.
        DataDome = "datadome",
        /// Akamai: a refusal with `server: AkamaiGHost`, or "Access Denied" with a reference number.
        Akamai = "akamai",
        /// Imperva: "Incapsula incident ID", a refusal with its script, or the title "Pardon Our
        /// Interruption".
        Imperva = "imperva",
        /// HUMAN (PerimeterX): its captcha, or the title "Access to this page has been denied".
        Human = "human",
        /// Imunify360: `server: imunify360-webshield`, or the title "One moment, please...".
        Imunify360 = "imunify360",
        /// LiteSpeed: the title "Bot Verification".
        LiteSpeed = "litespeed",
        /// Anubis: the title "Making sure you're not a bot!".
        Anubis = "anubis",
        /// iFastNet, a host of free sites: a page that sets a cookie with a script (`/aes.js`).
        IFastNet = "ifastnet",
    }
}

/// Whether a status refuses the client, as far as the status shows: 401 and 403; 405 and 406, which firewalls
/// use to refuse (AWS WAF's captcha, `ModSecurity`); 418, 451 and 999, which some servers send to crawlers.
/// 429 and 503 request a pause instead.
#[must_use]
pub fn is_refusal(status: u16) -> bool {
    matches!(status, 401 | 403 | 405 | 406 | 418 | 451 | 999)
}

/// A header field that shows a challenge.
struct FieldRule {
    name: &'static str,
    /// The beginning of its value, in lower case; empty matches any value.
    value: &'static str,
    at: Statuses,
    shows: Challenge,
}

/// The responses in which a rule is evidence.
#[derive(Clone, Copy, PartialEq)]
enum Statuses {
    All,
    /// Every response of such a server matches, so it is evidence only if the status refuses.
    Refusals,
}

use Statuses::{All, Refusals};

const fn field(name: &'static str, value: &'static str, at: Statuses, shows: Challenge) -> FieldRule {
    FieldRule { name, value, at, shows }
}

const FIELDS: &[FieldRule] = &[
    // Cloudflare docs, "Detect a Challenge Page response": set on all its challenge pages, and on nothing
    // else.
    field("cf-mitigated", "challenge", All, Challenge::Cloudflare),
    // AWS WAF Developer Guide, "CAPTCHA and Challenge action behavior": `challenge` with 202, `captcha` with
    // 405.
    field("x-amzn-waf-action", "", All, Challenge::AwsWaf),
    // `challenge` with 403 or 429, `deny` with 403.
    field("x-vercel-mitigated", "", All, Challenge::Vercel),
    // woocommerce/woocommerce#52896: status 202 and a meta refresh.
    field("sg-captcha", "", All, Challenge::SiteGround),
    // Its value is the number of the rule that blocked.
    field("x-sucuri-block", "", All, Challenge::Sucuri),
    field("x-sucuri-id", "", Refusals, Challenge::Sucuri),
    field("server", "ddos-guard", Refusals, Challenge::DdosGuard),
    field("x-datadome", "", Refusals, Challenge::DataDome),
    // Akamai's own responses have it; responses that Akamai passes on have the `Server` of the origin.
    field("server", "akamaighost", Refusals, Challenge::Akamai),
    field("server", "imunify360-webshield", Refusals, Challenge::Imunify360),
];

/// Titles of interstitials and block pages, in lower case.
const TITLES: &[(&str, Statuses, Challenge)] = &[
    ("just a moment...", All, Challenge::CloudflareTitle),
    ("attention required! | cloudflare", All, Challenge::CloudflareTitle),
    ("please wait... | cloudflare", All, Challenge::CloudflareTitle),
    ("access denied | cloudflare", All, Challenge::CloudflareTitle),
    ("human verification", All, Challenge::AwsWaf),
    ("error: the request could not be satisfied", Refusals, Challenge::CloudFront),
    ("vercel security checkpoint", All, Challenge::Vercel),
    ("robot challenge screen", All, Challenge::SiteGround),
    ("sucuri website firewall - access denied", All, Challenge::Sucuri),
    ("access denied - sucuri website firewall", All, Challenge::Sucuri),
    ("you are being redirected...", All, Challenge::Sucuri),
    ("ddos-guard", All, Challenge::DdosGuard),
    ("pardon our interruption", All, Challenge::Imperva),
    ("pardon our interruption...", All, Challenge::Imperva),
    ("access to this page has been denied", All, Challenge::Human),
    ("access to this page has been denied.", All, Challenge::Human),
    ("one moment, please...", All, Challenge::Imunify360),
    ("bot verification", All, Challenge::LiteSpeed),
    ("making sure you're not a bot!", All, Challenge::Anubis),
    ("making sure you&#39;re not a bot!", All, Challenge::Anubis),
];

/// Text in the first kibibytes of such pages.
const MARKS: &[(&str, Statuses, Challenge)] = &[
    ("_cf_chl_opt", All, Challenge::Cloudflare),
    ("/.well-known/sgcaptcha/", All, Challenge::SiteGround),
    ("Incapsula incident ID", All, Challenge::Imperva),
    // Regular pages contain this script too.
    ("_Incapsula_Resource", Refusals, Challenge::Imperva),
    ("px-captcha", All, Challenge::Human),
    ("captcha-delivery.com", All, Challenge::DataDome),
    ("Reference&#32;&#35;", Refusals, Challenge::Akamai),
    ("src=\"/aes.js\"", All, Challenge::IFastNet),
];

/// Interstitials are small: the title and the marks are within this many bytes.
const BEGINNING: usize = 16 * 1024;
/// An interstitial links to its maker and little else. A page with more links is a regular page, whatever its
/// title.
const FEW_LINKS: usize = 8;

impl Challenge {
    /// The challenge shown by the header of a response; `field` returns the value of a field by its name in
    /// lower case.
    #[must_use]
    pub fn from_fields<'a>(status: u16, field: impl Fn(&str) -> Option<&'a [u8]>) -> Option<Self> {
        let begins = |value: &[u8], with: &str| {
            value.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with.as_bytes()))
        };
        let rules = FIELDS.iter().filter(|rule| is_evidence(rule.at, status));
        let mut found = rules.filter(|rule| field(rule.name).is_some_and(|value| begins(value, rule.value)));
        found.next().map(|rule| rule.shows)
    }

    /// The challenge shown by a page: by its title, its number of links and its bytes.
    #[must_use]
    pub fn from_page(status: u16, title: Option<&str>, links: usize, body: &[u8]) -> Option<Self> {
        if links > FEW_LINKS {
            return None;
        }
        let by_title = title.and_then(|title| by_title(status, title));
        by_title.or_else(|| by_marks(status, body).filter(|_| links == 0))
    }

    /// The challenge shown by a body that is not a page. Its title is found only where a browser would find
    /// it in a plain block page.
    #[must_use]
    pub fn from_body(status: u16, body: &[u8]) -> Option<Self> {
        let title = plain_title(body);
        title.as_deref().and_then(|title| by_title(status, title)).or_else(|| by_marks(status, body))
    }
}

fn is_evidence(at: Statuses, status: u16) -> bool {
    at == All || is_refusal(status)
}

fn by_title(status: u16, title: &str) -> Option<Challenge> {
    let title = title.trim();
    let is_match = |(known, at, _): &&(&str, Statuses, Challenge)| {
        known.eq_ignore_ascii_case(title) && is_evidence(*at, status)
    };
    TITLES.iter().find(is_match).map(|(_, _, shows)| *shows)
}

fn by_marks(status: u16, body: &[u8]) -> Option<Challenge> {
    let beginning = &body[..body.len().min(BEGINNING)];
    let is_present = |(mark, at, _): &&(&str, Statuses, Challenge)| {
        is_evidence(*at, status) && memmem::find(beginning, mark.as_bytes()).is_some()
    };
    MARKS.iter().find(is_present).map(|(_, _, shows)| *shows)
}

/// The text between the first `<title>` and its end tag, in the beginning of a body.
fn plain_title(body: &[u8]) -> Option<String> {
    let beginning = &body[..body.len().min(BEGINNING)].to_ascii_lowercase();
    let tag = memmem::find(beginning, b"<title")?;
    let begin = tag + memchr::memchr(b'>', &beginning[tag..])? + 1;
    let end = begin + memmem::find(&beginning[begin..], b"</title")?;
    Some(String::from_utf8_lossy(&beginning[begin..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(status: u16, fields: &[(&str, &str)]) -> Option<&'static str> {
        let value = |name: &str| {
            let field = fields.iter().find(|(field, _)| *field == name);
            field.map(|(_, value)| value.as_bytes())
        };
        Challenge::from_fields(status, value).map(Challenge::as_str)
    }

    #[test]
    fn fields_that_only_challenges_have_show_one_at_every_status() {
        for status in [200, 202, 302, 403, 429, 503] {
            assert_eq!(found(status, &[("cf-mitigated", "challenge")]), Some("cf_mitigated"), "{status}");
        }
        assert_eq!(found(202, &[("x-amzn-waf-action", "challenge")]), Some("aws_waf"));
        assert_eq!(found(405, &[("x-amzn-waf-action", "captcha")]), Some("aws_waf"));
        assert_eq!(found(429, &[("x-vercel-mitigated", "challenge")]), Some("vercel"));
        assert_eq!(found(202, &[("sg-captcha", "challenge")]), Some("sg_captcha"));
        assert_eq!(
            found(403, &[("server", "Sucuri/Cloudproxy"), ("x-sucuri-block", "FBP007")]),
            Some("sucuri")
        );
    }

    #[test]
    fn fields_that_a_protected_site_always_has_show_one_where_the_status_refuses() {
        for (name, value, word) in [
            ("x-sucuri-id", "19002", "sucuri"),
            ("server", "ddos-guard", "ddos_guard"),
            ("server", "DDoS-Guard", "ddos_guard"),
            ("server", "AkamaiGHost", "akamai"),
            ("server", "imunify360-webshield/1.21", "imunify360"),
            ("x-datadome", "protected", "datadome"),
        ] {
            assert_eq!(found(403, &[(name, value)]), Some(word), "{name}: {value}");
            for status in [200, 301, 404, 429, 503] {
                assert_eq!(found(status, &[(name, value)]), None, "{name}: {value} at {status}");
            }
        }
    }

    #[test]
    fn other_values_and_fields_show_nothing() {
        for field in [
            ("cf-mitigated", "none"),
            ("cf-mitigated", ""),
            ("server", "nginx"),
            ("server", "ddos"),
            ("cf-ray", "8f2b3c4d5e6f7-SJC"),
            ("x-iinfo", "9-1-0 NNNN"),
        ] {
            assert_eq!(found(403, &[field]), None, "{field:?}");
        }
    }

    #[test]
    fn titles_of_interstitials_show_one_on_pages_with_few_links() {
        let detected =
            |title: &str, links| Challenge::from_page(200, Some(title), links, b"").map(Challenge::as_str);
        assert_eq!(detected("Just a moment...", 2), Some("cloudflare_title"));
        assert_eq!(detected(" One moment, please...\n", 0), Some("imunify360"));
        assert_eq!(detected("Making sure you're not a bot!", 3), Some("anubis"));
        assert_eq!(detected("Just a moment...", 40), None, "a page of a site");
        assert_eq!(detected("Just a moment", 0), None);
        assert_eq!(detected("Our DDoS-Guard review", 0), None);
        assert_eq!(detected("ERROR: The request could not be satisfied", 0), None, "it is no refusal");
    }

    #[test]
    fn marks_show_one_on_pages_without_links_and_those_of_sound_pages_do_not() {
        let detected = |body: &str, links| {
            Challenge::from_page(200, None, links, body.as_bytes()).map(Challenge::as_str)
        };
        let incident = "<iframe src=x>Request unsuccessful. Incapsula incident ID: 9-1</iframe>";
        assert_eq!(detected(incident, 0), Some("imperva"));
        assert_eq!(detected(incident, 1), None);
        assert_eq!(detected("<script src=\"/_Incapsula_Resource?SWJIYLWA=7\"></script>", 0), None);
        assert_eq!(detected("<script src=\"/aes.js\"></script><script>toNumbers(", 0), Some("ifastnet"));
        assert_eq!(detected(&format!("{}px-captcha", " ".repeat(BEGINNING)), 0), None, "far below");
    }

    #[test]
    fn block_pages_show_themselves_by_title_or_mark() {
        let detected =
            |status, body: &str| Challenge::from_body(status, body.as_bytes()).map(Challenge::as_str);
        let akamai = "<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD> Reference&#32;&#35;18&#46;2";
        assert_eq!(detected(403, akamai), Some("akamai"));
        assert_eq!(detected(404, akamai), None);
        assert_eq!(detected(403, "<title>Access Denied</title>"), None, "whose is it?");
        assert_eq!(
            detected(403, "<title lang=en>Attention Required! | Cloudflare</title>"),
            Some("cloudflare_title")
        );
        assert_eq!(
            detected(403, "<Title>ERROR: The request could not be satisfied</tItle>"),
            Some("cloudfront")
        );
        assert_eq!(detected(403, "<script src=/_Incapsula_Resource?x>"), Some("imperva"));
        for sound in ["", "<title", "<title>", "<title>Just a moment...", "Forbidden", "<title>403</title>"] {
            assert_eq!(detected(403, sound), None, "{sound}");
        }
    }

    #[test]
    fn refusals_are_no_wishes_for_a_pause_and_no_missing_pages() {
        let refusals: Vec<u16> = (100..1000).filter(|status| is_refusal(*status)).collect();
        assert_eq!(refusals, [401, 403, 405, 406, 418, 451, 999]);
        assert!(refusals.iter().all(|status| !super::super::requests_pause(Some(*status))));
    }

    #[test]
    fn every_word_has_a_rule() {
        let found = FIELDS.iter().map(|rule| rule.shows);
        let found = found.chain(TITLES.iter().map(|rule| rule.2)).chain(MARKS.iter().map(|rule| rule.2));
        let found: std::collections::HashSet<_> = found.collect();
        assert!(Challenge::ALL.iter().all(|challenge| found.contains(challenge)));
        assert!(TITLES.iter().all(|(title, ..)| *title == title.to_lowercase()));
    }

    proptest! {
        #[test]
        fn any_body_is_looked_into_without_panic(status in any::<u16>(), body in any::<Vec<u8>>(), at in 0_usize..40) {
            let _ = Challenge::from_body(status, &body);
            let _ = Challenge::from_page(status, std::str::from_utf8(&body).ok(), at, &body);
            let cut = [&b"<title>x</title"[..at.min(15)], &body].concat();
            let _ = Challenge::from_body(status, &cut);
        }
    }
}
