//! The processes of a survey over several machines.
#![allow(clippy::disallowed_methods)] // The tests wait for processes, with a deadline.

use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::common::Space;
use crate::common::skipped::skip;
use crate::common::waiting::until;

/// A NATS server with a store of its own; it ends with the test.
pub(crate) struct Bus {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

/// The least pause at a server.
pub(crate) const MIN_DELAY_MS: u64 = 20;

impl Bus {
    /// None where there is no program for it.
    pub(crate) fn start(test: &str) -> Option<Self> {
        Self::with(test, "jetstream {}")
    }

    /// The same with lines of its configuration file.
    pub(crate) fn with(test: &str, configuration: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let file = folder.path().join("nats.conf");
        std::fs::write(&file, format!("listen: \"127.0.0.1:{port}\"\n{configuration}\n")).unwrap();
        let mut command = Command::new("nats-server");
        command.arg("-c").arg(&file).arg("-sd").arg(folder.path().join("store"));
        let process = match command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
            Ok(process) => process,
            Err(wrong) if wrong.kind() == ErrorKind::NotFound => {
                skip(test, "there is no nats-server (tests/setup installs it)");
                return None;
            }
            Err(wrong) => panic!("nats-server: {wrong}"),
        };
        let bus = Self { process, port, _folder: folder };
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        assert!(until(|| TcpStream::connect(address).is_ok()), "nats-server does not listen");
        Some(bus)
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
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
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.0.wait().unwrap()
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Sends it a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let done = Command::new("kill").arg(format!("-{name}")).arg(self.0.id().to_string()).status().unwrap();
        assert!(done.success());
    }

    /// The next line that it says of itself with these words in it.
    pub(crate) fn says(&mut self, words: &str) -> String {
        let mut lines = BufReader::new(self.0.stderr.take().unwrap()).lines().map(Result::unwrap);
        let said = lines.find(|line| line.contains(words)).unwrap_or_else(|| panic!("it never said {words:?}"));
        // Nobody is to be held up by words that nobody reads.
        std::thread::spawn(move || lines.for_each(drop));
        said
    }
}

pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
}

/// A new survey whose agents walk the sites, or the same resumed.
pub(crate) fn coordinator(space: &Space, bus: &Bus, dir: &Path) -> Process {
    let mut command = program();
    if dir.join("manifest.json").exists() {
        command.arg("resume").arg(dir);
    } else {
        command.arg("survey").arg(dir).args(flags(space)).arg("--start").arg(starts(space, dir));
        command.args(["--nats", &bus.url()]);
    }
    Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// The same survey by one machine.
pub(crate) fn alone(space: &Space, dir: &Path) {
    let mut command = program();
    command.arg("survey").arg(dir).args(flags(space)).arg("--start").arg(starts(space, dir));
    let done = command.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// An agent by this name.
pub(crate) fn agent(bus: &Bus, name: &str) -> Process {
    Process(agent_command(program(), bus, name).spawn().unwrap())
}

pub(crate) fn agent_command(mut command: Command, bus: &Bus, name: &str) -> Command {
    command.args(["agent", "--nats", &bus.url(), "--name", name, "--sites", "8"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn flags(space: &Space) -> Vec<String> {
    let pace = format!("--min-delay {MIN_DELAY_MS}ms --delay-factor 0 --max-delay 60ms --harm none --rate none");
    let words = format!("--cctld ke --contact https://survey.example/contact --idle-timeout 2s --first-byte-timeout 2s {pace}");
    let ends = ["--dns".to_owned(), space.dns(), "--gateway".to_owned(), space.gateway()];
    words.split(' ').map(ToOwned::to_owned).chain(ends).collect()
}

/// The start list of a world, beside the survey.
pub(crate) fn starts(space: &Space, dir: &Path) -> PathBuf {
    let path = dir.with_extension("starts");
    let urls: Vec<String> = space.starts().iter().map(|url| url.as_str().to_owned()).collect();
    std::fs::write(&path, urls.join("\n")).unwrap();
    path
}

/// The servers' own logs show no two requests at once, and no pause that is too short.
pub(crate) fn assert_polite(space: &Space) {
    let mut seen = space.accesses();
    seen.sort_by_key(|access| (access.address, access.arrival_us));
    let mut judged = 0;
    for pair in seen.windows(2).filter(|pair| pair[0].address == pair[1].address && pair[0].address.is_some()) {
        let gap = pair[1].arrival_us.cast_signed() - pair[0].end_us.cast_signed();
        // Between two clocks, and for what a timer may be early.
        let least = MIN_DELAY_MS.cast_signed() * 1000 - 2000;
        assert!(gap >= least, "{gap} µs between {:?} and {:?}", pair[0], pair[1]);
        judged += 1;
    }
    assert!(judged > 20, "{judged} pauses are no test");
}
