use std::future::Future;
use std::path::Path;

use super::computed::write_at_end;
use super::error::CliError;
use super::exit::Exit;
use super::log::{self, LogLevel};
use super::output::{print, print_json, print_message};
use super::progress::Display;
use super::stop;
use crate::cluster::Coordinator;
use crate::survey::{Ending, Summary, Survey, SurveyError};

/// How a running survey shows its progress.
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output")]
pub struct DisplayMode {
    /// Print the summary as JSON, and show no progress
    #[arg(long)]
    pub json: bool,

    /// The level of detail of DIR/log.jsonl
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "info")]
    pub log_level: LogLevel,
}

/// Runs the asynchronous work of a command.
///
/// # Errors
/// Those of the work, and when the system provides no threads.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(no_threads)?;
    runtime.block_on(work)
}

/// The error when the system provides no threads.
pub(super) fn no_threads(error: std::io::Error) -> CliError {
    CliError::Failed(format!("cannot start the runtime: {error}"))
}

/// Runs a survey to its end or to a signal, and prints the result. With a coordinator, agents send the
/// requests.
///
/// # Errors
/// When something on our side fails. What was recorded is kept.
pub(super) async fn run(
    survey: Survey,
    coordinator: Option<Coordinator>,
    dir: &Path,
    display_mode: DisplayMode,
) -> Result<Exit, CliError> {
    log::start(dir, display_mode.log_level)?;
    let display = (!display_mode.json).then(|| Display::start(dir));
    let message_printer = display.as_ref().map(Display::message_printer);
    let stopping = stopping_message(dir);
    let stopped = stop::on_signal(move || match message_printer {
        Some(notify) => notify(&stopping),
        None => print_message(&stopping),
    });
    if let Ok(program) = std::env::current_exe() {
        survey.read_suspects_with(program);
    }
    let ended = match coordinator {
        None => survey.run(stopped).await,
        Some(coordinator) => {
            if let Some(nats) = &survey.settings().nats {
                print_message(&format!(
                    "agents crawl the sites: run `ccsurvey agent --nats {nats}` on this and other machines"
                ));
            }
            let at_work = coordinator.begin(&survey, stopped).await?;
            let ended = survey.run(at_work.stop()).await;
            let is_finished = ended.as_ref().is_ok_and(|ending| ending.is_finished);
            match at_work.end(is_finished).await {
                // Another `resume` removes what is left there.
                Err(error) if is_finished => {
                    print_message(&format!(
                        "warning: the survey is finished, but its data may still be on the bus: {error}"
                    ));
                }
                Err(error) if ended.is_ok() => {
                    if let Some(display) = display {
                        display.end();
                    }
                    let resume_hint =
                        format!("the state is kept, and `ccsurvey resume {}` continues", dir.display());
                    return Err(CliError::Failed(format!("{error}; {resume_hint}")));
                }
                _ => {}
            }
            ended
        }
    };
    if let Some(display) = display {
        display.end();
    }
    if let Err(error) = &ended {
        tracing::error!(wrong = %error, "the survey has failed");
    }
    print_result(ended, dir, display_mode)
}

fn stopping_message(dir: &Path) -> String {
    format!(
        "stopping politely: exchanges in flight are finished, then the state is saved; `ccsurvey resume {}` continues",
        dir.display()
    )
}

/// Prints the result of a survey.
///
/// # Errors
/// The error that ended the survey, or when its tables cannot be read.
pub(super) fn print_result(
    ended: Result<Ending, SurveyError>,
    dir: &Path,
    display_mode: DisplayMode,
) -> Result<Exit, CliError> {
    let ending = ended?;
    write_at_end(dir);
    if display_mode.json {
        print_json(&Summary::read(dir)?)?;
    } else if ending.is_finished {
        print(&format!("\n{}\n{}", Summary::read(dir)?, next_steps(dir)))?;
    } else {
        print_message(&format!(
            "stopped; the state is kept, and `ccsurvey resume {}` continues",
            dir.display()
        ));
    }
    Ok(report_broken_promises(&ending))
}

/// Names the promises that were broken, and returns the exit code.
pub(super) fn report_broken_promises(ending: &Ending) -> Exit {
    for promise in &ending.broken_promises {
        print_message(&format!("error: a load promise was broken: {promise}"));
    }
    match ending {
        Ending { broken_promises, .. } if !broken_promises.is_empty() => Exit::PromiseBroken,
        Ending { is_finished: false, .. } => Exit::Interrupted,
        _ => Exit::Done,
    }
}

/// The location of the tables, for the final message of a survey.
pub(super) fn describe_tables(dir: &Path) -> String {
    format!(
        "Tables    {}/tables/{{exchanges,links,sites,levels,curves,servers,hosts}}/*.parquet\n",
        dir.display()
    )
}

fn next_steps(dir: &Path) -> String {
    let tables = describe_tables(dir);
    let dir = dir.display();
    format!(
        "{tables}\
         Settings  {dir}/survey.toml\n\
         Next      ccsurvey report {dir}                  one HTML file: what exists, what it cost, which depth to use\n          \
         ccsurvey status {dir}                  the servers with the most load\n          \
         ccsurvey export {dir} -o starts.csv    all known start URLs, for the next survey\n"
    )
}
