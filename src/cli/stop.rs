use std::process;

#[cfg(unix)]
use tokio::signal::unix::SignalKind;
use tokio::sync::watch;

use super::exit::Exit;

/// Listens for Ctrl-C, SIGTERM and SIGHUP from now on, on the current runtime.
///
/// The first signal calls `notify` and sets the receiver to true. A second Ctrl-C or SIGTERM ends the program
/// at once; what was recorded is kept even then, as after a crash. A closing terminal sends SIGHUP more than
/// once, through its shell and through the system. This counts as one signal.
pub(super) fn on_signal(notify: impl FnOnce() + Send + 'static) -> watch::Receiver<bool> {
    let (stop, stopped) = watch::channel(false);
    let is_hangup_ignored = is_hangup_ignored();
    tokio::spawn(async move {
        tokio::select! {
            () = ctrl_c_or_sigterm() => {}
            () = sighup(), if !is_hangup_ignored => {}
        }
        notify();
        // Without a receiver the work has just ended by itself.
        let _ = stop.send(true);
        ctrl_c_or_sigterm().await;
        process::exit(Exit::Interrupted as i32);
    });
    stopped
}

#[cfg(unix)]
async fn ctrl_c_or_sigterm() {
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = signal_received(SignalKind::terminate()) => {}
    }
}

#[cfg(unix)]
async fn sighup() {
    signal_received(SignalKind::hangup()).await;
}

#[cfg(unix)]
async fn signal_received(kind: SignalKind) {
    match tokio::signal::unix::signal(kind) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        // A system without this signal never sends one.
        Err(_) => std::future::pending().await,
    }
}

/// Whether the program was started with SIGHUP ignored, as by `nohup`. Listening to the signal would undo
/// that.
///
/// `SigIgn` of proc(5) is a mask in hexadecimal, with the lowest bit for signal 1, SIGHUP. On a system
/// without this information SIGHUP keeps its default action: a survey that it kills can be resumed.
fn is_hangup_ignored() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return true };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
async fn ctrl_c_or_sigterm() {
    let _ = tokio::signal::ctrl_c().await;
}

#[cfg(not(unix))]
async fn sighup() {
    std::future::pending::<()>().await;
}
