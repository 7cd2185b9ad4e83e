use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::rules::{PageId, UrlState, path};
use crate::model::content::Url;

/// Minimum number of quiet pages in a branch, and of new URLs in a folder of products.
const LEAST_PAGES: usize = 30;
/// Minimum number of pages with new combinations.
const LEAST_MAKERS: usize = 10;
/// The most traps that are named.
const MAX_NAMES: usize = 8;

/// The state of a tree that trap detection needs.
///
/// Of the trap rules of a walk, this implements those on names. The rule on near duplicates never applies in
/// a virtual Web: the texts of its pages differ, and no path pattern there produces more than one new page of
/// itself per level.
#[derive(Default)]
pub(super) struct TrapDetector {
    /// Pages read on this level.
    read: Vec<ReadPage>,
    /// For each branch that found only URLs of its own: the number of such levels in a row, and the pages on
    /// them.
    closed_branches: BTreeMap<String, (u16, usize)>,
    /// Patterns of all pages read.
    patterns: BTreeSet<String>,
    /// Branches, and folders of products, that are traps.
    branches: BTreeSet<String>,
    folders: BTreeSet<String>,
    pub(super) names: Vec<String>,
}

/// The states of the internal URLs of the tree.
type UrlStates = HashMap<PageId, UrlState>;

/// The URL of a page, the number of its new external URLs, and its new internal URLs.
type ReadPage = (Url, usize, Vec<Url>);

/// What the pages of a branch found on one level.
#[derive(Default)]
struct BranchYield {
    pages: usize,
    own: usize,
    foreign: usize,
    dated: usize,
    twins: usize,
}

impl TrapDetector {
    pub(super) fn note_page(&mut self, url: &Url, externals: usize, found: &[Url]) {
        self.read.push((url.clone(), externals, found.to_vec()));
    }

