use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::time::SystemTime;

use super::access::Access;
use crate::address::Host;
use crate::exchange::{Answer, Failure};
use crate::fetch::Located;
use crate::load::{Blame, Passage, Sign};

/// The right to put a question as far as our own link goes. If it is a probe of the link and is dropped before its
/// outcome is noted, the next question probes.
pub(super) struct Pass<'a> {
    access: &'a Access,
    is_probe: bool,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            self.access.own_link().pass_on(self.access.now());
            self.access.settled.notify_waiters();
        }
    }
}

/// Waits until a question may be put; none when the survey is being stopped.
pub(super) async fn passage(access: &Access) -> Option<Pass<'_>> {
    loop {
        // Listening begins before asking, so that no news is missed in between.
        let mut settled = std::pin::pin!(access.settled.notified());
        settled.as_mut().enable();
        let passage = access.own_link().passage(access.now());
        let time = match passage {
            Passage::Open => return Some(Pass { access, is_probe: false }),
            Passage::Probe => {
                let pass = Pass { access, is_probe: true };
                if has_names(access).await? {
                    return Some(pass);
                }
                continue;
            }
            Passage::Until(time) => time,
        };
        access.until_stopped(news(access, settled, time)).await?;
    }
}

/// Whether the name server has anything to say of the country domains, before a site is spent on a probe.
async fn has_names(access: &Access) -> Option<bool> {
    for domain in &access.country_domains {
        access.fetcher.forget(domain);
        let located = access.until_stopped(access.locate(domain, &[])).await?;
        if !matches!(located.address, Err(Failure::DnsTimeout | Failure::DnsServfail)) {
            return Some(true);
        }
    }
    tell(access, &"country domains", Sign::LostUnknown);
    Some(false)
}

/// Looks a host up, once our own link works as far as is known; none when the survey is being stopped.
///
/// A name that is lost is asked for a second time if it shows meanwhile that our own link was broken.
/// Of the addresses that are `dead` the next one is taken.
pub(super) async fn locate(access: &Access, host: &Host, dead: &[IpAddr]) -> Option<Located> {
    let (located, lost_at) = look_up(access, host, dead).await?;
    match lost_at {
        Some(time) if is_ours(access, time).await? => {
            access.fetcher.forget(host);
            look_up(access, host, dead).await.map(|(located, _)| located)
        }
        _ => Some(located),
    }
}

/// Where a host is, or since when nothing comes back that would tell.
async fn look_up(access: &Access, host: &Host, dead: &[IpAddr]) -> Option<(Located, Option<SystemTime>)> {
    let _pass = passage(access).await?;
    let located = access.until_stopped(access.locate(host, dead)).await?;
    // What was known already tells nothing of the network.
    if located.dns.is_none() {
        return Some((located, None));
    }
    let sign = match located.address {
        Ok(_) => Sign::Reached,
        Err(failure) => Sign::from_answer(&Answer::not_asked(access.now(), None, failure, None), false),
    };
    tell(access, &host, sign);
    Some((located, (sign == Sign::LostUnknown).then(|| access.now())))
}

/// Whether something was lost because of our own link; waits until that shows.
pub(super) async fn is_ours(access: &Access, lost_at: SystemTime) -> Option<bool> {
    loop {
        let mut settled = std::pin::pin!(access.settled.notified());
        settled.as_mut().enable();
        let blame = access.own_link().blame(lost_at, access.now());
        let Blame::Until(time) = blame else { return Some(blame == Blame::Ours) };
        access.until_stopped(news(access, settled, time)).await?;
    }
}

async fn news(access: &Access, settled: impl Future<Output = ()>, time: SystemTime) {
    tokio::select! {
        () = settled => {}
        () = access.clock.until(time) => {}
    }
}

/// Takes in what an answer tells of our own link; to be called before the server's state has it.
pub(super) fn note(access: &Access, address: IpAddr, answer: &Answer) {
    let is_known = access.load().state_of(address).is_some_and(|state| state.ledger.answers > 0);
    tell(access, &address, Sign::from_answer(answer, is_known));
}

fn tell(access: &Access, who: &impl Hash, sign: Sign) {
    let mut hasher = DefaultHasher::new();
    who.hash(&mut hasher);
    let (before, after) = {
        let mut link = access.own_link();
        let before = link.broken_since();
        link.note(access.now(), hasher.finish(), sign);
        (before, link.broken_since())
    };
    if before != after {
        say(access, before, after);
        access.settled.notify_waiters();
    }
}

fn say(access: &Access, before: Option<SystemTime>, after: Option<SystemTime>) {
    match (before, after) {
        (None, Some(_)) => tracing::warn!("nothing comes back from anywhere: paused, probing our own link"),
        (Some(_), None) => tracing::info!("our own link works again"),
        _ => {}
    }
    let since = after.map(|time| access.clock.shown_at(time));
    access.progress.update(|now| now.own_link_broken_since = since);
}
