"""The network of an agent that is in a network namespace of its own: what it reaches, it reaches through here.

far_network.py PORT:SOCKET:MODE_FILE … -- AGENT [ARGUMENT]…

Each port of the namespace leads to a socket in the file system, as its mode file says: `open`; `refuse`: a connection is refused, and
those that are open are closed; `drop`: nothing comes back, on connections that are open either; `forget`: nothing comes or goes
on every other connection that is open as it begins, as if a router were short of memory, and all others work.
"""

import contextlib
import os
import socket
import sys
import threading
import time

LOOK = 0.005
# In these, connections are made.
PASSING = ("open", "forget")


class Way:
    def __init__(self, words: str) -> None:
        port, self.path, self.mode_file = words.split(":")
        self.port = int(port)
        self.opened: set[socket.socket] = set()
        self.forgotten: set[socket.socket] = set()
        self.server = self.listener(64) if self.mode() == "open" else None

    def mode(self) -> str:
        with open(self.mode_file, encoding="ascii") as file:
            return file.read().strip()

    def listener(self, backlog: int) -> socket.socket:
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", self.port))
        server.listen(backlog)
        server.settimeout(LOOK)
        return server

    def pump(self, source: socket.socket, sink: socket.socket, near: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                while self.mode() == "drop":
                    time.sleep(LOOK)
                if near not in self.forgotten:
                    sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, sink):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        finally:
            self.opened.discard(near)

    def join(self, near: socket.socket) -> None:
        far = socket.socket(socket.AF_UNIX)
        try:
            far.connect(self.path)
        except OSError:
            near.close()
            return
        self.opened.add(near)
        for ends in ((near, far), (far, near)):
            threading.Thread(target=self.pump, args=(*ends, near), daemon=True).start()

    def fill(self) -> list[socket.socket]:
        """Takes the places of those who wait to be accepted, so that who comes then hears nothing."""
        waiting = []
        while True:
            try:
                waiting.append(socket.create_connection(("127.0.0.1", self.port), timeout=0.1))
            except OSError:
                return waiting

    def close_all(self) -> None:
        for near in list(self.opened):
            with contextlib.suppress(OSError):
                near.shutdown(socket.SHUT_RDWR)
        self.opened.clear()

    def serve(self) -> None:
        while True:
            now = self.mode()
            if now in PASSING:
                with self.server or self.listener(64) as server:
                    self.server = None
                    while (mode := self.mode()) in PASSING:
                        if mode != now and mode == "forget":
                            self.forgotten |= set(sorted(self.opened, key=socket.socket.fileno)[::2])
                        now = mode
                        try:
                            near = server.accept()[0]
                        except TimeoutError:
                            continue
                        near.settimeout(None)
                        self.join(near)
                continue
            waiting, held = [], None
            if now == "refuse":
                self.close_all()
            else:
                held = self.listener(0)
                waiting = self.fill()
            while self.mode() == now:
                time.sleep(LOOK)
            for end in (*waiting, *filter(None, [held])):
                end.close()


def main() -> None:
    end_of_ways = sys.argv.index("--")
    # They listen before the agent begins.
    ways = [Way(words) for words in sys.argv[1:end_of_ways]]
    agent = sys.argv[end_of_ways + 1 :]
    process = os.getpid()
    if os.fork():
        # The agent is the process that whoever started this knows.
        for way in ways:
            if way.server:
                way.server.close()
        os.execv(agent[0], agent)
    for way in ways:
        threading.Thread(target=way.serve, daemon=True).start()
    # With the agent this ends, too.
    while os.getppid() == process:
        time.sleep(0.05)


main()
