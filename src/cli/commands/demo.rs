use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::report::ReportCommand;
use super::space::serve::serve_error;
use super::space::world;
use super::survey::describe_start_urls;
use crate::address::WebUrl;
use crate::cli::bus;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::input::helpers::Helpers;
use crate::cli::output::print_message;
use crate::cli::run::{DisplayMode, block_on, run};
use crate::settings::{Settings, Size, Span, typed};
use crate::space::{GEO_DATABASE, ServeSettings, Served, World, serve};
use crate::survey::{Survey, SurveyError};

/// Survey a virtual Web: try the tool in less than a minute.
///
/// Serves the built-in world over real DNS and HTTP on this machine, surveys it into DIR, prints the summary
/// and writes the report. It needs neither root nor Internet access. The pauses are four hundred times
/// shorter than those of a real survey.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Demo {
    /// The folder of the survey, which must not exist yet [default: ccsurvey-demo, or ccsurvey-demo-2 and so
    /// on]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Crawl the sites with N agents, each a process of its own, over a NATS server that is started for them
    /// (the program `nats-server` must be installed)
    #[arg(long, value_name = "N", value_parser = typed::<u16>)]
    agents: Option<u16>,

    #[command(flatten)]
    display_mode: DisplayMode,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey demo
  ccsurvey demo my-demo --json
  ccsurvey demo --agents 3";

const DEFAULT_DIR: &str = "ccsurvey-demo";

impl Demo {
    /// # Errors
    /// When DIR exists, no port is free, or the survey fails.
    pub fn execute(self) -> Result<Exit, CliError> {
        let dir = self.dir.unwrap_or_else(free_dir);
        let world = world::demo()?;
        let exit = block_on(async {
            let served =
                serve(Arc::new(world.clone()), ServeSettings::default()).await.map_err(serve_error)?;
            let (dns, gateway) = (served.dns_addr, served.gateway_addr);
            let agents = self.agents.filter(|agents| *agents > 0);
            let helpers = agents.map(|agents| Helpers::start(agents, gateway)).transpose()?;
            let nats = helpers.as_ref().map(Helpers::nats);
            let settings = Settings { nats, ..settings(&world, &served, geo_file(&dir)?) };
            let bus = bus::for_settings(&settings).await?;
            let start: Vec<WebUrl> =
                world.start_urls().iter().filter_map(|url| WebUrl::parse(url).ok()).collect();
            let (survey, counts) = Survey::create(&dir, settings, &start)?;
            print_message(&format!(
                "a virtual Web is served on this machine (name server {dns}, gateway {gateway})"
            ));
            print_message(&format!("surveying it into {}: {}", dir.display(), describe_start_urls(counts)));
            let coordinator = bus::coordinator(bus, &dir).await?;
            let exit = run(survey, coordinator, &dir, self.display_mode).await?;
            let has_agents = helpers.is_some();
            drop(helpers);
            served.shutdown().await.map_err(serve_error)?;
            if exit == Exit::Interrupted {
                print_message(&format!(
                    "the virtual Web has ended; before you resume, start it again with \
                     `ccsurvey space serve demo --dns {dns} --gateway {gateway}`"
                ));
                if has_agents {
                    print_message(&format!(
                        "the agents have ended too; to continue without agents, remove the line `nats` from {}/survey.toml",
                        dir.display()
                    ));
                }
            }
            Ok(exit)
        })?;
        if exit == Exit::Done {
            ReportCommand::default_for(&dir).execute()?;
        }
        Ok(exit)
    }
}

/// The first folder name for the demonstration that is not taken.
fn free_dir() -> PathBuf {
    let numbered = (2_u32..).map(|number| PathBuf::from(format!("{DEFAULT_DIR}-{number}")));
    let mut names = std::iter::once(PathBuf::from(DEFAULT_DIR)).chain(numbered);
    names.find(|dir| !dir.exists()).unwrap_or_else(|| PathBuf::from(DEFAULT_DIR))
}

/// Polite to a machine that does nothing else, and finished in less than a minute.
fn settings(world: &World, served: &Served, geo: PathBuf) -> Settings {
    Settings {
        cctld: world.country_domains.iter().map(ToString::to_string).collect(),
        contact: Some("https://example.org/ccsurvey-demo".to_owned()),
        dns: Some(served.dns_addr),
        gateway: Some(served.gateway_addr),
        // Real pauses would make the demonstration last for hours.
        min_delay: Span(Duration::from_millis(5)),
        max_delay: Span(Duration::from_millis(200)),
        // Loopback has no thin link.
        harm: None,
        rate: Some(Size(1 << 30)),
        geo: vec![geo],
        ..Settings::default()
    }
}

/// Writes the location database of the world beside DIR, where a resumed survey finds it again.
fn geo_file(dir: &Path) -> Result<PathBuf, CliError> {
    let is_full = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
    if is_full || dir.is_file() {
        return Err(SurveyError::folder_in_use(dir).into());
    }
    let mut name = dir.as_os_str().to_owned();
    name.push("-geo.mmdb");
    let path = PathBuf::from(name);
    let path = std::path::absolute(&path).unwrap_or(path);
    match fs::read(&path) {
        Ok(found) if found == GEO_DATABASE => Ok(path),
        Ok(_) => Err(CliError::Usage(format!(
            "{} exists and is not the location database of the demo: remove it, or choose another DIR",
            path.display()
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::write(&path, GEO_DATABASE)
            .map(|()| path.clone())
            .map_err(|error| CliError::Failed(format!("cannot write {}: {error}", path.display()))),
        Err(error) => Err(CliError::Failed(format!("cannot read {}: {error}", path.display()))),
    }
}
