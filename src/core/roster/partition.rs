/// How site trees are shared out to the agents that walk them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partition {
    /// Every site has its agent beforehand, by chance (Dong, Lu and Zhang: static, random).
    StaticRandom,
    /// Every site has its agent beforehand: the largest site first, each to the agent that then has least to do for its
    /// capacity (static, by size).
    StaticSize,
    /// An agent that has room gets a site by chance (dynamic, random).
    DynamicRandom,
    /// The agent that has most capacity left, shared by the trees that it walks, gets the largest site (dynamic, by size:
    /// their algorithm 3.1).
    #[default]
    DynamicSize,
    /// Sites are given out in turn; who has fewer waiting than others is given some of who has most (the URL Distributor
    /// of `SCrawler`).
    Distributor,
    /// Who comes first takes as many as it has room for (the free competition that `SCrawler` is compared with).
    Competition,
}

impl Partition {
    /// All of them, static before dynamic.
    pub const ALL: [Self; 6] = [
        Self::StaticRandom,
        Self::StaticSize,
        Self::DynamicRandom,
        Self::DynamicSize,
        Self::Distributor,
        Self::Competition,
    ];

    /// The word in files and flags.
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

    /// The partition that such a word stands for.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|partition| partition.word() == word)
    }

    /// Whether a tree waits for an agent of its own, rather than for any.
    pub(super) fn has_agent_queues(self) -> bool {
        matches!(self, Self::StaticRandom | Self::StaticSize | Self::Distributor)
    }
}
