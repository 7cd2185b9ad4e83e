//! The virtual Web space: a simulated country-code Web that knows its own ground truth.
//!
//! A [`World`] is read from a small TOML file. Everything else follows from it by a keyed hash, one
//! tag per decision, without stored state: which sites there are, where they stand, how their pages
//! hang together, what is wrong with them. A world of 10^5 sites costs nothing until it is asked.
//!
//! **The life of a page.** A host and a path name a `spot`. The host tells the site, the path tells
//! the page of its `tree`, or one of the `extras` that hang at a page: a script, a file, a redirect, a
//! broken link. A page of the tree carries the number of pages below it and divides them among its
//! children, so that it is found by walking down from the front page. Beside the tree stand `lists` that
//! go on from page to page and `traps` that never end; `copies` are pages under a second name, pages
//! that repeat another, and whole sites that do. Some of a site's `doors` are shut: names without an address, ports that
//! are, front pages that answer anything but a page. A page's `content` is a list of links; only then is it
//! spelled, encoded and filled to bytes ([`Web::respond`]). Every link but a page's own children and
//! entrances leads up, sideways or to the `menu`, so that the depth of each page is known beforehand.
//!
//! **The life of a server.** A host stands at one of the giants or further down a long tail. The server has
//! addresses in a real-looking block, an uplink with round trip and bandwidth, other users, and software of the
//! world's year ([`Server`]). A world plays these times when its `time.scale` says so; [`harm`](harm()) scores what
//! a survey's visits cost the other users. A world file may start from a [`Profile`].
//!
//! Two ways lead to the same bytes: [`Web::respond`] in process, and [`serve`] over real UDP and
//! TCP on loopback: a name server, and a gateway that plays every Web server of the world, so that
//! no root is needed and nothing leaves the machine. [`WireResponse`] is how an answer is written and
//! [`certificate_bytes`] how long a certificate is, on both ways.
//!
//! [`Truth`] says what a survey must find there: it walks the content by the rules of the survey,
//! written down a second time, and never reads a byte of HTML. This room therefore shares no code
//! with what it judges; it names `address` only. [`GEO_DATABASE`] is a location database for the
//! addresses of its worlds, [`describe`] tells a world's settings and what to expect of it.
//!
//! A world may have hostile sites beside those drawn: each plays one [`Case`] of what servers do that no drawn
//! one does, and nothing of it follows from the seed.
//!
//! A [`Replay`] is another Web that can be asked and served in the same two ways: a recorded survey, in
//! place of a drawn world.
//!
//! **The folders**, each of which names only those before it: `web` is what any Web is asked and answers, `hostile` the
//! cases, `settings` a world file, `model` the sites and their links, `bytes` the pages written out, `net` the servers.
//! `world_web` joins them to a world that is a [`Web`]. On `web` alone stand `replay` and `serve`; `truth` reads `model`,
//! never `bytes`; `describe` reads all of a world. `draw` is the chance of every decision and stands below them all.
//!
//! Only `serve` reads the clock, opens sockets and writes a file, the access log.

#![warn(clippy::print_stdout, clippy::print_stderr)] // `cli::output` prints.

use ccsurvey_address as address;

mod bytes;
mod describe;
mod draw;
mod hostile;
mod model;
mod net;
mod replay;
mod serve;
mod settings;
mod truth;
mod web;
mod world_web;

#[cfg(test)]
mod fake_web;
#[cfg(test)]
mod sampling;
#[cfg(test)]
mod scan;

pub use describe::describe;
pub use hostile::Case;
pub use net::{GEO_DATABASE, NETWORKS, Network};
pub use replay::{Contents, RecordedExchange, RecordedLink, Replay, ReplayBuilder};
pub use serve::{Access, ServeError, ServeSettings, Served, serve};
pub use settings::{Date, KeyDoc, PROFILES, Profile, SPECIFICATION, World, WorldError};
pub use truth::{Entrances, FeedBack, LevelTruth, LinkTruth, SiteTruth, Truth, TruthSettings, TruthTable};
pub use web::{
    Act, Certificate, HARM_SPAN, Handshake, Harm, Lookup, Method, Oddity, Reaction, Records, RequestFields,
    Response, Server, Uplink, Visits, Web, WireResponse, ca_certificate_pem, certificate_bytes, harm,
};
