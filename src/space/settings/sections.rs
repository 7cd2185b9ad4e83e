use super::keys::{KeyDoc, Table, WorldError};

/// How much sites and branches differ in their external links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Some sites and branches have many external links, some have none.
    Heterogeneous,
    /// All are alike: each page has the mean number of external links that pages of its depth have in the
    /// other variant. On a front page that is `content_mean` × (1 − `silent_share`), because the factors of
    /// sites and branches have the mean 1. Only depth matters, so a survey gains nothing by stopping some
    /// sites early.
    Homogeneous,
}

impl Variant {
    pub(crate) const ALL: [(&'static str, Self); 2] =
        [("heterogeneous", Self::Heterogeneous), ("homogeneous", Self::Homogeneous)];
}

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
            pub(crate) const TABLE: &'static str = $table;

            pub(crate) const KEYS: &'static [KeyDoc] = &[$(KeyDoc {
                name: concat!($table, ".", stringify!($key)),
                unit: $unit,
                default: stringify!($default),
                allowed: stringify!($allowed),
                meaning: concat!($($doc),+),
            }),+];

            pub(crate) fn read(table: &mut Table<'_>) -> Result<Self, WorldError> {
                let section = Self {
                    $($key: table.number(stringify!($key), $default, &($allowed), $unit)?,)+
                };
                table.finish()?;
                Ok(section)
            }

            pub(crate) fn values(&self) -> Vec<serde_json::Value> {
                vec![$(serde_json::json!(self.$key)),+]
            }
        }
    };
}

pub(crate) use section;

section! {
    /// The number of sites, and their kinds.
    Sites = "sites" {
        /// Sites in the world [A].
        count: u64 = 100, 1..=1_000_000, "sites";
        /// Sites in the start list; the others are found by links only [A].
        start_share: f64 = 0.7, 0.0..=1.0, "share of sites";
        /// Sites with a single page [A].
        one_page_share: f64 = 0.22, 0.0..=1.0, "share of sites";
        /// Small sites, with a log-normal number of pages [A].
        brochure_share: f64 = 0.43, 0.0..=1.0, "share of sites";
        /// Sites run by a content management system, with a log-normal number of pages [A].
        cms_share: f64 = 0.25, 0.0..=1.0, "share of sites";
        /// Large sites, with a Pareto-distributed number of pages [A].
        large_share: f64 = 0.10, 0.0..=1.0, "share of sites";
        /// Median number of pages of a small site [A].
        brochure_median: f64 = 12.0, 1.0..=1e6, "pages";
        /// Sigma of the logarithm of the number of pages of small sites [A].
        brochure_sigma: f64 = 0.9, 0.0..=4.0, "natural logarithm";
        /// Median number of pages of a CMS site [A].
        cms_median: f64 = 120.0, 1.0..=1e6, "pages";
        /// Sigma of the logarithm of the number of pages of CMS sites [A].
        cms_sigma: f64 = 1.3, 0.0..=4.0, "natural logarithm";
        /// Number of pages of the smallest large site [A].
        large_smallest: f64 = 300.0, 1.0..=1e6, "pages";
        /// Pareto exponent of large sites [A].
        large_alpha: f64 = 1.1, 0.5..=10.0, "exponent";
        /// Largest number of pages of a site [A].
        most_pages: u64 = 30_000, 1..=100_000_000, "pages";
        /// Sites whose main host begins with www; their bare name redirects there [A].
        www_share: f64 = 0.7, 0.0..=1.0, "share of sites";
        /// Sites with www whose start URL has the bare name [A].
        bare_start_share: f64 = 0.1, 0.0..=1.0, "share of sites with www";
        /// Sites with www whose front page links to the bare name [A].
        bare_link_share: f64 = 0.2, 0.0..=1.0, "share of sites with www";
        /// Sites of four or more pages that have a second host with its own tree and robots.txt [A].
        subdomain_share: f64 = 0.2, 0.0..=1.0, "share of sites";
        /// Pages on the second host [A].
        subdomain_pages_share: f64 = 0.2, 0.0..=0.9, "share of the site's pages";
        /// CMS sites whose pages are all query URLs of one script [A].
        script_only_share: f64 = 0.3, 0.0..=1.0, "share of CMS sites";
    }
}

