"""A name server and a Web server on loopback. Every name has an address of its own, every case a host of its own."""

import asyncio
import contextlib
import re
import socket
import struct
import threading

from cases import host_of, number_of

NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
HEAD = re.compile(rb"^[A-Z]+ (\S+) HTTP/1\.[01]\r\n(?:.*\r\n)*?host: *([^\r\n]+)\r\n", re.IGNORECASE)
# RFC 1035 §4.1.1: a response, authoritative, without an error.
FLAGS = 0x8400
TYPE_A, CLASS_IN = 1, 1
HOLD_SECONDS = 3600


def address_of(name):
    """41.0.0.0/8 holds more addresses than there are cases; the gateway takes every connection anyway."""
    number = number_of(name)
    # Names that pages link to are never asked, for --depth is 0.
    return bytes([41, *((number if number is not None else 0) + 257).to_bytes(3, "big")])


def dns_answer(query):
    """The response to a query with one question."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    question = query[12 : at + 5]
    kind = struct.unpack(">H", query[at + 1 : at + 3])[0]
    record = b""
    if kind == TYPE_A:
        record = struct.pack(">HHHIH", 0xC00C, TYPE_A, CLASS_IN, HOLD_SECONDS, 4) + address_of(".".join(labels))
    return query[:2] + struct.pack(">HHHHH", FLAGS, 1, 1 if record else 0, 0, 0) + question + record


class NameServer(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        with contextlib.suppress(IndexError, struct.error):  # A query cut short gets no response.
            self.transport.sendto(dns_answer(data), address)


class WebServer(asyncio.Protocol):
    """Sends the bytes of a case as they are and closes behind them, unless their length is plain to see."""

    def __init__(self, cases, requests):
        self.cases, self.requests, self.received = cases, requests, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.received += data
        while b"\r\n\r\n" in self.received and not self.transport.is_closing():
            head, _, self.received = self.received.partition(b"\r\n\r\n")
            self.respond(head + b"\r\n")

    def respond(self, head):
        found = HEAD.match(head)
        number = number_of(found[2].decode("latin-1")) if found else None
        if number is None or number >= len(self.cases) or found[1] != b"/":
            self.transport.write(NOT_FOUND)
            return
        self.requests[number] = self.requests.get(number, 0) + 1
        response = self.cases[number].answer(host_of(number))
        self.transport.write(response)
        if not is_plain(response):
            self.transport.close()


def is_plain(response):
    """Whether the response ends where one Content-Length says, so that the connection may live on."""
    head, _, body = response.partition(b"\r\n\r\n")
    return head.startswith(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(body)) and head.lower().count(b"content-length") == 1


@contextlib.contextmanager
def served(cases):
    """Serves the cases; gives the addresses of name server and Web server, and the requests for each front page."""
    requests, ready, addresses = {}, threading.Event(), []
    loop = asyncio.new_event_loop()

    async def start():
        name_transport, _ = await loop.create_datagram_endpoint(NameServer, local_addr=("127.0.0.1", 0))
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        await loop.create_server(lambda: WebServer(cases, requests), sock=listener)
        for transport in (name_transport.get_extra_info("sockname"), listener.getsockname()):
            addresses.append(f"{transport[0]}:{transport[1]}")
        ready.set()

    def serve():
        asyncio.set_event_loop(loop)
        loop.run_until_complete(start())
        loop.run_forever()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield addresses[0], addresses[1], requests
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
