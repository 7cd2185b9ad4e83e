use std::collections::HashMap;
use std::time::SystemTime;

use async_nats::jetstream::stream::Stream;

use super::ClusterError;
use super::bus::{Bus, coordinator_subject, tree_of, tree_subject};
use super::hand::begun_at;
use super::message::{Parts, Told, decode};
use crate::fetch::Clock;
use crate::survey::{Kept, KeptReplies};

/// What stands on the subjects of trees when a coordinator begins.
#[derive(Default)]
pub(super) struct Left {
    /// The last answer on each.
    pub replies: KeptReplies,
    /// All trees that have a subject.
    pub trees: Vec<u64>,
}

/// Reads what stands there. `ours` is the sequence under which the coordinator has just said that it is there: by that it
/// knows by how much its clock and that of the bus differ.
pub(super) async fn left(
    bus: &Bus,
    stream: &Stream,
    name: &str,
    ours: u64,
    clock: Clock,
) -> Result<Left, ClusterError> {
    let presence = bus.next(stream, &coordinator_subject(name), ours).await?;
    let now = clock.now();
    let Some(then) = presence.map(|entry| SystemTime::from(entry.time)) else { return Ok(Left::default()) };
    let (mut trees, mut replies) = (HashMap::<u64, (Parts, SystemTime)>::new(), KeptReplies::new());
    let (pattern, mut from) = (tree_subject(name, "*"), 1);
    while from < ours
        && let Some(entry) = bus.next(stream, &pattern, from).await?
    {
        from = entry.sequence + 1;
        let Some(tree) = tree_of(&entry.subject) else { continue };
        let published = SystemTime::from(entry.time);
        let at = now.checked_sub(then.duration_since(published).unwrap_or_default()).unwrap_or(now);
        let (parts, begun) = trees.entry(tree).or_insert_with(|| (Parts::default(), at));
        if let Ok(Told::Part { asked, number, of, ago, bytes }) = decode(&entry.payload) {
            if number == 0 {
                *begun = at.checked_sub(ago).unwrap_or(at);
            }
            if let Ok(Some(reply)) = parts.take(number, of, &bytes) {
                replies.insert(tree, vec![Kept { asked, reply: begun_at(reply, *begun) }]);
            }
        }
    }
    let mut trees: Vec<u64> = trees.into_keys().collect();
    trees.sort_unstable();
    Ok(Left { replies, trees })
}
