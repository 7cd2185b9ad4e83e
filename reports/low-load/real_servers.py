"""Web servers of others, started in a folder of their own on loopback, and what they and their processes use."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator

from ports import free_ports

APACHE_MODULES = pathlib.Path("/usr/lib/apache2/modules")
# An application as small as can be, for servers that run applications: the files below ROOT by the name of the host, and a log.
WSGI = """
import os, sys, time
ROOT, LOG = {root!r}, open({log!r}, "a", buffering=1)

def application(environ, start_response):
    begin, host, path = time.time(), environ["HTTP_HOST"].split(":")[0], environ["PATH_INFO"]
    file = os.path.join(ROOT, host, (path[1:] or "index.html"))
    found = os.path.isfile(file)
    body = open(file, "rb").read() if found else b"Not found\\n"
    kind = "text/html" if found and file.endswith(".html") else "text/plain"
    status = "200 OK" if found else "404 Not Found"
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    LOG.write(f"{{host}} {{path}} {{status[:3]}} {{begin:.6f}} {{time.time():.6f}} {{environ.get('HTTP_USER_AGENT', '-')}}\\n")
    return [body]
"""
NODE = """
const fs = require('fs'), path = require('path')
const log = fs.createWriteStream(LOG, { flags: 'a' })
function answer(request, response) {
  const begin = Date.now() / 1000, host = (request.headers.host || '').split(':')[0]
  fs.readFile(path.join(ROOT, host, request.url === '/' ? 'index.html' : request.url), (failed, file) => {
    const body = failed ? Buffer.from('Not found\\n') : file, status = failed ? 404 : 200
    response.writeHead(status, { 'Content-Type': failed || !/html$|\\/$/.test(request.url) ? 'text/plain' : 'text/html', 'Content-Length': body.length })
    response.end(body)
    const end = Date.now() / 1000
    log.write(`${host} ${request.url} ${status} ${begin} ${end} ${request.headers['user-agent'] || '-'}\\n`)
  })
}
const secure = CERTIFICATE && { cert: fs.readFileSync(CERTIFICATE), key: fs.readFileSync(KEY) }
const server = secure ? require('https').createServer(secure, answer) : require('http').createServer(answer)
server.listen(PORT, '127.0.0.1')
"""


@dataclasses.dataclass(frozen=True)
class Certificate:
    """A self-signed certificate and its key, as files."""

    name: str
    chain: pathlib.Path
    key: pathlib.Path

    @classmethod
    def make(cls, name: str, folder: pathlib.Path) -> Certificate:
        """`name` is `RSA 2048` or `ECDSA P-256`."""
        kind = ["rsa:2048"] if name == "RSA 2048" else ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        made = cls(name, folder / f"{name.split()[0]}.pem", folder / f"{name.split()[0]}.key")
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                *kind,
                "-nodes",
                "-days",
                "9",
                "-subj",
                "/CN=site.test",
                "-keyout",
                made.key,
                "-out",
                made.chain,
            ],
            check=True,
            capture_output=True,
        )
        made.key.chmod(0o644)
        return made


@dataclasses.dataclass
class Server:
    """A server that runs: its address, its access log, and its processes."""

    kind: str
    port: int
    log: pathlib.Path
    process: subprocess.Popen[bytes]
    behind: Server | None = None

    @property
    def logged(self) -> Server:
        """The one that writes the log: a proxy's is that of the server behind it."""
        return self.behind or self

    def pids(self) -> list[int]:
        """The process that was started and all that came of it."""
        parents: dict[int, int] = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        found = [self.process.pid]
        for pid in found:
            found += [child for child, parent in parents.items() if parent == pid]
        return found

    def cpu_seconds(self) -> float:
        """User and system time of all its processes and threads, in nanosecond steps (CLOCK_PROCESS_CPUTIME_ID of each)."""
        total = 0.0
        for pid in self.pids():
            with contextlib.suppress(OSError):
                total += time.clock_gettime((~pid << 3) | 2)
        return total

    def memory_bytes(self) -> int:
        """What its processes hold, shared pages by their share (Pss)."""
        total = 0
        for pid in self.pids():
            with contextlib.suppress(OSError):
                for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                    total += int(line.split()[1]) * 1024 if line.startswith("Pss:") else 0
        return total

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclasses.dataclass(frozen=True)
class Setup:
    """With what a server is started; what is none is its default."""

    folder: pathlib.Path
    root: pathlib.Path
    port: int
    workers: int | None
    keep_alive: float | None
    cert: Certificate | None


