"""Packages with pages as sites: fetched, unpacked, and served on loopback, each at an address of its own.

A package is one of Debian by its name, or one of npm as `npm:name@version`.

`served` serves them by nginx behind one port, to whoever is root or not; `served_by_three` as sites are met, at port 80 by
nginx, Apache and lighttpd in turn, compressed, each request in a log: it needs root.
"""

import contextlib
import ipaddress
import os
import pathlib
import re
import shutil
import socket
import socketserver
import struct
import subprocess
import tempfile
import threading
import time

from ports import free_ports

# A package with fewer pages is no site to be walked.
LEAST_PAGES = 20
PAGES = (".html", ".htm")
NPM = "npm:"
NGINX = """
{user}
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    include /etc/nginx/mime.types;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{servers}
}}
"""
SERVER = "    server {{ listen 127.0.0.1:{port}; server_name {host}; root {root}; index {index}; port_in_redirect off; }}"


class Site:
    """A package, unpacked: the folder below which most of its pages stand is what is served."""

    def __init__(self, package, folder):
        self.host = f"{re.sub('[^a-z0-9-]', '-', without_version(package)).rstrip('-')}.ke"
        self.root, self.index, self.pages = None, None, 0
        for path, _, names in sorted(os.walk(folder)):
            fronts = [name for name in names if name.lower() in ("index.html", "index.htm")]
            if not fronts:
                continue
            pages = sum(name.lower().endswith(PAGES) for _, _, found in os.walk(path) for name in found)
            if pages > self.pages:
                self.root, self.index, self.pages = path, fronts[0], pages


def unpacked(packages, cache, seen_at=None):
    """The sites of these packages, as many as have pages enough; what is fetched stays in the cache folder.

    `seen_at` is where else that folder is mounted, for servers that may not enter it.
    """
    cache.mkdir(parents=True, exist_ok=True)
    sites = []
    for package in packages:
        folder = cache / package.replace("/", "-")
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                fetch(package, pathlib.Path(scratch))
                (pathlib.Path(scratch) / "x").rename(folder)
        site = Site(package, (seen_at or cache) / folder.name)
        if site.pages >= LEAST_PAGES:
            sites.append(site)
    return sites


def without_version(package):
    """`npm-name` of a package of npm, however its scope is written."""
    return re.sub("[:@/]+", "-", package.rsplit("@", 1)[0]) if package.startswith(NPM) else package


