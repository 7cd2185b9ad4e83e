use super::keys::{KeyDoc, Table, WorldError};

/// How unlike each other sites and branches are in their external links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Some sites and branches link to many, some to nobody.
    Heterogeneous,
    /// All are alike: each page has the mean that pages of its depth have in the other variant, which is
    /// `content_mean` × (1 − `silent_share`) on a front page, for the factors of sites and branches have the
    /// mean 1. Depth alone decides, so that a survey gains nothing by stopping some sites early.
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
    /// How many sites there are, and of which kind.
    Sites = "sites" {
        /// Sites in the world [A].
        count: u64 = 100, 1..=1_000_000, "sites";
        /// Sites that stand in the start list; the others are found by links only [A].
        start_share: f64 = 0.7, 0.0..=1.0, "share of sites";
        /// Sites of a single page [A].
        one_page_share: f64 = 0.22, 0.0..=1.0, "share of sites";
        /// Small sites, their pages log-normal [A].
        brochure_share: f64 = 0.43, 0.0..=1.0, "share of sites";
        /// Sites run by a content management system, their pages log-normal [A].
        cms_share: f64 = 0.25, 0.0..=1.0, "share of sites";
        /// Large sites, their pages Pareto [A].
        large_share: f64 = 0.10, 0.0..=1.0, "share of sites";
        /// Median pages of a small site [A].
        brochure_median: f64 = 12.0, 1.0..=1e6, "pages";
        /// Sigma of the logarithm of pages of small sites [A].
        brochure_sigma: f64 = 0.9, 0.0..=4.0, "natural logarithm";
        /// Median pages of a CMS site [A].
        cms_median: f64 = 120.0, 1.0..=1e6, "pages";
        /// Sigma of the logarithm of pages of CMS sites [A].
        cms_sigma: f64 = 1.3, 0.0..=4.0, "natural logarithm";
        /// The smallest large site [A].
        large_smallest: f64 = 300.0, 1.0..=1e6, "pages";
        /// Pareto exponent of large sites [A].
        large_alpha: f64 = 1.1, 0.5..=10.0, "exponent";
        /// No site has more pages than this [A].
        most_pages: u64 = 30_000, 1..=100_000_000, "pages";
        /// Sites whose main host begins with www; their bare name redirects there [A].
        www_share: f64 = 0.7, 0.0..=1.0, "share of sites";
        /// Sites with www whose start URL has the bare name [A].
        bare_start_share: f64 = 0.1, 0.0..=1.0, "share of sites with www";
        /// Sites with www whose front page links to the bare name [A].
        bare_link_share: f64 = 0.2, 0.0..=1.0, "share of sites with www";
        /// Sites of four pages and more that have a second host with a tree and robots.txt of its own [A].
        subdomain_share: f64 = 0.2, 0.0..=1.0, "share of sites";
        /// Pages that stand on the second host [A].
        subdomain_pages_share: f64 = 0.2, 0.0..=0.9, "share of the site's pages";
        /// CMS sites whose pages are all query URLs of one script [A].
        script_only_share: f64 = 0.3, 0.0..=1.0, "share of CMS sites";
    }
}

section! {
    /// The shape of a site: how pages hang below pages.
    Shape = "tree" {
        /// Median over sites of a site's typical fan-out [A].
        fan_out_median: f64 = 6.0, 1.0..=1000.0, "pages";
        /// Sigma of the logarithm of the typical fan-out, over sites [A].
        fan_out_site_sigma: f64 = 0.45, 0.0..=3.0, "natural logarithm";
        /// Sigma of the logarithm of the fan-out, over the pages of a site [A].
        fan_out_sigma: f64 = 0.5, 0.0..=3.0, "natural logarithm";
        /// The front page has so many times the fan-out of others [A].
        root_factor: f64 = 1.6, 0.1..=100.0, "factor";
        /// Sigma of the logarithm of the weights that divide the pages among the branches [A].
        branch_sigma: f64 = 1.0, 0.0..=4.0, "natural logarithm";
        /// Links to pages of the same parent [A].
        siblings: u64 = 3, 0..=100, "links a page";
        /// Links to children of the front page [A].
        navigation: u64 = 8, 0..=100, "links a page";
    }
}