def apache(mpm: str, setup: Setup) -> list[str]:
    modules = [f"mpm_{mpm}", "authz_core", "dir", "mime", "status", "vhost_alias", *(["ssl"] if setup.cert else [])]
    sizes = f"MaxRequestWorkers {setup.workers}" if setup.workers else ""
    if setup.workers and mpm == "prefork":
        sizes += f"\nServerLimit {setup.workers}\nStartServers {setup.workers}\nMinSpareServers {setup.workers}\nMaxSpareServers {setup.workers + 1}"
    elif setup.workers:
        sizes += f"\nServerLimit 1\nStartServers 1\nThreadsPerChild {setup.workers}\nMinSpareThreads 1\nMaxSpareThreads {setup.workers}"
    secure = f"SSLEngine on\nSSLCertificateFile {setup.cert.chain}\nSSLCertificateKeyFile {setup.cert.key}" if setup.cert else ""
    config = setup.folder / "apache.conf"
    loaded = "\n".join(f"LoadModule {name}_module {APACHE_MODULES}/mod_{name}.so" for name in modules)
    config.write_text(f"""
ServerRoot /etc/apache2
ServerName localhost
DefaultRuntimeDir {setup.folder}
PidFile {setup.folder}/apache.pid
ErrorLog {setup.folder}/error.log
Mutex file:{setup.folder}
{loaded}
User www-data
Group www-data
TypesConfig /etc/mime.types
DirectoryIndex index.html
UseCanonicalName Off
VirtualDocumentRoot {setup.root}/%0
LogFormat "%{{Host}}i %U %>s %{{begin:usec}}t %{{end:usec}}t %{{User-Agent}}i" seen
CustomLog {setup.folder}/access.log seen
<Directory />
    Require all granted
</Directory>
<Location /server-status>
    SetHandler server-status
</Location>
Listen 127.0.0.1:{setup.port}
{sizes}
MaxKeepAliveRequests 0
{f"KeepAliveTimeout {setup.keep_alive}" if setup.keep_alive else ""}
{secure}
""")
    return ["apache2", "-f", str(config), "-D", "FOREGROUND"]


