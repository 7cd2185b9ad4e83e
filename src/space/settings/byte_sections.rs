//! The sections of a world file that say what bytes answers have, from which servers, in what time.

use super::keys::{KeyDoc, Table, WorldError};
use super::sections::section;

section! {
    /// The bytes of pages.
    Pages = "pages" {
        /// Median size [D].
        bytes_median: f64 = 10_000.0, 100.0..=1e6, "bytes";
        /// Sigma of the logarithm of the size, over all pages [D].
        bytes_sigma: f64 = 1.2, 0.0..=3.0, "natural logarithm";
        /// The part of that sigma that lies between sites; what is above it counts as it [A].
        bytes_site_sigma: f64 = 0.8, 0.0..=3.0, "natural logarithm";
        /// Filling ends here; links alone may take more [A].
        most_bytes: u64 = 200_000, 100..=10_000_000, "bytes";
        /// Size of the block of text that is the same on every page of a site, of which shorter pages have
        /// the beginning; 0.55 makes it 45 % of all content [V].
        template_share: f64 = 0.55, 0.0..=1.0, "share of the site's mean page";
        /// Sites that say they are in UTF-8; what is left of the charsets' shares says ISO-8859-1 [A].
        utf8_share: f64 = 0.20, 0.0..=1.0, "share of sites";
        /// Sites that say they are in windows-1252 [A].
        windows_1252_share: f64 = 0.15, 0.0..=1.0, "share of sites";
        /// Sites that say they are in windows-1256 [A].
        windows_1256_share: f64 = 0.05, 0.0..=1.0, "share of sites";
        /// Sites that say they are in `Shift_JIS` [A].
        shift_jis_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites that say they are in EUC-JP [A].
        euc_jp_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites that say they are in ISO-2022-JP [A].
        iso_2022_jp_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites whose titles are in one Japanese encoding and whose text is in another; they declare that of
        /// the text [A].
        mixed_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites that declare no charset; they are in one of those above, by the same shares [A].
        undeclared_share: f64 = 0.15, 0.0..=1.0, "share of sites";
        /// Pages that declare another charset than they are in [A].
        wrong_charset_share: f64 = 0.125, 0.0..=1.0, "share of pages of sites that declare one";
        /// Pages that declare none although their site does [A].
        missing_charset_share: f64 = 0.125, 0.0..=1.0, "share of pages of sites that declare one";
        /// Pages in UTF-8 with an excerpt that ends in the midst of a character, as programs cut that count bytes [A].
        cut_excerpt_share: f64 = 0.0, 0.0..=1.0, "share of pages in UTF-8";
        /// Sites whose pages have a base element [A].
        base_share: f64 = 0.05, 0.0..=1.0, "share of sites";
        /// Links in another spelling of the same URL [A].
        alias_share: f64 = 0.2, 0.0..=1.0, "share of links";
        /// Links that are an area of an image map [A].
        area_share: f64 = 0.02, 0.0..=1.0, "share of links";
        /// Links to children that are frames [A].
        frame_share: f64 = 0.02, 0.0..=1.0, "share of links";
        /// Pages, front pages excepted, whose robots meta element says nofollow [A].
        nofollow_share: f64 = 0.01, 0.0..=1.0, "share of pages";
        /// Pages with links inside comments and scripts, which are none [A].
        decoy_share: f64 = 0.1, 0.0..=1.0, "share of pages";
        /// Pages sent in chunks [A].
        chunked_share: f64 = 0.1, 0.0..=1.0, "share of pages";
    }
}

impl Pages {
    /// The shares of the charsets that have one: UTF-8, windows-1252, windows-1256, `Shift_JIS`, EUC-JP and
    /// ISO-2022-JP.
    pub(crate) fn charset_shares(&self) -> [f64; 6] {
        [
            self.utf8_share,
            self.windows_1252_share,
            self.windows_1256_share,
            self.shift_jis_share,
            self.euc_jp_share,
            self.iso_2022_jp_share,
        ]
    }
}

section! {
    /// When pages and files were changed, and what servers say of it.
    Validators = "validators" {
        /// Pages with a Last-Modified field: the written ones, not those put together when asked for [A].
        page_last_modified_share: f64 = 0.4, 0.0..=1.0, "share of pages";
        /// Pages with an `ETag` field [A].
        page_etag_share: f64 = 0.35, 0.0..=1.0, "share of pages";
        /// Files with a Last-Modified field [A].
        file_last_modified_share: f64 = 0.95, 0.0..=1.0, "share of files";
        /// Files with an `ETag` field [A].
        file_etag_share: f64 = 0.9, 0.0..=1.0, "share of files";
        /// Median age at the date of the world [A].
        age_median: f64 = 180.0, 0.01..=4000.0, "days";
        /// Sigma of the logarithm of the age; none is older than 1995-01-01 [A].
        age_sigma: f64 = 1.8, 0.0..=4.0, "natural logarithm";
        /// How often the world has been edited since it was made, so that it can be surveyed anew: the bytes, tags and
        /// dates of changed pages are others; what else an edition does, `[change]` says [A].
        edition: u64 = 0, 0..=1000, "editions";
        /// Pages and files that each edition changes [A].
        changed_share: f64 = 0.0, 0.0..=1.0, "share of pages and files";
    }
}

