use foldhash::{HashMap, HashSet};

use super::product::{self, is_removable, product};
use super::repeats::{self, PageLocation, Repeats};
use super::shape::{Shape, ShapeId, is_dated};
use super::tally::{LEAST_PAGES, LevelView, NameMarks, PageRead, ShapeStreak, ShapeTally};
use crate::address::WebUrl;
use crate::walk::entry::UrlStates;

/// The number of pages that must bring new combinations of known words, and nothing else, before these are a
/// product.
const LEAST_MAKERS: usize = 10;
/// The number of folders with combinations on one level: a site with more is no product but has many folders.
const MAX_FOLDERS: usize = 50;
/// The number of traps named per site: more say nothing new, and a hostile site has any number.
const MAX_NAMES: usize = 8;

/// The evidence of traps in the levels of a tree: shapes of URLs that lead only to themselves, level after
/// level.
///
/// The pages of a level are noted as their responses are merged, and weighed when the level is done, so that
/// the tree does not depend on timing. A shape is *quiet* on a level if its pages brought no external URL
/// that is new in the tree and no internal URL of another shape, but new URLs of their own shape. Lists of
/// items are like that, too; so a quiet shape is a trap only if it also has a mark of sites without end:
///
/// - a **branch** (all URLs alike up to the first number) whose URLs are dates, or repeat known pages below a
///   segment that varies: a calendar, session identifiers. No word may be new in it, as in archives of
///   articles;
/// - a **pattern** whose pages are near duplicates of each other;
/// - a **product**: combinations of the same words, of which any can be left out. The names prove it, so one
///   level of pages is enough.
///
/// Folders whose pages repeat other pages are recognised by [`Repeats`], whatever their URLs look like.
#[derive(Default)]
pub(in crate::walk) struct TrapEvidence {
    /// Pages of the level that is being walked, in the order read.
    pages: Vec<PageRead>,
    /// Shapes that were quiet on the last level, with their streaks.
    streaks: HashMap<ShapeId, ShapeStreak>,
    /// Patterns of pages read in the tree.
    patterns: HashSet<ShapeId>,
    traps: HashSet<ShapeId>,
    /// One of the traps is a product.
    has_product: bool,
    /// The repetition among pages, by which a folder can be a trap.
    repeats: Repeats,
    has_folder: bool,
    names: Vec<String>,
}

impl LevelView<'_> {
    fn ids_and_marks(&self, url: &WebUrl) -> (Option<[ShapeId; 2]>, NameMarks) {
        let url = &*url.without_session();
        let Some(shape) = Shape::from_url(url, self.site) else { return (None, NameMarks::default()) };
        let is_twin = shape.segment.is_some_and(|segment| is_removable(url, segment, self.known));
        (Some(shape.ids()), NameMarks { is_dated: is_dated(url.path()), is_twin })
    }
}

impl TrapEvidence {
    pub(in crate::walk) fn note(&mut self, page: PageRead) {
        let is_repeat = self.repeats.note(&page);
        self.pages.push(PageRead { is_repeat, ..page });
    }

    /// Weighs a level that is done. A trap's shape must have been quiet on `levels` levels in a row.
    pub(in crate::walk) fn evaluate(&mut self, level: LevelView<'_>, levels: u16) {
        let pages = std::mem::take(&mut self.pages);
        let tallies = self.tally(&pages, level);
        self.extend_streaks(&tallies);
        let is_endless = |(id, streak): &(&ShapeId, &ShapeStreak)| {
            streak.is_long(levels)
                && match id {
                    ShapeId::Branch(_) => tallies[id].is_endless_by_name(),
                    _ => streak.is_alike(),
                }
        };
        let endless: HashSet<ShapeId> = self.streaks.iter().filter(is_endless).map(|(id, _)| *id).collect();
        for url in pages.iter().filter(|_| !endless.is_empty()).flat_map(|page| level.children(page)) {
            let Some(shape) = Shape::from_url(&url, level.site) else { continue };
            for id in shape.ids().into_iter().filter(|id| endless.contains(id)) {
                self.trap(id, &shape.name(id));
            }
        }
        self.evaluate_products(&pages, level);
        let mut repeats = std::mem::take(&mut self.repeats);
        let is_left_out = |url: &WebUrl| self.is_trap(url, level.site, level.known);
        let folders = repeats.evaluate(&pages, level, levels, is_left_out);
        self.repeats = repeats;
        for folder in folders {
            self.has_folder = true;
            self.trap(repeats::id(&folder), &repeats::name(&folder));
        }
    }