section! {
    /// What hangs at a page beside the pages below it, one of each kind at most.
    Extras = "extras" {
        /// Pages with a script [A].
        script_share: f64 = 0.05, 0.0..=1.0, "share of pages";
        /// Query URLs of a script, all linked from its page [A].
        script_queries: u64 = 5, 1..=500, "URLs";
        /// Scripts that are linked without a query too [A].
        bare_script_share: f64 = 0.5, 0.0..=1.0, "share of scripts";
        /// Pages with a link that leads nowhere (404) [D].
        broken_share: f64 = 0.12, 0.0..=1.0, "share of pages";
        /// Pages with a link to a file that is no HTML [D].
        file_share: f64 = 0.35, 0.0..=1.0, "share of pages";
        /// Pages with a nofollow link to a page that is linked nowhere else [A].
        hidden_share: f64 = 0.05, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page that leads on by meta refresh [A].
        refresh_share: f64 = 0.02, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page that nobody may read (403) [D].
        forbidden_share: f64 = 0.023, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page whose program fails (500) [D].
        error_share: f64 = 0.023, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page whose server has too much to do (503) [A].
        busy_share: f64 = 0.0, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page that breaks off after its last link [D].
        cut_share: f64 = 0.007, 0.0..=1.0, "share of pages";
        /// Pages with a link to a page that is asked for and never comes [D].
        silent_share: f64 = 0.017, 0.0..=1.0, "share of pages";
    }
}

section! {
    /// Lists that go on from page to page.
    Lists = "lists" {
        /// CMS and large sites with a chain of list pages, taken out of the site's pages, half of them at most [A].
        share: f64 = 0.5, 0.0..=1.0, "share of CMS and large sites";
        /// Median list pages of a chain [A].
        length_median: f64 = 8.0, 1.0..=1000.0, "pages";
        /// Sigma of their logarithm [A].
        length_sigma: f64 = 1.0, 0.0..=3.0, "natural logarithm";
        /// No chain is longer [A].
        length_most: u64 = 200, 1..=10_000, "pages";
        /// Items of a list page, each a page of its own without external links but the site's set [A].
        items: u64 = 8, 0..=500, "pages a list page";
    }
}

section! {
    /// The same bytes under several URLs.
    Copies = "copies" {
        /// Pages that stand under a second name: index.html, another case, no extension [A].
        alias_share: f64 = 0.2, 0.0..=1.0, "share of pages";
        /// Links to such a page, from siblings and menus, that use the second name [A].
        alias_link_share: f64 = 0.5, 0.0..=1.0, "share of links";
        /// Pages without children, the first of their parent excepted, with the bytes of that first one; 0.22 of these are 8 % of all pages [D].
        duplicate_share: f64 = 0.22, 0.0..=1.0, "share of such pages";
        /// Sites with the pages of another site [A].
        mirror_share: f64 = 0.04, 0.0..=1.0, "share of sites";
    }
}

section! {
    /// Parts of a site that programs make without end, or without sense.
    Traps = "traps" {
        /// Sites with a calendar in paths that never ends [A].
        calendar_share: f64 = 0.1, 0.0..=1.0, "share of sites";
        /// Pages that a calendar adds to each depth: the next month, and the days of this one [A].
        calendar_pages: u64 = 30, 2..=32, "pages a level";
        /// Sites where a relative link goes wrong and each page links to a longer path [A].
        loop_share: f64 = 0.015, 0.0..=1.0, "share of sites";
        /// Sites with session identifiers in paths, a new one at each visit of the front page [A].
        session_share: f64 = 0.015, 0.0..=1.0, "share of sites";
        /// Sites with a shop in which products are chosen by facets in the path [A].
        facet_share: f64 = 0.015, 0.0..=1.0, "share of sites";
        /// Facets of a shop [A].
        facets: u64 = 5, 1..=8, "facets";
        /// Values of each facet [A].
        facet_values: u64 = 3, 1..=20, "values";
        /// Sites that answer a path that names nothing with status 200 [A].
        soft_404_share: f64 = 0.015, 0.0..=1.0, "share of sites";
    }
}

section! {
    /// Which sites speak TLS, and with which certificates; the rest of these are valid.
    Https = "https" {
        /// Sites that speak TLS; other sites link to these with https [A].
        share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Of these, sites that redirect every http URL to https [A].
        only_share: f64 = 0.8, 0.0..=1.0, "share of sites with TLS";
        /// Certificates that nobody else has signed [A].
        self_signed_share: f64 = 0.05, 0.0..=1.0, "share of sites with TLS";
        /// Certificates whose time is over [A].
        expired_share: f64 = 0.03, 0.0..=1.0, "share of sites with TLS";
        /// Certificates for another host [A].
        wrong_name_share: f64 = 0.04, 0.0..=1.0, "share of sites with TLS";
    }
}

