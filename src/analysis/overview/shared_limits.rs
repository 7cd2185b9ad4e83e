use super::link_shares::Taken;
use super::places::{Neighbourhoods, Places};
use super::promises::{Evidence, Promise, broken, held, judged, not_shown, span, unlimited};
use super::schedule::{Found, Schedule, Turn};
use super::told::{Allowance, Limit};
use crate::records::Judgement;
use crate::records::units::{bytes, milliseconds, thousands};

/// Times are rounded, and sums of them.
const ROUNDING: f64 = 1.001;
/// So many longest pauses at most are made for the sake of a thin link.
const LONGEST_FOR_LINK: f64 = 5.0;

/// Promises about what sites share: servers, their links and the networks in which they stand.
impl Evidence<'_> {
    pub(super) fn of_budgets_of_places(
        &self,
        turns: &[Turn],
        neighbourhoods: &Neighbourhoods,
    ) -> Vec<Promise> {
        let system = |address| self.addresses.network(address);
        let server_name = |number| self.addresses.names.name(number).to_owned();
        let network_name = |number| neighbourhoods.names.name(number).to_owned();
        let system_name = |number| self.addresses.labels.name(number).to_owned();
        let told = self.told;
        let mut promises = Vec::new();
        if !told.server.is_unbounded() {
            let places = Places::of(turns, Some);
            promises.push(budget("server_budget", "server", &told.server, &places, server_name));
        }
        if !told.network.is_unbounded() {
            let places = Places::of(turns, |address| neighbourhoods.number(address));
            promises.push(budget(
                "network_budget",
                "network (/24, /48)",
                &told.network,
                &places,
                network_name,
            ));
        }
        if !told.system.is_unbounded() {
            let places = Places::of(turns, system);
            promises.push(budget("as_budget", "autonomous system", &told.system, &places, system_name));
        }
        if promises.is_empty() {
            let promise =
                "No more than its budget is asked of a server or network, whatever sites stand there";
            promises.push(not_shown("shared_budgets", promise.to_owned(), "No limit was set."));
        }
        promises
    }

    /// Only where neighbourhoods have places.
    pub(super) fn of_neighbourhoods(&self, found: &Found) -> Vec<Promise> {
        let Limit::Most(places) = self.told.per_neighbourhood else { return Vec::new() };
        let at_once = match places {
            1 => "One request at a time in each neighbourhood of addresses (/24, /48)".to_owned(),
            most => {
                format!("At most {most} requests at a time in each neighbourhood of addresses (/24, /48)")
            }
        };
        let names = &self.addresses.names;
        vec![
            judged(
                "one_at_a_time_neighbourhood",
                at_once,
                self.breach(&found.at_once_in_neighbourhood, names),
            ),
            judged(
                "least_pause_neighbourhood",
                "The pauses of a server are those of its neighbourhood".to_owned(),
                self.breach(&found.pause_in_neighbourhood, names),
            ),
        ]
    }

    pub(super) fn of_links(&self, schedule: &mut Schedule) -> Promise {
        const ID: &str = "link_share";
        let share = match self.told.link_share {
            Limit::Most(share) => share,
            limit => return unlimited(ID, "a share of the link of a server", limit),
        };
        let longest = self.told.max_delay.unwrap_or_default();
        let promise = format!(
            "The survey takes no more than {} of the link of a server (pauses for that last {} at most)",
            percent(share),
            span(Some(longest.mul_f64(LONGEST_FOR_LINK)))
        );
        let places = self.told.per_address.unwrap_or(1) as f64;
        let longest_ms = longest.as_secs_f64() * 1000.0 * LONGEST_FOR_LINK * share;
        let Some(taken) = self.links.judge(schedule.by_address(), longest_ms) else {
            return not_shown(ID, promise, "No server was asked again after an answer that tells its rate.");
        };
        let Taken { servers, most, address } = taken;
        let evidence = format!(
            "At most {} ({}), by the best rate of each of {} servers.",
            percent(most),
            self.addresses.names.name(address),
            thousands(servers)
        );
        let judge = if most > share * places * ROUNDING { broken } else { held };
        judge(ID, promise, evidence)
    }

    /// Only where there were any. The tables do not tell what time it was at a server.
    pub(super) fn of_quiet_hours(&self) -> Option<Promise> {
        const ID: &str = "quiet_hours";
        if !self.told.has_quiet_hours {
            return None;
        }
        let promise = "No server is asked in the quiet hours of its own clock".to_owned();
        let said = self.manifest.promises.iter().find(|said| said.id == ID);
        Some(match said {
            Some(said) if said.judgement == Judgement::Broken => broken(ID, promise, said.evidence.clone()),
            Some(said) => not_shown(ID, promise, &format!("While it ran, the survey saw {}.", said.evidence)),
            None => not_shown(ID, promise, "The tables do not tell of clocks."),
        })
    }
}

/// What a place bore of each thing that is limited, against the limit.
fn budget(
    id: &'static str,
    place: &str,
    told: &Allowance,
    places: &Places,
    name: impl Fn(u32) -> String,
) -> Promise {
    const UNITS: [fn(u64) -> String; 3] =
        [|count| format!("{} requests", thousands(count)), bytes, |micros| busy(micros)];
    let mut is_exceeded = false;
    let (mut limits, mut found) = (Vec::new(), Vec::new());
    for (unit, written) in UNITS.iter().enumerate() {
        let of_survey = (told.in_all[unit], places.most(unit), "");
        let of_day = (told.per_day[unit], places.most_on_a_day(unit), " on a day");
        for (limit, most, when) in [of_survey, of_day] {
            let Some(limit) = limit else { continue };
            let (most, place) = most.map_or((0, "none".to_owned()), |(most, place)| (most, name(place)));
            limits.push(format!("{}{when}", written(limit)));
            found.push(format!("{}{when} ({place})", written(most)));
            is_exceeded |= most > limit;
        }
    }
    let promise = format!("No {place} bears more than {}", limits.join(", "));
    let evidence = format!("The most is {}.", found.join(", "));
    if is_exceeded { broken(id, promise, evidence) } else { held(id, promise, evidence) }
}

fn busy(micros: u64) -> String {
    format!("{} of work", milliseconds(micros as f64 / 1000.0))
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}