    /// Whether the shape of a URL is a trap.
    pub(in crate::walk) fn is_trap(&self, url: &WebUrl, site: &str, known: &UrlStates) -> bool {
        if self.traps.is_empty() || url.is_query() {
            return false;
        }
        Shape::from_url(url, site).is_some_and(|shape| shape.ids().iter().any(|id| self.traps.contains(id)))
            || (self.has_product
                && product(url, known).is_some_and(|folder| self.traps.contains(&product::id(&folder))))
            || (self.has_folder
                && PageLocation::new(url, site)
                    .folders()
                    .any(|folder| self.traps.contains(&repeats::id(folder))))
    }

    /// The patterns of the traps, in the order in which they were recognised.
    pub(in crate::walk) fn names(&self) -> &[String] {
        &self.names
    }

    /// Adds the name of a trap that was recognised.
    pub(in crate::walk) fn name(&mut self, name: &str) {
        if self.names.len() < MAX_NAMES && !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    fn trap(&mut self, id: ShapeId, name: &str) {
        if self.traps.insert(id) {
            self.name(name);
        }
    }

    fn tally(&mut self, pages: &[PageRead], level: LevelView<'_>) -> HashMap<ShapeId, ShapeTally> {
        let shapes: Vec<Option<[ShapeId; 2]>> = pages
            .iter()
            .map(|page| Shape::from_url(&page.url, level.site).map(|shape| shape.ids()))
            .collect();
        self.patterns.extend(shapes.iter().flatten().map(|ids| ids[1]));
        let mut tallies: HashMap<ShapeId, ShapeTally> = HashMap::default();
        for (page, ids) in pages.iter().zip(shapes) {
            let Some(ids) = ids else { continue };
            for id in ids {
                tallies.entry(id).or_default().add_page(page, self.streaks.get(&id));
            }
            for url in level.children(page) {
                let (child, marks) = level.ids_and_marks(&url);
                let child = child.filter(|child| self.patterns.contains(&child[1]));
                for id in ids {
                    let is_own = child.is_some_and(|child| child.contains(&id));
                    tallies.entry(id).or_default().add_url(is_own, marks);
                }
            }
        }
        tallies
    }

    /// A shape that was quiet on this level too has a longer streak; any other shape has none any more.
    fn extend_streaks(&mut self, tallies: &HashMap<ShapeId, ShapeTally>) {
        let previous = std::mem::take(&mut self.streaks);
        let quiet = tallies.iter().filter(|(_, tally)| tally.is_quiet());
        self.streaks = quiet
            .map(|(id, tally)| (*id, previous.get(id).copied().unwrap_or_default().and(tally)))
            .collect();
    }

    /// Finds the folders for which a level's pages brought nothing but new combinations.
    fn evaluate_products(&mut self, pages: &[PageRead], level: LevelView<'_>) {
        let mut folders: Vec<(String, ProductPages)> = Vec::new();
        for page in pages {
            let products: Vec<Option<String>> =
                level.children(page).map(|url| product(&url, level.known)).collect();
            let Some(folder) = products.iter().flatten().next() else { continue };
            let is_quiet = page.externals == 0 && products.iter().all(|one| one.as_ref() == Some(folder));
            let at = folders.iter().position(|(known, _)| known == folder).unwrap_or(folders.len());
            if at == folders.len() {
                if at == MAX_FOLDERS {
                    return;
                }
                folders.push((folder.clone(), ProductPages::default()));
            }
            folders[at].1.add(is_quiet, products.len());
        }
        for (folder, _) in folders.iter().filter(|(_, makers)| makers.are_endless()) {
            self.has_product = true;
            self.trap(product::id(folder), &format!("{folder}/**"));
        }
    }
}

/// The pages that brought new combinations.
#[derive(Clone, Copy, Default)]
struct ProductPages {
    quiet: usize,
    others: usize,
    urls: usize,
}

impl ProductPages {
    fn add(&mut self, is_quiet: bool, urls: usize) {
        self.quiet += usize::from(is_quiet);
        self.others += usize::from(!is_quiet);
        self.urls += urls;
    }

    fn are_endless(&self) -> bool {
        self.others == 0 && self.quiet >= LEAST_MAKERS && self.urls >= LEAST_PAGES
    }
}
