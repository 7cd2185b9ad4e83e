use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::cli::error::CliError;

/// A NATS server and agents on this machine, for a demonstration. They end when this value is dropped.
pub(in crate::cli) struct Helpers {
    processes: Vec<Child>,
    server: SocketAddr,
    /// The data folder of the NATS server.
    store: PathBuf,
}

/// A NATS server starts to listen within a second.
const MAX_ATTEMPTS: u32 = 200;
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(50);

impl Helpers {
    /// Starts the processes. The agents wait for their survey, whose servers are all behind the gateway.
    ///
    /// # Errors
    /// When there is no program `nats-server`, or a process cannot be started.
    pub(in crate::cli) fn start(agents: u16, gateway: SocketAddr) -> Result<Self, CliError> {
        let start_error =
            |error: io::Error| CliError::Failed(format!("--agents: cannot start a process: {error}"));
        let server =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).map_err(start_error)?;
        let store = std::env::temp_dir().join(format!("ccsurvey-demo-nats-{}", std::process::id()));
        let mut nats = Command::new("nats-server");
        nats.args(["-js", "-a", "127.0.0.1", "-p", &server.port().to_string(), "-sd"]).arg(&store);
        in_own_process_group(&mut nats);
        let nats = nats.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => CliError::Failed(
                "--agents: the program nats-server is not installed (on Debian and Ubuntu: `apt install nats-server`)".to_owned(),
            ),
            _ => start_error(error),
        })?;
        let mut helpers = Self { processes: vec![nats], server, store };
        helpers.await_server()?;
        let program = std::env::current_exe().map_err(start_error)?;
        for number in 1..=agents {
            let mut agent = Command::new(&program);
            agent.args(["agent", "--nats", &helpers.nats(), "--name", &format!("agent-{number}")]);
            agent.args(["--gateway", &gateway.to_string()]);
            in_own_process_group(&mut agent);
            let agent = agent.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            helpers.processes.push(agent.map_err(start_error)?);
        }
        Ok(helpers)
    }

    /// The URL of the NATS server.
    pub(in crate::cli) fn nats(&self) -> String {
        format!("nats://{}", self.server)
    }

    fn await_server(&self) -> Result<(), CliError> {
        for _ in 0..MAX_ATTEMPTS {
            // The port is taken as soon as the server listens.
            if TcpListener::bind(self.server).is_err() {
                return Ok(());
            }
            std::thread::sleep(ATTEMPT_INTERVAL);
        }
        Err(CliError::Failed(format!("--agents: nats-server does not listen on {}", self.server)))
    }
}

/// Ctrl-C is meant for the survey, which first finishes the exchanges in flight.
#[cfg(unix)]
fn in_own_process_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn in_own_process_group(_: &mut Command) {}

impl Drop for Helpers {
    fn drop(&mut self) {
        // Agents end before the server that they are connected to. A process that has already ended cannot be
        // killed, which is no loss.
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
        let _ = std::fs::remove_dir_all(&self.store);
    }
}
