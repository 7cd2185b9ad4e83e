use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::time::SystemTime;

use super::parts::Parts;
use crate::address::Host;
use crate::exchange::Answer;
use crate::fetch::Located;
use crate::load::{Passage, Sign};

/// Waits until a question may be put as far as our own link goes; none when the survey is being stopped.
pub(super) async fn passage(parts: &Parts) -> Option<Passage> {
    loop {
        // Listening begins before asking, so that no news is missed in between.
        let mut settled = std::pin::pin!(parts.settled.notified());
        settled.as_mut().enable();
        let passage = parts.own_link().passage(parts.now());
        let Passage::Until(time) = passage else { return Some(passage) };
        let news = async {
            tokio::select! {
                () = settled => {}
                () = parts.clock.until(time) => {}
            }
        };
        parts.until_stopped(news).await?;
    }
}

/// Looks a host up, once our own link works as far as is known; none when the survey is being stopped.
pub(super) async fn locate(parts: &Parts, host: &Host) -> Option<(Located, Passage)> {
    let passage = passage(parts).await?;
    let located = parts.until_stopped(parts.fetcher.locate(host)).await?;
    // What was known already tells nothing of the network.
    if located.dns.is_some() {
        let sign = match located.address {
            Ok(_) => Sign::Reached,
            Err(failure) => Sign::of(&Answer::not_asked(parts.now(), None, failure, None), false),
        };
        tell(parts, &host, sign);
    }
    Some((located, passage))
}

/// Takes in what an answer tells of our own link; to be called before the server's state has it.
pub(super) fn note(parts: &Parts, address: IpAddr, answer: &Answer) {
    let is_known = parts.load().state_of(address).is_some_and(|state| state.ledger.answers > 0);
    tell(parts, &address, Sign::of(answer, is_known));
}

fn tell(parts: &Parts, who: &impl Hash, sign: Sign) {
    let mut hasher = DefaultHasher::new();
    who.hash(&mut hasher);
    let (before, after) = {
        let mut link = parts.own_link();
        let before = link.broken_since();
        link.note(parts.now(), hasher.finish(), sign);
        (before, link.broken_since())
    };
    if before != after {
        say(parts, before, after);
        parts.settled.notify_waiters();
    }
}

fn say(parts: &Parts, before: Option<SystemTime>, after: Option<SystemTime>) {
    match (before, after) {
        (None, Some(_)) => tracing::warn!("nothing comes back from anywhere: paused, probing our own link"),
        (Some(_), None) => tracing::info!("our own link works again"),
        _ => {}
    }
    parts.progress.update(|now| now.own_link_broken_since = after);
}
