#!/usr/bin/env python3
"""Asks Chromium which links and which title the pages of tests/data/pages_in_chromium.json have, and writes that there.

    tests/pages/in_chromium.py [CHROMIUM]

Add a page as {"html": "…"}, with "type" if it is no text/html, and run this; the test `page::browser_tests` then wants
the same of the survey. Where it is meant to be different, "ours" has its links and "why" the reason. Nothing but a
server on a loopback address is asked.
"""

import html
import http.server
import json
import pathlib
import re
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data/pages_in_chromium.json"
HOST = "a.ke"
PATH = "/dir/page"


def main() -> None:
    chromium = sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/chromium"
    data = json.loads(DATA.read_text())
    version = subprocess.run([chromium, "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"Chromium [\d.]+", version)
    if not found:
        sys.exit(f"tests/pages/in_chromium.py: {chromium} is no Chromium: {version!r}")
    data["browser"] = found[0]
    for page, told in zip(data["pages"], asked(chromium, data["pages"]), strict=True):
        page.update(told)
    lines = ",\n".join(json.dumps(page, ensure_ascii=False) for page in data["pages"])
    head = json.dumps({key: value for key, value in data.items() if key != "pages"})
    DATA.write_text(f'{head[:-1]}, "pages": [\n{lines}\n]}}\n')
    print(f"{len(data['pages'])} pages, as {data['browser']} reads them")


def asked(chromium: str, pages: list[dict]) -> list[dict]:
    inputs = json.dumps([{key: page[key] for key in ("html", "type") if key in page} for page in pages])
    bodies = {PATH: (HERE / "in_chromium.html").read_bytes(), "/inputs": inputs.encode()}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = bodies.get(self.path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--dump-dom"]
        here = f"--host-resolver-rules=MAP * 127.0.0.1:{server.server_port}"
        command = [chromium, *flags, "--virtual-time-budget=60000", here, f"http://{HOST}{PATH}"]
        dumped = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
        server.shutdown()
    told = re.search(r'<pre id="told">(.*?)</pre>', dumped, re.DOTALL)
    if not told or not told[1]:
        sys.exit("tests/pages/in_chromium.py: Chromium told nothing")
    return json.loads(html.unescape(told[1]))


if __name__ == "__main__":
    main()
