use std::sync::atomic::AtomicU64;

use async_nats::jetstream::stream::Stream;

use super::ClusterError;
use super::bus::{Bus, tree_from_subject};
use super::bus_worker::with_start_time;
use super::message::{Event, ReplyParts, decode};
use super::tree_subjects::{entries_up_to, fence};
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
        let Some(tree) = tree_from_subject(&subject) else { continue };
        let fence = fence(bus, &subject, clock, &fences).await?;
        let entries = entries_up_to(bus, stream, &subject, 0, fence).await?;
        let (now, mut parts) = (clock.now(), ReplyParts::default());
        for entry in &entries {
            let Ok(Event::ResponsePart { requested_at, number, part_count, began, bytes }) =
                decode(&entry.payload)
            else {
                continue;
            };
            if let Ok(Some(reply)) = parts.take(number, part_count, &bytes) {
                replies.insert(
                    tree,
                    vec![KeptReply { requested_at, reply: with_start_time(reply, began, requested_at, now) }],
                );
            }
        }
    }
    Ok(replies)
}