section! {
    /// Which doors of a site open: its front pages by bare name and www, by http and https. A site without www has
    /// an address at its bare name only.
    Doors = "doors" {
        /// Sites with www whose bare name has no address [A].
        www_only_share: f64 = 0.0, 0.0..=1.0, "share of sites with www";
        /// Sites with TLS where a connection to port 80 is refused. Behind a gateway, which has accepted it by then,
        /// it is closed without a byte [A].
        refused_80_share: f64 = 0.0, 0.0..=1.0, "share of sites with TLS";
        /// Sites with TLS where port 80 resets every connection [A].
        reset_80_share: f64 = 0.0, 0.0..=1.0, "share of sites with TLS";
        /// Sites whose front page wants a password (401) while the pages below it do not [A].
        front_401_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites whose front page is forbidden (403), as a folder without an index is, while the pages below it are
        /// open [A].
        front_403_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites without a front page (404) that have the pages below it [A].
        front_404_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites whose front page redirects in a circle: over the bare name where that has an address, else over
        /// `index.html` [A].
        front_circle_share: f64 = 0.0, 0.0..=1.0, "share of sites";
    }
}

section! {
    /// What the name server has of a host beside an IPv4 address.
    DnsShares = "dns" {
        /// Hosts that are an alias (CNAME) of a name at their hoster [A].
        alias_share: f64 = 0.2, 0.0..=1.0, "share of hosts";
        /// Hosts with an IPv6 address only [A].
        v6_only_share: f64 = 0.005, 0.0..=1.0, "share of hosts";
        /// Hosts with both kinds of address [A].
        both_share: f64 = 0.1, 0.0..=1.0, "share of hosts";
        /// Hosts whose answer over UDP is cut short, to be asked for over TCP [A].
        truncated_share: f64 = 0.02, 0.0..=1.0, "share of hosts";
    }
}

section! {
    /// Redirects, one of each kind at most hanging at a page.
    Redirects = "redirects" {
        /// To a page that is linked too [D].
        linked_share: f64 = 0.06, 0.0..=1.0, "share of pages";
        /// To a page that is linked nowhere [D].
        landing_share: f64 = 0.03, 0.0..=1.0, "share of pages";
        /// To another site [D].
        external_share: f64 = 0.02, 0.0..=1.0, "share of pages";
        /// To a redirect that leads back [D].
        loop_share: f64 = 0.005, 0.0..=1.0, "share of pages";
        /// To a chain of redirects with a page at its end [D].
        chain_share: f64 = 0.02, 0.0..=1.0, "share of pages";
        /// Redirects in a chain [A].
        chain_hops: u64 = 3, 1..=100, "redirects";
    }
}

section! {
    /// Links that leave the site.
    Externals = "external" {
        /// Mean size of the set that stands on every page of a site (Poisson) [A].
        boilerplate_mean: f64 = 2.0, 0.0..=50.0, "links a page";
        /// Sites with a page of links at depth 1 or 2 [A].
        links_page_share: f64 = 0.35, 0.0..=1.0, "share of sites";
        /// Median links of such a page [A].
        links_page_median: f64 = 20.0, 1.0..=1000.0, "links";
        /// Sigma of their logarithm [A].
        links_page_sigma: f64 = 1.0, 0.0..=3.0, "natural logarithm";
        /// A page of links has no more than this [A].
        links_page_most: u64 = 500, 1..=5000, "links";
        /// Mean links in the content of a front page, before the site's and the branch's factor [A].
        content_mean: f64 = 1.0, 0.0..=50.0, "links a page";
        /// Factor of that mean from one depth to the next [A].
        depth_decay: f64 = 0.84, 0.0..=1.0, "factor";
        /// Sites whose content links to nobody [A].
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
        /// Links inside that lead to a page below the front page [A].
        deep_share: f64 = 0.1, 0.0..=1.0, "share of external links inside";
        /// Links to a site with www that use its bare name [A].
        bare_share: f64 = 0.1, 0.0..=1.0, "share of external links inside";
        /// Hosts outside that are linked with nofollow only [A].
        nofollow_share: f64 = 0.05, 0.0..=1.0, "share of hosts outside";
        /// Hosts outside that may be linked [A].
        outside_pool: u64 = 200_000, 1..=1_000_000_000, "hosts";
        /// Links to other sites inside that are dead. Published: 5.7 % of all links in May 1999 (a sample of All the
        /// Web), 11 % of the references of Wikipedia in 2023 (Pew Research Center, "When Online Content Disappears",
        /// 2024); worlds that do not say it have none [V].
        dead_share: f64 = 0.0, 0.0..=1.0, "share of external links inside";
        /// Of these, links to a host that has no address any more, below a site that may live: of the pages gone in
        /// 2023, 9 in 25 were gone with their whole domain (Pew, as above) [D].
        dead_name_share: f64 = 0.36, 0.0..=1.0, "share of dead links";
        /// Of the others, links to a page that answers 410; the rest answer 404, or what the site answers to a path
        /// that names nothing [A].
        gone_share: f64 = 0.1, 0.0..=1.0, "share of dead links to hosts that live";
    }
}

