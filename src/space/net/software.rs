use crate::World;
use crate::draw::{Key, by_share};

/// The versions of a software family; frequent ones occur more than once.
type Versions = &'static [&'static str];

/// The `Server` fields of one era, from memory [M].
struct Era {
    apache: Versions,
    iis: Versions,
    nginx: Versions,
    others: Versions,
}

/// Until 2015.
const EARLY: Era = Era {
    apache: &[
        "Apache/1.3.33 (Unix)",
        "Apache/1.3.34 (Debian) PHP/4.4.2-1build1",
        "Apache/1.3.36 (Unix) mod_ssl/2.8.27 OpenSSL/0.9.7a",
        "Apache/2.0.46 (Red Hat)",
        "Apache/2.0.52 (CentOS)",
        "Apache/2.0.52 (CentOS)",
        "Apache/2.0.54 (Debian GNU/Linux)",
        "Apache/2.0.55 (Ubuntu) PHP/5.1.2",
        "Apache/2.2.0 (Fedora)",
        "Apache",
    ],
    iis: &["Microsoft-IIS/6.0", "Microsoft-IIS/6.0", "Microsoft-IIS/6.0", "Microsoft-IIS/5.0"],
    nginx: &["nginx/0.3.47"],
    others: &[
        "Zeus/4.3",
        "Netscape-Enterprise/6.0",
        "Lotus-Domino",
        "lighttpd/1.4.11",
        "Oracle-Application-Server-10g",
        "thttpd/2.25b 29dec2003",
    ],
};

/// From 2015 on.
const LATE: Era = Era {
    apache: &[
        "Apache",
        "Apache",
        "Apache/2.4.62 (Debian)",
        "Apache/2.4.58 (Ubuntu)",
        "Apache/2.4.37 (AlmaLinux)",
    ],
    iis: &["Microsoft-IIS/10.0", "Microsoft-IIS/10.0", "Microsoft-IIS/8.5"],
    nginx: &["nginx", "nginx", "nginx/1.24.0 (Ubuntu)", "nginx/1.22.1", "nginx/1.26.2"],
    others: &["cloudflare", "cloudflare", "LiteSpeed", "LiteSpeed", "openresty", "Caddy"],
};

const LATE_BEGINS: i64 = 2015;

/// The `Server` field of a server, typical for the world's year.
pub(crate) fn software(world: &World, server: Key) -> &'static str {
    let (shares, draw) = (&world.servers, server.draw("software"));
    let era = if world.date.year() < LATE_BEGINS { &EARLY } else { &LATE };
    let families =
        [(shares.apache_share, era.apache), (shares.iis_share, era.iis), (shares.nginx_share, era.nginx)];
    let versions = by_share(draw, &families).unwrap_or(era.others);
    draw.nth(1).pick::<&str>(versions)
}