section! {
    /// The shape of a site: how pages are arranged below each other.
    Shape = "tree" {
        /// Median over sites of a site's typical fan-out [A].
        fan_out_median: f64 = 6.0, 1.0..=1000.0, "pages";
        /// Sigma of the logarithm of the typical fan-out, over sites [A].
        fan_out_site_sigma: f64 = 0.45, 0.0..=3.0, "natural logarithm";
        /// Sigma of the logarithm of the fan-out, over the pages of a site [A].
        fan_out_sigma: f64 = 0.5, 0.0..=3.0, "natural logarithm";
        /// The fan-out of the front page, as a multiple of that of other pages [A].
        root_factor: f64 = 1.6, 0.1..=100.0, "factor";
        /// Sigma of the logarithm of the weights that divide the pages among the branches [A].
        branch_sigma: f64 = 1.0, 0.0..=4.0, "natural logarithm";
        /// Links to pages of the same parent [A].
        siblings: u64 = 3, 0..=100, "links per page";
        /// Links to children of the front page [A].
        navigation: u64 = 8, 0..=100, "links per page";
    }
}

section! {
    /// What is attached to a page beside its child pages, at most one of each kind.
    Extras = "extras" {
        /// Pages with a script [A].
        script_share: f64 = 0.05, 0.0..=1.0, "share of pages";
        /// Query URLs of a script, all linked from its page [A].
        script_queries: u64 = 5, 1..=500, "URLs";
        /// Scripts that are also linked without a query [A].
        bare_script_share: f64 = 0.5, 0.0..=1.0, "share of scripts";
        /// Pages with a broken link (404) [D].
        broken_share: f64 = 0.12, 0.0..=1.0, "share of pages";
        /// Pages with a link to a file other than HTML [D].
        file_share: f64 = 0.35, 0.0..=1.0, "share of pages";
        /// Pages with a nofollow link to a page that is linked nowhere else [A].
        hidden_share: f64 = 0.05, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page that redirects by meta refresh [A].
        refresh_share: f64 = 0.02, 0.0..=1.0, "share of pages";
        /// Pages with a link to a forbidden page (403) [D].
        forbidden_share: f64 = 0.023, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page whose program fails (500) [D].
        error_share: f64 = 0.023, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page of an overloaded server (503) [A].
        busy_share: f64 = 0.0, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page whose connection ends after its last link [D].
        cut_share: f64 = 0.007, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page for which the server never responds [D].
        silent_share: f64 = 0.017, 0.0..=1.0, "share of pages";
    }
}

section! {
    /// Chains of list pages.
    Lists = "lists" {
        /// CMS and large sites with a chain of list pages; the list pages and their items are taken from the
        /// site's pages, at most half of them [A].
        share: f64 = 0.5, 0.0..=1.0, "share of CMS and large sites";
        /// Median number of list pages in a chain [A].
        length_median: f64 = 8.0, 1.0..=1000.0, "pages";
        /// Sigma of the logarithm of that number [A].
        length_sigma: f64 = 1.0, 0.0..=3.0, "natural logarithm";
        /// Largest number of list pages in a chain [A].
        length_most: u64 = 200, 1..=10_000, "pages";
        /// Items of a list page. Each is a page of its own, without external links except the site's
        /// boilerplate [A].
        items: u64 = 8, 0..=500, "pages per list page";
    }
}

section! {
    /// What the paths of a site tell of its pages. Programs write the pages of one kind under one pattern,
    /// what a list leads to is alike, and a translation or an earlier version repeats the names and the links
    /// of another part. Without it, a page is told from another by depth and branch only. The defaults are
    /// none.
    Structure = "structure" {
        /// Sites whose pages are of several kinds, each with a word of its own in the path:
        /// `/part-3/event-0-7.html` [A].
        kinds_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Kinds of pages of such a site [A].
        kinds: u64 = 5, 1..=16, "kinds";
        /// Sigma of the logarithm of the factor by which the external links of a kind differ; its mean is 1
        /// [A].
        kind_sigma: f64 = 1.5, 0.0..=3.0, "natural logarithm";
        /// Pages whose children are all of one kind, like the members of a list; the children of the others
        /// are of any kind [A].
        alike_share: f64 = 0.7, 0.0..=1.0, "share of pages with children";
        /// Sites with parts that repeat the first part, like translations and earlier versions: of the same
        /// shape, with the same names [A].
        repeats_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Parts that repeat the first one, at most as many as there are [A].
        repeats: u64 = 2, 1..=50, "parts";
        /// Pages of such a part whose content has the external links of the page that they repeat; the others
        /// have as many, to other targets [A].
        repeated_links_share: f64 = 0.9, 0.0..=1.0, "share of pages of such parts";
    }
}

