use super::oracle::{Oracle, RobotsFetch};
use super::rules::{has_address, origin};
use crate::model::content::{Content, Url};
use crate::model::robots::RobotsAccess;
use crate::model::url_location::UrlLocation;

/// After more redirects than this, a robots.txt counts as missing (RFC 9309 §2.3.1.2).
const MOST_REDIRECTS: usize = 5;

/// The result of one request for a robots.txt.
enum RobotsReply {
    Fetched(RobotsFetch),
    Redirect(Url),
}

/// The verdicts of robots.txt.
impl Oracle<'_> {
    /// Fetches robots.txt before the first page of an origin. A response that an earlier tree received costs
    /// no request. A failed fetch is repeated, because a site has no more trees than the allowed number of
    /// failed attempts.
    pub(super) fn robots_verdict(&mut self, url: &Url, location: Option<&UrlLocation>) -> RobotsAccess {
        let fetched = match self.robots.get(&origin(url)) {
            Some(fetched) => *fetched,
            None => self.fetch_robots(url),
        };
        match (fetched, location) {
            (RobotsFetch::Rules, Some(location)) => {
                let robots = location.site.robots(location.role);
                robots.verdict(location.resource.as_ref(), &*location.site)
            }
            (RobotsFetch::Nothing, Some(_)) => RobotsAccess::Allowed,
            _ => RobotsAccess::Unreachable,
        }
    }

    /// Fetches robots.txt over all redirects. The result holds for every origin on the way; sites of the
    /// model redirect only to the same file on the same host.
    fn fetch_robots(&mut self, url: &Url) -> RobotsFetch {
        let mut file = Url { target: "/robots.txt".to_owned(), ..url.clone() };
        let mut origins = vec![origin(&file)];
        let fetched = loop {
            match self.request_robots(&file) {
                RobotsReply::Fetched(fetched) => break fetched,
                RobotsReply::Redirect(_) if origins.len() > MOST_REDIRECTS => break RobotsFetch::Nothing,
                RobotsReply::Redirect(to) => {
                    if let Some(known) = self.robots.get(&origin(&to)) {
                        break *known;
                    }
                    origins.push(origin(&to));
                    file = to;
                }
            }
        };
        self.robots.extend(origins.into_iter().map(|origin| (origin, fetched)));
        fetched
    }

    fn request_robots(&mut self, file: &Url) -> RobotsReply {
        if !has_address(self.country.world, &file.host) {
            return RobotsReply::Fetched(RobotsFetch::Failure);
        }
        let name = file.to_string();
        if self.earlier_robots.contains(&name) {
            self.current_level().shared_robots += 1;
        } else {
            self.robots_requests += 1;
        }
        let (status, fetched_on_success) = match self.content(self.url_location(file).as_ref()) {
            Content::RobotsTxt(robots) => (robots.file(&[]).map(|(status, ..)| status), RobotsFetch::Rules),
            Content::Status(status) => (Some(status), RobotsFetch::Nothing),
            Content::Redirect(_, to) => {
                self.note_robots_response(file);
                self.own_robots.insert(name);
                return RobotsReply::Redirect(to);
            }
            _ => (None, RobotsFetch::Failure),
        };
        if status.is_some() {
            self.note_robots_response(file);
        }
        if status.is_some_and(|status| status < 500) {
            self.own_robots.insert(name);
            return RobotsReply::Fetched(fetched_on_success);
        }
        RobotsReply::Fetched(RobotsFetch::Failure)
    }

    fn note_robots_response(&mut self, file: &Url) {
        self.server_responded = true;
        self.attempts.note_response(file);
    }
}
