//! The load that other users of a server feel: a survey of a thin link adapts to the share that they leave,
//! by day and by night.

use std::path::Path;

use ccsurvey::records::ExchangeRow;

use crate::common::rows;
use crate::simulate::summary_of;

/// All hosts on one server behind 128 kbit/s, which other users load more by day. With the first seed pages
/// are small; with the other, pages of 200 kB require the longest pauses by day.
const SEEDS: [u32; 2] = [1, 6];
const CROWDED: &str = "[sites]\ncount = 80\nmost_pages = 100\n[servers]\ngiants = 1\ngiants_share = 1.0\n\
                       bandwidth_least = 128.0\nbandwidth_median = 128.0\nbandwidth_most = 128.0\nday_swing = 0.8\n\
                       peak_hour = 14.0\n[time]\nscale = 1.0\n[robots]\ncrawl_delay_share = 0.0\n\
                       [traps]\ncalendar_share = 0.0\n";

const DAY: i64 = 86_400;

#[test]
fn a_crowded_thin_link_is_asked_more_at_night_and_nobody_waits_much_longer() {
    for seed in SEEDS {
        let folder = tempfile::tempdir().unwrap();
        survey_crowded_link(seed, folder.path());
    }
}

fn survey_crowded_link(seed: u32, folder: &Path) {
    let (survey, summary) = summary_of(&format!("seed = {seed}\n{CROWDED}"), folder, &[]);

    let thin = &summary["others"]["thin"];
    assert_eq!(thin["overburdened"], 0);
    let (mean, worst) =
        (thin["mean_extra_share"].as_f64().unwrap(), thin["worst_extra_share"].as_f64().unwrap());
    assert!(mean > 0.0 && mean <= 0.02 && worst <= 0.1, "{thin}");

    // From the second day on, when the survey has seen a night.
    let seconds: Vec<i64> =
        rows::<ExchangeRow>(&survey).iter().map(|row| row.started.0 / 1_000_000).collect();
    let first = seconds.iter().min().unwrap();
    let hours: Vec<i64> =
        seconds.iter().filter(|second| **second > first + DAY).map(|second| second % DAY / 3600).collect();
    let night = hours.iter().filter(|hour| **hour < 6 || **hour >= 22).count();
    let day = hours.iter().filter(|hour| (10..18).contains(*hour)).count();
    assert!(night > 100 && night > 2 * day, "{night} requests at night, {day} by day");
}
