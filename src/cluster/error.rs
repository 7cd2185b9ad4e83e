use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::Outage;

/// Why there is no survey over several machines, or none any more.
#[allow(missing_docs, reason = "each message says what is wrong, and the fields are what it names")]
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error(
        "--nats: '{0}' is no NATS server (expected nats://HOST:PORT or tls://HOST:PORT; user and password stand in the file \
         of --nats-login, or in CCSURVEY_NATS_USER and CCSURVEY_NATS_PASSWORD)"
    )]
    Address(String),
    #[error("{}: {message}", path.display())]
    Login { path: PathBuf, message: String },
    #[error("--per-site: {0} questions at once in one site (expected 1 with --nats)")]
    PerSite(u32),
    #[error(
        "--name: '{0}' cannot be the name of an agent (expected up to 64 letters, digits, '-', '_' and '.')"
    )]
    Name(String),
    #[error(
        "{server}: no NATS server can be spoken to there: {why} (start one with `nats-server -js`, or name another with --nats)"
    )]
    Unreachable { server: String, why: String },
    #[error(
        "{server}: the NATS server does not let us in: {why} (say who we are with --nats-login, or in the environment)"
    )]
    NotLetIn { server: String, why: String },
    #[error("{0}: this NATS server has no JetStream (start it with `nats-server -js`)")]
    NoJetStream(String),
    #[error(
        "{server}: another survey named '{name}' is on this NATS server: rename the folder, or remove the stream \
         'ccsurvey_{name}' there if that survey is given up"
    )]
    Taken { server: String, name: String },
    #[error("{server}: another process coordinates the survey '{name}'")]
    Coordinated { server: String, name: String },
    #[error("another process has taken over the survey '{0}': this one stops")]
    Deposed(String),
    #[error(
        "{server}: the NATS server has lost entries of the survey '{name}': the last one of this process is gone, and there          is no later one. Servers before version 2.10 lose some when one of a cluster is started again: use later ones"
    )]
    LostEntries { server: String, name: String },
    #[error(
        "{server}: the survey '{name}' is not on the NATS server any more: it was finished while this agent was cut off,          its stream was removed, or the store was lost. `ccsurvey status` tells how it stands, where its folder is"
    )]
    Gone { server: String, name: String },
    #[error("the agent is to end, and the NATS server takes nothing")]
    Leaving,
    #[error("{server}: there are several surveys, {names}: choose one with --survey")]
    Several { server: String, names: String },
    #[error("the coordinator does not take this agent: {0}")]
    NotTaken(String),
    #[error(
        "the survey {wanted}, and an agent does so only where it is started with a flag of its own: {flag}; give it that \
         flag if you mean it"
    )]
    Limit { wanted: String, flag: String },
    #[error("--gateway {0}: the survey has no gateway (expected none, or a survey that was begun with one)")]
    NoGateway(SocketAddr),
    #[error("--ca: cannot read {}: {source}", path.display())]
    Certificate { path: PathBuf, source: io::Error },
    #[error("the settings of the survey cannot be obeyed on this machine: {0}")]
    Terms(String),
    #[error("{server}: {outage}")]
    Outage { server: String, outage: Outage },
    #[error("{server}: {what}: {why}")]
    Bus { server: String, what: &'static str, why: Outage },
    #[error("a message on the bus cannot be read: {0}")]
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
