use std::fmt::Write;

use super::figures::{
    describe_confidence, describe_low_coverage, describe_needed_sites, format_verdict, wrapped,
};
use super::lead::Lead;
use crate::analysis::{
    Bound, Evidence, Forecast, ForecastLevel, Limit, NearestDepth, ServerSpread, Shortfall, Verdict,
};
use crate::cli::columns::{Columns, Side};
use crate::records::units::{bytes, count, duration, percent, thousands};
use crate::report::advice::{self, TooShallow, interval, nothing_found, with_interval};

/// The text of a forecast.
pub(super) fn describe_forecast(forecast: &Forecast, lead: &Lead) -> String {
    let Lead { heading, details, mark, .. } = lead;
    let tables = format!("{}\n{}", survey_table(forecast, mark), server_table(forecast));
    let mut text = format!("{}{details}\n{tables}", verdict(forecast, heading));
    let _ = write!(
        text,
        "\n! breaks a bound. Per server: the median, the 95th percentile and the maximum. Coverage is counted \
         in {}\n({} reading), as a share of what the survey knows from levels 0 to {}; intervals are of {} confidence.\n",
        forecast.reading.counts(forecast.of),
        forecast.reading.word(),
        forecast.deepest,
        percent(forecast.interval_confidence)
    );
    text.push_str(match forecast.environment.servers.link {
        Some(_) => {
            "The share of a server's link is a share of the given capacity, over the time in which the server is surveyed.\n"
        }
        None => {
            "A server's share is of the rate that the survey measured on its link, over the time in which the server is\n\
             surveyed.\n"
        }
    });
    text + &describe_sooner_depths(forecast)
}

/// Why a deeper survey may finish earlier.
fn describe_sooner_depths(forecast: &Forecast) -> String {
    let depths: Vec<String> = forecast.sooner_than_shallower().iter().map(ToString::to_string).collect();
    if depths.is_empty() {
        return String::new();
    }
    format!(
        "Surveys to depth {} finish sooner than one to a smaller depth, although they send more requests: sites that are\n\
         walked at the same time share servers, and in another order the waits for these servers differ.\n",
        depths.join(", ")
    )
}

fn survey_table(forecast: &Forecast, mark: &str) -> Columns {
    use Side::{Left, Right};
    let mut table =
        Columns::new(&[Right, Right, Right, Right, Right, Right, Right, Right, Right, Right, Left]);
    let head = [
        "depth",
        "time",
        "sites",
        "requests",
        "bytes",
        "busiest hour",
        "own link",
        "coverage",
        "corrected",
        "interval",
        "",
    ];
    table.row(head);
    for level in &forecast.levels {
        let marked =
            |bound, text: String| if level.breaks.contains(&bound) { format!("{text} !") } else { text };
        let own = level.surveyor_share.map(percent).unwrap_or_default();
        let is_chosen = forecast.depth == Some(level.depth);
        table.row([
            &level.depth.to_string(),
            &marked(Bound::Days, duration(level.seconds)),
            &thousands(level.trees),
            &thousands(level.requests),
            &bytes(level.bytes),
            &format_bit_rate(level.busiest_bits_per_second),
            &marked(Bound::SurveyorShare, own),
            &percent(level.coverage.value),
            &marked(Bound::Coverage, percent(level.coverage.corrected)),
            &interval(level.coverage),
            if is_chosen { mark } else { "" },
        ]);
    }
    table
}

fn server_table(forecast: &Forecast) -> Columns {
    use Side::Right;
    let mut table = Columns::new(&[Right; 10]);
    let head =
        ["depth", "requests per server", "", "", "bytes per server", "", "", "share of its link", "", ""];
    table.row(head);
    for level in &forecast.levels {
        let [requests, wire, share] = server_cells(level);
        table.row([
            &level.depth.to_string(),
            &requests[0],
            &requests[1],
            &requests[2],
            &wire[0],
            &wire[1],
            &wire[2],
            &share[0],
            &share[1],
            &share[2],
        ]);
    }
    table
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts that were made real for ranks"
)]
fn server_cells(level: &ForecastLevel) -> [[String; 3]; 3] {
    let cells = |spread: Option<ServerSpread>, bound: Bound, text: &dyn Fn(f64) -> String| {
        let Some(ServerSpread { median, p95, most }) = spread else { return <[String; 3]>::default() };
        let mark = if level.breaks.contains(&bound) { " !" } else { "" };
        [text(median), text(p95), format!("{}{mark}", text(most))]
    };
    [
        cells(Some(level.server_requests), Bound::ServerRequests, &|number| thousands(number as u64)),
        cells(Some(level.server_bytes), Bound::ServerBytes, &|number| bytes(number as u64)),
        cells(level.server_share, Bound::ServerShare, &percent),
    ]
}

fn verdict(forecast: &Forecast, heading: &str) -> String {
    match forecast.chosen() {
        Some(level) => recommended(forecast, level, heading),
        None if forecast.verdict == Verdict::SurveyDeeper => survey_deeper(forecast),
        None if forecast.verdict == Verdict::NothingFound => {
            wrapped(0, &nothing_found(forecast.of, forecast.reading))
        }
        None => no_depth(forecast),
    }
}

fn recommended(forecast: &Forecast, level: &ForecastLevel, heading: &str) -> String {
    let why = match (forecast.environment.survey.coverage, forecast.limits.is_empty()) {
        (Some(_), _) => {
            format!("the smallest depth that meets all bounds {}", describe_confidence(forecast.confidence))
        }
        (None, false) => "the greatest depth that meets all bounds".to_owned(),
        (None, true) => "the greatest depth that was walked; no bound is set".to_owned(),
    };
    let mut text = format!(
        "{heading}: depth {}: {} of the {} known, in {} with {}.\n  It is {why}.\n",
        level.depth,
        with_interval(level.coverage),
        forecast.reading.counts(forecast.of),
        duration(level.seconds),
        count(level.requests, "request"),
    );
    if let (Some(_), Some((low, _))) = (forecast.environment.survey.coverage, level.coverage.interval())
        && forecast.confidence <= Evidence::EVEN_ODDS
    {
        let _ = writeln!(
            text,
            "  Risk: {}; with a higher 'survey.confidence', a safer figure decides.",
            describe_low_coverage(low)
        );
    }
    if let Some(settling) = forecast.settling {
        let _ = writeln!(text, "  {}", describe_needed_sites(settling, forecast.trees));
    }
    if forecast.may_go_deeper() {
        let open = TooShallow::from(forecast).beside_a_depth();
        text.extend(open.map(|sentence| wrapped(2, &sentence)));
    }
    text + &bound_lines(forecast.limits.iter())
}

fn survey_deeper(forecast: &Forecast) -> String {
    format_verdict(&TooShallow::from(forecast).instead_of_a_depth()) + &bound_lines(forecast.limits.iter())
}

/// The bound that fails first, the nearest depth, and how much each bound would have to give.
fn no_depth(forecast: &Forecast) -> String {
    let forbidding = Limit::forbidding(&forecast.limits, forecast.levels.len());
    let mut text = if forbidding.iter().all(|limit| limit.depths.is_empty()) {
        "No depth fits.".to_owned()
    } else {
        "No depth fits: some depth meets each bound, but no depth meets all of them.".to_owned()
    };
    if let Some((limit, depth)) = forecast.fails_first() {
        let _ = write!(text, "\n  The first bound to fail, at depth {depth}: {}.", describe_bound(limit));
    }
    if let Some(nearest) = &forecast.nearest {
        let _ = write!(text, "\n  The nearest is depth {}. It would need {}.", nearest.depth, gives(nearest));
    }
    text + "\n" + &bound_lines(forbidding.into_iter())
}

fn gives(nearest: &NearestDepth) -> String {
    nearest.gives.iter().map(describe_shortfall).collect::<Vec<_>>().join("; ")
}

/// Formats a shortfall: `31 days where 30 are allowed`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts that were made real")]
fn describe_shortfall(shortfall: &Shortfall) -> String {
    let Shortfall { bound, wanted, found } = *shortfall;
    match bound {
        // Rounded up: a survey that takes a minute too long is over the limit.
        Bound::Days => format!("{} days where {wanted} are allowed", (found * 10.0).ceil() / 10.0),
        Bound::Coverage => {
            format!("a coverage bound of {} where {} is wanted", percent(found), percent(wanted))
        }
        Bound::ServerShare => {
            format!("{} of a server's link where {} is allowed", percent(found), percent(wanted))
        }
        Bound::ServerRequests => format!(
            "{} requests per server where {} are allowed",
            thousands(found as u64),
            thousands(wanted as u64)
        ),
        Bound::ServerBytes => {
            format!("{} per server where {} are allowed", bytes(found as u64), bytes(wanted as u64))
        }
        Bound::SurveyorShare => {
            format!("{} of the surveyor's link where {} is allowed", percent(found), percent(wanted))
        }
    }
}

/// A line for each bound: its requirement, the depths that meet it, and how much it would have to give if all
/// others stay.
fn bound_lines<'a>(limits: impl Iterator<Item = &'a Limit>) -> String {
    let mut text = String::new();
    for limit in limits {
        let depths = match limit.range() {
            Some((first, last)) if first == last => format!("depth {first} meets it"),
            Some((first, last)) => format!("depths {first} to {last} meet it"),
            None => "no depth meets it".to_owned(),
        };
        let _ = writeln!(text, "  {}: {depths}", describe_bound(limit));
        if let Some(alone) = &limit.alone {
            let _ = writeln!(
                text,
                "    if only this bound were relaxed, depth {} would need {}",
                alone.depth,
                gives(alone)
            );
        }
    }
    text
}

/// The bound, with the key of the environment file that sets it.
fn describe_bound(limit: &Limit) -> String {
    let key = match limit.bound {
        Bound::Days => "survey.days",
        Bound::Coverage => "survey.coverage",
        Bound::ServerShare => "servers.share",
        Bound::ServerRequests => "servers.requests",
        Bound::ServerBytes => "servers.bytes",
        Bound::SurveyorShare => "surveyor.share",
    };
    format!("{} ({key})", advice::bound(limit))
}

/// `1.2 Mbit/s`.
fn format_bit_rate(bits_per_second: f64) -> String {
    let mut value = bits_per_second;
    let mut unit = "bit/s";
    for larger in ["kbit/s", "Mbit/s", "Gbit/s"] {
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        unit = larger;
    }
    format!("{value:.1} {unit}")
}
