"""A link with latency before a server: what either end sends, the end of a connection too, arrives later, in order."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import random
import threading
from collections.abc import Iterator


@dataclasses.dataclass
class Link:
    """From addresses that it listens at to one server; counts the connections that come to it."""

    target: int
    round_trip: float
    jitter: float = 0.1
    connections: int = 0
    ports: list[int] = dataclasses.field(default_factory=list)

    async def way(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        async def deliver() -> None:
            data = b" "
            while data:
                due, data = await queue.get()
                await asyncio.sleep(due - loop.time())
                with contextlib.suppress(OSError, RuntimeError):
                    if data:
                        writer.write(data)
                    else:
                        writer.close()

        delivery, last, data = asyncio.create_task(deliver()), 0.0, b" "
        while data:
            try:
                data = await reader.read(65536)
            except OSError:
                data = b""
            one_way = self.round_trip / 2 * random.uniform(1 - self.jitter, 1 + self.jitter)
            last = max(last, loop.time() + one_way)
            queue.put_nowait((last, data))
        await delivery

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(self.way(reader, forth), self.way(back, writer))


@contextlib.contextmanager
def laid(link: Link, listen: list[tuple[str, int]]) -> Iterator[Link]:
    """The link in a thread of its own; port 0 is a free one, told in `ports`."""
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        for address, port in listen:
            server = await asyncio.start_server(link.carry, address, port, backlog=1000)
            link.ports.append(server.sockets[0].getsockname()[1])

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(serve(), loop).result(20)
        yield link
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