section! {
    /// What each edition of the world does to pages, beside giving a share of them (`validators.changed_share`) other
    /// bytes. Published, for a year on the Web of 2003: pages that were there at its beginning and are gone at its end 80 %,
    /// links replaced 80 % (Ntoulas, Cho and Olston, "What's New on the Web?", WWW 2004, 154 large sites); of pages seen
    /// between 2013 and 2023, 25 % gone by then (Pew Research Center, as below `external.dead_share`). Worlds that do not
    /// say it have none.
    Change = "change" {
        /// Pages that an edition adds below pages that have some, none of which has pages below it [D].
        new_share: f64 = 0.0, 0.0..=10.0, "share of the pages below a page";
        /// Pages that an edition takes away, with all that hangs below them: they are linked no more from above, and answer 404.
        /// What stands in the menu stays [D].
        gone_share: f64 = 0.0, 0.0..=1.0, "share of pages";
        /// External links of a page that go when an edition changes it; as many others come, on average [D].
        links_share: f64 = 0.0, 0.0..=1.0, "share of links in the content of changed pages";
    }
}

section! {
    /// What a host says at /robots.txt; what is left is a file that allows everything.
    RobotsShares = "robots" {
        /// No such file (404) [V].
        missing_share: f64 = 0.50, 0.0..=1.0, "share of hosts";
        /// An HTML page with status 200 [V].
        junk_share: f64 = 0.08, 0.0..=1.0, "share of hosts";
        /// Rules that keep a branch and the PDF files back [A].
        some_share: f64 = 0.32, 0.0..=1.0, "share of hosts";
        /// Rules that keep everything back [A].
        all_share: f64 = 0.016, 0.0..=1.0, "share of hosts";
        /// Everything allowed, with a Crawl-delay [A].
        crawl_delay_share: f64 = 0.02, 0.0..=1.0, "share of hosts";
        /// That Crawl-delay; above 300 s a survey ends the site instead, which is not modelled [A].
        crawl_delay: f64 = 10.0, 0.0..=300.0, "seconds";
        /// A server error (503) [A].
        unavailable_share: f64 = 0.01, 0.0..=1.0, "share of hosts";
        /// The request is taken and never answered [A].
        silent_share: f64 = 0.01, 0.0..=1.0, "share of hosts";
    }
}

section! {
    /// What is wrong with whole sites.
    Faults = "faults" {
        /// The name does not exist [A].
        no_dns_share: f64 = 0.05, 0.0..=1.0, "share of sites";
        /// The name server fails [A].
        servfail_share: f64 = 0.02, 0.0..=1.0, "share of sites";
        /// The name server never answers [A].
        dns_silent_share: f64 = 0.01, 0.0..=1.0, "share of sites";
        /// The connection is closed without an answer [A].
        reset_share: f64 = 0.08, 0.0..=1.0, "share of sites";
        /// Requests are taken and never answered [A].
        silent_share: f64 = 0.04, 0.0..=1.0, "share of sites";
        /// Everything answers 403 [A].
        forbidden_share: f64 = 0.02, 0.0..=1.0, "share of sites";
        /// Everything answers 503 [A].
        unavailable_share: f64 = 0.03, 0.0..=1.0, "share of sites";
        /// What answers 503 ask for (Retry-After), in whole seconds; 0: they do not say [A].
        retry_after: f64 = 0.0, 0.0..=300.0, "seconds";
        /// The front page, the only page, redirects to another site [A].
        moved_share: f64 = 0.02, 0.0..=1.0, "share of sites";
    }
}
