"""Plays strangers who reach a run's ports without a credential and send c10d's protocol, garbage, floods or nothing.
Records what crosses a network."""

import os
import re
import socket
import struct
import subprocess
import threading
import time

MAGIC = b"\0" + struct.pack("<I", 0x3C85F7CE)  # first bytes of a client of c10d's TCPStore
SET, GET, ADD, CHECK, WAIT, NUMBER, DELETE, LIST, LAST = 1, 3, 4, 5, 6, 7, 8, 17, 24
GREETINGS = [b"", b"\n\n\n", b"GET / HTTP/1.1\r\n\r\n", b"hello 0123456789abcdef0123456789abcdef 1 {}\n", b"asked now\n",
             b"agent 2 1 " + b"a" * 32 + b"\nproof " + b"0" * 64 + b"\n", bytes(range(256)) * 4, b"\xff" * 4096]


def listeners(*words, inside=()):
    """Returns (address, port, program, pid) of every listening TCP socket of programs whose name begins with
    one of `words`."""
    said = subprocess.run([*inside, "ss", "-Hlntp"], capture_output=True, text=True, check=True).stdout
    found = []
    for line in said.splitlines():
        address, _, port = line.split()[3].rpartition(":")
        for program, pid in re.findall(r'"([^"]+)",pid=(\d+)', line):
            if program.startswith(words):
                found.append((address, int(port), program, int(pid)))
    return sorted(set(found))


class Stranger:
    """Talks to ports and keeps everything that it receives."""

    def __init__(self):
        self.heard, self.tried, self.refused = bytearray(), 0, 0
        self.lock = threading.Lock()
        self.held = []

    def say(self, where, payload, patience=0.2):
        """Sends `payload` and returns what comes back until `patience` seconds of silence."""
        answer = b""
        try:
            with socket.create_connection(where, timeout=2) as end:
                end.settimeout(patience)
                end.sendall(payload)
                while len(answer) < 1 << 20:
                    piece = end.recv(1 << 16)
                    if not piece:
                        break
                    answer += piece
        except ConnectionRefusedError:
            with self.lock:
                self.refused += 1
        except OSError:
            pass
        with self.lock:
            self.tried += 1
            self.heard += answer
        return answer

    def keys(self, where):
        """Returns the keys of c10d's store, if one listens there. A busy machine answers late."""
        answer = self.say(where, MAGIC + bytes([LIST]), 1)
        found, at = [], 8
        while at + 8 <= len(answer) and len(found) < 1000:
            (size,) = struct.unpack_from("<Q", answer, at)
            found.append(answer[at + 8:at + 8 + size])
            at += 8 + size
        return found

    def read_store(self, where):
        """Reads the value of every key, and tries every operation that changes nothing once. Returns the keys."""
        keys = self.keys(where)
        for key in keys:
            self.say(where, MAGIC + bytes([GET]) + text(key), 0.05)
        for operation in range(LAST):
            if operation not in (SET, 2, ADD, DELETE, 9, 11):
                self.say(where, MAGIC + bytes([operation]) + struct.pack("<Q", 1) + text(b"/any"), 0.05)
        return keys

    def spoil_store(self, where):
        """Overwrites or deletes existing keys, and plants keys for which ranks wait."""
        keys = self.keys(where)
        for i, key in enumerate(keys):
            self.say(where, MAGIC + (bytes([SET]) + text(key) + text(b"127.0.0.1:1") if i % 2 else bytes([DELETE]) + text(key)), 0.02)
        prefix = keys[0].split(b"arrived")[0] if keys else b"/"
        for rank in range(3):
            self.say(where, MAGIC + bytes([SET]) + text(prefix + b"arrived/%d" % rank) + text(b"1"), 0.02)
        self.say(where, MAGIC + bytes([SET]) + struct.pack("<Q", 1 << 62), 0.02)

    def bother(self, where, megabytes=1, held=20):
        """Sends garbage and a flood of bytes without an end of line, and keeps `held` connections open."""
        for greeting in GREETINGS:
            self.say(where, greeting, 0.05)
        self.say(where, os.urandom(megabytes << 20), 0.05)
        for _ in range(held):
            try:
                self.held.append(socket.create_connection(where, timeout=2))
            except OSError:
                pass

    def let_go(self):
        for end in self.held:
            end.close()
        self.held = []


def text(value):
    return struct.pack("<Q", len(value)) + value


class Hammer:
    """Lets a stranger attack every port that `ports` returns, again and again in a thread, from construction
    until stop()."""

    def __init__(self, ports, spoil=False):
        self.stranger, self.ports, self.spoil = Stranger(), ports, spoil
        self.seen, self.over = set(), threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def has_met_store(self):
        """Returns whether a store has listed the key of a waiting rank, or stop() was called."""
        return self.over.is_set() or b"arrived/" in self.stranger.heard

    def _run(self):
        while not self.over.is_set():
            now = set(self.ports())
            for where in now:  # a store may listen only for a moment, and answers late on a busy machine
                if where not in self.seen or not self.has_met_store():
                    self.stranger.read_store(where)
                if self.spoil:
                    self.stranger.spoil_store(where)
            for where in now - self.seen:
                self.stranger.bother(where, held=10)
            self.seen |= now
            time.sleep(0.02)

    def stop(self):
        self.over.set()
        self.thread.join(60)
        self.stranger.let_go()
        return self.stranger


class Sniffer:
    """Records every byte that crosses a network interface."""

    def __init__(self, interface):
        self.bytes, self.over = bytearray(), False
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind((interface, 0))
        self.socket.settimeout(0.2)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over:
            try:
                self.bytes += self.socket.recv(1 << 17)
            except TimeoutError:
                pass

    def stop(self):
        self.over = True
        self.thread.join()
        self.socket.close()
        return bytes(self.bytes)
