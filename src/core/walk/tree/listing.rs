use crate::address::UrlList;
use crate::exchange::Class;
use crate::walk::entry::ListedUrl;

/// The list of a level, in the order of the turns: the URLs with which the level began, then the URLs that
/// joined it.
///
/// A level may have 10^5 URLs, and for most of the first ones there is nothing to store before their turn:
/// they are packed. If each has a candidate, none is packed.
#[derive(Clone, Default)]
pub(in crate::walk) struct Listing {
    packed: UrlList,
    /// Packed URLs, by index, that are not worth a request according to what was read so far.
    skipped: foldhash::HashMap<usize, Class>,
    /// The URLs after the packed ones.
    entries: Vec<ListedUrl>,
    /// The index of the current URL.
    turn: usize,
}

impl Listing {
    /// A list of URLs; `skipped` holds, by index, the classes for which some of them are skipped.
    pub(in crate::walk) fn new_packed(packed: UrlList, skipped: foldhash::HashMap<usize, Class>) -> Self {
        Self { packed, skipped, ..Self::default() }
    }

    pub(in crate::walk) fn len(&self) -> usize {
        self.packed.len() + self.entries.len()
    }

    pub(in crate::walk) fn push(&mut self, entry: ListedUrl) {
        self.entries.push(entry);
    }

    /// The index of the current URL.
    pub(in crate::walk) fn turn(&self) -> usize {
        self.turn
    }

    /// The URL whose turn it is.
    pub(in crate::walk) fn current(&self) -> Option<ListedUrl> {
        self.get(self.turn)
    }

    /// Moves on to the next URL.
    pub(in crate::walk) fn advance(&mut self) {
        self.turn += 1;
    }

    /// Whether each URL has had its turn.
    pub(in crate::walk) fn is_done(&self) -> bool {
        self.turn >= self.len()
    }

    fn get(&self, at: usize) -> Option<ListedUrl> {
        match self.packed.get(at) {
            Some(url) => Some(ListedUrl { skipped: self.skipped.get(&at).copied(), ..ListedUrl::new(url) }),
            None => self.entries.get(at - self.packed.len()).cloned(),
        }
    }

    /// The last URL, if it joined the list after the list had `before` URLs.
    pub(in crate::walk) fn added_since(&self, before: usize) -> Option<&ListedUrl> {
        self.entries.last().filter(|_| self.len() > before)
    }

    /// The URLs that have not had their turn, if none is packed.
    pub(in crate::walk) fn upcoming(&mut self) -> &mut [ListedUrl] {
        let at = self.turn.saturating_sub(self.packed.len()).min(self.entries.len());
        &mut self.entries[at..]
    }

    /// The same, when the list is no longer needed.
    pub(in crate::walk) fn into_upcoming(self) -> impl Iterator<Item = ListedUrl> {
        let at = self.turn.saturating_sub(self.packed.len());
        self.entries.into_iter().skip(at)
    }

    /// The number of URLs that have no class yet.
    pub(in crate::walk) fn without_class(&self) -> usize {
        let packed = self.packed.len().saturating_sub(self.turn);
        let entries = self.entries.iter().skip(self.turn.saturating_sub(self.packed.len()));
        packed + entries.filter(|entry| !entry.again).count()
    }
}

impl FromIterator<ListedUrl> for Listing {
    fn from_iter<T: IntoIterator<Item = ListedUrl>>(entries: T) -> Self {
        Self { entries: entries.into_iter().collect(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::WebUrl;

    fn url(path: &str) -> WebUrl {
        WebUrl::parse(&format!("http://a.ke/{path}")).unwrap()
    }

    #[test]
    fn what_joins_a_list_comes_behind_those_with_which_it_began() {
        let packed = [url("0"), url("1")].iter().collect();
        let mut list = Listing::new_packed(packed, [(1, Class::Trap)].into_iter().collect());
        assert!(list.added_since(2).is_none() && list.len() == 2);
        list.push(ListedUrl { again: true, ..ListedUrl::new(url("0")) });
        list.push(ListedUrl { redirects: 1, ..ListedUrl::new(url("2")) });
        let before = list.clone();
        let listed =
            |at: usize| before.get(at).map(|entry| (entry.url, entry.skipped, entry.again, entry.redirects));
        assert_eq!(listed(0), Some((url("0"), None, false, 0)));
        assert_eq!(listed(1), Some((url("1"), Some(Class::Trap), false, 0)));
        assert_eq!(listed(2), Some((url("0"), None, true, 0)));
        assert_eq!(listed(3), Some((url("2"), None, false, 1)));
        assert_eq!(listed(4), None);
        assert_eq!(list.added_since(3).map(|entry| entry.redirects), Some(1));
        for (turn, without_class) in [3, 2, 1, 1, 0].into_iter().enumerate() {
            assert_eq!((list.turn(), list.without_class(), list.is_done()), (turn, without_class, turn == 4));
            assert_eq!(list.current().map(|entry| entry.url), listed(turn).map(|listed| listed.0));
            assert_eq!(list.upcoming().len(), (4 - turn).min(2));
            list.advance();
        }
    }
}
