use super::oracle::Oracle;
use super::rows::LinkTruth;
use super::rules::{PageId, UrlState, element_name};
use crate::model::content::{Link, Url};

/// Handles the URLs that pages link to.
impl Oracle<'_> {
    pub(super) fn find(&mut self, page: &Url, link: Link) {
        if self.is_external(&link.url) {
            return self.find_external(page, link.url, element_name(link.element), link.nofollow);
        }
        let id = PageId::from_url(&link.url);
        let url_state = self.url_states.get(&id).copied();
        if link.nofollow {
            self.url_states.entry(id).or_insert(UrlState::NofollowOnly);
        } else if matches!(url_state, None | Some(UrlState::NofollowOnly)) {
            self.url_states.insert(id, UrlState::Found);
            self.found.push(link.url);
        }
    }

    pub(super) fn find_external(&mut self, page: &Url, url: Url, element: &str, nofollow: bool) {
        if !self.external_urls.insert(PageId::from_url(&url)) {
            return;
        }
        let target_site = self.country.site_of(&url.host);
        let is_new_host = self.external_hosts.insert(url.host.clone());
        let is_new_site = self.external_sites.insert(target_site.clone());
        let level = self.current_level();
        level.external_urls += 1;
        level.external_hosts += u64::from(is_new_host);
        level.external_sites += u64::from(is_new_site);
        self.links.push(LinkTruth {
            site: self.start.site.clone(),
            depth: self.depth,
            page: page.to_string(),
            url: url.to_string(),
            target_site: target_site.to_string(),
            element: element.to_owned(),
            nofollow,
            in_survey: self.country.surveys(&url.host),
            seed: self.start.seed,
            host: url.host,
        });
    }

    pub(super) fn is_external(&self, url: &Url) -> bool {
        *self.country.site_of(&url.host) != *self.start.site
    }

    /// The URLs found for the next level, except those that a redirect has listed already.
    pub(super) fn next_level(&mut self) -> Vec<Url> {
        let found = std::mem::take(&mut self.found);
        found
            .into_iter()
            .filter(|url| {
                self.url_states.insert(PageId::from_url(url), UrlState::Listed) == Some(UrlState::Found)
            })
            .collect()
    }
}
