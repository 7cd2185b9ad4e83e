use crate::{Host, WebUrl};

/// Many URLs, in order of arrival, in little memory: per URL the part after its host, in one shared text, and
/// 12 bytes. A [`WebUrl`] takes 40 bytes, a text of its own, and the overhead of the allocator.
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
    /// Per URL: the index of its origin, and the end of its target (`ends`).
    origin_of: Vec<u32>,
    ends: Vec<usize>,
}

/// Minimum number of bytes by which the text grows.
const LEAST_ROOM: usize = 1024;

/// Scheme, host and port: the part before the first slash of the path.
#[derive(Clone, Debug)]
struct Origin {
    prefix: Box<str>,
    host: Host,
}

impl UrlList {
    /// The number of URLs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends a URL.
    pub fn push(&mut self, url: &WebUrl) {
        let (prefix, target) = url.as_str().split_at(url.path_start());
        let origin = self.origin(prefix, url.host());
        if self.targets.capacity() - self.targets.len() < target.len() {
            // Grows by an eighth instead of doubling: a long list must not reserve twice its length.
            self.targets.reserve_exact(target.len().max(self.targets.len() / 8).max(LEAST_ROOM));
        }
        self.targets.push_str(target);
        self.origin_of.push(origin);
        self.ends.push(self.targets.len());
    }

    /// The URL at an index; `None` beyond the last.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<WebUrl> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let Origin { prefix, host } = &self.origins[self.origin_of[at] as usize];
        Some(WebUrl::from_parts([prefix, &self.targets[start..end]].concat(), host.clone()))
    }

    /// Keeps the URLs for which `is_kept`, called with index and URL, returns true, in their order.
    pub fn retain(&mut self, mut is_kept: impl FnMut(usize, &WebUrl) -> bool) {
        let kept: Vec<bool> = self.iter().enumerate().map(|(at, url)| is_kept(at, &url)).collect();
        if !kept.iter().all(|is_kept| *is_kept) {
            let all = std::mem::take(self);
            all.iter().zip(kept).filter(|(_, is_kept)| *is_kept).for_each(|(url, _)| self.push(&url));
        }
    }

    /// All URLs, in order.
    pub fn iter(&self) -> impl Iterator<Item = WebUrl> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// The index of an origin; most URLs have the same origin as the one before.
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
