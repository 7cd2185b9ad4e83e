//! Addresses of the Web: what a URL is, whose it is, and whether we may go there.
//!
//! Every other room speaks in these words. Text from a start list, a page or a
//! `Location` header comes in through [`WebUrl::parse`] or [`WebUrl::join`] and is
//! from then on a checked `http` or `https` URL without fragment or credentials, at a port that
//! browsers ask ([`is_refused_port`]).
//! From it follow its [`Host`]; the [`PageKey`] under which `http` and `https`
//! spellings of one page meet, whatever session a server writes into them; its [`ScriptKey`] if it is a query URL; and, by the
//! [`Suffixes`] of the Public Suffix List, its [`Site`]. A [`Scope`] tells internal
//! from external, [`CountryDomains`] tell which hosts are surveyed, [`special_range`]
//! and [`OptOut`] tell where no request may go, [`server_at`] which addresses are one server, [`Priorities`] who is
//! asked sooner, a [`UrlPattern`] which URLs a pattern means, [`LocalClocks`] what time it is there, and [`http_date`]
//! when a server means.
//!
//! This room never looks a name up, never reads the clock and never opens a file.

#![warn(clippy::print_stdout, clippy::print_stderr)] // `cli::output` prints.

mod calendar;
mod country;
mod host;
mod local_time;
mod neighbourhood;
mod opt_out;
mod opt_outs;
mod priorities;
mod scope;
mod server;
mod special;
mod suffixes;
mod url;

pub use calendar::http_date;
pub use country::{CountryDomains, CountryError};
pub use host::{Host, HostError, MAX_LABEL_BYTES, MAX_NAME_BYTES};
pub use local_time::LocalClocks;
pub use neighbourhood::Neighbourhood;
pub use opt_out::{OptOut, OptOutEntry, OptOutError};
pub use opt_outs::{OBEYED_WITHIN, OptOuts, SystemOf};
pub use priorities::{Priorities, PriorityError};
pub use scope::{Scope, ScopeRule};
pub use server::{server_at, server_named};
pub use special::special_range;
pub use suffixes::{Site, SuffixError, SuffixSection, Suffixes};
pub use url::base::Base;
pub use url::parsed::{MAX_URL_BYTES, QueryEncoder, UrlError};
pub use url::path_pattern::{PathPattern, Target};
pub use url::ports::is_refused_port;
pub use url::url_list::UrlList;
pub use url::url_pattern::UrlPattern;
pub use url::{PageKey, ScriptKey, WebUrl};
