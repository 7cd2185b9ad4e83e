//! Addresses of the Web: what a URL is, whose it is, and whether a survey may contact it.
//!
//! All other rooms use these types. Text from a start list, a page or a `Location` header comes in through
//! [`WebUrl::parse`] or [`WebUrl::join`]. From then on it is a checked `http` or `https` URL without fragment
//! or credentials, at a port that browsers do not refuse ([`is_refused_port`]).
//!
//! From a URL follow its [`Host`]; the [`PageKey`], which is the same for the `http` and `https` spellings of
//! a page and for all session identifiers that a server writes into them; its [`ScriptKey`] if it is a query
//! URL; and, by the [`Suffixes`] of the Public Suffix List, its [`Site`]. A [`Scope`] separates internal from
//! external URLs, and [`CountryDomains`] say which hosts are surveyed. [`special_range`] and [`OptOut`] say
//! where no request may go, and [`server_at`] which addresses are one server. [`Priorities`] say which sites
//! are walked sooner, and a [`UrlPattern`] which URLs a pattern matches. [`LocalClocks`] give the local time
//! of a server, and [`http_date`] reads the dates that a server sends.
//!
//! This room never looks up a name, never reads the clock and never opens a file.

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
pub use host::{Host, HostError, MAX_LABEL_BYTES, MAX_NAME_BYTES, is_name_at_or_below};
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
