use super::oracle::Oracle;
use crate::space::content::{Content, Url};
use crate::space::response::{Lookup, Web};
use crate::space::robots::Verdict;
use crate::space::spot::Spot;

/// Whose robots.txt it is: the scheme and the host (RFC 9309 §2.3).
pub(super) type Origin = (bool, String);

/// More redirects of a robots.txt than this count as none there (RFC 9309 §2.3.1.2).
const MOST_REDIRECTS: usize = 5;

/// What robots.txt allows.
impl Oracle<'_> {
    /// Asks for robots.txt before the first page of an origin.
    pub(super) fn robots_verdict(&mut self, url: &Url, spot: Option<&Spot>) -> Verdict {
        let is_there = match self.robots.get(&origin(url)) {
            Some(is_there) => *is_there,
            None => self.ask_robots(url),
        };
        match spot {
            Some(spot) if is_there => {
                let robots = spot.site.robots(spot.role);
                spot.resource.as_ref().map_or_else(
                    || robots.verdict_on_nothing(),
                    |resource| robots.verdict(resource, spot.site.is_script_only),
                )
            }
            _ => Verdict::Unreachable,
        }
    }

    /// Whether the origin has rules, or says that it has none. What an origin redirects to answers for
    /// both; sites of the model redirect to the same file on the same host only.
    fn ask_robots(&mut self, url: &Url) -> bool {
        let mut file = Url { target: "/robots.txt".to_owned(), ..url.clone() };
        let mut origins = vec![origin(&file)];
        let is_there = loop {
            match self.asked_for_robots(&file) {
                Told::Answer(is_there) => break is_there,
                Told::Redirect(_) if origins.len() > MOST_REDIRECTS => break true,
                Told::Redirect(to) => {
                    if let Some(known) = self.robots.get(&origin(&to)) {
                        break *known;
                    }
                    origins.push(origin(&to));
                    file = to;
                }
            }
        };
        self.robots.extend(origins.into_iter().map(|origin| (origin, is_there)));
        is_there
    }

    fn asked_for_robots(&mut self, file: &Url) -> Told {
        let Lookup::Found(_) = self.country.world.lookup(&file.host) else { return Told::Answer(false) };
        self.robots_requests += 1;
        let status = match self.content(self.spot(file).as_ref()) {
            Content::RobotsTxt(robots) => robots.file().map(|(status, ..)| status),
            Content::Status(status) => Some(status),
            Content::Redirect(_, to) => {
                self.server_answered = true;
                return Told::Redirect(to);
            }
            _ => None,
        };
        self.server_answered |= status.is_some();
        Told::Answer(status.is_some_and(|status| status < 500))
    }
}

/// What came of one question for a robots.txt.
enum Told {
    /// Whether it says what is allowed; where there is none, all is.
    Answer(bool),
    Redirect(Url),
}

fn origin(url: &Url) -> Origin {
    (url.is_https, url.host.clone())
}
