use crate::draw::Key;

/// A page of one of the traps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trap {
    /// `/calendar/2001/02/`, counted in months from January 2001, which the front page shows.
    Month(u64),
    /// `/calendar/2001/02/14.html`
    Day(u64, u64),
    /// `/news/items/news/`: the number of segments.
    Loop(u64),
    /// `/sid-4/`: the front page in a session.
    Session(u64),
    /// `/sid-4/part-2.html`
    SessionPage(u64, u32),
    /// `/shop/size-2/year-1/`: facets with their values, in the order of the facets.
    Facets(Vec<(u64, u64)>),
}

const FIRST_YEAR: u64 = 2001;
const FACETS: [&str; 8] = ["size", "colour", "brand", "price", "year", "place", "form", "rate"];
const LOOP: [&str; 2] = ["news/", "items/"];
/// Longer paths than servers accept name nothing.
const MOST_SEGMENTS: usize = 4096;

impl Trap {
    pub(crate) fn target(&self) -> String {
        match self {
            Self::Month(month) => calendar(*month),
            Self::Day(month, day) => format!("{}{day:02}.html", calendar(*month)),
            Self::Loop(length) => {
                let length = usize::try_from(*length).unwrap_or(MOST_SEGMENTS).min(MOST_SEGMENTS);
                let segments = LOOP.iter().cycle().take(length);
                ["/"].into_iter().chain(segments.copied()).collect()
            }
            Self::Session(number) => format!("/sid-{number}/"),
            Self::SessionPage(number, page) => format!("/sid-{number}/part-{page}.html"),
            Self::Facets(chosen) => {
                let segments = chosen.iter().map(|(facet, value)| format!("{}-{value}/", facet_name(*facet)));
                ["/shop/".to_owned()].into_iter().chain(segments).collect()
            }
        }
    }

    /// Reads a target loosely; the caller writes the result again and compares.
    pub(crate) fn read(target: &str) -> Option<Self> {
        let (first, rest) = target.strip_prefix('/')?.split_once('/')?;
        match first {
            "calendar" => read_calendar(rest),
            "news" => Some(Self::Loop(target.matches('/').count() as u64 - 1)),
            "shop" => read_facets(rest),
            _ => read_session(first, rest),
        }
    }

    /// The key of the page, derived from the key of the site's content.
    pub(crate) fn key(&self, site: Key) -> Key {
        match self {
            Self::Month(month) => site.part("month").child(*month),
            Self::Day(month, day) => site.part("day").child(*month).child(*day),
            Self::Loop(length) => site.part("loop").child(*length),
            Self::Session(number) => site.part("session").child(*number),
            Self::SessionPage(number, page) => {
                site.part("session page").child(*number).child(u64::from(*page))
            }
            Self::Facets(chosen) => {
                chosen.iter().fold(site.part("facets"), |key, (facet, value)| key.child(*facet).child(*value))
            }
        }
    }
}

fn calendar(month: u64) -> String {
    format!("/calendar/{}/{:02}/", FIRST_YEAR + month / 12, month % 12 + 1)
}

fn facet_name(facet: u64) -> &'static str {
    usize::try_from(facet).ok().and_then(|facet| FACETS.get(facet)).copied().unwrap_or_default()
}

fn read_calendar(rest: &str) -> Option<Trap> {
    let mut parts = rest.split('/');
    let mut number = || parts.next()?.trim_end_matches(".html").parse::<u32>().ok().map(u64::from);
    let (year, month, day) = (number()?, number()?, number());
    let month = (year.checked_sub(FIRST_YEAR)? * 12 + month).checked_sub(1)?;
    Some(day.map_or(Trap::Month(month), |day| Trap::Day(month, day)))
}

fn read_facets(rest: &str) -> Option<Trap> {
    let read = |segment: &str| {
        let (name, value) = segment.rsplit_once('-')?;
        let facet = FACETS.iter().position(|known| *known == name)?;
        Some((facet as u64, value.parse().ok()?))
    };
    rest.split_terminator('/').map(read).collect::<Option<_>>().map(Trap::Facets)
}

fn read_session(first: &str, rest: &str) -> Option<Trap> {
    let number = first.strip_prefix("sid-")?.parse::<u32>().ok()?.into();
    if rest.is_empty() {
        return Some(Trap::Session(number));
    }
    let page = rest.strip_prefix("part-")?.strip_suffix(".html")?.parse().ok()?;
    Some(Trap::SessionPage(number, page))
}