section! {
    /// The same bytes under several URLs.
    Copies = "copies" {
        /// Pages with a second name: index.html, another case, no extension [A].
        alias_share: f64 = 0.2, 0.0..=1.0, "share of pages";
        /// Links to such a page, from siblings and menus, that use the second name [A].
        alias_link_share: f64 = 0.5, 0.0..=1.0, "share of links";
        /// Pages without children that repeat the bytes of another page: the first child of their parent that
        /// has no children either. 0.22 of these pages are 8 % of all pages [D].
        duplicate_share: f64 = 0.22, 0.0..=1.0, "share of such pages";
        /// Sites that show the pages of another site [A].
        mirror_share: f64 = 0.04, 0.0..=1.0, "share of sites";
    }
}

section! {
    /// Endless or meaningless pages that programs generate.
    Traps = "traps" {
        /// Sites with a calendar in paths that never ends [A].
        calendar_share: f64 = 0.1, 0.0..=1.0, "share of sites";
        /// Pages that a calendar adds at each depth: the next month, and the days of this one [A].
        calendar_pages: u64 = 30, 2..=32, "pages per level";
        /// Sites with a wrong relative link, so that each page links to a longer path [A].
        loop_share: f64 = 0.015, 0.0..=1.0, "share of sites";
        /// Sites with session identifiers in paths, a new one at each visit of the front page [A].
        session_share: f64 = 0.015, 0.0..=1.0, "share of sites";
        /// Sites with a shop in which products are chosen by facets in the path [A].
        facet_share: f64 = 0.015, 0.0..=1.0, "share of sites";
        /// Facets of a shop [A].
        facets: u64 = 5, 1..=8, "facets";
        /// Values of each facet [A].
        facet_values: u64 = 3, 1..=20, "values";
        /// Sites that respond with status 200 to a path that does not exist [A].
        soft_404_share: f64 = 0.015, 0.0..=1.0, "share of sites";
    }
}

section! {
    /// Sites with TLS, and their certificates; the rest of the certificates are valid.
    Https = "https" {
        /// Sites with TLS; other sites link to them with https [A].
        share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Of these, sites that redirect every http URL to https [A].
        only_share: f64 = 0.8, 0.0..=1.0, "share of sites with TLS";
        /// Self-signed certificates [A].
        self_signed_share: f64 = 0.05, 0.0..=1.0, "share of sites with TLS";
        /// Expired certificates [A].
        expired_share: f64 = 0.03, 0.0..=1.0, "share of sites with TLS";
        /// Certificates for another host [A].
        wrong_name_share: f64 = 0.04, 0.0..=1.0, "share of sites with TLS";
        /// Sites that send `Strict-Transport-Security` with every response over TLS. The default is none [A].
        hsts_share: f64 = 0.0, 0.0..=1.0, "share of sites with TLS";
    }
}

section! {
    /// The doors of a site that are closed. The doors are its front pages: bare name and www, http and https.
    /// A site without www has an address at its bare name only.
    Doors = "doors" {
        /// Sites with www whose bare name has no address [A].
        www_only_share: f64 = 0.0, 0.0..=1.0, "share of sites with www";
        /// Sites with TLS where port 80 refuses connections. A gateway has accepted the connection already,
        /// and closes it without sending a byte [A].
        refused_80_share: f64 = 0.0, 0.0..=1.0, "share of sites with TLS";
        /// Sites with TLS where port 80 resets every connection [A].
        reset_80_share: f64 = 0.0, 0.0..=1.0, "share of sites with TLS";
        /// Sites whose front page needs a password (401) while the pages below it do not [A].
        front_401_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites whose front page is forbidden (403), like a folder without an index, while the pages below
        /// it are open [A].
        front_403_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites without a front page (404) but with the pages below it [A].
        front_404_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites whose front page redirects in a circle: over the bare name if it has an address, else over
        /// `index.html` [A].
        front_circle_share: f64 = 0.0, 0.0..=1.0, "share of sites";
    }
}

