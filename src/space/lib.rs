//! The virtual Web: a simulated country-code Web that knows its own ground truth.
//!
//! A [`World`] is read from a small TOML file. Everything else follows from it by a keyed hash, with one tag
//! per decision and no stored state: the sites, their servers, the links between their pages, and their
//! faults. A world of 10^5 sites costs nothing until the first request.
//!
//! **The life of a page.** A host and a path form a `url_location`. The host determines the site. The path
//! determines a page of the site's `tree`, or one of the `extras` attached to a page: a script, a file, a
//! redirect, a broken link. A page of the tree carries the number of pages below it and divides them among
//! its children, so it is found by walking down from the front page. Outside the tree there are chains of
//! `lists` and `traps` that never end; `copies` are pages under a second name, pages that repeat another, and
//! whole sites that do. The `facts` of a site are a notice in place of its pages, a CMS that shows, or a
//! language. Some `doors` of a site are closed: names without an address, closed ports, front pages that
//! return anything but a page. The `content` of a page is a list of links, which is then spelled, encoded and
//! filled to bytes ([`Web::respond`]). Every link except those to a page's own children and to entrances
//! leads up, sideways or to the `menu`, so the depth of each page is known in advance.
//!
//! **The life of a server.** A host is on one of the giants or further down a long tail of servers. The
//! server has addresses in a realistic block, an uplink with round trip and bandwidth, other users, and
//! software of the world's year ([`Server`]). The setting `time.scale` makes a world take these times;
//! [`harm`](harm()) computes how much a survey costs the other users. A world file may start from a
//! [`Profile`].
//!
//! There are two ways to get the same bytes: [`Web::respond`] in process, and [`serve`] over real UDP and TCP
//! on loopback. The latter runs a name server, and a gateway that plays every Web server of the world, so it
//! needs no root and nothing leaves the machine. In both, [`WireResponse`] writes a response and
//! [`certificate_bytes`] is the size of a certificate, and [`certificate_contents`] what it says.
//!
//! [`Truth`] holds the results that a survey of a world must have: it walks the content by the rules of the
//! survey, implemented a second time, and never reads a byte of HTML. Its table `hosts` holds what each host
//! shows. This package therefore shares no code with what it judges; it depends on `address` only.
//! [`GEO_DATABASE`] is a location database for the addresses of its worlds, and [`describe`] lists the
//! settings of a world and what to expect from it.
//!
//! A world may have hostile sites in addition to the drawn ones: each plays one [`Case`] of server behaviour
//! that no drawn site shows, and none of it depends on the seed.
//!
//! A [`Replay`] is another Web that can be requested and served in the same two ways: a recorded survey
//! instead of a drawn world.
//!
//! **The folders.** Each uses only those before it: `web` is the interface of any Web, `hostile` the cases,
//! `settings` the world file, `model` the sites and their links, `bytes` the written pages, `net` the
//! servers. `world_web` joins them to a world that is a [`Web`]. `replay` and `serve` depend on `web` only;
//! `truth` reads `model`, never `bytes`; `describe` reads all of a world. `draw` supplies the randomness of
//! every decision and lies below them all.
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
pub use truth::{
    Entrances, FeedBack, HostTruth, LevelTruth, LinkTruth, SiteTruth, Truth, TruthSettings, TruthTable,
};
pub use web::{
    Act, Certificate, CertificateContents, HARM_SPAN, Handshake, Harm, Lookup, Method, Oddity, Reaction,
    Records, RequestFields, Response, Server, Uplink, Visits, Web, WireResponse, ca_certificate_pem,
    certificate_bytes, certificate_contents, harm,
};
