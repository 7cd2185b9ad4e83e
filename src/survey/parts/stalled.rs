use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

/// If this process stood still for longer than this, the result of a request is unknown: the server may have
/// responded in time. A machine that is merely busy does not hold anything up for this long.
pub(in crate::survey) const LONGEST_STOP: Duration = Duration::from_secs(2);

/// Completes when this process was stopped (Ctrl-Z, `docker pause`, a frozen machine) for longer than
/// `longest`. Poll it before the work that it guards.
pub async fn process_stalled(longest: Duration) {
    let (mut last_poll, mut tick) = (Instant::now(), tokio::time::interval(longest / 4));
    std::future::poll_fn(|context| {
        let now = Instant::now();
        if now.duration_since(last_poll) > longest {
            return Poll::Ready(());
        }
        last_poll = now;
        while tick.poll_tick(context).is_ready() {}
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    #[tokio::test(start_paused = true)]
    async fn who_is_polled_in_time_is_not_held_up_and_who_was_stopped_is() {
        let mut held_up = pin!(process_stalled(LONGEST_STOP));
        for _ in 0..100 {
            tokio::time::advance(LONGEST_STOP / 2).await;
            assert!(futures_util::poll!(&mut held_up).is_pending());
        }
        tokio::time::advance(LONGEST_STOP + Duration::from_millis(1)).await;
        assert!(futures_util::poll!(&mut held_up).is_ready());
    }
}
