//! A NATS server, and the agents of surveys, as separate processes.
#![allow(clippy::disallowed_methods)] // The tests wait for processes, with a deadline.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::common::ports::free_port;
use crate::common::skipped::skip;
use crate::common::waiting::{POLL_INTERVAL, until};

/// A NATS server with its own store; it ends with the test.
pub(crate) struct Bus {
    process: Process,
    port: u16,
    folder: tempfile::TempDir,
    /// Flags that its agents need to permit what the survey does on their machine.
    agent_flags: OnceLock<Vec<String>>,
}

/// What its agents said is shown when the test fails.
impl Drop for Bus {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("agents: {}", self.agent_messages());
        }
    }
}

impl Bus {
    /// What its agents said so far.
    pub(crate) fn agent_messages(&self) -> String {
        std::fs::read_to_string(self.agent_log()).unwrap_or_default()
    }

    fn agent_log(&self) -> PathBuf {
        self.folder.path().join("agents.log")
    }

    /// None if the server program is not installed.
    pub(crate) fn start(test: &str) -> Option<Self> {
        Self::start_with(test, "jetstream {}")
    }

    /// The same with lines for its configuration file.
    pub(crate) fn start_with(test: &str, configuration: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port(Ipv4Addr::LOCALHOST);
        let process = match server(folder.path(), port, configuration) {
            Ok(process) => process,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                skip(test, "there is no nats-server (tests/setup installs it)");
                return None;
            }
            Err(error) => panic!("nats-server: {error}"),
        };
        let bus = Self { process: Process(process), port, folder, agent_flags: OnceLock::new() };
        bus.await_server();
        Some(bus)
    }

    fn await_server(&self) {
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        // Whoever else listens at this port does not begin with INFO.
        let greets = || -> std::io::Result<bool> {
            let mut stream = TcpStream::connect(address)?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            let mut greeting = [0; 5];
            stream.read_exact(&mut greeting)?;
            Ok(&greeting == b"INFO ")
        };
        assert!(until(|| greets().unwrap_or(false)), "nats-server does not listen");
    }

    /// Ends the server as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Restarts a killed server with these lines of its configuration file and the store that it has.
    pub(crate) fn start_again(&mut self, configuration: &str) {
        self.process = Process(server(self.folder.path(), self.port, configuration).unwrap());
        self.await_server();
    }

    /// Empties the store of a server that was killed.
    pub(crate) fn lose_store(&self) {
        std::fs::remove_dir_all(self.folder.path().join("store")).unwrap();
    }

    /// Sends the server a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// Agents that are started from now on have these flags too; only the first call has an effect.
    pub(crate) fn set_agent_flags(&self, flags: &[&str]) {
        self.agent_flags.get_or_init(|| flags.iter().map(|flag| (*flag).to_owned()).collect());
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

fn server(folder: &Path, port: u16, configuration: &str) -> std::io::Result<Child> {
    let file = folder.join("nats.conf");
    std::fs::write(&file, format!("listen: \"127.0.0.1:{port}\"\n{configuration}\n")).unwrap();
    let mut command = Command::new("nats-server");
    command.arg("-c").arg(&file).arg("-sd").arg(folder.join("store"));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

impl Bus {
    /// A separate link to it, which can be held.
    pub(crate) fn link(&self) -> Link {
        Link::to(self.port)
    }
}

/// A link to a port of this machine. While it is held, all data waits on it, as on a link that stalls; and it
/// delays data by a set time each way, as a congested one does.
pub(crate) struct Link {
    state: Arc<LinkState>,
    port: u16,
}

#[derive(Default)]
struct LinkState {
    is_held: AtomicBool,
    delay_ms: AtomicU64,
}

impl Link {
    fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let link = Self { state: Arc::default(), port: listener.local_addr().unwrap().port() };
        let state = link.state.clone();
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let state = state.clone();
                    std::thread::spawn(move || forward(from, to, &state));
                }
            }
        });
        link
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn hold(&self) {
        self.state.is_held.store(true, Ordering::SeqCst);
    }

    pub(crate) fn release(&self) {
        self.state.is_held.store(false, Ordering::SeqCst);
    }

    /// From now on data is under way for this long, each way.
    pub(crate) fn delay(&self, each_way: Duration) {
        self.state.delay_ms.store(each_way.as_millis() as u64, Ordering::SeqCst);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, state: &LinkState) {
    let (sender, in_flight) = channel::<(Instant, Vec<u8>)>();
    let delivery = std::thread::spawn(move || {
        for (due, bytes) in in_flight {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
    let mut buffer = [0; 1 << 13];
    while let Ok(size @ 1..) = from.read(&mut buffer) {
        while state.is_held.load(Ordering::SeqCst) {
            std::thread::sleep(POLL_INTERVAL);
        }
        let delay = Duration::from_millis(state.delay_ms.load(Ordering::SeqCst));
        if sender.send((Instant::now() + delay, buffer[..size].to_vec())).is_err() {
            break;
        }
    }
    drop(sender);
    let _ = delivery.join();
}

/// A process that ends with the test.
pub(crate) struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Waits for its end, for some minutes at most.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let mut ended = None;
        for _ in 0..6 {
            until(|| {
                ended = self.0.try_wait().unwrap();
                ended.is_some()
            });
        }
        ended.expect("it ends")
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Sends it a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let done =
            Command::new("kill").arg(format!("-{name}")).arg(self.0.id().to_string()).status().unwrap();
        assert!(done.success());
    }

    /// The next line of its standard error that contains these words.
    pub(crate) fn await_line(&mut self, text: &str) -> String {
        let mut lines = BufReader::new(self.0.stderr.take().unwrap()).lines().map(Result::unwrap);
        let found =
            lines.find(|line| line.contains(text)).unwrap_or_else(|| panic!("it never said {text:?}"));
        // A process must not block on output that nobody reads.
        std::thread::spawn(move || lines.for_each(drop));
        found
    }
}

pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
}

/// An agent of this name.
pub(crate) fn agent(bus: &Bus, name: &str) -> Process {
    Process(agent_command(program(), bus, name).spawn().unwrap())
}

/// One that walks this number of sites at once.
pub(crate) fn agent_with_sites(bus: &Bus, name: &str, sites: usize) -> Process {
    Process(agent_with(program(), bus, name, sites).spawn().unwrap())
}

pub(crate) fn agent_command(command: Command, bus: &Bus, name: &str) -> Command {
    agent_with(command, bus, name, SITES)
}

fn agent_with(command: Command, bus: &Bus, name: &str, sites: usize) -> Command {
    let mut command = with_agent_arguments(command, &bus.url(), name, sites);
    command.args(bus.agent_flags.get().into_iter().flatten());
    let messages = OpenOptions::new().create(true).append(true).open(bus.agent_log()).unwrap();
    command.stderr(messages);
    command
}

/// The same with a bus at this address.
pub(crate) fn agent_command_on(command: Command, bus: &str, name: &str) -> Command {
    with_agent_arguments(command, bus, name, SITES)
}

/// Number of sites that an agent walks at once, unless a test sets another one.
const SITES: usize = 8;

fn with_agent_arguments(mut command: Command, bus: &str, name: &str, sites: usize) -> Command {
    command.args(["agent", "--nats", bus, "--name", name, "--sites", &sites.to_string()]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}
