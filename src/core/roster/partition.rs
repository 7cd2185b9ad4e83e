/// The way in which site trees are distributed over the agents that walk them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partition {
    /// Every site has an agent assigned in advance, at random (Dong, Lu and Zhang: static, random).
    StaticRandom,
    /// Every site has an agent assigned in advance: the largest site first, each to the agent that then has
    /// the least work relative to its capacity (static, by size).
    StaticSize,
    /// An agent with room gets a random site (dynamic, random).
    DynamicRandom,
    /// The agent with most capacity left, shared by the trees that it walks, gets the largest site (dynamic,
    /// by size: their algorithm 3.1).
    #[default]
    DynamicSize,
    /// Sites are assigned in turn; an agent with fewer waiting sites than others gets some from the agent
    /// with most (the URL Distributor of `SCrawler`).
    Distributor,
    /// The first agent that comes takes as many as it has room for (the free competition with which
    /// `SCrawler` is compared).
    Competition,
}

impl Partition {
    /// All partitions, static before dynamic.
    pub const ALL: [Self; 6] = [
        Self::StaticRandom,
        Self::StaticSize,
        Self::DynamicRandom,
        Self::DynamicSize,
        Self::Distributor,
        Self::Competition,
    ];

    /// The name in files and flags.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::StaticRandom => "static-random",
            Self::StaticSize => "static-size",
            Self::DynamicRandom => "dynamic-random",
            Self::DynamicSize => "dynamic-size",
            Self::Distributor => "distributor",
            Self::Competition => "competition",
        }
    }

    /// The partition with this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|partition| partition.word() == word)
    }

    /// Whether a tree waits for a particular agent, rather than for any.
    pub(super) fn has_agent_queues(self) -> bool {
        matches!(self, Self::StaticRandom | Self::StaticSize | Self::Distributor)
    }
}