    pub(super) fn name(&mut self, name: String) {
        if self.names.len() < MAX_NAMES && !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// Evaluates a level at its end and adds the new traps.
    pub(super) fn evaluate(&mut self, url_states: &UrlStates, levels: Option<u16>) {
        let mut read = std::mem::take(&mut self.read);
        let Some(levels) = levels else { return };
        for (_, _, found) in &mut read {
            found.retain(|url| {
                !url.target.contains(['?', ';'])
                    && url_states.get(&PageId::from_url(url)) == Some(&UrlState::Found)
            });
        }
        self.evaluate_branches(url_states, &read, levels);
        self.evaluate_products(url_states, &read);
    }

    fn evaluate_branches(&mut self, url_states: &UrlStates, read: &[ReadPage], levels: u16) {
        self.patterns.extend(read.iter().filter_map(|(url, ..)| shape(url)).map(|(_, pattern)| pattern));
        let branch_yields = self.branch_yields(url_states, read);
        let before = std::mem::take(&mut self.closed_branches);
        for (branch, sums) in branch_yields.iter().filter(|(_, sums)| sums.own > 0 && sums.foreign == 0) {
            let (so_far, pages) = before.get(branch).copied().unwrap_or_default();
            self.closed_branches.insert(branch.clone(), (so_far + 1, pages + sums.pages));
        }
        for (branch, _) in read.iter().flat_map(|(_, _, found)| found).filter_map(shape) {
            let (level_count, page_count) = self.closed_branches.get(&branch).copied().unwrap_or_default();
            let is_marked =
                branch_yields.get(&branch).is_some_and(|sums| 2 * sums.dated.max(sums.twins) >= sums.own);
            let is_trap = level_count >= levels && page_count >= LEAST_PAGES && is_marked;
            if is_trap && self.branches.insert(branch.clone()) {
                self.name(format!("{branch}/**"));
            }
        }
    }

    /// What the pages of each branch found on this level.
    fn branch_yields(&self, url_states: &UrlStates, read: &[ReadPage]) -> BTreeMap<String, BranchYield> {
        let mut branch_yields: BTreeMap<String, BranchYield> = BTreeMap::new();
        for (url, externals, found) in read {
            let Some((branch, _)) = shape(url) else { continue };
            let sums = branch_yields.entry(branch.clone()).or_default();
            sums.pages += 1;
            sums.foreign += externals;
            for child in found {
                let is_own = shape(child)
                    .is_some_and(|(same, pattern)| same == branch && self.patterns.contains(&pattern));
                let varying = child.target.split('/').skip(1).position(|part| part.contains(is_digit));
                sums.own += usize::from(is_own);
                sums.foreign += usize::from(!is_own);
                sums.dated += usize::from(is_own && has_date(&child.target));
                sums.twins +=
                    usize::from(is_own && varying.is_some_and(|at| is_removable(url_states, child, at)));
            }
        }
        branch_yields
    }

    fn evaluate_products(&mut self, url_states: &UrlStates, read: &[ReadPage]) {
        let mut order = Vec::new();
        let mut makers: BTreeMap<String, (usize, usize, bool)> = BTreeMap::new();
        for (_, externals, found) in read {
            let folders: Vec<Option<String>> = found.iter().map(|url| product(url_states, url)).collect();
            let Some(folder) = folders.iter().flatten().next() else { continue };
            order.push(folder.clone());
            let (pages, urls, is_noisy) = makers.entry(folder.clone()).or_default();
            *pages += 1;
            *urls += found.len();
            *is_noisy |= *externals > 0 || folders.iter().any(|other| other.as_ref() != Some(folder));
        }
        for folder in order {
            let (pages, urls, is_noisy) = makers[&folder];
            if !is_noisy
                && pages >= LEAST_MAKERS
                && urls >= LEAST_PAGES
                && self.folders.insert(folder.clone())
            {
                self.name(format!("{folder}/**"));
            }
        }
    }

    /// Whether a URL belongs to a trap.
    pub(super) fn covers(&self, url: &Url, url_states: &UrlStates) -> bool {
        !url.target.contains(['?', ';'])
            && (shape(url).is_some_and(|(branch, _)| self.branches.contains(&branch))
                || product(url_states, url).is_some_and(|folder| self.folders.contains(&folder)))
    }
}

/// The folder of a path that still leads to a known page after one of two segments is removed.
fn product(url_states: &UrlStates, url: &Url) -> Option<String> {
    let parts: Vec<&str> = path(url).split('/').skip(1).collect();
    let mut removable = (0..parts.len()).filter(|at| is_removable(url_states, url, *at));
    let (first, _) = (removable.next()?, removable.next()?);
    Some([&[url.host.as_str()], &parts[..first]].concat().join("/"))
}

/// Whether a path without this segment leads to a known page. The segment must not be the last one or a
/// number.
fn is_removable(url_states: &UrlStates, url: &Url, at: usize) -> bool {
    let parts: Vec<&str> = path(url).split('/').skip(1).collect();
    let names = parts.iter().filter(|part| !part.is_empty()).count();
    if at + 1 >= names || !parts[at].contains(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let rest: Vec<&str> = parts[..at].iter().chain(&parts[at + 1..]).copied().collect();
    let other = Url { target: format!("/{}", rest.join("/")), ..url.clone() };
    url_states.contains_key(&PageId::from_url(&other))
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Host and path with `#` for each number: first up to the segment with the first number, without extension;
/// then whole. None without a number.
fn shape(url: &Url) -> Option<(String, String)> {
    let mut pattern = url.host.clone();
    for c in url.target.chars() {
        match c {
            _ if !is_digit(c) => pattern.push(c),
            _ if pattern.len() == url.host.len() || !pattern.ends_with('#') => pattern.push('#'),
            _ => {}
        }
    }
    let first_number = url.host.len() + pattern[url.host.len()..].find('#')?;
    let end = pattern[first_number..].find('/').map_or(pattern.len(), |slash| first_number + slash);
    let name = pattern[..end].rfind('/').map_or(0, |slash| slash + 1);
    let branch = pattern[name..end].rfind('.').map_or(end, |dot| name + dot);
    Some((pattern[..branch].to_owned(), pattern))
}

/// Whether a year is followed by a month.
fn has_date(target: &str) -> bool {
    let numbers: Vec<(usize, &str)> = target
        .split(|c: char| !is_digit(c))
        .scan(0, |at, part| {
            let start = *at;
            *at += part.len() + 1;
            Some((start, part))
        })
        .filter(|(_, part)| !part.is_empty())
        .collect();
    let is_year = |text: &str| text.len() == 4 && (1900..2200).contains(&text.parse().unwrap_or(0));
    let is_month = |text: &str| text.len() <= 2 && (1..13).contains(&text.parse().unwrap_or(0));
    let is_year_and_month = |pair: &[(usize, &str)]| {
        let [(start, year), (next, month)] = pair else { return false };
        next - start == 5 && is_year(year) && is_month(month)
    };
    let is_whole = |text: &str| matches!(text.len(), 6 | 8) && is_year(&text[..4]) && is_month(&text[4..6]);
    numbers.windows(2).any(is_year_and_month) || numbers.iter().any(|(_, text)| is_whole(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_dates_are_those_of_the_paths_in_the_model() {
        let of = |target: &str| shape(&Url::http("www.a5.ke", target));
        let texts = |branch: &str, pattern: &str| Some((branch.to_owned(), pattern.to_owned()));
        assert_eq!(of("/list/57/3.html"), texts("www.a5.ke/list/#", "www.a5.ke/list/#/#.html"));
        assert_eq!(of("/list/57.html"), texts("www.a5.ke/list/#", "www.a5.ke/list/#.html"));
        assert_eq!(of("/sid-4/"), texts("www.a5.ke/sid-#", "www.a5.ke/sid-#/"));
        assert_eq!(of("/about.html"), None);
        assert!(has_date("/calendar/2001/02/14.html") && !has_date("/calendar/2001/13/"));
    }
}
