"""Servers that end connections in every way that their settings offer, surveyed without pauses, so that connections are kept.

kept_connections.py PROGRAM: each server has 21 pages, and an address of its own on loopback. Each page must be read, and each
request that a server reads must be the only one for its URL. Prints a line per server, and fails where pages are missing.
"""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import polars

PAGES = 20
PORT, TLS_PORT = 18080, 18443

NGINX = {
    "one request a connection": "keepalive_requests 1;",
    "three requests a connection": "keepalive_requests 3;",
    "no lingering": "lingering_close off; keepalive_requests 2;",
    "no keep-alive": "keepalive_timeout 0;",
    "bodies without length": "ssi on; ssi_types *; chunked_transfer_encoding off;",
    "gzip": "gzip on; gzip_min_length 1; gzip_types *;",
}
HAPROXY = {
    "closes to the server": "option http-server-close",
    "closes to both": "option httpclose",
    "idle for 100 ms": "timeout http-keep-alive 100ms",
}
NODE = ["plain", "idle for 50 ms", "two requests a connection", "early hints", "trailers", "slow chunks"]

NODE_SERVER = """
const http = require('http'), fs = require('fs')
const [root, host, port, mode] = process.argv.slice(2)
const server = http.createServer((request, response) => {
  const path = root + (request.url === '/' ? '/index.html' : request.url)
  if (!fs.existsSync(path)) { response.writeHead(404); return response.end('no') }
  const body = fs.readFileSync(path)
  const fields = { 'content-type': path.endsWith('.html') ? 'text/html' : 'text/plain' }
  if (mode === 'early hints') { response.writeContinue(); response.writeEarlyHints({ link: '</x>; rel=preload' }) }
  if (mode === 'trailers') fields.trailer = 'x-t'
  response.writeHead(200, fields)
  response.write(body.subarray(0, 7))
  if (mode === 'trailers') response.addTrailers({ 'x-t': '1' })
  setTimeout(() => response.end(body.subarray(7)), mode === 'slow chunks' ? 20 : 0)
})
server.keepAliveTimeout = mode === 'idle for 50 ms' ? 50 : 5000
server.maxRequestsPerSocket = mode === 'two requests a connection' ? 2 : 0
server.listen(Number(port), host)
"""

GUNICORN_APP = """
import pathlib
def app(environ, start):
    path = pathlib.Path('root') / (environ['PATH_INFO'].lstrip('/') or 'index.html')
    if not path.is_file():
        start('404 Not Found', [('Content-Type', 'text/plain')])
        return [b'no']
    body = path.read_bytes()
    start('200 OK', [('Content-Type', 'text/html' if path.suffix == '.html' else 'text/plain')])
    return [body[:5], body[5:]]
"""

APACHE = """
ServerRoot {dir}
ServerName x
PidFile {dir}/apache.pid
Mutex file:{dir}
ErrorLog {dir}/apache.log
{modules}
TypesConfig /etc/mime.types
Listen {address}:{port}
MaxRequestWorkers 2
StartServers 2
{user}
MaxKeepAliveRequests 2
KeepAliveTimeout 1
DocumentRoot {dir}/root
DirectoryIndex index.html
<Directory {dir}/root>
Require all granted
</Directory>
"""


class Servers:
    """Programs that end with the test."""

    def __init__(self, directory):
        self.dir, self.sites, self.programs, self.last = directory, [], contextlib.ExitStack(), 1

    def address(self):
        self.last += 1
        return f"127.0.1.{self.last}"

    def start(self, words, name, address, has_tls=False):
        output = self.programs.enter_context(open(self.dir / "output.log", "a"))
        # Apache ends all of its process group.
        program = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *map(str, words)], cwd=self.dir, stdout=output, stderr=output, start_new_session=True
        )
        self.programs.callback(program.wait, 20)
        self.programs.callback(program.terminate)
        self.sites.append((name, f"http://{address}:{PORT}/"))
        if has_tls:
            self.sites.append((f"{name}, TLS", f"https://{address}:{TLS_PORT}/"))

    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path

    def await_all(self):
        patience = time.monotonic() + 60
        for name, url in self.sites:
            host, port = url.split("/")[2].split(":")
            while True:
                with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
                    break
                if time.monotonic() > patience:
                    sys.exit(f"{name} does not listen at {host}:{port}:\n{(self.dir / 'output.log').read_text()}")
                time.sleep(0.05)


