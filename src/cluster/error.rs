use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::Outage;

/// Why there is no survey over several machines, or none any more.
#[allow(missing_docs, reason = "each message says what is wrong, and the fields are what it names")]
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error(
        "--nats: '{0}' is not the address of a NATS server (expected nats://HOST:PORT or tls://HOST:PORT; user and password \
         belong in the file of --nats-login, or in CCSURVEY_NATS_USER and CCSURVEY_NATS_PASSWORD)"
    )]
    Address(String),
    #[error("{}: {message}", path.display())]
    Login { path: PathBuf, message: String },
    #[error("--per-site: {0} requests at once in one site (expected 1 with --nats)")]
    PerSite(u32),
    #[error("--name: '{0}' is not a valid agent name (expected 1 to 64 letters, digits, '-', '_' and '.')")]
    Name(String),
    #[error(
        "{server}: cannot connect to a NATS server: {why} (start one with `nats-server -js`, or name another with --nats)"
    )]
    Unreachable { server: String, why: String },
    #[error(
        "{server}: the NATS server refuses the login: {why} (give a valid login with --nats-login, or in the environment)"
    )]
    NotLetIn { server: String, why: String },
    #[error("{0}: this NATS server has no JetStream (start it with `nats-server -js`)")]
    NoJetStream(String),
    #[error(
        "{server}: another survey named '{name}' is on this NATS server: rename the folder, or remove the stream \
         'ccsurvey_{name}' there if that survey is abandoned"
    )]
    Taken { server: String, name: String },
    #[error("{server}: another process coordinates the survey '{name}'")]
    Coordinated { server: String, name: String },
    #[error("another process has taken over the survey '{0}': this process stops")]
    Deposed(String),
    #[error(
        "{server}: the NATS server has lost entries of the survey '{name}': the last entry of this process is gone, and no \
         later entry exists. Servers before version 2.10 lose entries when a server of their cluster restarts: use 2.10 or later"
    )]
    LostEntries { server: String, name: String },
    #[error(
        "{server}: the survey '{name}' is no longer on the NATS server: it was finished while this agent was cut off, its \
         stream was removed, or the store was lost. `ccsurvey status` shows its state, on the machine that has its folder"
    )]
    Gone { server: String, name: String },
    #[error("the agent is stopping, but the NATS server accepts no messages")]
    Leaving,
    #[error("{server}: there are several surveys ({names}): choose one with --survey")]
    Several { server: String, names: String },
    #[error("the coordinator refuses this agent: {0}")]
    NotTaken(String),
    #[error(
        "the survey {wanted}, and an agent does so only if it is started with a flag of its own: if you agree, add {flag}"
    )]
    Limit { wanted: String, flag: String },
    #[error(
        "--gateway {0}: the survey has no gateway (remove the flag, or use it with a survey that has a gateway)"
    )]
    NoGateway(SocketAddr),
    #[error("--ca: cannot read {}: {source}", path.display())]
    Certificate { path: PathBuf, source: io::Error },
    #[error("the settings of the survey cannot be applied on this machine: {0}")]
    Terms(String),
    #[error("{server}: {outage}")]
    Outage { server: String, outage: Outage },
    #[error("{server}: cannot {what}: {why}")]
    Bus { server: String, what: &'static str, why: Outage },
    #[error("bus error: {0}")]
    Message(String),
}

impl ClusterError {
    /// Whether the user asked for something that cannot be: exit code 2, and nothing was begun.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Address(_)
                | Self::Login { .. }
                | Self::PerSite(_)
                | Self::Name(_)
                | Self::Taken { .. }
                | Self::Several { .. }
                | Self::Limit { .. }
                | Self::NoGateway(_)
                | Self::Certificate { .. }
        )
    }
}
