use crate::{Host, WebUrl};

/// Many URLs, in the order in which they came, in little memory: of each what stands behind its host, in one text, and 12
/// bytes. A [`WebUrl`] takes 40, a text of its own, and what the allocator adds.
///
/// ```
/// use ccsurvey_address::{UrlList, WebUrl};
/// let mut list = UrlList::default();
/// list.push(&WebUrl::parse("http://example.ke/a?b=1").unwrap());
/// assert_eq!(list.get(0).unwrap().as_str(), "http://example.ke/a?b=1");
/// ```
#[derive(Clone, Debug, Default)]
pub struct UrlList {
    origins: Vec<Origin>,
    by_prefix: foldhash::HashMap<Box<str>, u32>,
    targets: String,
    /// Of each URL its origin, and where its target ends.
    origin_of: Vec<u32>,
    ends: Vec<usize>,
}

/// Bytes by which the text of a short list grows.
const LEAST_ROOM: usize = 1024;

/// Scheme, host and port: what stands before the first slash of the path.
#[derive(Clone, Debug)]
struct Origin {
    prefix: Box<str>,
    host: Host,
}

impl UrlList {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds one at the end.
    pub fn push(&mut self, url: &WebUrl) {
        let (prefix, target) = url.as_str().split_at(url.path_start());
        let origin = self.origin(prefix, url.host());
        if self.targets.capacity() - self.targets.len() < target.len() {
            // By an eighth in place of doubling: a long list is not to hold twice its length.
            self.targets.reserve_exact(target.len().max(self.targets.len() / 8).max(LEAST_ROOM));
        }
        self.targets.push_str(target);
        self.origin_of.push(origin);
        self.ends.push(self.targets.len());
    }

    /// One of them; none beyond the last.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<WebUrl> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let Origin { prefix, host } = &self.origins[self.origin_of[at] as usize];
        Some(WebUrl::of_parts([prefix, &self.targets[start..end]].concat(), host.clone()))
    }

    /// Keeps those of which that is said, with their places, in their order.
    pub fn retain(&mut self, mut is_kept: impl FnMut(usize, &WebUrl) -> bool) {
        let kept: Vec<bool> = self.iter().enumerate().map(|(at, url)| is_kept(at, &url)).collect();
        if !kept.iter().all(|is_kept| *is_kept) {
            let all = std::mem::take(self);
            all.iter().zip(kept).filter(|(_, is_kept)| *is_kept).for_each(|(url, _)| self.push(&url));
        }
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = WebUrl> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// The number of an origin; most URLs have that of the one before.
    fn origin(&mut self, prefix: &str, host: &Host) -> u32 {
        let before = self.origin_of.last().copied();
        if let Some(before) = before.filter(|before| *self.origins[*before as usize].prefix == *prefix) {
            return before;
        }
        if let Some(known) = self.by_prefix.get(prefix) {
            return *known;
        }
        let number = u32::try_from(self.origins.len()).unwrap_or(u32::MAX);
        self.origins.push(Origin { prefix: prefix.into(), host: host.clone() });
        self.by_prefix.insert(prefix.into(), number);
        number
    }
}

impl<'u> FromIterator<&'u WebUrl> for UrlList {
    fn from_iter<T: IntoIterator<Item = &'u WebUrl>>(urls: T) -> Self {
        let mut list = Self::default();
        urls.into_iter().for_each(|url| list.push(url));
        list
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_between_host_and_path_comes_back() {
        let texts = [
            "http://a.ke/",
            "https://a.ke:8080/x?y=/",
            "http://a.ke:8080/",
            "http://[::1]:81/;a",
            "https://a.ke/",
        ];
        let urls = texts.map(|text| WebUrl::parse(text).unwrap());
        let list: UrlList = urls.iter().collect();
        assert!(list.iter().eq(urls) && list.get(texts.len()).is_none());
        let mut some = list.clone();
        some.retain(|at, url| at != 1 && url.target() != "/");
        assert!(some.iter().eq([list.get(3).unwrap()]));
        some.retain(|_, _| true);
        assert_eq!(some.len(), 1);
        assert!(UrlList::default().is_empty() && UrlList::default().get(0).is_none());
    }

    proptest! {
        #[test]
        fn any_urls_come_back(parts in prop::collection::vec(("https?", "[a-c]", "(:81)?", "[a-z/?;=%&]{0,9}"), 0..30)) {
            let url = |(scheme, host, port, target): (String, String, String, String)| {
                WebUrl::parse(&format!("{scheme}://{host}.ke{port}/{target}")).unwrap()
            };
            let urls: Vec<WebUrl> = parts.into_iter().map(url).collect();
            let list: UrlList = urls.iter().collect();
            prop_assert_eq!(list.len(), urls.len());
            prop_assert!(list.iter().eq(urls));
        }
    }
}
