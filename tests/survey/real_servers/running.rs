use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command};

use crate::common::waiting::until;

/// A program that runs beside the test and ends with it, also when the test panics.
pub(crate) struct Running {
    pub child: Child,
    name: String,
}

impl Running {
    /// The kernel ends the program (`setpriv`, of util-linux) if the test is killed.
    pub(crate) fn start(command: &mut Command) -> Self {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut guarded = Command::new("setpriv");
        guarded.args(["--pdeathsig", "TERM"]).arg(command.get_program()).args(command.get_args());
        let child = guarded.stdout(std::process::Stdio::piped()).spawn();
        let child =
            child.unwrap_or_else(|error| panic!("cannot start {name} ({error}): run tests/setup first"));
        Self { child, name }
    }

    /// Waits until something listens at every address.
    pub(crate) fn await_listening(&mut self, addresses: &[SocketAddr], error_log: &Path) {
        for address in addresses {
            let mut ended = None;
            let is_over = until(|| {
                ended = self.child.try_wait().expect("a child can be asked");
                ended.is_some() || TcpStream::connect(address).is_ok()
            });
            let log = || std::fs::read_to_string(error_log).unwrap_or_default();
            assert!(ended.is_none(), "{} ended ({ended:?}); run tests/setup first?\n{}", self.name, log());
            assert!(is_over, "{} does not listen at {address}:\n{}", self.name, log());
        }
    }
}

impl Drop for Running {
    /// Sends a signal to end it, so that it can end its own children.
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}
