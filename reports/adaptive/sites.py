"""Documentation packages of Debian as sites: fetched, unpacked, served by nginx on loopback, each at an address of its own."""

import contextlib
import os
import pathlib
import shutil
import socket
import socketserver
import struct
import subprocess
import tempfile
import threading
import time

# A package with fewer pages is no site to be walked.
LEAST_PAGES = 20
PAGES = (".html", ".htm")
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
        self.host = f"{package.replace('+', '-').replace('.', '-').rstrip('-')}.ke"
        self.root, self.index, self.pages = None, None, 0
        for path, _, names in sorted(os.walk(folder)):
            fronts = [name for name in names if name.lower() in ("index.html", "index.htm")]
            if not fronts:
                continue
            pages = sum(name.lower().endswith(PAGES) for _, _, found in os.walk(path) for name in found)
            if pages > self.pages:
                self.root, self.index, self.pages = path, fronts[0], pages


def unpacked(packages, cache):
    """The sites of these packages, as many as have pages enough; what is fetched stays in the cache folder."""
    cache.mkdir(parents=True, exist_ok=True)
    sites = []
    for package in packages:
        folder = cache / package
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                scratch = pathlib.Path(scratch)
                subprocess.run(["apt-get", "download", "-q", package], cwd=scratch, check=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
                subprocess.run(["dpkg", "-x", *scratch.glob("*.deb"), scratch / "x"], check=True)
                (scratch / "x").rename(folder)
        site = Site(package, folder)
        if site.pages >= LEAST_PAGES:
            sites.append(site)
    return sites


class Names(socketserver.BaseRequestHandler):
    """Answers every question for an address with one in 127.1.0.0/16 that is the host's own."""

    def handle(self):
        question, reply_to = self.request
        end = question.index(b"\0", 12) + 5
        name, kind = question[12:end - 4], struct.unpack("!H", question[end - 4:end - 2])[0]
        number = self.server.numbers.setdefault(name.lower(), len(self.server.numbers) + 1)
        is_a = kind == 1
        head = question[:2] + struct.pack("!HHHHH", 0x8580, 1, int(is_a), 0, 0)
        address = struct.pack("!HHHIH4B", 0xC00C, 1, 1, 300, 4, 127, 1, number // 250, 1 + number % 250)
        reply_to.sendto(head + question[12:end] + (address if is_a else b""), self.client_address)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def served(sites):
    """Serves the sites; gives the addresses of their name server and of the gateway to all of them."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="ccsurvey-sites-") as folder:
        os.chmod(folder, 0o755)
        servers = "\n".join(SERVER.format(port=port, host=site.host, root=site.root, index=site.index) for site in sites)
        # Its workers are to read what this user has unpacked.
        user = "user root;" if os.geteuid() == 0 else ""
        settings = pathlib.Path(folder) / "nginx.conf"
        settings.write_text(NGINX.format(user=user, folder=folder, servers=servers))
        nginx = subprocess.Popen([shutil.which("nginx") or "/usr/sbin/nginx", "-c", settings, "-e", f"{folder}/error.log"])
        names = socketserver.ThreadingUDPServer(("127.0.0.1", 0), Names)
        names.numbers = {}
        threading.Thread(target=names.serve_forever, daemon=True).start()
        try:
            wait_for(port)
            yield f"127.0.0.1:{names.server_address[1]}", f"127.0.0.1:{port}"
        finally:
            names.shutdown()
            nginx.terminate()
            nginx.wait()


def wait_for(port):
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise SystemExit("reports/adaptive/run: nginx does not answer")
