use super::paths::{Extra, Naming, Resource};
use crate::World;
use crate::draw::{Draw, by_share};

/// The robots.txt of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Robots {
    /// 404.
    Missing,
    /// An HTML page with status 200 in which no line is a rule.
    Junk,
    AllowsAll,
    /// Disallows all PDF files and the branch below this child of the front page, except one page of the
    /// branch.
    DisallowsSome(u32),
    DisallowsAll,
    /// In seconds.
    CrawlDelay(f64),
    /// 503.
    Unavailable,
    /// The server accepts the request and never responds.
    Silent,
}

/// Whether robots.txt allows one URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RobotsAccess {
    Allowed,
    Disallowed,
    Unreachable,
}

impl Robots {
    pub(crate) fn draw(world: &World, draw: Draw) -> Self {
        let shares = &world.robots;
        let branch = u32::try_from(draw.nth(1).below(3)).unwrap_or(0);
        let kinds = [
            (shares.missing_share, Self::Missing),
            (shares.junk_share, Self::Junk),
            (shares.some_share, Self::DisallowsSome(branch)),
            (shares.all_share, Self::DisallowsAll),
            (shares.crawl_delay_share, Self::CrawlDelay(shares.crawl_delay)),
            (shares.unavailable_share, Self::Unavailable),
            (shares.silent_share, Self::Silent),
        ];
        by_share(draw, &kinds).unwrap_or(Self::AllowsAll)
    }

    /// Status, content type and body of /robots.txt with these sitemaps after its rules; none if the server
    /// never responds.
    pub(crate) fn file(self, sitemaps: &[String]) -> Option<(u16, &'static str, String)> {
        let (status, content_type, mut text) = self.rules()?;
        if self.has_rules() {
            text.extend(sitemaps.iter().map(|url| format!("Sitemap: {url}\n")));
        }
        Some((status, content_type, text))
    }

    /// All sitemaps that the file names, as written.
    pub(crate) fn sitemaps(self, by_url: Vec<String>) -> Vec<String> {
        let own = matches!(self, Self::DisallowsSome(_)).then(|| OWN_SITEMAP.to_owned());
        if self.has_rules() { own.into_iter().chain(by_url).collect() } else { Vec::new() }
    }

    /// The word for it in the table `hosts`.
    pub(crate) fn column_value(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Junk => "junk",
            Self::AllowsAll => "allows_all",
            Self::DisallowsSome(_) => "disallows_some",
            Self::DisallowsAll => "disallows_all",
            Self::CrawlDelay(_) => "crawl_delay",
            Self::Unavailable => "unavailable",
            Self::Silent => "silent",
        }
    }

    fn has_rules(self) -> bool {
        matches!(self, Self::AllowsAll | Self::DisallowsSome(_) | Self::DisallowsAll | Self::CrawlDelay(_))
    }

    fn rules(self) -> Option<(u16, &'static str, String)> {
        Some(match self {
            Self::Silent => return None,
            Self::Missing => (404, "text/html", "<html><body>No such file.</body></html>\n".to_owned()),
            Self::Junk => (200, "text/html", "<html><body><h1>Welcome</h1></body></html>\n".to_owned()),
            Self::AllowsAll => (200, "text/plain", "User-agent: *\nDisallow:\n".to_owned()),
            Self::DisallowsSome(branch) => (200, "text/plain", some_rules(branch)),
            Self::DisallowsAll => (200, "text/plain", "User-agent: *\r\nDisallow: /\r\n".to_owned()),
            Self::CrawlDelay(seconds) => {
                (200, "text/plain", format!("User-agent: *\nCrawl-delay: {seconds}\nDisallow:\n"))
            }
            Self::Unavailable => (503, "text/html", "<html><body>Try later.</body></html>\n".to_owned()),
        })
    }

    /// The verdict on a resource, derived from the resource and not from the text of the file. No rule
    /// matches a path that names none.
    pub(crate) fn verdict(self, resource: Option<&Resource>, naming: &dyn Naming) -> RobotsAccess {
        match self {
            Self::Unavailable | Self::Silent => RobotsAccess::Unreachable,
            Self::DisallowsAll => RobotsAccess::Disallowed,
            Self::DisallowsSome(branch) if resource.is_some_and(|found| disallows(branch, found, naming)) => {
                RobotsAccess::Disallowed
            }
            _ => RobotsAccess::Allowed,
        }
    }
}

/// The sitemap that [`some_rules`] name by its path.
const OWN_SITEMAP: &str = "/sitemap.xml";

/// The group of another robot comes first and must not be obeyed. The longest match wins, so one page of the
/// branch is allowed in spite of the rule. `*` and `$` are those of RFC 9309 §2.2.3.
fn some_rules(branch: u32) -> String {
    format!(
        "# Please be gentle.\nUser-agent: GreedyBot\nDisallow: /\n\nUSER-AGENT: *\nDisallow: /part-{branch}/ # drafts\nAllow: /part-{branch}/0.html\nDisallow: /*.pdf$\n\nSitemap: {OWN_SITEMAP}\n"
    )
}

fn disallows(branch: u32, resource: &Resource, naming: &dyn Naming) -> bool {
    match resource {
        Resource::Node(path) => {
            let is_below = !naming.is_script_only() && path.len() > 1 && path[0] == branch;
            is_below && (path[1..] != [0] || naming.word(path).is_some())
        }
        Resource::Alias(_, path) => path.len() > 1 && path[0] == branch,
        Resource::Extra(extra, _) => *extra == Extra::Pdf,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::paths::{Alias, Named};
    use super::*;

    #[test]
    fn rules_keep_a_branch_back_but_one_page() {
        let robots = Robots::DisallowsSome(2);
        let of = |resource: &Resource, is_script_only, word| {
            robots.verdict(Some(resource), &Named(is_script_only, word))
        };
        let verdict = |path: &[u32]| of(&Resource::Node(path.to_vec()), false, None);
        assert_eq!(verdict(&[2]), RobotsAccess::Allowed);
        assert_eq!(verdict(&[2, 1]), RobotsAccess::Disallowed);
        assert_eq!(verdict(&[2, 0, 1]), RobotsAccess::Disallowed);
        assert_eq!(verdict(&[2, 0]), RobotsAccess::Allowed);
        assert_eq!(verdict(&[1, 1]), RobotsAccess::Allowed);
        assert_eq!(of(&Resource::Extra(Extra::Pdf, vec![]), true, None), RobotsAccess::Disallowed);
        let alias = |path: &[u32]| of(&Resource::Alias(Alias::Short, path.to_vec()), false, None);
        assert_eq!([alias(&[2, 0]), alias(&[2])], [RobotsAccess::Disallowed, RobotsAccess::Allowed]);
        let of_a_kind = of(&Resource::Node(vec![2, 0]), false, Some("event"));
        assert_eq!(of_a_kind, RobotsAccess::Disallowed, "the rule allows /part-2/0.html");
        assert_eq!(robots.verdict(None, &Named(false, None)), RobotsAccess::Allowed);
        assert!(robots.file(&[]).unwrap().2.contains("\nDisallow: /part-2/ "));
    }
}
