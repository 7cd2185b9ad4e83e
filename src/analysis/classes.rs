use super::{Known, KnownByDepth, MeasuredServer, Occurrence, Occurrences, Recorded};

/// Servers by how fast their answers come, from the slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerClass {
    /// Below 64 kbit/s, one channel of ISDN (ITU-T I.412): modems, crowded links.
    Narrow,
    /// From 64 to 512 kbit/s: a campus behind a satellite; one that was measured had 537 kbit/s.
    Thin,
    /// From 512 kbit/s to 4 Mbit/s, from which on a line is called broadband (FCC, Sixth Broadband Deployment
    /// Report, 2010).
    Middling,
    Broad,
    /// No answer was long enough to tell, or none came.
    Unmeasured,
}

/// Upper ends in bits per second.
const ENDS: [(f64, ServerClass); 3] =
    [(64e3, ServerClass::Narrow), (512e3, ServerClass::Thin), (4e6, ServerClass::Middling)];

impl ServerClass {
    pub const ALL: [Self; 5] = [Self::Narrow, Self::Thin, Self::Middling, Self::Broad, Self::Unmeasured];

    #[must_use]
    pub fn of(server: Option<&MeasuredServer>) -> Self {
        let Some(rate) = server.and_then(MeasuredServer::throughput) else { return Self::Unmeasured };
        ENDS.iter().find(|(end, _)| rate < *end).map_or(Self::Broad, |(_, class)| *class)
    }

    /// For people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Narrow => "below 64 kbit/s",
            Self::Thin => "64–512 kbit/s",
            Self::Middling => "0.5–4 Mbit/s",
            Self::Broad => "4 Mbit/s or more",
            Self::Unmeasured => "not measured",
        }
    }
}

impl Recorded {
    /// The survey as if it had only some of its site trees. What they know in common is counted exactly as long
    /// as all occurrences are in memory, and estimated from the sample of keys beyond that.
    #[must_use]
    pub fn only(&self, keep: impl Fn(usize) -> bool) -> Self {
        let chosen: Vec<u32> = (0..).take(self.trees.len()).filter(|tree| keep(*tree as usize)).collect();
        let mut numbers = vec![None; self.trees.len()];
        for (new, tree) in (0_u32..).zip(&chosen) {
            numbers[*tree as usize] = Some(new);
        }
        let trees = self.trees.of(&chosen);
        let renumbered = |tree: u32| numbers.get(tree as usize).copied().flatten();
        let occurrences = self.known.occurrences.each_ref().map(|all| {
            let kept =
                all.list.iter().filter_map(|at| Some(Occurrence { tree: renumbered(at.tree)?, ..*at }));
            Occurrences { list: kept.collect(), halvings: all.halvings }
        });
        let counts = occurrences.each_ref().map(Occurrences::known);
        Self { manifest: self.manifest.clone(), trees, known: Known { counts, occurrences } }
    }
}

impl Occurrences {
    /// How many keys are known first at each depth, of all of which these are a share.
    fn known(&self) -> KnownByDepth {
        let mut new: Vec<u64> = Vec::new();
        for key in self.keys() {
            let depth = key.iter().map(|occurrence| usize::from(occurrence.depth)).min().unwrap_or(0);
            if new.len() <= depth {
                new.resize(depth + 1, 0);
            }
            new[depth] += 1_u64 << self.halvings.min(u64::BITS - 1);
        }
        KnownByDepth { new }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_share_count_for_all() {
        let at = |key, tree, depth| Occurrence { key, tree, depth };
        let occurrences = Occurrences { list: vec![at(4, 0, 2), at(4, 1, 1), at(8, 0, 2)], halvings: 2 };
        assert_eq!(occurrences.known().new, [0, 4, 4]);
    }

    #[test]
    fn a_class_ends_where_the_next_begins() {
        let class = |rate: f64| {
            let mut server = MeasuredServer::new([41, 90, 0, 1].into());
            (server.bytes, server.transfer) = (rate / 8.0, 1.0);
            ServerClass::of(Some(&server))
        };
        assert_eq!(class(63_999.0), ServerClass::Narrow);
        assert_eq!(class(64_000.0), ServerClass::Thin);
        assert_eq!(class(511_000.0), ServerClass::Thin);
        assert_eq!(class(3.9e6), ServerClass::Middling);
        assert_eq!(class(4e6), ServerClass::Broad);
        assert_eq!(ServerClass::of(None), ServerClass::Unmeasured);
    }
}