section! {
    /// DNS records of a host other than an IPv4 address.
    DnsShares = "dns" {
        /// Hosts that are an alias (CNAME) of a name at their hosting company [A].
        alias_share: f64 = 0.2, 0.0..=1.0, "share of hosts";
        /// Aliases that lead to the hosting company over another name. The default is none [A].
        chain_share: f64 = 0.0, 0.0..=1.0, "share of aliases";
        /// Hosts with an IPv6 address only [A].
        v6_only_share: f64 = 0.005, 0.0..=1.0, "share of hosts";
        /// Hosts with an IPv4 and an IPv6 address [A].
        both_share: f64 = 0.1, 0.0..=1.0, "share of hosts";
        /// Hosts whose UDP response is truncated, so that the client repeats the query over TCP [A].
        truncated_share: f64 = 0.02, 0.0..=1.0, "share of hosts";
    }
}

section! {
    /// Redirects attached to a page, at most one of each kind.
    Redirects = "redirects" {
        /// Redirect to a page that the same page also links to [D].
        linked_share: f64 = 0.06, 0.0..=1.0, "share of pages";
        /// Redirect to a page that is linked nowhere [D].
        landing_share: f64 = 0.03, 0.0..=1.0, "share of pages";
        /// Redirect to another site [D].
        external_share: f64 = 0.02, 0.0..=1.0, "share of pages";
        /// Redirect to a redirect that leads back, a loop [D].
        loop_share: f64 = 0.005, 0.0..=1.0, "share of pages";
        /// Redirect into a chain of redirects that ends at a page [D].
        chain_share: f64 = 0.02, 0.0..=1.0, "share of pages";
        /// Redirects in a chain [A].
        chain_hops: u64 = 3, 1..=100, "redirects";
    }
}

section! {
    /// Links that leave the site.
    Externals = "external" {
        /// Mean number of external links that are the same on every page of a site (Poisson) [A].
        boilerplate_mean: f64 = 2.0, 0.0..=50.0, "links per page";
        /// Sites with a page of links at depth 1 or 2 [A].
        links_page_share: f64 = 0.35, 0.0..=1.0, "share of sites";
        /// Median number of links on such a page [A].
        links_page_median: f64 = 20.0, 1.0..=1000.0, "links";
        /// Sigma of the logarithm of that number [A].
        links_page_sigma: f64 = 1.0, 0.0..=3.0, "natural logarithm";
        /// Largest number of links on such a page [A].
        links_page_most: u64 = 500, 1..=5000, "links";
        /// Mean number of links in the content of a front page, before the factors of site and branch [A].
        content_mean: f64 = 1.0, 0.0..=50.0, "links per page";
        /// Factor of that mean from one depth to the next [A].
        depth_decay: f64 = 0.84, 0.0..=1.0, "factor";
        /// Sites without external links in their content [A].
        silent_share: f64 = 0.35, 0.0..=1.0, "share of sites";
        /// Sigma of the logarithm of a site's factor; its mean is 1 [A].
        site_sigma: f64 = 1.2, 0.0..=3.0, "natural logarithm";
        /// Sigma of the logarithm of a branch's factor; its mean is 1 [A].
        branch_sigma: f64 = 1.5, 0.0..=3.0, "natural logarithm";
        /// Links that go to one of the site's favourites [A].
        favourite_share: f64 = 0.35, 0.0..=1.0, "share of content links";
        /// A site's favourites [A].
        favourites: u64 = 5, 1..=1000, "URLs";
        /// Links that stay inside the country domains [A].
        inside_share: f64 = 0.4, 0.0..=1.0, "share of external links";
        /// Links to other sites inside that lead to a page below the front page [A].
        deep_share: f64 = 0.1, 0.0..=1.0, "share of external links inside";
        /// Links to a site with www that use its bare name [A].
        bare_share: f64 = 0.1, 0.0..=1.0, "share of external links inside";
        /// Hosts outside that are linked with nofollow only [A].
        nofollow_share: f64 = 0.05, 0.0..=1.0, "share of hosts outside";
        /// Hosts outside that may be linked [A].
        outside_pool: u64 = 200_000, 1..=1_000_000_000, "hosts";
        /// Links to other sites inside that are dead. Published: 5.7 % of all links in May 1999 (a sample of
        /// All the Web), 11 % of the references of Wikipedia in 2023 (Pew Research Center, "When Online
        /// Content Disappears", 2024). The default is none [V].
        dead_share: f64 = 0.0, 0.0..=1.0, "share of external links inside";
        /// Of these, links to a host that no longer has an address, on a site that may still exist: of the
        /// pages gone in 2023, 9 in 25 were gone with their whole domain (Pew, as above) [D].
        dead_name_share: f64 = 0.36, 0.0..=1.0, "share of dead links";
        /// Of the others, links to a page with status 410; the rest lead to a 404, or to the site's response
        /// to a path that does not exist [A].
        gone_share: f64 = 0.1, 0.0..=1.0, "share of dead links to live hosts";
    }
}

