use clap::Args;

use super::values;
use super::{set, set_list, set_some};
use crate::survey::{Limit, Settings, Size, Span};
use crate::walk::{Entrances, Extension, NonHtml, UrlPattern};

#[derive(Args, Debug)]
#[command(next_help_heading = "How far")]
pub struct Far {
    /// The deepest level that is fetched; the start URL is level 0. Each level more costs every site
    /// requests: on the African Web of 2008, 8 levels cost 80 % of 20 [default: 8]
    #[arg(long, value_name = "LEVELS", value_parser = values::whole::<u16>)]
    depth: Option<u16>,

    /// Entrances of a site that are tried until one brings a page: the URL offered, the front page of its host, then the
    /// other of http and https and of the names with and without www. Each costs a request, and one for robots.txt
    /// where scheme or host are new; a site without a page is entered again by later links, with three trees at most.
    /// 1 asks the URL offered only. `all` asks all four front pages of every site, up to eight requests more a site, and
    /// the report says which of them work [default: 4]
    #[arg(long, value_name = "1..4|all")]
    entrances: Option<Entrances>,

    /// The last generation of sites that is walked: 0 the start list, 1 what it links to, and so on
    /// [default: no bound]
    #[arg(long, value_name = "N", value_parser = values::whole::<u32>)]
    generations: Option<u32>,

    /// Query URLs fetched of one script (the URL without its query) in a site tree. Scripts can answer
    /// without end, and each answer costs their server more than a file [default: 1]
    #[arg(long, value_name = "N", value_parser = values::whole::<u32>)]
    queries_per_script: Option<u32>,

    /// The share of sites in which up to three query URLs more are fetched of each script, twenty scripts at most,
    /// once the site is walked: the report then says what the rule of --queries-per-script hid. They cost such a site
    /// up to 60 requests more and are no part of its levels and links [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = values::decimal)]
    probe_scripts: Option<f64>,

    /// What becomes of internal URLs that look as if they were no HTML: `skip` does not ask for them, `head`
    /// asks with HEAD what they are (two requests where it is HTML after all), `get` asks for them and breaks
    /// the body off when its header says that it is no HTML [default: skip]
    #[arg(long, value_name = "RULE", value_parser = values::non_html(), hide_possible_values = true)]
    non_html: Option<NonHtml>,

    /// The endings of file names that look so, e.g. pdf,jpg [default: a hundred for pictures, sound, films,
    /// archives, programs and documents, which DIR/survey.toml tells]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    non_html_extensions: Vec<Extension>,

    /// Internal URLs that are not asked for, as a path like those in robots.txt (`*` is anything, `$` the end),
    /// on all hosts or on one and those below it: '/shop/', '*/print$', 'blog.example.ke/2009/'. Repeatable
    /// [default: none]
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<UrlPattern>,

    /// The only internal URLs that are asked for beside the start URL; --exclude wins. Repeatable
    /// [default: all]
    #[arg(long, value_name = "PATTERN")]
    include: Vec<UrlPattern>,

    /// Words that exclude a page: its links are neither followed nor recorded, and the exchange says which words
    /// it was. Looked for in the text and markup whatever the case, e.g. 'this domain is for sale'. Repeatable
    /// [default: none]
    #[arg(long, value_name = "WORDS")]
    exclude_text: Vec<String>,

    /// Requests that one site tree may cost; the site's outcome is then `request_budget` [default: 10000]
    #[arg(long, value_name = "N|none")]
    max_requests: Option<Limit<u64>>,

    /// Bytes on the wire, both ways, that one site tree may cost, e.g. 500MB. What a single request may move beyond
    /// the pages' bodies, half a megabyte, is kept in reserve, and may stay unspent [default: 320MiB]
    #[arg(long, value_name = "BYTES|none")]
    max_bytes: Option<Limit<Size>>,

    /// Time that the walk of one site tree may take, e.g. 12h [default: 14days]
    #[arg(long, value_name = "TIME|none")]
    max_time: Option<Limit<Span>>,

    /// URLs found in a site tree at which it counts as a trap, made by a machine without end [default:
    /// 100000]
    #[arg(long, value_name = "N", value_parser = values::whole::<usize>)]
    max_urls: Option<usize>,

    /// Levels in a row on which the pages of one URL pattern must have led only to more of that pattern, before
    /// it is taken for a trap (a calendar, session identifiers, near duplicates without end) and asked for no
    /// further. Fewer save requests and may cut what is no trap; `none` follows all but paths that repeat
    /// themselves, as deep as the survey goes [default: 3]
    #[arg(long, value_name = "LEVELS|none")]
    trap_levels: Option<Limit<u16>>,

    /// Ask for the pages of a host that shows the same pages as another host of its site (a.ke and www.a.ke), too.
    /// Each page is then asked for twice [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    fetch_mirrors: Option<bool>,

    /// End a site after so many levels in a row that brought no new external link; saves load where
    /// sites have many pages and few links [default: never]
    #[arg(long, value_name = "LEVELS", value_parser = values::whole::<u16>)]
    stable_levels: Option<u16>,
}

impl Far {
    pub(super) fn apply(self, settings: &mut Settings) {
        set(&mut settings.depth, self.depth);
        set(&mut settings.entrances, self.entrances);
        set_some(&mut settings.generations, self.generations);
        set(&mut settings.queries_per_script, self.queries_per_script);
        set(&mut settings.probe_scripts, self.probe_scripts);
        set(&mut settings.non_html, self.non_html);
        set_list(&mut settings.non_html_extensions, self.non_html_extensions);
        set_list(&mut settings.exclude, self.exclude);
        set_list(&mut settings.include, self.include);
        set_list(&mut settings.exclude_text, self.exclude_text);
        set(&mut settings.max_requests, self.max_requests.map(|Limit(limit)| limit));
        set(&mut settings.max_bytes, self.max_bytes.map(|Limit(limit)| limit));
        set(&mut settings.max_time, self.max_time.map(|Limit(limit)| limit));
        set(&mut settings.max_urls, self.max_urls);
        set(&mut settings.trap_levels, self.trap_levels.map(|Limit(limit)| limit));
        set(&mut settings.fetch_mirrors, self.fetch_mirrors);
        set_some(&mut settings.stable_levels, self.stable_levels);
    }
}
