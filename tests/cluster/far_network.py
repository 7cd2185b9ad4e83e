"""The network of an agent that is in a network namespace of its own: what it reaches, it reaches through here.

far_network.py BUS_PORT BUS_SOCKET GATEWAY_PORT GATEWAY_SOCKET MODE_FILE AGENT [ARGUMENT]…

The bus is always reached. The gateway to the servers is as the mode file says: `open`; `refuse`: a connection is refused, and one
that is open is reset; `drop`: nothing comes back, on connections that are open either.
"""

import os
import socket
import sys
import threading
import time

LOOK = 0.005


def pump(source: socket.socket, sink: socket.socket, mode) -> None:
    try:
        while data := source.recv(65536):
            while mode() == "drop":
                time.sleep(LOOK)
            if mode() == "refuse":
                raise ConnectionResetError
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def join(near: socket.socket, path: str, mode) -> None:
    far = socket.socket(socket.AF_UNIX)
    far.connect(path)
    for ends in ((near, far), (far, near)):
        threading.Thread(target=pump, args=(*ends, mode), daemon=True).start()


def listener(port: int, backlog: int) -> socket.socket:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen(backlog)
    return server


def serve_bus(server: socket.socket, path: str) -> None:
    while True:
        join(server.accept()[0], path, lambda: "open")


def fill(port: int) -> list[socket.socket]:
    """Takes the places of those who wait to be accepted, so that who comes then hears nothing."""
    waiting = []
    while True:
        try:
            waiting.append(socket.create_connection(("127.0.0.1", port), timeout=0.1))
        except TimeoutError:
            return waiting


def serve_gateway(port: int, path: str, mode_file: str) -> None:
    def mode() -> str:
        with open(mode_file, encoding="ascii") as file:
            return file.read().strip()

    while True:
        now = mode()
        if now == "refuse":
            while mode() == now:
                time.sleep(LOOK)
        elif now == "drop":
            with listener(port, 0):
                waiting = fill(port)
                while mode() == now:
                    time.sleep(LOOK)
                for near in waiting:
                    near.close()
        else:
            with listener(port, 64) as server:
                server.settimeout(LOOK)
                while mode() == now:
                    try:
                        near = server.accept()[0]
                    except TimeoutError:
                        continue
                    near.settimeout(None)
                    join(near, path, mode)


def main() -> None:
    bus_port, bus, gateway_port, gateway, mode_file, *agent = sys.argv[1:]
    server = listener(int(bus_port), 64)
    process = os.getpid()
    if os.fork():
        # The agent is the process that whoever started this knows.
        server.close()
        os.execv(agent[0], agent)
    threading.Thread(target=serve_bus, args=(server, bus), daemon=True).start()
    threading.Thread(target=serve_gateway, args=(int(gateway_port), gateway, mode_file), daemon=True).start()
    # With the agent this ends, too.
    while os.getppid() == process:
        time.sleep(0.05)


main()