def nginx(setup: Setup) -> list[str]:
    paths = "\n".join(f"{kind}_temp_path {setup.folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    secure = f"ssl_certificate {setup.cert.chain}; ssl_certificate_key {setup.cert.key};" if setup.cert else ""
    config = setup.folder / "nginx.conf"
    config.write_text(f"""
daemon off;
pid {setup.folder}/nginx.pid;
error_log {setup.folder}/error.log;
worker_processes {setup.workers or 1};
events {{}}
http {{
    include /etc/nginx/mime.types;
    log_format seen '$host $uri $status $msec $request_time $http_user_agent';
    access_log {setup.folder}/access.log seen;
    {paths}
    {secure}
    keepalive_requests 1000000;
    {f"keepalive_timeout {round(setup.keep_alive * 1000)}ms;" if setup.keep_alive else ""}
    server {{
        listen 127.0.0.1:{setup.port}{" ssl" if setup.cert else ""};
        root {setup.root}/$host;
    }}
}}
""")
    return ["nginx", "-e", f"{setup.folder}/error.log", "-p", str(setup.folder), "-c", str(config)]


def lighttpd(setup: Setup) -> list[str]:
    secure = f'ssl.engine = "enable"\nssl.pemfile = "{setup.cert.chain}"\nssl.privkey = "{setup.cert.key}"' if setup.cert else ""
    config = setup.folder / "lighttpd.conf"
    config.write_text(f"""
server.modules = ("mod_evhost", "mod_accesslog"{', "mod_openssl"' if setup.cert else ""})
server.document-root = "{setup.root}"
server.bind = "127.0.0.1"
server.port = {setup.port}
server.errorlog = "{setup.folder}/error.log"
server.username = "www-data"
server.groupname = "www-data"
server.max-keep-alive-requests = 65000
{f"server.max-keep-alive-idle = {setup.keep_alive}" if setup.keep_alive else ""}
evhost.path-pattern = "{setup.root}/%_/"
index-file.names = ("index.html")
mimetype.assign = (".html" => "text/html", ".txt" => "text/plain")
accesslog.filename = "{setup.folder}/access.log"
accesslog.format = "%{{Host}}i %U %>s %{{begin:usec}}t %{{end:usec}}t %{{User-Agent}}i"
{secure}
""")
    return ["lighttpd", "-D", "-f", str(config)]


def gunicorn(worker: str, setup: Setup) -> list[str]:
    (setup.folder / "application.py").write_text(WSGI.format(root=str(setup.root), log=str(setup.folder / "access.log")))
    sizes = ["--threads", str(setup.workers or 4)] if worker == "gthread" else ["--workers", str(setup.workers or 4)]
    secure = ["--certfile", str(setup.cert.chain), "--keyfile", str(setup.cert.key)] if setup.cert else []
    kept = ["--keep-alive", str(setup.keep_alive)] if setup.keep_alive else []
    listen = ["--graceful-timeout", "1", "-b", f"127.0.0.1:{setup.port}"]
    return ["gunicorn", "--chdir", str(setup.folder), "-k", worker, *sizes, *kept, *secure, *listen, "application"]


def node(setup: Setup) -> list[str]:
    script, quoted = (
        setup.folder / "server.js",
        {part: json.dumps(setup.cert and str(getattr(setup.cert, part))) for part in ("chain", "key")},
    )
    head = f"const ROOT = '{setup.root}', LOG = '{setup.folder}/access.log', PORT = {setup.port}, "
    head += f"CERTIFICATE = {quoted['chain']}, KEY = {quoted['key']}\n"
    script.write_text(head + textwrap.dedent(NODE) + (f"server.keepAliveTimeout = {setup.keep_alive * 1000}\n" if setup.keep_alive else ""))
    return ["node", str(script)]


def haproxy(setup: Setup, behind: int) -> list[str]:
    config = setup.folder / "haproxy.cfg"
    config.write_text(f"""
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    {f"timeout http-keep-alive {setup.keep_alive}s" if setup.keep_alive else ""}
listen web
    bind 127.0.0.1:{setup.port}
    server behind 127.0.0.1:{behind}
""")
    return ["haproxy", "-db", "-f", str(config)]


def dropping(nth: str, setup: Setup) -> list[str]:
    return [
        sys.executable,
        str(pathlib.Path(__file__).with_name("dropping.py")),
        str(setup.port),
        str(setup.root),
        str(setup.folder / "access.log"),
        nth,
    ]


KINDS = ("Apache prefork", "Apache event", "nginx", "gunicorn sync", "gunicorn gthread", "lighttpd", "Node")


def command(kind: str, setup: Setup) -> list[str]:
    name, _, variety = kind.partition(" ")
    if name in ("Apache", "gunicorn", "dropping"):
        return {"Apache": apache, "gunicorn": gunicorn, "dropping": dropping}[name](variety, setup)
    return {"nginx": nginx, "lighttpd": lighttpd, "Node": node}[name](setup)


@contextlib.contextmanager
def running(
    kind: str,
    folder: pathlib.Path,
    root: pathlib.Path,
    workers: int | None = None,
    keep_alive: float | None = None,
    cert: Certificate | None = None,
) -> Iterator[Server]:
    """A server of the files below `root`, in a folder for each host, at a free port; what is none is its default."""
    folder.mkdir(parents=True)
    folder.chmod(0o1777)
    setup = Setup(folder, root, *free_ports(1), workers, keep_alive, cert)
    with contextlib.ExitStack() as stack:
        behind = stack.enter_context(running("nginx", folder / "behind", root)) if kind == "HAProxy" else None
        words = haproxy(setup, behind.port) if behind else command(kind, setup)
        said = stack.enter_context((folder / "said.txt").open("w"))
        # Apache ends its process group when it ends; and no server outlives this script.
        words = ["setpriv", "--pdeathsig", "TERM", *words]
        process = subprocess.Popen(words, cwd=folder, stdout=said, stderr=said, start_new_session=True)
        server = Server(kind, setup.port, folder / "access.log", process, behind)
        stack.callback(server.stop)
        wait_for(server, folder / "said.txt")
        yield server


def wait_for(server: Server, said: pathlib.Path) -> None:
    """Until it listens."""
    deadline = time.monotonic() + 120
    while True:
        try:
            return socket.create_connection(("127.0.0.1", server.port), 1).close()
        except OSError:
            if server.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{server.kind} does not listen: {said.read_text()[-2000:]}") from None
            time.sleep(0.02)
