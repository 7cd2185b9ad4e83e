use std::path::Path;
use std::pin::pin;

use super::error::CliError;
use super::output::print_message;
use crate::cluster::{Bus, ClusterError, Coordinator, DatedOutage, Login};
use crate::settings::Settings;
use crate::survey::survey_settings;

/// The bus to the agents of a survey, if its settings name one.
///
/// # Errors
/// When the bus cannot be used.
pub(super) async fn for_settings(settings: &Settings) -> Result<Option<Bus>, CliError> {
    match &settings.nats {
        None => Ok(None),
        // The journal entries of a tree are sequential.
        Some(_) if settings.per_site > 1 => Err(ClusterError::PerSite(settings.per_site).into()),
        Some(address) => connect(address, settings.nats_login.as_deref()).await.map(Some),
    }
}

/// Connects to the bus, and warns if others could connect too.
///
/// # Errors
/// When the bus cannot be used.
pub(super) async fn connect(address: &str, login: Option<&Path>) -> Result<Bus, CliError> {
    let credentials = Login::read(login)?;
    for path in credentials.exposed() {
        print_message(&format!(
            "warning: {}: users other than its owner can read this file, which holds your credentials: run `chmod 600 {}`",
            path.display(),
            path.display()
        ));
    }
    let bus = Bus::connect(address, &credentials).await?;
    if bus.loses_entries() {
        print_message(&format!(
            "warning: {}: this NATS cluster loses entries when one of its servers restarts, as all versions before 2.10 do; \
             the survey then stops and must be resumed; use NATS 2.10 or later",
            bus.server()
        ));
    }
    if bus.is_open_to_everybody() {
        print_message(&format!(
            "warning: {} accepts everybody who can reach it, and anyone who connects can send requests to servers in your \
             name: set up users (--nats-login), or let it listen on this machine only",
            bus.server()
        ));
    }
    Ok(bus)
}

/// Opens the coordinator of the survey in this folder, if there is a bus.
///
/// # Errors
/// When the bus fails, or another process coordinates the survey.
pub(super) async fn coordinator(bus: Option<Bus>, dir: &Path) -> Result<Option<Coordinator>, CliError> {
    match bus {
        None => Ok(None),
        Some(bus) => {
            let opened = Box::pin(Coordinator::open(bus.clone(), dir));
            with_outage_messages(&bus, opened).await.map(Some)
        }
    }
}

/// Runs work that needs the bus. Meanwhile it reports outages that delay the work.
///
/// # Errors
/// Those of the work.
pub(super) async fn with_outage_messages<T>(
    bus: &Bus,
    work: impl Future<Output = Result<T, ClusterError>>,
) -> Result<T, CliError> {
    let mut outage = bus.watch();
    let mut work = pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Ok(done?),
            Ok(()) = outage.changed() => {
                if let Some(DatedOutage { outage, .. }) = &*outage.borrow_and_update() {
                    print_message(&format!("waiting: {}: {outage}", bus.server()));
                }
            }
        }
    }
}

/// Removes what a finished survey left on its bus, if anything. The survey's agents wait for this.
pub(super) async fn clear(dir: &Path) {
    let Ok(settings) = survey_settings(dir) else { return };
    let Some(address) = &settings.nats else { return };
    let cleared = async {
        let bus = Bus::connect(address, &Login::read(settings.nats_login.as_deref())?).await?;
        Coordinator::clear(&bus, dir).await
    };
    if let Err(error) = cleared.await {
        print_message(&format!("warning: data of the survey may still be on the bus: {error}"));
    }
}

impl From<ClusterError> for CliError {
    fn from(error: ClusterError) -> Self {
        if error.is_usage() { Self::Usage(error.to_string()) } else { Self::Failed(error.to_string()) }
    }
}
