"""A name server that knows the names of the sites and no other.

`dns.py SITES.toml` prints its UDP port on 127.0.0.1 and answers until it is killed.
"""

import contextlib
import socket
import struct
import sys

import tomllib

A, AAAA = 1, 28
NOERROR, NXDOMAIN = 0, 3


def question(query):
    """The name, the type and the end of the one question of a query (RFC 1035 §4.1.2)."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii", "replace"))
        at += 1 + query[at]
    kind = struct.unpack_from("!H", query, at + 1)[0]
    return ".".join(labels).lower(), kind, at + 5


def answer(query, addresses):
    name, kind, end = question(query)
    address = addresses.get(name) if kind == A else None
    code = NOERROR if name in addresses else NXDOMAIN
    # A response, authoritative, recursion as desired and available (RFC 1035 §4.1.1).
    flags = 0x8480 | (query[2] & 1) << 8 | code
    head = query[:2] + struct.pack("!HHHHH", flags, 1, 1 if address else 0, 0, 0)
    record = b""
    if address:
        record = struct.pack("!HHHIH", 0xC00C, A, 1, 300, 4) + socket.inet_aton(address)
    return head + query[12:end] + record


def main():
    with open(sys.argv[1], "rb") as file:
        sites = tomllib.load(file)["site"]
    addresses = {site["host"]: site["address"] for site in sites}
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    print(server.getsockname()[1], flush=True)
    while True:
        query, asker = server.recvfrom(4096)
        # Of a question that can be read.
        with contextlib.suppress(IndexError, struct.error):
            server.sendto(answer(query, addresses), asker)


main()