section! {
    /// The bytes of files that are no HTML.
    Files = "files" {
        /// Median size of PDF files [A].
        pdf_median: f64 = 80_000.0, 100.0..=1e6, "bytes";
        /// Median size of JPEG files [A].
        jpeg_median: f64 = 12_000.0, 100.0..=1e6, "bytes";
        /// Median size of PNG files [A].
        png_median: f64 = 6_000.0, 100.0..=1e6, "bytes";
        /// Median size of word-processor files [A].
        msword_median: f64 = 40_000.0, 100.0..=1e6, "bytes";
        /// Median size of archives [A].
        zip_median: f64 = 100_000.0, 100.0..=1e6, "bytes";
        /// Sigma of the logarithm of the size, for all kinds [A].
        sigma: f64 = 1.2, 0.0..=3.0, "natural logarithm";
        /// Files end here, so that a world costs little to carry [A].
        most_bytes: u64 = 200_000, 100..=200_000, "bytes";
    }
}

section! {
    /// Where the sites stand.
    Servers = "servers" {
        /// Addresses that share the giants' part evenly [V].
        giants: u64 = 3, 0..=1000, "addresses";
        /// Hosts that stand at a giant's address [V].
        giants_share: f64 = 0.45, 0.0..=1.0, "share of hosts";
        /// Further addresses, used by Zipf's law: the first ones crowded, the last ones hardly used [A].
        others: u64 = 1000, 1..=1_000_000, "addresses";
        /// Addresses outside the country [V].
        offshore_share: f64 = 0.8, 0.0..=1.0, "share of addresses";
        /// Of these, addresses in other African countries, if any are left [A].
        neighbour_share: f64 = 0.1, 0.0..=1.0, "share of addresses offshore";
        /// Of the others, addresses in Europe; what is left is in America [D].
        europe_share: f64 = 0.65, 0.0..=1.0, "share of addresses offshore outside Africa";
        /// Addresses inside the country that hang on a satellite link [A].
        satellite_share: f64 = 0.2, 0.0..=1.0, "share of addresses onshore";
        /// Mean round trip to an address offshore [V].
        offshore_round_trip: f64 = 180.0, 0.0..=10_000.0, "milliseconds";
        /// Its standard deviation; no round trip is below 1 ms [A].
        offshore_deviation: f64 = 40.0, 0.0..=10_000.0, "milliseconds";
        /// Mean round trip to an address onshore [V].
        onshore_round_trip: f64 = 320.0, 0.0..=10_000.0, "milliseconds";
        /// Its standard deviation [A].
        onshore_deviation: f64 = 80.0, 0.0..=10_000.0, "milliseconds";
        /// Mean round trip over a satellite [V].
        satellite_round_trip: f64 = 650.0, 0.0..=10_000.0, "milliseconds";
        /// Its standard deviation [A].
        satellite_deviation: f64 = 60.0, 0.0..=10_000.0, "milliseconds";
        /// Median bandwidth of an address [V].
        bandwidth_median: f64 = 512.0, 1.0..=1e8, "kbit/s";
        /// Sigma of its logarithm [D].
        bandwidth_sigma: f64 = 1.2, 0.0..=3.0, "natural logarithm";
        /// No address has less: a modem's [A].
        bandwidth_least: f64 = 28.8, 1.0..=1e8, "kbit/s";
        /// No address has more [A].
        bandwidth_most: f64 = 100_000.0, 1.0..=1e8, "kbit/s";
        /// By how much of its mean the use of a link by others is more at the peak of the day, and less twelve hours
        /// later [A].
        day_swing: f64 = 0.0, 0.0..=1.0, "share of the mean use";
        /// When that is, give or take two hours [A].
        peak_hour: f64 = 14.0, 0.0..=24.0, "hour of the day, UTC";
        /// Addresses that answer pages gzipped when the client accepts it [A].
        gzip_share: f64 = 0.0, 0.0..=1.0, "share of addresses";
        /// Addresses whose server is Apache [M].
        apache_share: f64 = 0.65, 0.0..=1.0, "share of addresses";
        /// Addresses whose server is IIS [M].
        iis_share: f64 = 0.30, 0.0..=1.0, "share of addresses";
        /// Addresses whose server is nginx; the rest are others of the time [M].
        nginx_share: f64 = 0.005, 0.0..=1.0, "share of addresses";
    }
}

section! {
    /// How long things take. The background use of each address is drawn from Beta(2, 3) [A].
    Time = "time" {
        /// Round trips, service and transfers take so many times as long as the other keys say; at 0 a world
        /// takes no time at all [A].
        scale: f64 = 0.0, 0.0..=100.0, "factor";
        /// Median time a server works before the first byte of an answer [D].
        service_median: f64 = 0.3, 0.0..=60.0, "seconds";
        /// Sigma of its logarithm [D].
        service_sigma: f64 = 0.8, 0.0..=3.0, "natural logarithm";
        /// No answer takes longer work [A].
        service_most: f64 = 30.0, 0.0..=300.0, "seconds";
    }
}
