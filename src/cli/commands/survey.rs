use std::path::PathBuf;

use clap::Args;

use super::resume::continue_survey;
use crate::cli::bus;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::input::flags::SurveyFlags;
use crate::cli::output::print_message;
use crate::cli::run::{DisplayMode, block_on, run};
use crate::cluster::Coordinator;
use crate::records::units;
use crate::survey::{Focus, ReadingProgress, StartUrlCounts, Survey, area};

/// Start a new survey in DIR.
///
/// Crawls the sites of the start list and, unless --feed-back is off, the sites inside the country domains
/// that they link to. Writes tables, log and state to DIR. The defaults are the polite ones: one request at a
/// time per server and per site, pauses of at least 2 s and of five times the response time, and robots.txt
/// obeyed. Ctrl-C or SIGTERM stops the survey, and so does closing its terminal, unless it runs under
/// `nohup`. `resume` continues it.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SurveyCommand {
    /// The folder of the survey; it must not exist yet, or must be empty
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// Continue the survey in DIR, as `resume` does, or report that it is finished; start one if DIR has
    /// none. For service managers, which run the same command at every start. The start list is read only for
    /// a new survey. Later on, flags that decide what is in the tables must be the same, and pauses and
    /// budgets may only become more polite
    #[arg(long)]
    pub or_resume: bool,

    #[allow(missing_docs)] // The flattened flags have their own help.
    #[command(flatten)]
    pub flags: SurveyFlags,

    #[allow(missing_docs)]
    #[command(flatten)]
    pub display_mode: DisplayMode,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey survey kenya --cctld ke --start starts.csv --contact https://example.org/survey
  ccsurvey survey east --config east-africa.toml --start starts.csv --depth 5
  ccsurvey survey schools --config kenya.toml --start schools.csv --column website
  ccsurvey survey members --config kenya.toml --start members.txt --outside-cctld
  ccsurvey survey /var/lib/kenya --or-resume --config kenya.toml --start starts.csv
  ccsurvey export kenya | ccsurvey survey kenya-2 --cctld ke --start - --contact survey@example.org";

impl SurveyCommand {
    /// # Errors
    /// When settings or start list cannot be used, DIR exists, or the survey fails.
    pub fn execute(self) -> Result<Exit, CliError> {
        let start = self.flags.start().map(ToOwned::to_owned).unwrap_or_default();
        let list = self.flags.list();
        let settings = self.flags.into_settings()?;
        if self.or_resume && Survey::is_begun(&self.dir) {
            return block_on(continue_survey(&self.dir, Some(settings), self.display_mode));
        }
        let start = list.read(&start, area(&settings)?)?;
        block_on(async {
            let bus = bus::for_settings(&settings).await?;
            if let Some(bus) = &bus {
                bus::with_outage_messages(bus, Coordinator::check(bus, &self.dir)).await?;
            }
            let (survey, counts) = Survey::create_with_progress(
                &self.dir,
                settings,
                &start,
                self.or_resume,
                &mut report_reading_progress(),
            )?;
            print_message(&describe_start_urls(counts));
            let coordinator = bus::coordinator(bus, &self.dir).await?;
            run(survey, coordinator, &self.dir, self.display_mode).await
        })
    }
}

/// The result of reading the start list.
pub(super) fn describe_start_urls(counts: StartUrlCounts) -> String {
    let seeds = (counts.seeds > 0).then(|| format!(" with {}", count(counts.seeds, "more start URL")));
    let repeated = (counts.repeated > 0).then(|| {
        format!(
            "; {} skipped: known already, or more than --seeds-per-site allows",
            count(counts.repeated, "start URL")
        )
    });
    let known = counts.known.map(|known| match known {
        0 => "; nothing of the earlier survey is left: every page is fetched in full".to_owned(),
        1 => "; 1 page or file of the earlier survey is fetched only if it has changed".to_owned(),
        known => {
            let known = units::thousands(known);
            format!("; {known} pages and files of the earlier survey are fetched only if they have changed")
        }
    });
    format!(
        "{} to survey{}{}{}",
        count(counts.sites, "site"),
        seeds.unwrap_or_default(),
        repeated.unwrap_or_default(),
        known.unwrap_or_default() + &counts.focus.map(describe_focus).unwrap_or_default()
    )
}

/// The planned number of requests of a survey with `--focus`.
fn describe_focus(focus: Focus) -> String {
    let [all, settled, planned] =
        [focus.earlier_requests, focus.settled_requests, focus.planned_requests].map(units::thousands);
    match focus.price {
        Some(_) => format!("; about {planned} of the earlier survey's {all} requests are repeated"),
        None => format!(
            "; of the earlier survey's {all} requests, {settled} were for robots.txt and front pages: only these are \
             repeated, because they use up what --focus allows"
        ),
    }
}

/// Reports the progress of reading an earlier survey at every tenth, if it takes long enough for messages.
pub(super) fn report_reading_progress() -> impl FnMut(ReadingProgress) {
    /// About ten seconds of reading.
    const MANY_ROWS: u64 = 1_000_000;
    let mut reported_tenths = 0;
    move |ReadingProgress { rows, total }| {
        let tenths = rows * 10 / total.max(1);
        if total >= MANY_ROWS && tenths > reported_tenths {
            reported_tenths = tenths;
            print_message(&format!("reading the earlier survey: {} %", tenths * 10));
        }
    }
}

fn count(number: usize, what: &str) -> String {
    units::count(number as u64, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_the_start_list_is_told() {
        assert_eq!(
            describe_start_urls(StartUrlCounts { sites: 1, ..StartUrlCounts::default() }),
            "1 site to survey"
        );
        assert_eq!(
            describe_start_urls(StartUrlCounts {
                sites: 3400,
                seeds: 2,
                repeated: 1,
                ..StartUrlCounts::default()
            }),
            "3,400 sites to survey with 2 more start URLs; 1 start URL skipped: known already, or more than --seeds-per-site allows"
        );
        assert_eq!(
            describe_start_urls(StartUrlCounts { sites: 1, known: Some(1234), ..StartUrlCounts::default() }),
            "1 site to survey; 1,234 pages and files of the earlier survey are fetched only if they have changed"
        );
        assert_eq!(
            describe_start_urls(StartUrlCounts { sites: 1, known: Some(0), ..StartUrlCounts::default() }),
            "1 site to survey; nothing of the earlier survey is left: every page is fetched in full"
        );
    }
}
