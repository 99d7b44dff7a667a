"""Forwards TCP connections, counts the bytes that pass, and can cut the connections."""

import socket
import threading


class Wire:
    """Listens on a loopback port and forwards to `address`. Counts both directions from `start()` on."""

    def __init__(self, address):
        self.address = address
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.lock = threading.Lock()
        self.ends = []
        self.start()
        threading.Thread(target=self._serve, daemon=True).start()

    def start(self, cut_after=None):
        """Resets the counts. From now on, every connection ends after `cut_after` bytes from the client, as when a
        laptop leaves its network; with None, connections are not cut."""
        with self.lock:
            self.up = self.down = 0
            self.cut_after = cut_after

    @property
    def bytes(self):
        return self.up + self.down

    def close(self):
        self.listening.close()
        self._cut()

    def _cut(self):
        for end in self.ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _serve(self):
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            server = socket.create_connection(self.address)
            self.ends += [client, server]
            for source, target, up in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pass, args=(source, target, up), daemon=True).start()

    def _pass(self, source, target, up):
        buffer = memoryview(bytearray(1 << 18))
        try:
            while count := source.recv_into(buffer):
                with self.lock:
                    if up:
                        self.up += count
                    else:
                        self.down += count
                    cut = self.cut_after is not None and self.up > self.cut_after
                if cut:
                    self._cut()
                    return
                target.sendall(buffer[:count])
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass
