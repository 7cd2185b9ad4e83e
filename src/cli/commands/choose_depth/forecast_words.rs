use std::fmt::Write;

use crate::analysis::{Bound, Estimate, Forecast, ForecastLevel, Kind, Limit, ServerSpread};
use crate::cli::columns::{Columns, Side};
use crate::records::units::{bytes, duration, thousands};

/// A forecast as people read it.
pub(super) fn forecast_in_words(forecast: &Forecast) -> String {
    let mut text = format!("{}\n{}\n{}\n", of_survey(forecast), of_servers(forecast), verdict(forecast));
    let _ = write!(
        text,
        "\n! breaks a bound. Per server: the median, what 95 of 100 have at most, and the most. Coverage is counted \
         in {}\n({} reading), as a share of what the survey knows from levels 0 to {}; intervals are of {} confidence.\n",
        kind_in_words(forecast.of),
        forecast.reading.word(),
        forecast.deepest,
        percent(forecast.confidence)
    );
    text.push_str(match forecast.environment.servers.link {
        Some(_) => "A server's share is of its link, as given, over the time in which it is surveyed.\n",
        None => {
            "A server's share is of what its link was measured to carry for the survey, over the time in which it is\n\
             surveyed.\n"
        }
    });
    text
}

fn of_survey(forecast: &Forecast) -> Columns {
    use Side::{Left, Right};
    let mut table = Columns::new(&[Right, Right, Right, Right, Right, Right, Right, Right, Right, Left]);
    let head = [
        "depth",
        "takes",
        "sites",
        "requests",
        "bytes",
        "busiest hour",
        "own link",
        "coverage",
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
            &bit_rate(level.busiest_bits_per_second),
            &marked(Bound::SurveyorShare, own),
            &marked(Bound::Coverage, percent(level.coverage.value)),
            &interval(level.coverage),
            if is_chosen { "<- recommended" } else { "" },
        ]);
    }
    table
}

fn of_servers(forecast: &Forecast) -> Columns {
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

fn verdict(forecast: &Forecast) -> String {
    if let Some(depth) = forecast.depth {
        let why = match (forecast.environment.survey.coverage, forecast.limits.is_empty()) {
            (Some(_), _) => "the least that keeps all bounds",
            (None, false) => "the greatest that keeps all bounds",
            (None, true) => "the greatest that was walked; no bound is set",
        };
        return format!(
            "Recommended: depth {depth}, {why}.{}",
            allowed(&forecast.limits.iter().collect::<Vec<_>>())
        );
    }
    let forbidding = Limit::forbidding(&forecast.limits);
    let head = if forbidding.iter().all(|limit| limit.depths.is_empty()) {
        "No depth fits."
    } else {
        "No depth fits: some depth keeps each bound, but no depth keeps them all."
    };
    format!("{head}{}", allowed(&forbidding))
}

/// A line for each bound: what it wants, and which depths keep it.
fn allowed(limits: &[&Limit]) -> String {
    let mut text = String::new();
    for limit in limits {
        let depths = match (limit.depths.first(), limit.depths.last()) {
            (Some(first), Some(last)) if first == last => format!("depth {first} keeps it"),
            (Some(first), Some(last)) => format!("depths {first} to {last} keep it"),
            _ => "no depth keeps it".to_owned(),
        };
        let _ = write!(text, "\n  {}: {depths}", bound_in_words(limit));
    }
    text
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the bound was a count")]
fn bound_in_words(limit: &Limit) -> String {
    let wanted = limit.wanted;
    match limit.bound {
        Bound::Days => format!("at most {wanted} days (survey.days)"),
        Bound::Coverage => format!("coverage of at least {} (survey.coverage)", percent(wanted)),
        Bound::ServerShare => format!("at most {} of a server's link (servers.share)", percent(wanted)),
        Bound::ServerRequests => {
            format!("at most {} requests to a server (servers.requests)", thousands(wanted as u64))
        }
        Bound::ServerBytes => format!("at most {} of a server (servers.bytes)", bytes(wanted as u64)),
        Bound::SurveyorShare => {
            format!("at most {} of the surveyor's link (surveyor.share)", percent(wanted))
        }
    }
}

/// `1.2 Mbit/s`.
fn bit_rate(bits_per_second: f64) -> String {
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

/// `97.5 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// `96.9–98.0 %`.
pub(super) fn interval(estimate: Estimate) -> String {
    format!("{:.1}–{:.1} %", estimate.low * 100.0, estimate.high * 100.0)
}

pub(super) fn kind_in_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Urls => "external URLs",
        Kind::Hosts => "external hosts",
        Kind::Sites => "external sites",
        Kind::Addresses => "server addresses",
    }
}
