//! The sections of a world file on the bytes of responses, on servers and on time.

use super::keys::{KeyDoc, Table, WorldError};
use super::sections::section;

section! {
    /// The bytes of pages.
    Pages = "pages" {
        /// Median size [D].
        bytes_median: f64 = 10_000.0, 100.0..=1e6, "bytes";
        /// Sigma of the logarithm of the size, over all pages [D].
        bytes_sigma: f64 = 1.2, 0.0..=3.0, "natural logarithm";
        /// The part of that sigma that lies between sites; a value above `bytes_sigma` counts as equal to it
        /// [A].
        bytes_site_sigma: f64 = 0.8, 0.0..=3.0, "natural logarithm";
        /// Size at which filler text ends; links alone may make a page larger [A].
        most_bytes: u64 = 200_000, 100..=10_000_000, "bytes";
        /// Size of the text block that is the same on every page of a site; shorter pages have the beginning
        /// of it. 0.55 makes it 45 % of all content [V].
        template_share: f64 = 0.55, 0.0..=1.0, "share of the site's mean page";
        /// Sites that declare UTF-8; the rest of the charset shares declares ISO-8859-1 [A].
        utf8_share: f64 = 0.20, 0.0..=1.0, "share of sites";
        /// Sites that declare windows-1252 [A].
        windows_1252_share: f64 = 0.15, 0.0..=1.0, "share of sites";
        /// Sites that declare windows-1256 [A].
        windows_1256_share: f64 = 0.05, 0.0..=1.0, "share of sites";
        /// Sites that declare `Shift_JIS` [A].
        shift_jis_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites that declare EUC-JP [A].
        euc_jp_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites that declare ISO-2022-JP [A].
        iso_2022_jp_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites with titles in one Japanese encoding and text in another; they declare that of the text [A].
        mixed_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites that declare no charset; they use one of those above, with the same shares [A].
        undeclared_share: f64 = 0.15, 0.0..=1.0, "share of sites";
        /// Pages that declare a charset other than the one they use [A].
        wrong_charset_share: f64 = 0.125, 0.0..=1.0, "share of pages of sites that declare one";
        /// Pages that declare no charset although their site does [A].
        missing_charset_share: f64 = 0.125, 0.0..=1.0, "share of pages of sites that declare one";
        /// Pages in UTF-8 with an excerpt that ends within a character, as in text cut by programs that count
        /// bytes [A].
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
        /// Pages with decoys inside comments and scripts that look like links but are none [A].
        decoy_share: f64 = 0.1, 0.0..=1.0, "share of pages";
        /// Pages sent in chunks [A].
        chunked_share: f64 = 0.1, 0.0..=1.0, "share of pages";
    }
}

impl Pages {
    /// The shares of the charsets that have a key: UTF-8, windows-1252, windows-1256, `Shift_JIS`, EUC-JP and
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
    /// When pages and files changed, and the validators that servers send.
    Validators = "validators" {
        /// Pages with a Last-Modified field: static pages, not those generated on request [A].
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
        /// Number of times the world has been edited, so that it can be surveyed again: changed pages have
        /// new bytes, tags and dates. `[change]` sets what else an edition does [A].
        edition: u64 = 0, 0..=1000, "editions";
        /// Pages and files that each edition changes [A].
        changed_share: f64 = 0.0, 0.0..=1.0, "share of pages and files";
    }
}

section! {
    /// The bytes of files other than HTML.
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
        /// Largest size of a file, so that a world costs little to transfer [A].
        most_bytes: u64 = 200_000, 100..=200_000, "bytes";
    }
}

section! {
    /// The servers of the sites.
    Servers = "servers" {
        /// Addresses of giant servers, which share the hosts of `giants_share` evenly [V].
        giants: u64 = 3, 0..=1000, "addresses";
        /// Hosts on a giant's address [V].
        giants_share: f64 = 0.45, 0.0..=1.0, "share of hosts";
        /// Other addresses, with hosts spread by Zipf's law: the first are crowded, the last hardly used [A].
        others: u64 = 1000, 1..=1_000_000, "addresses";
        /// Addresses outside the country [V].
        offshore_share: f64 = 0.8, 0.0..=1.0, "share of addresses";
        /// Of these, addresses in other African countries, if any other is left [A].
        neighbour_share: f64 = 0.1, 0.0..=1.0, "share of addresses offshore";
        /// Of the others, addresses in Europe; the rest are in America [D].
        europe_share: f64 = 0.65, 0.0..=1.0, "share of addresses offshore outside Africa";
        /// Addresses inside the country on a satellite link [A].
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
        /// Smallest bandwidth of an address: a modem's [A].
        bandwidth_least: f64 = 28.8, 1.0..=1e8, "kbit/s";
        /// Largest bandwidth of an address [A].
        bandwidth_most: f64 = 100_000.0, 1.0..=1e8, "kbit/s";
        /// Daily swing of the use of links by other users: how far it rises above its mean at the peak, and
        /// falls below it twelve hours later [A].
        day_swing: f64 = 0.0, 0.0..=1.0, "share of the mean use";
        /// Hour of that peak, give or take two hours [A].
        peak_hour: f64 = 14.0, 0.0..=24.0, "hour of the day, UTC";
        /// Addresses that gzip pages when the client accepts it [A].
        gzip_share: f64 = 0.0, 0.0..=1.0, "share of addresses";
        /// Addresses whose server is Apache [M].
        apache_share: f64 = 0.65, 0.0..=1.0, "share of addresses";
        /// Addresses whose server is IIS [M].
        iis_share: f64 = 0.30, 0.0..=1.0, "share of addresses";
        /// Addresses whose server is nginx; the rest have other software of the time [M].
        nginx_share: f64 = 0.005, 0.0..=1.0, "share of addresses";
    }
}

section! {
    /// Durations. The background use of each address is drawn from Beta(2, 3) [A].
    Time = "time" {
        /// Factor for all round trips, service times and transfers of the other keys; at 0 a world takes no
        /// time at all [A].
        scale: f64 = 0.0, 0.0..=100.0, "factor";
        /// Median time that a server works before the first byte of a response [D].
        service_median: f64 = 0.3, 0.0..=60.0, "seconds";
        /// Sigma of its logarithm [D].
        service_sigma: f64 = 0.8, 0.0..=3.0, "natural logarithm";
        /// Longest time that a server works on a response [A].
        service_most: f64 = 30.0, 0.0..=300.0, "seconds";
    }
}
