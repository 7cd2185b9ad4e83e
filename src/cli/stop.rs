use std::process;

use tokio::sync::watch;

use super::exit::Exit;

/// Listens for Ctrl-C and SIGTERM from now on, on the runtime this is called on.
///
/// The first one is told and makes the receiver true, the second one ends the program at once: what was
/// recorded is kept then too, as after a crash.
pub(super) fn on_signal(tell: impl FnOnce() + Send + 'static) -> watch::Receiver<bool> {
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        signal().await;
        tell();
        // Nobody listens any more when the work has just ended by itself.
        let _ = stop.send(true);
        signal().await;
        process::exit(Exit::Interrupted as i32);
    });
    stopped
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => terminate.recv().await,
            // A system without SIGTERM never sends one.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate => {}
    }
}

#[cfg(not(unix))]
async fn signal() {
    let _ = tokio::signal::ctrl_c().await;
}
