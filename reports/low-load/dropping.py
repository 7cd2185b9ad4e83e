"""A server that closes a connection in place of the response to every Nth request of it.

`dropping.py PORT ROOT LOG N` serves the files below ROOT by the name of the host until it is killed.
"""

from __future__ import annotations

import asyncio
import dataclasses
import pathlib
import sys
import time
from typing import TextIO


@dataclasses.dataclass(frozen=True)
class Dropping:
    root: pathlib.Path
    log: TextIO
    nth: int

    def response(self, host: str, path: str) -> tuple[int, bytes]:
        file = self.root / host / (path[1:] or "index.html")
        if not file.is_file():
            return 404, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        kind, body = "text/html" if file.suffix == ".html" else "text/plain", file.read_bytes()
        return 200, f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = 0
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                begin, number = time.time(), number + 1
                fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
                host, path = fields.get("host", "-").split(":")[0], head.split(" ")[1]
                status, data = (0, b"") if number % self.nth == 0 else self.response(host, path)
                writer.write(data)
                await writer.drain()
                agent = fields.get("user-agent", "-")
                print(f"{host} {path} {status:03} {begin:.6f} {time.time():.6f} {agent}", file=self.log, flush=True)
                if not data:
                    return
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def run(self, port: int) -> None:
        async with await asyncio.start_server(self.serve, "127.0.0.1", port) as server:
            await server.serve_forever()


def main() -> None:
    port, root, log, nth = sys.argv[1:]
    with pathlib.Path(log).open("a") as file:
        asyncio.run(Dropping(pathlib.Path(root), file, int(nth)).run(int(port)))


main()
