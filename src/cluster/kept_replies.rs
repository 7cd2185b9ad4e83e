use std::sync::atomic::AtomicU64;

use async_nats::jetstream::stream::Stream;

use super::ClusterError;
use super::bus::{Bus, tree_of};
use super::bus_worker::begun_at;
use super::message::{Event, ReplyParts, decode};
use super::tree_subjects::{fence, up_to};
use crate::fetch::Clock;
use crate::survey::{KeptReplies, KeptReply};

/// The replies that agents published while no coordinator was there: the last one on the subject of each
/// tree. From now on no earlier dispatch is carried out.
pub(super) async fn kept_replies(
    bus: &Bus,
    stream: &Stream,
    name: &str,
    clock: Clock,
) -> Result<KeptReplies, ClusterError> {
    let (mut replies, fences) = (KeptReplies::new(), AtomicU64::new(0));
    for subject in bus.tree_subjects(stream, name).await? {
        let Some(tree) = tree_of(&subject) else { continue };
        let fence = fence(bus, &subject, clock, &fences).await?;
        let entries = up_to(bus, stream, &subject, 0, fence).await?;
        let (now, mut parts) = (clock.now(), ReplyParts::default());
        for entry in &entries {
            let Ok(Event::ResponsePart { asked, number, of, began, bytes }) = decode(&entry.payload) else {
                continue;
            };
            if let Ok(Some(reply)) = parts.take(number, of, &bytes) {
                replies.insert(tree, vec![KeptReply { asked, reply: begun_at(reply, began, asked, now) }]);
            }
        }
    }
    Ok(replies)
}
