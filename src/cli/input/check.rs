use crate::cli::error::CliError;
use crate::settings::{LessPolite, Settings, impolite};
use crate::survey::smallest_budgets;

/// Checks the settings of a survey, whether they come from flags, a file or an earlier run.
///
/// When the survey is opened, the files that settings name are read and country domains are looked up.
///
/// # Errors
/// Names the flag, its value and the expected value.
pub(in crate::cli) fn check(settings: &Settings) -> Result<(), CliError> {
    refuse(settings.refusal(&smallest_budgets(settings)).or_else(|| settings.contact_refusal()))
}

/// Checks that a new survey keeps the promises to server owners, or is told not to.
///
/// A survey that continues does what it started with: it may not become less polite.
///
/// # Errors
/// Names each setting that breaks a promise, and its polite value.
pub(in crate::cli) fn check_politeness(settings: &Settings) -> Result<(), CliError> {
    let less_polite = if settings.impolite { Vec::new() } else { impolite(settings) };
    if less_polite.is_empty() {
        return Ok(());
    }
    let printed: Vec<String> = less_polite.iter().map(LessPolite::to_string).collect();
    Err(CliError::Usage(format!(
        "{}; add --impolite if the servers are yours or their owners have agreed (not needed if --dns and --gateway are \
         on this machine)",
        printed.join("; ")
    )))
}

/// Checks the settings of a simulation, which sends nothing and needs no contact.
///
/// # Errors
/// Names the flag, its value and the expected value.
pub(in crate::cli) fn check_simulation(settings: &Settings) -> Result<(), CliError> {
    let given = [
        ("dns", settings.dns.is_some()),
        ("gateway", settings.gateway.is_some()),
        ("nats", settings.nats.is_some()),
        ("nats-login", settings.nats_login.is_some()),
    ];
    let network_refusal = (given.into_iter())
        .find_map(|(flag, is_given)| is_given.then_some(flag))
        .map(|flag| format!("--{flag} cannot be used in a simulation, which sends nothing"));
    let contact = settings.contact.as_ref().and_then(|_| settings.contact_refusal());
    refuse(settings.refusal(&smallest_budgets(settings)).or(network_refusal).or(contact))
}

fn refuse(refusal: Option<String>) -> Result<(), CliError> {
    refusal.map_or(Ok(()), |message| Err(CliError::Usage(message)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::{Size, SmallestBudgets, Span};

    fn valid_settings() -> Settings {
        Settings { cctld: vec!["ke".into()], contact: Some("a@b.example".into()), ..Settings::default() }
    }

    fn refusal(change: impl FnOnce(&mut Settings)) -> String {
        let mut settings = valid_settings();
        change(&mut settings);
        check(&settings).unwrap_err().to_string()
    }

    #[test]
    fn sound_settings_pass() {
        assert!(check(&valid_settings()).is_ok());
        let SmallestBudgets { bytes, busy } = smallest_budgets(&valid_settings());
        let mut settings = Settings { max_bytes: Some(bytes), ..valid_settings() };
        settings.budgets.server.in_all.busy = Some(busy);
        assert!(check(&settings).is_ok());
    }

    #[test]
    fn each_refusal_names_flag_value_and_what_is_expected() {
        assert_eq!(
            refusal(|s| s.cctld.clear()),
            "no country domain given: add --cctld, for example --cctld ke or --cctld ke,tz,ug"
        );
        assert_eq!(
            refusal(|s| s.depth = crate::settings::DepthRule::Levels(1001)),
            "--depth is 1001, expected 0 to 1000 levels, or auto"
        );
        assert_eq!(
            refusal(|s| s.delay_factor = -1.0),
            "--delay-factor is -1, expected a number of 0 or more"
        );
        assert_eq!(
            refusal(|s| s.delay_factor = f64::NAN),
            "--delay-factor is NaN, expected a number of 0 or more"
        );
        for (share, printed) in [(0.0, "0"), (1.5, "1.5"), (f64::NAN, "NaN")] {
            assert_eq!(
                refusal(|s| s.harm = Some(share)),
                format!("--harm is {printed}, expected a share above 0 and up to 1, such as 0.02, or none")
            );
        }
        for (share, printed) in [(0.0, "0"), (1.5, "1.5"), (f64::NAN, "NaN")] {
            assert_eq!(
                refusal(|s| s.sample = share),
                format!("--sample is {printed}, expected a share above 0 and up to 1, such as 0.02")
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
            refusal(|s| s.budgets.network.per_day.bytes = Some(Size(0))),
            "--max-network-bytes-per-day is 0, expected more than 0"
        );
        assert_eq!(
            refusal(|s| s.budgets.system.in_all.requests = Some(0)),
            "--max-as-requests is 0, expected more than 0"
        );
        let least = smallest_budgets(&valid_settings()).bytes;
        assert_eq!(
            refusal(|s| s.max_bytes = Some(Size(20_000))),
            format!("--max-bytes is 20000, expected at least {least} bytes, which a single request may move")
        );
        assert_eq!(
            refusal(|s| s.budgets.system.per_day.busy = Some(Span(Duration::from_secs(60)))),
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
        let loopback = Some("127.0.0.1:9".parse().unwrap());
        assert!(
            check(&Settings { contact: None, dns: loopback, gateway: loopback, ..valid_settings() }).is_ok()
        );
    }

    #[test]
    fn a_survey_of_other_machines_is_polite_unless_it_is_told_not_to_be() {
        let hurried = Settings { min_delay: Span::default(), rate: None, ..valid_settings() };
        assert_eq!(
            check_politeness(&hurried).unwrap_err().to_string(),
            "--min-delay 0s breaks the promise of the minimum pause at each server (polite: 2s); --rate none breaks the \
             promise of the limit on the rate of the whole survey (polite: 1048576); add --impolite if the servers are \
             yours or their owners have agreed (not needed if --dns and --gateway are on this machine)"
        );
        assert!(check_politeness(&Settings { impolite: true, ..hurried.clone() }).is_ok());
        let loopback = Some("127.0.0.1:9".parse().unwrap());
        assert!(check_politeness(&Settings { dns: loopback, gateway: loopback, ..hurried }).is_ok());
        assert!(check_politeness(&valid_settings()).is_ok());
    }
}
