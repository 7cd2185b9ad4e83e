use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::world::WorldArgument;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{print, print_message};
use crate::cli::run::block_on;
use crate::cli::{input::start_list, stop};
use crate::records::units::count;
use crate::rehearsal::RecordedWorld;
use crate::settings::typed;
use crate::space::{Reaction, Response, ServeError, ServeSettings, Served, Web, serve};

/// Serve a world over DNS, HTTP and HTTPS until Ctrl-C.
///
/// A name server and a gateway that acts as all Web servers of the world listen on this machine. The command
/// prints how to survey the world and how to view it with a browser. Responses take as long as the world's
/// distances, servers and links require, divided by --speed. A log can record what the servers see, to check
/// a survey from the other side.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    #[command(flatten)]
    world: WorldArgument,

    /// The address of the name server, for UDP and TCP; port 0 selects a free port
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:5300", value_parser = typed::<SocketAddr>)]
    dns: SocketAddr,

    /// The address of the gateway, for HTTP, HTTPS and as a proxy; port 0 selects a free port
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080", value_parser = typed::<SocketAddr>)]
    gateway: SocketAddr,

    /// A CSV file of all accesses, as the servers see them [default: none]
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Divide all times of the world by this factor: round trips, server work, transfers
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = typed::<f64>)]
    speed: f64,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey space serve demo
  ccsurvey space serve country.toml --speed 100
  ccsurvey space serve my-survey --speed 10
  ccsurvey space serve country.toml --dns 127.0.0.1:5300 --gateway 127.0.0.1:8080 --log access.csv";

impl Serve {
    /// # Errors
    /// When the world cannot be read, an address is taken, or the log cannot be written.
    pub(crate) fn execute(self) -> Result<Exit, CliError> {
        match self.world.recorded()? {
            Some(recorded) => self.serve_recorded(&recorded),
            None => {
                let world = self.world.read()?;
                let domains: Vec<String> = world.country_domains.iter().map(ToString::to_string).collect();
                let front_url = front_page(&world, world.start_urls());
                self.serve(Arc::new(world), &format!("--cctld {}", domains.join(",")), front_url)
            }
        }
    }

    /// Reports in advance which parts of the survey cannot be replayed, and afterwards whether they were
    /// requested.
    fn serve_recorded(self, recorded: &RecordedWorld) -> Result<Exit, CliError> {
        recorded.gaps().iter().for_each(|gap| print_message(gap));
        let settings = recorded.dir.join("survey.toml");
        let starts =
            start_list::read_urls(&recorded.start_list())?.into_iter().map(|url| url.as_str().to_owned());
        let front_url = front_page(&*recorded.replay, starts);
        let exit =
            self.serve(recorded.replay.clone(), &format!("--config {}", settings.display()), front_url)?;
        if let unknown @ 1.. = recorded.replay.unknown() {
            print_message(&format!(
                "{} went to URLs that the recorded survey (to depth {}) did not fetch, and got status 404",
                count(unknown, "request"),
                recorded.settings.deepest()
            ));
        }
        Ok(exit)
    }

    /// Serves until Ctrl-C. `flags` are the flags of a survey of this Web.
    fn serve(self, web: Arc<dyn Web>, flags: &str, front_url: Option<String>) -> Result<Exit, CliError> {
        let name = self.world.world.display().to_string();
        // A Web that runs for days keeps its accesses in the log file, not in memory.
        let settings = ServeSettings {
            dns: self.dns,
            gateway: self.gateway,
            log: self.log,
            most_kept: 0,
            speed: self.speed,
        };
        block_on(async {
            let served = serve(web, settings).await.map_err(serve_error)?;
            let mut stopped = stop::on_signal(|| ());
            print(&how_to_use(&name, flags, &served, front_url.as_deref()))?;
            // Ends with a signal. The sender lives as long as the runtime.
            let _ = stopped.wait_for(|stopped| *stopped).await;
            served.shutdown().await.map_err(serve_error)?;
            print_message("the virtual Web has ended");
            Ok(Exit::Done)
        })
    }
}

fn how_to_use(name: &str, flags: &str, served: &Served, front_url: Option<&str>) -> String {
    let (dns, gateway) = (served.dns_addr, served.gateway_addr);
    format!(
        "name server  {dns}\n\
         gateway      {gateway}\n\
         \n\
         {}\n\
         {}\n\
         Ctrl-C ends it.\n",
        how_to_survey(name, flags, served),
        how_to_look(gateway, front_url),
    )
}

/// The commands for a survey. `space ca` is for its certificates.
fn how_to_survey(world: &str, flags: &str, served: &Served) -> String {
    let (dns, gateway) = (served.dns_addr, served.gateway_addr);
    format!(
        "To survey it, from another terminal:\n  \
         ccsurvey space starts {world} -o starts.csv\n  \
         ccsurvey space ca -o ca.pem\n  \
         ccsurvey survey my-survey {flags} --start starts.csv --dns {dns} --gateway {gateway} --ca ca.pem \
         --min-delay 5ms --max-delay 1s --harm none\n"
    )
}

/// The command for a separate browser: no other browser may trust the certificates of a virtual Web.
fn how_to_look(gateway: SocketAddr, front_url: Option<&str>) -> String {
    let front_url = front_url.unwrap_or("http://HOST/");
    format!(
        "To view it, use a browser with {gateway} as its proxy for HTTP and HTTPS:\n  \
         chromium --user-data-dir=\"$PWD/virtual-browser\" --no-first-run --proxy-server=http://{gateway} \
         --ignore-certificate-errors {front_url}\n"
    )
}

/// The first start URL that has a page.
fn front_page(web: &dyn Web, starts: impl IntoIterator<Item = String>) -> Option<String> {
    starts.into_iter().find(|url| {
        let host = url.trim_start_matches("http://").trim_end_matches('/');
        matches!(web.respond(false, host, "/"), Reaction::Response(Response { status: 200, .. }))
    })
}

pub(in crate::cli) fn serve_error(error: ServeError) -> CliError {
    match error {
        ServeError::Speed(_) => CliError::Usage(format!("--speed: {error}")),
        other => CliError::Failed(other.to_string()),
    }
}