def start_all(servers):
    here = servers.dir
    for name, directives in NGINX.items():
        address = servers.address()
        config = servers.write(
            f"nginx{servers.last}.conf",
            f"daemon off; pid nginx{servers.last}.pid; error_log output.log; events {{}} http {{ access_log off; "
            + "".join(f"{kind}_temp_path {kind}{servers.last};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
            + f"types {{ text/html html; text/plain txt; }} server {{ listen {address}:{PORT}; listen {address}:{TLS_PORT} ssl; "
            f"ssl_certificate cert.pem; ssl_certificate_key key.pem; root root; {directives} }} }}",
        )
        servers.start(["nginx", "-e", here / "output.log", "-p", here, "-c", config], f"nginx: {name}", address, True)
    address = servers.address()
    modules = "\n".join(
        f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in ["mpm_prefork", "dir", "mime", "authz_core"]
    )
    user = "User nobody\nGroup nogroup"
    config = servers.write("apache.conf", APACHE.format(dir=here, address=address, port=PORT, modules=modules, user=user))
    servers.start(["apache2", "-DFOREGROUND", "-f", config], "Apache: two requests a connection, idle for 1 s", address)
    servers.write("app.py", GUNICORN_APP)
    for name, flags in {"sync": [], "gthread": ["-k", "gthread", "--threads", "2", "--keep-alive", "1"]}.items():
        address = servers.address()
        words = [
            shutil.which("gunicorn") or pathlib.Path(sys.executable).with_name("gunicorn"),
            "-b",
            f"{address}:{PORT}",
            *flags,
            "app:app",
        ]
        servers.start(words, f"gunicorn: {name}", address)
    backend = servers.address()
    config = servers.write(
        "lighttpd.conf",
        f'server.document-root="{here}/root"\nserver.bind="{backend}"\nserver.port={PORT}\nserver.max-keep-alive-requests=2\n'
        'mimetype.assign=(".html"=>"text/html",".txt"=>"text/plain")\nindex-file.names=("index.html")\n',
    )
    servers.start(["lighttpd", "-D", "-f", config], "lighttpd: two requests a connection", backend)
    for name, option in HAPROXY.items():
        address = servers.address()
        config = servers.write(
            f"haproxy{servers.last}.cfg",
            f"defaults\n mode http\n timeout client 9s\n timeout server 9s\n timeout connect 9s\n {option}\nfrontend f\n"
            f" bind {address}:{PORT}\n bind {address}:{TLS_PORT} ssl crt {here}/both.pem\n default_backend b\nbackend b\n server s {backend}:{PORT}\n",
        )
        servers.start(["haproxy", "-db", "-f", config], f"HAProxy: {name}", address, True)
    script = servers.write("server.js", NODE_SERVER)
    for mode in NODE:
        address = servers.address()
        servers.start(["node", script, here / "root", address, PORT, mode], f"Node.js: {mode}", address)
    for version in ["1.0", "1.1"]:
        address = servers.address()
        words = [sys.executable, "-m", "http.server", PORT, "-b", address, "-d", here / "root", "-p", f"HTTP/{version}"]
        servers.start(words, f"Python: HTTP/{version}", address)


def write_site(root):
    root.mkdir()
    (root / "index.html").write_text("".join(f"<a href=/p{page}.html>x</a>" for page in range(PAGES)))
    for page in range(PAGES):
        (root / f"p{page}.html").write_text(f"<p>Page {page}")
    (root / "robots.txt").write_text("User-agent: *\nDisallow: /private\n")


def survey(program, servers):
    starts = servers.write("starts.txt", "".join(f"{url}\n" for _, url in servers.sites))
    words = [
        program,
        "survey",
        servers.dir / "survey",
        "--cctld",
        "ke",
        "--outside-cctld",
        "--start-anyway",
        "--start",
        starts,
        "--contact",
        "https://survey.example/",
    ]
    words += ["--permit-special-addresses", "--feed-back", "off", "--seeds-per-site", "2", "--dns", "127.0.0.1:1"]
    words += ["--impolite", "--min-delay", "0s", "--delay-factor", "0", "--max-delay", "20ms", "--rate", "none", "--harm", "none"]
    done = subprocess.run(list(map(str, words)), check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}: {done.stdout}")
    return polars.read_parquet(servers.dir / "survey/tables/exchanges/*.parquet")


def main():
    with tempfile.TemporaryDirectory(prefix="ccsurvey-kept-") as folder:
        here = pathlib.Path(folder)
        here.chmod(0o1777)
        write_site(here / "root")
        openssl = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -subj /CN=a.ke"
        subprocess.run(openssl.split(), cwd=here, check=True, stderr=subprocess.DEVNULL)
        (here / "both.pem").write_text((here / "cert.pem").read_text() + (here / "key.pem").read_text())
        servers = Servers(here)
        with servers.programs:
            start_all(servers)
            servers.await_all()
            exchanges = survey(sys.argv[1], servers)
        missing = 0
        for name, url in servers.sites:
            rows = exchanges.filter(polars.col("url").str.starts_with(url))
            read = rows.filter((polars.col("purpose") == "page") & (polars.col("status") == 200) & polars.col("failure").is_null())
            failures = dict(rows.filter(polars.col("failure").is_not_null()).group_by("failure").len().iter_rows())
            print(f"{name}: {read.height} pages, {rows.height} requests, {rows['connections'].sum()} connections, {failures}")
            is_whole = read["url"].n_unique() == read.height == PAGES + 1 and set(failures) <= {"idle_closed"}
            missing += not is_whole
        if missing:
            sys.exit(f"{missing} servers of which pages are missing or were read twice")


main()
