use super::error::CliError;
use crate::survey::{Harsher, Settings, Size, Span, impolite, least_budgets};

/// The deepest level that can be asked for: the source's survey went to 20, and what is deeper than
/// this is a machine's.
const MAX_DEPTH: u16 = 1000;

/// Whether settings make a survey, whether they came from flags, a file or an earlier run.
///
/// Files that settings name are read, and country domains looked up, when the survey is opened.
///
/// # Errors
/// Names the flag, its value and what is expected.
pub(super) fn check(settings: &Settings) -> Result<(), CliError> {
    let wrong = refusals(settings).into_iter().find_map(|(is_wrong, message)| is_wrong.then_some(message));
    match wrong.or_else(|| wrong_contact(settings)) {
        Some(message) => Err(CliError::Usage(message)),
        None => Ok(()),
    }
}

/// Whether a new survey keeps what is promised to the owners of servers, or is told not to.
///
/// One that goes on does what it began with: it may not be made harsher.
///
/// # Errors
/// Names each setting that breaks a promise, and its polite value.
pub(super) fn check_politeness(settings: &Settings) -> Result<(), CliError> {
    let harsher = if settings.impolite { Vec::new() } else { impolite(settings) };
    if harsher.is_empty() {
        return Ok(());
    }
    let told: Vec<String> = harsher.iter().map(Harsher::to_string).collect();
    Err(CliError::Usage(format!(
        "{}; add --impolite if the servers are yours or their owners agreed (free are surveys whose --dns and --gateway \
         are on this machine)",
        told.join("; ")
    )))
}

/// Whether settings make a simulation, which sends nothing and needs no contact.
///
/// # Errors
/// Names the flag, its value and what is expected.
pub(super) fn check_simulation(settings: &Settings) -> Result<(), CliError> {
    let mut rules = refusals(settings);
    let sends = |flag| format!("--{flag} is given, expected none: a simulation sends nothing");
    rules.push((settings.dns.is_some(), sends("dns")));
    rules.push((settings.gateway.is_some(), sends("gateway")));
    let wrong = rules.into_iter().find_map(|(is_wrong, message)| is_wrong.then_some(message));
    match wrong.or_else(|| settings.contact.as_ref().and_then(|_| wrong_contact(settings))) {
        Some(message) => Err(CliError::Usage(message)),
        None => Ok(()),
    }
}

fn refusals(settings: &Settings) -> Vec<(bool, String)> {
    let mut rules = vec![
        (
            settings.cctld.iter().all(|name| name.trim().is_empty()),
            "no country domain given: add --cctld, for example --cctld ke or --cctld ke,tz,ug".to_owned(),
        ),
        (
            settings.depth > MAX_DEPTH,
            format!("--depth is {}, expected 0 to {MAX_DEPTH} levels", settings.depth),
        ),
        (
            !(settings.delay_factor.is_finite() && settings.delay_factor >= 0.0),
            format!("--delay-factor is {}, expected a number of 0 or more", settings.delay_factor),
        ),
        (
            !(0.0..=1.0).contains(&settings.probe_scripts),
            format!("--probe-scripts is {}, expected a share from 0 to 1", settings.probe_scripts),
        ),
        (
            !(settings.sample > 0.0 && settings.sample <= 1.0),
            format!("--sample is {}, expected a share above 0 and up to 1, such as 0.02", settings.sample),
        ),
        (
            settings.exclude_text.iter().any(|words| words.trim().is_empty()),
            "--exclude-text is empty, expected words that a page may contain".to_owned(),
        ),
        (
            settings.link_share.is_some_and(|share| !(share > 0.0 && share <= 1.0)),
            format!(
                "--link-share is {}, expected a share above 0 and up to 1, such as 0.003, or none",
                settings.link_share.unwrap_or_default()
            ),
        ),
        (
            settings.min_delay > settings.max_delay,
            format!(
                "--min-delay is {}, expected at most --max-delay, which is {}",
                settings.min_delay, settings.max_delay
            ),
        ),
    ];
    rules.extend(
        zeros(settings).map(|(flag, is_zero)| (is_zero, format!("--{flag} is 0, expected more than 0"))),
    );
    rules.extend(too_small(settings).map(|message| (true, message)));
    rules
}

/// Budgets that would forbid every request, for one may come to more.
fn too_small(settings: &Settings) -> impl Iterator<Item = String> {
    let (bytes, busy) = least_budgets(settings);
    let sizes = byte_budgets(settings).into_iter().filter_map(move |(flag, limit)| {
        let limit = limit.filter(|limit| *limit < bytes)?;
        Some(format!(
            "--{flag} is {limit}, expected at least {bytes} bytes: a single request may move as many"
        ))
    });
    let times = busy_budgets(settings).into_iter().filter_map(move |(flag, limit)| {
        let limit = limit.filter(|limit| *limit < busy)?;
        Some(format!("--{flag} is {limit}, expected at least {busy}, a second more than --exchange-timeout"))
    });
    sizes.chain(times)
}

