use crate::World;
use crate::draw::{Draw, Key, rounded};
use crate::model::change::last_change;
use crate::model::content::Page;
use crate::settings::dates::{DAY_SECONDS, Date, http_date};

/// The validators of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResponseValidators {
    /// The value of `Last-Modified`, an HTTP date.
    pub last_modified: Option<String>,
    pub etag: Option<String>,
}

impl ResponseValidators {
    pub(crate) fn of_page(world: &World, page: &Page) -> Self {
        let shares = &world.validators;
        Self::draw(world, page.key, page.changed, shares.page_last_modified_share, shares.page_etag_share)
    }

    pub(crate) fn of_file(world: &World, key: Key) -> Self {
        let shares = &world.validators;
        Self::draw(
            world,
            key,
            last_change(world, key),
            shares.file_last_modified_share,
            shares.file_etag_share,
        )
    }

    fn draw(
        world: &World,
        key: Key,
        edition: Option<u64>,
        last_modified_share: f64,
        etag_share: f64,
    ) -> Self {
        let last_modified = key.draw("has last modified").happens(last_modified_share);
        let etag = key.draw("has etag").happens(etag_share);
        let version = edition.map_or(key, |edition| key.part("edition").child(edition));
        Self {
            last_modified: last_modified.then(|| http_date(changed(world, key, edition))),
            etag: etag.then(|| etag_of(version.draw("etag"))),
        }
    }
}

/// When a page or file changed, in seconds since 1970; `edition` is the last one that changed it.
pub(crate) fn changed(world: &World, key: Key, edition: Option<u64>) -> i64 {
    if let Some(edition) = edition {
        return world.edition_begins(edition);
    }
    let days = key.draw("age").log_normal(world.validators.age_median, world.validators.age_sigma);
    #[expect(clippy::cast_precision_loss, reason = "seconds of a day are exact in an f64")]
    let age = i64::try_from(rounded(days * DAY_SECONDS as f64)).unwrap_or(i64::MAX);
    world.date.seconds().saturating_sub(age).max(Date::EARLIEST_CHANGE.seconds())
}

/// An entity tag in Apache's form: inode, size and time, in hexadecimal.
fn etag_of(draw: Draw) -> String {
    let part = |n: u64, most: u64| draw.nth(n).below(most);
    format!("\"{:x}-{:x}-{:x}\"", part(1, 1 << 24), part(2, 1 << 18), part(3, 1 << 40))
}
