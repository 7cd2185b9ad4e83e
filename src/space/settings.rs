use super::WorldError;
use super::keys::{KeyDoc, Table};

macro_rules! section {
    ($(#[doc = $story:literal])+ $name:ident = $table:literal {
        $($(#[doc = $doc:literal])+ $key:ident: $kind:ident = $default:literal, $allowed:expr, $unit:literal;)+
    }) => {
        $(#[doc = $story])+
        #[allow(clippy::struct_field_names, reason = "fields are named as the keys of the file")]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $key: $kind,)+
        }

        impl $name {
            pub(super) const TABLE: &'static str = $table;

            pub(super) const KEYS: &'static [KeyDoc] = &[$(KeyDoc {
                name: concat!($table, ".", stringify!($key)),
                unit: $unit,
                default: stringify!($default),
                allowed: stringify!($allowed),
                meaning: concat!($($doc),+),
            }),+];

            pub(super) fn read(table: &mut Table<'_>) -> Result<Self, WorldError> {
                let section = Self {
                    $($key: table.number(stringify!($key), $default, &($allowed), $unit)?,)+
                };
                table.finish()?;
                Ok(section)
            }

            pub(super) fn values(&self) -> Vec<serde_json::Value> {
                vec![$(serde_json::json!(self.$key)),+]
            }
        }
    };
}

pub(super) use section;

section! {
    /// How many sites there are, and of which kind.
    Sites = "sites" {
        /// Sites in the world.
        count: u64 = 100, 1..=1_000_000, "sites";
        /// Sites that stand in the start list; the others are found by links only.
        start_share: f64 = 0.7, 0.0..=1.0, "share of sites";
        /// Sites of a single page.
        one_page_share: f64 = 0.22, 0.0..=1.0, "share of sites";
        /// Small sites, their pages log-normal.
        brochure_share: f64 = 0.43, 0.0..=1.0, "share of sites";
        /// Sites run by a content management system, their pages log-normal.
        cms_share: f64 = 0.25, 0.0..=1.0, "share of sites";
        /// Large sites, their pages Pareto.
        large_share: f64 = 0.10, 0.0..=1.0, "share of sites";
        /// Median pages of a small site.
        brochure_median: f64 = 12.0, 1.0..=1e6, "pages";
        /// Sigma of the logarithm of pages of small sites.
        brochure_sigma: f64 = 0.9, 0.0..=4.0, "natural logarithm";
        /// Median pages of a CMS site.
        cms_median: f64 = 120.0, 1.0..=1e6, "pages";
        /// Sigma of the logarithm of pages of CMS sites.
        cms_sigma: f64 = 1.3, 0.0..=4.0, "natural logarithm";
        /// The smallest large site.
        large_smallest: f64 = 300.0, 1.0..=1e6, "pages";
        /// Pareto exponent of large sites.
        large_alpha: f64 = 1.1, 0.5..=10.0, "exponent";
        /// No site has more pages than this.
        most_pages: u64 = 100_000, 1..=100_000_000, "pages";
        /// Sites whose main host begins with www; their bare name redirects there.
        www_share: f64 = 0.7, 0.0..=1.0, "share of sites";
        /// Sites with www whose start URL has the bare name.
        bare_start_share: f64 = 0.1, 0.0..=1.0, "share of sites with www";
        /// Sites with www whose front page links to the bare name.
        bare_link_share: f64 = 0.2, 0.0..=1.0, "share of sites with www";
        /// Sites of four pages and more that have a second host with a tree and robots.txt of its own.
        subdomain_share: f64 = 0.2, 0.0..=1.0, "share of sites";
        /// Pages that stand on the second host.
        subdomain_pages_share: f64 = 0.2, 0.0..=0.9, "share of the site's pages";
        /// CMS sites whose pages are all query URLs of one script.
        script_only_share: f64 = 0.3, 0.0..=1.0, "share of CMS sites";
    }
}

section! {
    /// The shape of a site: how pages hang below pages.
    Shape = "tree" {
        /// Median over sites of a site's typical fan-out.
        fan_out_median: f64 = 5.0, 1.0..=1000.0, "pages";
        /// Sigma of the logarithm of the typical fan-out, over sites.
        fan_out_site_sigma: f64 = 0.45, 0.0..=3.0, "natural logarithm";
        /// Sigma of the logarithm of the fan-out, over the pages of a site.
        fan_out_sigma: f64 = 0.5, 0.0..=3.0, "natural logarithm";
        /// The front page has so many times the fan-out of others.
        root_factor: f64 = 1.6, 0.1..=100.0, "factor";
        /// Sigma of the logarithm of the weights that divide the pages among the branches.
        branch_sigma: f64 = 1.0, 0.0..=4.0, "natural logarithm";
        /// Links to pages of the same parent.
        siblings: u64 = 3, 0..=100, "links a page";
        /// Links to children of the front page.
        navigation: u64 = 8, 0..=100, "links a page";
    }
}