fn byte_budgets(settings: &Settings) -> [(&'static str, Option<Size>); 7] {
    [
        ("max-bytes", settings.max_bytes),
        ("max-server-bytes", settings.max_server_bytes),
        ("max-server-bytes-per-day", settings.max_server_bytes_per_day),
        ("max-network-bytes", settings.max_network_bytes),
        ("max-network-bytes-per-day", settings.max_network_bytes_per_day),
        ("max-as-bytes", settings.max_as_bytes),
        ("max-as-bytes-per-day", settings.max_as_bytes_per_day),
    ]
}

fn busy_budgets(settings: &Settings) -> [(&'static str, Option<Span>); 6] {
    [
        ("max-server-busy", settings.max_server_busy),
        ("max-server-busy-per-day", settings.max_server_busy_per_day),
        ("max-network-busy", settings.max_network_busy),
        ("max-network-busy-per-day", settings.max_network_busy_per_day),
        ("max-as-busy", settings.max_as_busy),
        ("max-as-busy-per-day", settings.max_as_busy_per_day),
    ]
}

fn zeros(settings: &Settings) -> impl Iterator<Item = (&'static str, bool)> {
    let zeros = [
        ("sites", settings.sites == 0),
        ("per-site", settings.per_site == 0),
        ("per-address", settings.per_address == 0),
        ("per-neighbourhood", settings.per_neighbourhood == Some(0)),
        ("seeds-per-site", settings.seeds_per_site == 0),
        ("queries-per-script", settings.queries_per_script == 0),
        ("max-urls", settings.max_urls == 0),
        ("max-requests", settings.max_requests == Some(0)),
        ("max-time", no_time(settings.max_time)),
        ("trap-levels", settings.trap_levels == Some(0)),
        ("stable-levels", settings.stable_levels == Some(0)),
        ("rate", no_size(settings.rate)),
        ("max-body", settings.max_body.0 == 0),
        ("dns-timeout", settings.dns_timeout.0.is_zero()),
        ("connect-timeout", settings.connect_timeout.0.is_zero()),
        ("tls-timeout", settings.tls_timeout.0.is_zero()),
        ("first-byte-timeout", settings.first_byte_timeout.0.is_zero()),
        ("idle-timeout", settings.idle_timeout.0.is_zero()),
        ("exchange-timeout", settings.exchange_timeout.0.is_zero()),
    ];
    zeros.into_iter().chain(shares_of_zero(settings))
}

/// Whoever is to bear nothing is left out by an opt-out.
fn shares_of_zero(settings: &Settings) -> impl Iterator<Item = (&'static str, bool)> {
    let requests = [
        ("max-server-requests", settings.max_server_requests),
        ("max-server-requests-per-day", settings.max_server_requests_per_day),
        ("max-network-requests", settings.max_network_requests),
        ("max-network-requests-per-day", settings.max_network_requests_per_day),
        ("max-as-requests", settings.max_as_requests),
        ("max-as-requests-per-day", settings.max_as_requests_per_day),
    ];
    let requests = requests.map(|(flag, limit)| (flag, limit == Some(0)));
    let sizes = byte_budgets(settings).map(|(flag, limit)| (flag, no_size(limit)));
    requests
        .into_iter()
        .chain(sizes)
        .chain(busy_budgets(settings).map(|(flag, limit)| (flag, no_time(limit))))
}

fn no_size(limit: Option<Size>) -> bool {
    limit.is_some_and(|size| size.0 == 0)
}

fn no_time(limit: Option<Span>) -> bool {
    limit.is_some_and(|span| span.0.is_zero())
}

fn wrong_contact(settings: &Settings) -> Option<String> {
    const EXPECTED: &str =
        "a URL or mail address, for example https://example.org/survey or survey@example.org";
    match settings.contact.as_deref() {
        Some(contact) if is_contact(contact) => None,
        Some(contact) => Some(format!("--contact is '{}', expected {EXPECTED}", contact.escape_debug())),
        None if settings.stays_on_loopback() => None,
        None => Some(format!(
            "no --contact given: site owners must be able to reach you; give {EXPECTED} (only a survey whose --dns and \
             --gateway are on this machine goes without)"
        )),
    }
}

/// Whether a text can stand in a User-Agent comment (RFC 9110 §5.6.5) and tells whom to write to.
fn is_contact(text: &str) -> bool {
    let is_sendable = text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '(' | ')' | '\\'));
    let is_web = ["http://", "https://"].iter().any(|scheme| {
        text.strip_prefix(scheme)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '['))
    });
    let mail = text.strip_prefix("mailto:").unwrap_or(text);
    let is_mail = mail.split_once('@').is_some_and(|(user, host)| {
        !user.is_empty() && !host.contains('@') && host.starts_with(|c: char| c.is_ascii_alphanumeric())
    });
    is_sendable && (is_web || (is_mail && !text.contains("//")))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn sound() -> Settings {
        Settings { cctld: vec!["ke".into()], contact: Some("a@b.example".into()), ..Settings::default() }
    }

    fn refusal(change: impl FnOnce(&mut Settings)) -> String {
        let mut settings = sound();
        change(&mut settings);
        check(&settings).unwrap_err().to_string()
    }

    #[test]
    fn sound_settings_pass() {
        assert!(check(&sound()).is_ok());
        let (bytes, busy) = least_budgets(&sound());
        let least = Settings { max_bytes: Some(bytes), max_server_busy: Some(busy), ..sound() };
        assert!(check(&least).is_ok());
    }

    #[test]
    fn each_refusal_names_flag_value_and_what_is_expected() {
        assert_eq!(
            refusal(|s| s.cctld.clear()),
            "no country domain given: add --cctld, for example --cctld ke or --cctld ke,tz,ug"
        );
        assert_eq!(refusal(|s| s.depth = 1001), "--depth is 1001, expected 0 to 1000 levels");
        assert_eq!(
            refusal(|s| s.delay_factor = -1.0),
            "--delay-factor is -1, expected a number of 0 or more"
        );
        assert_eq!(
            refusal(|s| s.delay_factor = f64::NAN),
            "--delay-factor is NaN, expected a number of 0 or more"
        );
        for (share, told) in [(0.0, "0"), (1.5, "1.5"), (f64::NAN, "NaN")] {
            assert_eq!(
                refusal(|s| s.link_share = Some(share)),
                format!(
                    "--link-share is {told}, expected a share above 0 and up to 1, such as 0.003, or none"
                )
            );
        }
        for (share, told) in [(0.0, "0"), (1.5, "1.5"), (f64::NAN, "NaN")] {
            assert_eq!(
                refusal(|s| s.sample = share),
                format!("--sample is {told}, expected a share above 0 and up to 1, such as 0.02")
            );
        }
        assert_eq!(
            refusal(|s| s.min_delay = Span(Duration::from_secs(90))),
            "--min-delay is 1m 30s, expected at most --max-delay, which is 1m"
        );
        assert_eq!(refusal(|s| s.sites = 0), "--sites is 0, expected more than 0");
        assert_eq!(refusal(|s| s.queries_per_script = 0), "--queries-per-script is 0, expected more than 0");
        assert_eq!(refusal(|s| s.rate = Some(Size(0))), "--rate is 0, expected more than 0");
        assert_eq!(
            refusal(|s| s.max_network_bytes_per_day = Some(Size(0))),
            "--max-network-bytes-per-day is 0, expected more than 0"
        );
        assert_eq!(refusal(|s| s.max_as_requests = Some(0)), "--max-as-requests is 0, expected more than 0");
        let (least, _) = least_budgets(&sound());
        assert_eq!(
            refusal(|s| s.max_bytes = Some(Size(20_000))),
            format!(
                "--max-bytes is 20000, expected at least {least} bytes: a single request may move as many"
            )
        );
        assert_eq!(
            refusal(|s| s.max_as_busy_per_day = Some(Span(Duration::from_secs(60)))),
            "--max-as-busy-per-day is 1m, expected at least 1m 1s, a second more than --exchange-timeout"
        );
        assert_eq!(
            refusal(|s| s.contact = Some("me\r\nX: y".into())),
            "--contact is 'me\\r\\nX: y', expected a URL or mail address, for example https://example.org/survey or \
             survey@example.org"
        );
    }

    #[test]
    fn only_a_survey_on_this_machine_needs_no_contact() {
        assert!(
            refusal(|s| s.contact = None)
                .starts_with("no --contact given: site owners must be able to reach you")
        );
        let here = Some("127.0.0.1:9".parse().unwrap());
        assert!(check(&Settings { contact: None, dns: here, gateway: here, ..sound() }).is_ok());
    }

    #[test]
    fn a_survey_of_other_machines_is_polite_unless_it_is_told_not_to_be() {
        let harsh = Settings { min_delay: Span::default(), rate: None, ..sound() };
        assert_eq!(
            check_politeness(&harsh).unwrap_err().to_string(),
            "--min-delay 0s breaks the least pause at a server (polite: 2s); --rate none breaks the ceiling of the whole \
             survey (polite: 1048576); add --impolite if the servers are yours or their owners agreed (free are surveys \
             whose --dns and --gateway are on this machine)"
        );
        assert!(check_politeness(&Settings { impolite: true, ..harsh.clone() }).is_ok());
        let here = Some("127.0.0.1:9".parse().unwrap());
        assert!(check_politeness(&Settings { dns: here, gateway: here, ..harsh }).is_ok());
        assert!(check_politeness(&sound()).is_ok());
    }

    #[test]
    fn a_contact_is_a_url_or_a_mail_address() {
        for text in
            ["https://example.org/survey", "http://[2001:db8::1]/", "mailto:a@b.example", "a@b.example"]
        {
            assert!(is_contact(text), "{text}");
        }
        for text in [
            "",
            "me",
            "https://",
            "https://a b",
            "a@",
            "@b.example",
            "ftp://x@y",
            "a@b\n",
            "a@b@c",
            "http://a/)",
        ] {
            assert!(!is_contact(text), "{text}");
        }
    }
}
