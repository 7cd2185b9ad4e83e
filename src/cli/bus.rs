use std::path::Path;

use super::error::CliError;
use super::output::say;
use crate::cluster::{Bus, ClusterError, Coordinator, Login};
use crate::settings::Settings;

/// The bus over which agents walk the sites of a survey with these settings, if they do.
///
/// # Errors
/// When it cannot be used.
pub(super) async fn of(settings: &Settings) -> Result<Option<Bus>, CliError> {
    match &settings.nats {
        None => Ok(None),
        // The entries of a tree follow each other.
        Some(_) if settings.per_site > 1 => Err(ClusterError::PerSite(settings.per_site).into()),
        Some(address) => connect(address, settings.nats_login.as_deref()).await.map(Some),
    }
}

/// Connects, and says so if anybody could.
///
/// # Errors
/// When it cannot be used.
pub(super) async fn connect(address: &str, login: Option<&Path>) -> Result<Bus, CliError> {
    let bus = Bus::connect(address, &Login::read(login)?).await?;
    if bus.is_open_to_everybody() {
        say(&format!(
            "warning: {} is open to everybody who reaches it: whoever does can have servers asked in your name; give \
             it users (--nats-login), or let it listen on this machine only",
            bus.server()
        ));
    }
    Ok(bus)
}

/// The coordinator of the survey in this folder, which is to be opened.
///
/// # Errors
/// When the bus does not do what it is asked, or somebody else coordinates the survey.
pub(super) async fn coordinator(bus: Option<Bus>, dir: &Path) -> Result<Option<Coordinator>, CliError> {
    match bus {
        None => Ok(None),
        Some(bus) => Ok(Some(Coordinator::open(bus, dir).await?)),
    }
}

impl From<ClusterError> for CliError {
    fn from(wrong: ClusterError) -> Self {
        if wrong.is_usage() { Self::Usage(wrong.to_string()) } else { Self::Failed(wrong.to_string()) }
    }
}