section! {
    /// What each edition of the world does to pages, in addition to giving a share of them
    /// (`validators.changed_share`) new bytes. Published, for a year on the Web of 2003: 80 % of the pages at
    /// its beginning were gone at its end, and 80 % of the links were replaced (Ntoulas, Cho and Olston,
    /// "What's New on the Web?", WWW 2004, 154 large sites). Of pages seen between 2013 and 2023, 25 % were
    /// gone by then (Pew Research Center, as at `external.dead_share`). The defaults are none.
    Change = "change" {
        /// Pages that an edition adds below pages that have children; the new pages have no children [D].
        new_share: f64 = 0.0, 0.0..=10.0, "share of the pages below a page";
        /// Pages that an edition removes, with all pages below them: their parent no longer links to them,
        /// and they get status 404. The targets of the menu stay [D].
        gone_share: f64 = 0.0, 0.0..=1.0, "share of pages";
        /// External links of a page that are removed when an edition changes it; as many are added on average
        /// [D].
        links_share: f64 = 0.0, 0.0..=1.0, "share of links in the content of changed pages";
    }
}

section! {
    /// The robots.txt of a host; the remaining hosts have a file that allows everything.
    RobotsShares = "robots" {
        /// No such file (404) [V].
        missing_share: f64 = 0.50, 0.0..=1.0, "share of hosts";
        /// An HTML page with status 200 [V].
        junk_share: f64 = 0.08, 0.0..=1.0, "share of hosts";
        /// Rules that disallow a branch and the PDF files [A].
        some_share: f64 = 0.32, 0.0..=1.0, "share of hosts";
        /// Rules that disallow everything [A].
        all_share: f64 = 0.016, 0.0..=1.0, "share of hosts";
        /// Everything allowed, with a Crawl-delay [A].
        crawl_delay_share: f64 = 0.02, 0.0..=1.0, "share of hosts";
        /// The value of that Crawl-delay. Above 300 s a survey ends the site instead, which is not modelled
        /// [A].
        crawl_delay: f64 = 10.0, 0.0..=300.0, "seconds";
        /// A server error (503) [A].
        unavailable_share: f64 = 0.01, 0.0..=1.0, "share of hosts";
        /// The server accepts the request and never responds [A].
        silent_share: f64 = 0.01, 0.0..=1.0, "share of hosts";
        /// Files of rules that name a sitemap by its full URL. The default is none [A].
        sitemap_share: f64 = 0.0, 0.0..=1.0, "share of files of rules";
        /// Of these, files that name two or more [A].
        several_sitemaps_share: f64 = 0.2, 0.0..=1.0, "share of files that name a sitemap";
    }
}

section! {
    /// Faults of whole sites.
    Faults = "faults" {
        /// The name does not exist [A].
        no_dns_share: f64 = 0.05, 0.0..=1.0, "share of sites";
        /// The name server fails [A].
        servfail_share: f64 = 0.02, 0.0..=1.0, "share of sites";
        /// The name server never responds [A].
        dns_silent_share: f64 = 0.01, 0.0..=1.0, "share of sites";
        /// The connection is closed without a response [A].
        reset_share: f64 = 0.08, 0.0..=1.0, "share of sites";
        /// The server accepts requests and never responds [A].
        silent_share: f64 = 0.04, 0.0..=1.0, "share of sites";
        /// Every response is a 403 [A].
        forbidden_share: f64 = 0.02, 0.0..=1.0, "share of sites";
        /// Every response is a 503 [A].
        unavailable_share: f64 = 0.03, 0.0..=1.0, "share of sites";
        /// The Retry-After of 503 responses, in whole seconds; 0 omits the field [A].
        retry_after: f64 = 0.0, 0.0..=300.0, "seconds";
        /// The front page, the only page, redirects to another site [A].
        moved_share: f64 = 0.02, 0.0..=1.0, "share of sites";
    }
}
