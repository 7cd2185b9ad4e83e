use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::time::SystemTime;

use super::parts::Parts;
use crate::address::Host;
use crate::exchange::{Answer, Failure};
use crate::fetch::Located;
use crate::load::{Blame, Passage, Sign};

/// The right to put a question as far as our own link goes. Where it probes the link and nobody tells what came
/// of it, dropping it lets the next question probe.
pub(super) struct Pass<'a> {
    parts: &'a Parts,
    is_probe: bool,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            self.parts.own_link().pass_on(self.parts.now());
            self.parts.settled.notify_waiters();
        }
    }
}

/// Waits until a question may be put; none when the survey is being stopped.
pub(super) async fn passage(parts: &Parts) -> Option<Pass<'_>> {
    loop {
        // Listening begins before asking, so that no news is missed in between.
        let mut settled = std::pin::pin!(parts.settled.notified());
        settled.as_mut().enable();
        let passage = parts.own_link().passage(parts.now());
        let time = match passage {
            Passage::Open => return Some(Pass { parts, is_probe: false }),
            Passage::Probe => {
                let pass = Pass { parts, is_probe: true };
                if has_names(parts).await? {
                    return Some(pass);
                }
                continue;
            }
            Passage::Until(time) => time,
        };
        parts.until_stopped(news(parts, settled, time)).await?;
    }
}

/// Whether the name server has anything to say of the country domains, before a site is spent on a probe.
async fn has_names(parts: &Parts) -> Option<bool> {
    for domain in parts.reach.countries.iter() {
        parts.fetcher.forget(domain);
        let located = parts.until_stopped(parts.fetcher.locate(domain)).await?;
        if !matches!(located.address, Err(Failure::DnsTimeout | Failure::DnsServfail)) {
            return Some(true);
        }
    }
    tell(parts, &"country domains", Sign::LostUnknown);
    Some(false)
}

/// Looks a host up, once our own link works as far as is known; none when the survey is being stopped.
///
/// A name that is lost is asked for a second time if it shows meanwhile that our own link was broken.
/// Of the addresses that are `dead` the next one is taken.
pub(super) async fn locate(parts: &Parts, host: &Host, dead: &[IpAddr]) -> Option<Located> {
    let (located, lost_at) = look_up(parts, host, dead).await?;
    match lost_at {
        Some(time) if is_ours(parts, time).await? => {
            parts.fetcher.forget(host);
            look_up(parts, host, dead).await.map(|(located, _)| located)
        }
        _ => Some(located),
    }
}

/// Where a host is, or since when nothing comes back that would tell.
async fn look_up(parts: &Parts, host: &Host, dead: &[IpAddr]) -> Option<(Located, Option<SystemTime>)> {
    let _pass = passage(parts).await?;
    let located = parts.until_stopped(parts.fetcher.locate_beyond(host, dead)).await?;
    // What was known already tells nothing of the network.
    if located.dns.is_none() {
        return Some((located, None));
    }
    let sign = match located.address {
        Ok(_) => Sign::Reached,
        Err(failure) => Sign::of(&Answer::not_asked(parts.now(), None, failure, None), false),
    };
    tell(parts, &host, sign);
    Some((located, (sign == Sign::LostUnknown).then(|| parts.now())))
}

/// Whether something was lost because of our own link; waits until that shows.
pub(super) async fn is_ours(parts: &Parts, lost_at: SystemTime) -> Option<bool> {
    loop {
        let mut settled = std::pin::pin!(parts.settled.notified());
        settled.as_mut().enable();
        let blame = parts.own_link().blame(lost_at, parts.now());
        let Blame::Until(time) = blame else { return Some(blame == Blame::Ours) };
        parts.until_stopped(news(parts, settled, time)).await?;
    }
}

async fn news(parts: &Parts, settled: impl Future<Output = ()>, time: SystemTime) {
    tokio::select! {
        () = settled => {}
        () = parts.clock.until(time) => {}
    }
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
