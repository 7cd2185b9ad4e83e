use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use super::running::Running;
use super::sites::Site;

/// Starts nginx, Apache and lighttpd, each with its sites, ready to respond.
pub(crate) fn start(sites: &[Site], dir: &Path) -> Vec<Running> {
    for site in sites {
        let own = dir.join(&site.host);
        fs::create_dir(&own).unwrap();
        if let Some(robots) = &site.robots {
            fs::write(own.join("robots.txt"), robots).unwrap();
        }
    }
    let kinds = [
        Kind {
            name: "nginx",
            config: include_str!("nginx.conf"),
            site: include_str!("nginx-site.conf"),
            arguments: &["-e", "@DIR@/nginx-error.log", "-p", "@DIR@", "-c", "@DIR@/nginx.conf"],
        },
        Kind {
            name: "apache2",
            config: include_str!("apache2.conf"),
            site: include_str!("apache2-site.conf"),
            arguments: &["-f", "@DIR@/apache2.conf", "-D", "FOREGROUND"],
        },
        Kind {
            name: "lighttpd",
            config: include_str!("lighttpd.conf"),
            site: include_str!("lighttpd-site.conf"),
            arguments: &["-D", "-f", "@DIR@/lighttpd.conf"],
        },
    ];
    kinds.iter().map(|kind| kind.start(sites, dir)).collect()
}

/// One of the three programs; `@…@` in its configuration marks values that differ between runs.
struct Kind {
    name: &'static str,
    config: &'static str,
    site: &'static str,
    arguments: &'static [&'static str],
}

impl Kind {
    fn start(&self, sites: &[Site], dir: &Path) -> Running {
        let own: Vec<&Site> = sites.iter().filter(|site| site.server == self.name).collect();
        let in_dir = |text: &str| text.replace("@DIR@", &dir.to_string_lossy());
        let blocks: String = own.iter().map(|site| self.block(site)).collect();
        let config = in_dir(&self.config.replace("@SITES@", &blocks));
        fs::write(dir.join(format!("{}.conf", self.name)), config).unwrap();

        let arguments = self.arguments.iter().map(|argument| in_dir(argument));
        let mut server = Running::start(Command::new(self.name).args(arguments));
        let sockets: Vec<SocketAddr> = own.iter().map(|site| site.socket()).collect();
        server.await_listening(&sockets, &dir.join(format!("{}-error.log", self.name)));
        server
    }

    fn block(&self, site: &Site) -> String {
        let listen = format!("{}{}", site.socket(), if site.is_https() { " ssl" } else { "" });
        self.site.replace("@LISTEN@", &listen).replace("@HOST@", &site.host).replace("@ROOT@", &site.root)
    }
}
