//! A survey of a virtual Web in this process, on a virtual clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::space::world::WorldArgument;
use super::survey::{describe_start_urls, report_reading_progress};
use crate::cli::computed::write_at_end;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::input::flags::SurveyFlags;
use crate::cli::output::{print, print_json, print_message};
use crate::cli::progress::Display;
use crate::cli::run::{DisplayMode, describe_tables, no_threads, report_broken_promises};
use crate::cli::team::TeamFlags;
use crate::cli::{input::start_list, log, stop};
use crate::records::units::count;
use crate::rehearsal::{Rehearsal, Scenario};
use crate::settings::Settings;
use crate::space::Replay;
use crate::starts::StartList;
use crate::survey::{Ending, Summary, area};

/// Survey a virtual Web, or repeat a recorded survey, in this process on a virtual clock.
///
/// Uses the same engine as `survey`, with the same pauses, budgets and tables, but sends nothing and never
/// waits in real time: weeks of a polite survey take minutes. The tables show how long the survey would take,
/// the load on each server, and the delay that it would add for other users. The same world and settings give
/// the same tables.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("start", |flag| flag.required(false).help(START)))]
#[command(mut_arg("cctld", |flag| flag.help(CCTLD)), mut_arg("contact", |flag| flag.help(CONTACT)))]
#[command(mut_arg("dns", |flag| flag.hide(true)), mut_arg("gateway", |flag| flag.hide(true)))]
#[command(mut_arg("nats", |flag| flag.hide(true)), mut_arg("nats-login", |flag| flag.hide(true)))]
pub struct Simulate {
    #[command(flatten)]
    world: WorldArgument,

    /// The folder of the survey; it must not exist yet, or must be empty
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    #[command(flatten)]
    flags: SurveyFlags,

    #[command(flatten)]
    team: TeamFlags,

    #[command(flatten)]
    display_mode: DisplayMode,
}

// A world provides what a survey of real servers must be given.
const START: &str = "The start list, as for `survey` [default: the start list of the world]";
const CCTLD: &str = "The surveyed country domains, e.g. ke or ke,tz,ug [default: those of the world]";
const CONTACT: &str =
    "The contact that the User-Agent of every request would name; it counts towards the bytes sent";

const EXAMPLES: &str = "\
Examples:
  ccsurvey simulate demo rehearsal
  ccsurvey simulate africa-2006 africa --depth 20 --max-requests none --sites 256
  ccsurvey simulate country.toml thin --min-delay 15s --json
  ccsurvey simulate recorded-survey shallow --depth 4
  ccsurvey simulate country.toml six --agents 6 --machines 3 --partition static-random";

impl Simulate {
    /// # Errors
    /// When world, settings or start list cannot be used, DIR exists, or the survey fails.
    pub fn execute(self) -> Result<Exit, CliError> {
        let (mut scenario, replay) = scenario(&self.world)?;
        let team = self.team.team()?;
        let (file, list) = (self.flags.start().map(Path::to_owned), self.flags.list());
        let settings = self.flags.into_simulation_settings(|settings| {
            if settings.cctld.is_empty() {
                settings.cctld.clone_from(&scenario.countries);
            }
        })?;
        let start = match file {
            Some(file) => list.read(&file, area(&settings)?)?,
            None => StartList::from_urls(&scenario.start_urls)
                .map_err(|error| CliError::Failed(error.to_string()))?,
        };
        let settings = match &team {
            // Each tree that waits for an agent has its own visit.
            Some(_) => Settings { sites: settings.sites.max(start.urls().count()), ..settings },
            None => settings,
        };
        if let Some(team) = team {
            scenario = scenario.with_team(team);
        }
        // Signals and the display use real time, the survey virtual time.
        let real_runtime =
            Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(no_threads)?;
        let (rehearsal, counts) =
            Rehearsal::begin(&self.dir, settings, &start, scenario, &mut report_reading_progress())?;
        print_message(&describe_start_urls(counts));
        let ended = run(rehearsal, &self.dir, self.display_mode, &real_runtime);
        real_runtime.shutdown_background();
        if let Some(unrecorded) = replay.map(|replay| replay.unknown()).filter(|unknown| *unknown > 0) {
            print_message(&format!(
                "{} went to URLs that the recorded survey did not fetch",
                count(unrecorded, "request")
            ));
        }
        print_result(ended, &self.dir, self.display_mode)
    }
}

/// The scenario to simulate, and the replay if it is a recorded survey.
fn scenario(argument: &WorldArgument) -> Result<(Scenario, Option<Arc<Replay>>), CliError> {
    let name = argument.world.display().to_string();
    if let Some(recorded) = argument.recorded()? {
        recorded.gaps().iter().for_each(|gap| print_message(gap));
        let start_urls = start_list::read_urls(&recorded.start_list())?;
        return Ok((Scenario::from_recorded(&name, &recorded, start_urls), Some(recorded.replay)));
    }
    Ok((Scenario::from_world(&name, argument.read()?)?, None))
}

fn run(
    rehearsal: Rehearsal,
    dir: &Path,
    display_mode: DisplayMode,
    real_runtime: &Runtime,
) -> Result<Ending, CliError> {
    log::start(dir, display_mode.log_level)?;
    let (display, stopped): (_, watch::Receiver<bool>) = {
        let _entered = real_runtime.enter();
        let display = (!display_mode.json).then(|| Display::for_simulation(dir));
        let message_printer = display.as_ref().map(Display::message_printer);
        let stopped = stop::on_signal(move || match message_printer {
            Some(notify) => notify(STOPPING),
            None => print_message(STOPPING),
        });
        (display, stopped)
    };
    let ended = rehearsal.run(stopped);
    if let Some(display) = display {
        display.end();
    }
    if let Err(error) = &ended {
        tracing::error!(wrong = %error, "the simulation has failed");
    }
    Ok(ended?)
}

const STOPPING: &str = "stopping: the results so far are written";

fn print_result(
    ended: Result<Ending, CliError>,
    dir: &Path,
    display_mode: DisplayMode,
) -> Result<Exit, CliError> {
    let ending = ended?;
    write_at_end(dir);
    if display_mode.json {
        print_json(&Summary::read(dir)?)?;
    } else if ending.is_finished {
        print(&format!("\n{}\n{}", Summary::read(dir)?, describe_tables(dir)))?;
    } else {
        print_message("stopped: the tables hold the finished sites; a simulation cannot be resumed");
    }
    Ok(report_broken_promises(&ending))
}
