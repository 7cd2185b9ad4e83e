"""Pages that nobody here wrote, served as `crawlers` and `profile` beside this file walk them.

nginx, Apache and lighttpd serve documentation packages of Debian at port 80 of loopback addresses, one each. That takes root,
and a mount namespace of one's own.
"""

import contextlib
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests/survey/real_servers")]

import count
import debian_sites
import urls

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ccsurvey"
LISTS = [HERE.parent / "adaptive" / name for name in ("tuned-sites.txt", "judged-sites.txt")]
IN_NAMESPACE = "CCSURVEY_OWN_MOUNTS"
AT_ONCE = 64
MOST_TRIES = 3
# Without pauses and budgets, everything else as a user has it.
UNBOUNDED = shlex.split(
    "--min-delay 0s --delay-factor 0 --harm none --rate none --max-requests none --max-bytes none --max-time none"
    " --max-urls 1000000 --max-body 64MiB --feed-back off --impolite --permit-special-addresses --contact https://example.org/bot"
)


def add_options(parser):
    parser.add_argument("--packages", type=int, help="the first ones only [default: all]")
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="where the results go [default: beside this]")
    parser.add_argument("--scratch", help="where crawlers write for the moment [default: the system's]")


def have_own_mounts(script):
    """Begins the script again where what it mounts is seen by it and its children alone."""
    if os.geteuid() != 0:
        sys.exit(f"{script}: run me as root: the servers listen on port 80")
    if IN_NAMESPACE not in os.environ:
        os.execvpe("unshare", ["unshare", "--mount", sys.executable, *sys.argv], {**os.environ, IN_NAMESPACE: "1"})


class Ground:
    """The sites, their servers, and what a crawler is told of them."""

    def __init__(self, sites, folder):
        self.sites, self.folder = sites, folder
        self.starts, self.starts_plain = folder / "starts.csv", folder / "starts.txt"
        lines = "".join(f"http://{site.host}/\n" for site in sites)
        self.starts.write_text("url\n" + lines)
        self.starts_plain.write_text(lines)
        self.dns, self.pages, self.deaths = None, None, []

    def survey_command(self, program, scratch):
        return [
            program,
            "survey",
            scratch / "survey",
            "--cctld",
            "ke",
            "--start",
            self.starts,
            "--dns",
            self.dns,
            "--depth",
            str(count.DEEPEST),
            "--sites",
            str(AT_ONCE),
            *UNBOUNDED,
            "--json",
        ]

    def while_served(self, crawl):
        """What the crawl gives, while all servers are there from its beginning to its end; new ones for each.

        A server that dies spoils the crawl, which is then done once more.
        """
        for _ in range(MOST_TRIES):
            for kind in debian_sites.THREE:
                (self.folder / f"{kind}.log").write_text("")
            with debian_sites.served_by_three(self.sites, self.folder) as servers:
                given = crawl()
                dead = [f"{kind} ({server.returncode})" for kind, server in servers.items() if server.poll() is not None]
            if not dead:
                return given
            self.deaths += dead
            print(f"{', '.join(dead)} has ended: once more", file=sys.stderr, flush=True)
        sys.exit(f"{MOST_TRIES} times a server ended: {', '.join(self.deaths)}")


@contextlib.contextmanager
def unpacked(options):
    """The ground that these options speak of, until the context ends."""
    packages = [package for file in LISTS for package in file.read_text().split()][: options.packages]
    cache = CACHE / "adaptive-sites"
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ccsurvey-real-html-", dir=options.scratch) as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        with mounted(cache, folder / "packages") as place:
            sites = debian_sites.unpacked(packages, cache, place)
            hosts = folder / "hosts"
            lines = (f"{debian_sites.address(number)} {site.host}\n" for number, site in enumerate(sites, 1))
            hosts.write_text("127.0.0.1 localhost\n" + "".join(lines))
            ground, names = Ground(sites, folder), debian_sites.named([site.host for site in sites])
            # Crawlers that ask the system for a name see a file of hosts that is theirs alone.
            with mounted(hosts, pathlib.Path("/etc/hosts")), names as dns:
                ground.dns = dns
                yield ground


@contextlib.contextmanager
def mounted(what, place):
    """Shows a file or folder in another place, to this process and its children alone, and not to be changed there."""
    if what.is_dir():
        place.mkdir()
    subprocess.run(["mount", "--bind", "-o", "ro", what, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def pages_of(sites, survey):
    """The pages that a survey with these settings must have fetched, counted from the files: the identity of each."""
    non_html = set(tomllib.loads((survey / "survey.toml").read_text())["non-html-extensions"])
    kinds = debian_sites.by_three(sites)
    return {page for site in sites for page in Pages(site, kinds[site.host], non_html).run().pages_of_site}


class Pages(count.Count):
    """A count that remembers which pages there were."""

    def __init__(self, site, kind, non_html):
        super().__init__({"scheme": "http", "host": site.host, "server": kind, "root": site.root}, non_html)
        self.server = count.files.Server(kind, site.root, site.index)
        self.pages_of_site = set()

    def read(self, file, url, depth, found):
        self.pages_of_site.add(urls.identity(url))
        super().read(file, url, depth, found)
