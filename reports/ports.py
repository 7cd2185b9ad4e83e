"""Ports of loopback for servers that are programs of their own."""

from __future__ import annotations

import socket

HELD: list[socket.socket] = []


def free_ports(count: int) -> list[int]:
    """Free ports, kept for this process: sockets that never listen are bound to them.

    So the system gives them to nobody else who asks for any port while a server takes its seconds to begin. Who names the port
    may listen there all the same, with `SO_REUSEADDR` as servers have it (socket(7)).
    """
    taken = [socket.socket() for _ in range(count)]
    for one in taken:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", 0))
    HELD.extend(taken)
    return [one.getsockname()[1] for one in taken]