def fetch(package, scratch):
    """Unpacks a package into the folder x of another."""
    quiet = {"cwd": scratch, "check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if package.startswith(NPM):
        # Nothing of it is run: it is fetched and unpacked.
        subprocess.run(["npm", "pack", "--silent", "--ignore-scripts", package.removeprefix(NPM)], **quiet)
        (scratch / "x").mkdir()
        subprocess.run(["tar", "-xzf", *scratch.glob("*.tgz"), "-C", "x", "--no-same-owner"], **quiet)
    else:
        subprocess.run(["apt-get", "download", "-q", package], **quiet)
        subprocess.run(["dpkg", "-x", *scratch.glob("*.deb"), "x"], **quiet)


def address(number):
    """The address of the site of this number, from 1: in 127.1.0.0/16."""
    return f"127.1.{number // 250}.{1 + number % 250}"


class Names(socketserver.BaseRequestHandler):
    """Answers every question for an address with one that is the host's own."""

    def handle(self):
        question, reply_to = self.request
        end = question.index(b"\0", 12) + 5
        name, kind = question[12 : end - 4], struct.unpack("!H", question[end - 4 : end - 2])[0]
        labels = name.lower()
        if self.server.is_closed and labels not in self.server.numbers:
            # The name does not exist (RFC 1035 §4.1.1).
            reply_to.sendto(question[:2] + struct.pack("!HHHHH", 0x8583, 1, 0, 0, 0) + question[12:end], self.client_address)
            return
        number = self.server.numbers.setdefault(labels, len(self.server.numbers) + 1)
        is_a = kind == 1
        head = question[:2] + struct.pack("!HHHHH", 0x8580, 1, int(is_a), 0, 0)
        record = struct.pack("!HHHIH", 0xC00C, 1, 1, 300, 4) + ipaddress.ip_address(address(number)).packed
        reply_to.sendto(head + question[12:end] + (record if is_a else b""), self.client_address)


@contextlib.contextmanager
def named(hosts=()):
    """A name server: of these hosts, numbered from 1, or of all that it is asked for. Gives its address."""
    names = socketserver.ThreadingUDPServer(("127.0.0.1", 0), Names)
    names.numbers = {wire(host): number for number, host in enumerate(hosts, 1)}
    names.is_closed = bool(hosts)
    threading.Thread(target=names.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{names.server_address[1]}"
    finally:
        names.shutdown()


def wire(host):
    """A name as questions have it (RFC 1035 §3.1)."""
    return b"".join(bytes([len(label)]) + label.encode() for label in [*host.split("."), ""])


@contextlib.contextmanager
def served(sites):
    """Serves the sites; gives the addresses of their name server and of the gateway to all of them."""
    [port] = free_ports(1)
    with tempfile.TemporaryDirectory(prefix="ccsurvey-sites-") as folder, named() as dns:
        os.chmod(folder, 0o755)
        servers = "\n".join(SERVER.format(port=port, host=site.host, root=site.root, index=site.index) for site in sites)
        # Its workers are to read what this user has unpacked.
        user = "user root;" if os.geteuid() == 0 else ""
        settings = pathlib.Path(folder) / "nginx.conf"
        settings.write_text(NGINX.format(user=user, folder=folder, servers=servers))
        with running([found("nginx"), "-c", settings, "-e", f"{folder}/error.log"], ("127.0.0.1", port)):
            yield dns, f"127.0.0.1:{port}"


@contextlib.contextmanager
def surveyed(packages, cache, folder, flags):
    """Serves the packages as sites while it is read from; gives the words of a survey of them into a folder."""
    found = unpacked(packages, cache)
    starts = folder.with_suffix(".csv")
    starts.write_text("url\n" + "".join(f"http://{site.host}/\n" for site in found))
    with served(found) as (dns, gateway):
        yield ["survey", folder, "--cctld", "ke", "--start", starts, "--dns", dns, "--gateway", gateway, *flags]


# Of each server: its program with its flags, its settings, and those of a site. nginx and Apache compress HTML;
# lighttpd 1.4.69 does not, and has poll and write in place of epoll and sendfile, as it dies (signals 6 and 11) within 20,000
# requests of fast crawlers otherwise. All write a line a request: host, status, and its first line as it came.
THREE = {
    "nginx": (
        ["-e", "{folder}/nginx.error", "-c"],
        """
user root; worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.error;
events {{ worker_connections 4096; }}
http {{
    include /etc/nginx/mime.types;
    log_format asked '$host $status $request';
    access_log {folder}/nginx.log asked;
    gzip on;
    keepalive_requests 100000;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
{sites}
}}
""",
        "    server {{ listen {address}:80; server_name {host}; root {root}; index {index}; }}",
    ),
    "apache2": (
        ["-D", "FOREGROUND", "-f"],
        """
ServerRoot /etc/apache2
ServerName localhost
DefaultRuntimeDir {folder}
PidFile {folder}/apache2.pid
ErrorLog {folder}/apache2.error
Mutex file:{folder}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
User www-data
Group www-data
StartServers 1
MaxKeepAliveRequests 0
TypesConfig /etc/mime.types
AddOutputFilterByType DEFLATE text/html
LogFormat "%{{Host}}i %>s %r" asked
CustomLog {folder}/apache2.log asked
<Directory />
    Options FollowSymLinks
    AllowOverride None
    Require all granted
</Directory>
{sites}
""",
        """Listen {address}:80
<VirtualHost {address}:80>
    ServerName {host}
    DocumentRoot "{root}"
    DirectoryIndex {index}
</VirtualHost>""",
    ),
    "lighttpd": (
        ["-D", "-f"],
        """
server.modules = ("mod_access", "mod_accesslog")
server.document-root = "{folder}"
server.bind = "127.0.0.1"
server.port = {port}
server.errorlog = "{folder}/lighttpd.error"
server.event-handler = "poll"
server.network-backend = "write"
server.max-connections = 4096
server.max-fds = 8192
include_shell "/usr/share/lighttpd/create-mime.conf.pl"
accesslog.filename = "{folder}/lighttpd.log"
accesslog.format = "%{{Host}}i %>s %r"
{sites}
""",
        """$SERVER["socket"] == "{address}:80" {{
    server.name = "{host}"
    server.document-root = "{root}"
    index-file.names = ("{index}")
}}""",
    ),
}


def by_three(sites):
    """The kind of server of each site, in turn."""
    kinds = list(THREE)
    return {site.host: kinds[number % len(kinds)] for number, site in enumerate(sites)}


@contextlib.contextmanager
def served_by_three(sites, folder):
    """Serves the sites at port 80 of their addresses by three kinds of servers, their logs in a folder.

    Gives the processes by kind. Names are for others to tell: `named(hosts)`, or /etc/hosts with `address`.
    """
    kinds = by_three(sites)
    with contextlib.ExitStack() as stack:
        processes = {}
        for kind, (flags, settings, of_a_site) in THREE.items():
            own = [(address(number), site) for number, site in enumerate(sites, 1) if kinds[site.host] == kind]
            text = "\n".join(of_a_site.format(address=at, host=site.host, root=site.root, index=site.index) for at, site in own)
            file = folder / f"{kind}.conf"
            file.write_text(settings.format(folder=folder, port=free_ports(1)[0], sites=text))
            command = [found(kind), *(flag.format(folder=folder) for flag in flags), file]
            if own:
                processes[kind] = stack.enter_context(running(command, *((at, 80) for at, _ in own)))
        yield processes


def found(program):
    """Debian keeps servers where not every user's path leads."""
    return shutil.which(program) or f"/usr/sbin/{program}"


@contextlib.contextmanager
def running(command, *addresses):
    """A program that answers at these addresses, and ends with the block."""
    for at in addresses:
        with contextlib.suppress(OSError), socket.create_connection(at, timeout=1):
            raise SystemExit(f"something listens at {at[0]}:{at[1]} already")
    process = subprocess.Popen(list(map(str, command)))
    try:
        for at in addresses:
            wait_for(at, process)
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_for(at, process):
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(at, timeout=1):
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit(f"{process.args[0]} does not answer at {at[0]}:{at[1]}")
