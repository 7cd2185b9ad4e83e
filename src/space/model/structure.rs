use super::tree::{Repeats, median_of_mean_one};
use crate::World;
use crate::draw::Key;

/// What the paths of a site tell of its pages: their kind, and which parts repeat the first one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Structure {
    /// None if the pages are of no kind.
    kinds: Option<Kinds>,
    pub repeats: Repeats,
}

#[derive(Clone, Copy, Debug)]
struct Kinds {
    key: Key,
    count: u64,
    alike_share: f64,
    sigma: f64,
}

impl Structure {
    /// `site` is the key of the site's content.
    pub(crate) fn draw(world: &World, site: Key) -> Self {
        let (structure, key) = (&world.structure, site.part("structure"));
        let kinds = key.draw("kinds").happens(structure.kinds_share).then(|| Kinds {
            key: key.part("kind"),
            count: structure.kinds,
            alike_share: structure.alike_share,
            sigma: structure.kind_sigma,
        });
        let repeats = key.draw("repeats").happens(structure.repeats_share).then_some(structure.repeats);
        let repeats = Repeats::new(repeats.map_or(0, |parts| u32::try_from(parts).unwrap_or(u32::MAX)));
        Self { kinds, repeats }
    }

    /// The number of the kind of a page below a part; a page and the one that it repeats are of one kind.
    fn kind(&self, path: &[u32]) -> Option<(Kinds, u64)> {
        let (kinds, (own, parents)) = (self.kinds?, path.split_last()?);
        let [part, parents @ ..] = parents else { return None };
        let part = kinds.key.child(u64::from(self.repeats.original(*part)));
        let parent = parents.iter().fold(part, |key, number| key.child(u64::from(*number)));
        let are_alike = parent.draw("children are alike").happens(kinds.alike_share);
        let drawn = if are_alike { parent } else { parent.child(u64::from(*own)) };
        Some((kinds, drawn.draw("which kind").below(kinds.count)))
    }

    /// The word of a page's kind.
    pub(crate) fn word(&self, path: &[u32]) -> Option<&'static str> {
        let (kinds, kind) = self.kind(path)?;
        let first = kinds.key.draw("first word").below(WORDS.len() as u64);
        usize::try_from((first + kind) % WORDS.len() as u64).ok().map(|at| WORDS[at])
    }

    /// The factor of a page's kind on the mean number of its external links.
    pub(crate) fn factor(&self, path: &[u32]) -> f64 {
        self.kind(path).map_or(1.0, |(kinds, kind)| {
            let draw = kinds.key.draw("external factor of kind").nth(kind);
            draw.log_normal(median_of_mean_one(kinds.sigma), kinds.sigma)
        })
    }
}

/// As programs name what they write.
const WORDS: [&str; 16] = [
    "article", "item", "event", "topic", "author", "tag", "print", "review", "profile", "photo", "thread",
    "notice", "minutes", "lesson", "project", "entry",
];