section! {
    /// What hangs at a page beside the pages below it, one of each kind at most.
    Extras = "extras" {
        /// Pages with a script.
        script_share: f64 = 0.05, 0.0..=1.0, "share of pages";
        /// Query URLs of a script, all linked from its page.
        script_queries: u64 = 5, 1..=500, "URLs";
        /// Scripts that are linked without a query too.
        bare_script_share: f64 = 0.5, 0.0..=1.0, "share of scripts";
        /// Pages with a link that leads nowhere (404).
        broken_share: f64 = 0.1, 0.0..=1.0, "share of pages";
        /// Pages with a link to a file that is no HTML.
        file_share: f64 = 0.3, 0.0..=1.0, "share of pages";
        /// Pages with a nofollow link to a page that is linked nowhere else.
        hidden_share: f64 = 0.05, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page that leads on by meta refresh.
        refresh_share: f64 = 0.02, 0.0..=1.0, "share of pages";
    }
}

section! {
    /// Redirects, one of each kind at most hanging at a page.
    Redirects = "redirects" {
        /// To a page that is linked too.
        linked_share: f64 = 0.05, 0.0..=1.0, "share of pages";
        /// To a page that is linked nowhere.
        landing_share: f64 = 0.03, 0.0..=1.0, "share of pages";
        /// To another site.
        external_share: f64 = 0.02, 0.0..=1.0, "share of pages";
        /// To a redirect that leads back.
        loop_share: f64 = 0.005, 0.0..=1.0, "share of pages";
        /// To a chain of redirects with a page at its end.
        chain_share: f64 = 0.02, 0.0..=1.0, "share of pages";
        /// Redirects in a chain.
        chain_hops: u64 = 3, 1..=100, "redirects";
    }
}

section! {
    /// Links that leave the site.
    Externals = "external" {
        /// Mean size of the set that stands on every page of a site (Poisson).
        boilerplate_mean: f64 = 2.0, 0.0..=50.0, "links a page";
        /// Sites with a page of links at depth 1 or 2.
        links_page_share: f64 = 0.35, 0.0..=1.0, "share of sites";
        /// Median links of such a page.
        links_page_median: f64 = 20.0, 1.0..=1000.0, "links";
        /// Sigma of their logarithm.
        links_page_sigma: f64 = 1.0, 0.0..=3.0, "natural logarithm";
        /// A page of links has no more than this.
        links_page_most: u64 = 500, 1..=5000, "links";
        /// Mean links in the content of a front page, before the site's and the branch's factor.
        content_mean: f64 = 0.6, 0.0..=50.0, "links a page";
        /// Factor of that mean from one depth to the next.
        depth_decay: f64 = 0.85, 0.0..=1.0, "factor";
        /// Sites whose content links to nobody.
        silent_share: f64 = 0.35, 0.0..=1.0, "share of sites";
        /// Sigma of the logarithm of a site's factor; its mean is 1.
        site_sigma: f64 = 1.2, 0.0..=3.0, "natural logarithm";
        /// Sigma of the logarithm of a branch's factor; its mean is 1.
        branch_sigma: f64 = 1.5, 0.0..=3.0, "natural logarithm";
        /// Links that go to one of the site's favourites.
        favourite_share: f64 = 0.35, 0.0..=1.0, "share of content links";
        /// A site's favourites.
        favourites: u64 = 5, 1..=1000, "URLs";
        /// Links that stay inside the country domains.
        inside_share: f64 = 0.4, 0.0..=1.0, "share of external links";
        /// Links inside that lead to a page below the front page.
        deep_share: f64 = 0.1, 0.0..=1.0, "share of external links inside";
        /// Links to a site with www that use its bare name.
        bare_share: f64 = 0.1, 0.0..=1.0, "share of external links inside";
        /// Hosts outside that are linked with nofollow only.
        nofollow_share: f64 = 0.05, 0.0..=1.0, "share of hosts outside";
        /// Hosts outside that may be linked.
        outside_pool: u64 = 200_000, 1..=1_000_000_000, "hosts";
    }
}

section! {
    /// What a host says at /robots.txt; what is left is a file that allows everything.
    RobotsShares = "robots" {
        /// No such file (404).
        missing_share: f64 = 0.48, 0.0..=1.0, "share of hosts";
        /// An HTML page with status 200.
        junk_share: f64 = 0.08, 0.0..=1.0, "share of hosts";
        /// Rules that keep a branch and the PDF files back.
        some_share: f64 = 0.32, 0.0..=1.0, "share of hosts";
        /// Rules that keep everything back.
        all_share: f64 = 0.016, 0.0..=1.0, "share of hosts";
        /// Everything allowed, with a Crawl-delay.
        crawl_delay_share: f64 = 0.02, 0.0..=1.0, "share of hosts";
        /// That Crawl-delay; above 300 s a survey ends the site instead, which is not modelled.
        crawl_delay: f64 = 10.0, 0.0..=300.0, "seconds";
        /// A server error (503).
        unavailable_share: f64 = 0.02, 0.0..=1.0, "share of hosts";
    }
}

section! {
    /// What is wrong with whole sites.
    Faults = "faults" {
        /// The name does not exist.
        no_dns_share: f64 = 0.06, 0.0..=1.0, "share of sites";
        /// The name server fails.
        servfail_share: f64 = 0.02, 0.0..=1.0, "share of sites";
        /// The connection is closed without an answer.
        reset_share: f64 = 0.12, 0.0..=1.0, "share of sites";
        /// Everything answers 503.
        unavailable_share: f64 = 0.05, 0.0..=1.0, "share of sites";
        /// The front page, the only page, redirects to another site.
        moved_share: f64 = 0.02, 0.0..=1.0, "share of sites";
    }
}
