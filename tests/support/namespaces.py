"""Provides two nodes with their own addresses, which are network namespaces on a bridge. Needs root."""

import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest

NET = f"10.{77 + os.getpid() % 100}.{os.getpid() // 100 % 250}"
NAME = f"rm{os.getpid() % 100000}"


def ip(*arguments, inside=None):
    prefix = ["ip", "netns", "exec", inside] if inside else []
    subprocess.run([*prefix, "ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def network():
    """Creates a bridge on this machine and two namespaces on it, with the addresses .11 and .12."""
    bridge = f"{NAME}br"
    spaces = [f"{NAME}a", f"{NAME}b"]
    ip("link", "add", bridge, "type", "bridge")
    ip("addr", "add", f"{NET}.1/24", "dev", bridge)
    ip("link", "set", bridge, "up")
    for i, space in enumerate(spaces):
        ip("netns", "add", space)
        ip("link", "add", f"{NAME}v{i}", "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("link", "set", f"{NAME}v{i}", "master", bridge, "up")
        ip("addr", "add", f"{NET}.{11 + i}/24", "dev", "eth0", inside=space)
        ip("link", "set", "eth0", "up", inside=space)
        ip("link", "set", "lo", "up", inside=space)
    yield spaces
    for i, space in enumerate(spaces):
        ip("link", "del", f"{NAME}v{i}")
        pids = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True).stdout.split()
        for pid in pids:
            subprocess.run(["kill", "-9", pid], check=False)
        ip("netns", "del", space)
    ip("link", "del", bridge)


def cut_off(space, address, is_enough):
    """Blocks what a namespace sends to `address` until `is_enough` is true. This delays connections, so a socket that listens at that
    address stays open for longer."""
    ip("neigh", "replace", address, "lladdr", "02:00:00:00:00:01", "dev", "eth0", "nud", "permanent", inside=space)

    def run():
        while not is_enough():
            time.sleep(0.02)
        subprocess.run(["ip", "netns", "exec", space, "ip", "neigh", "del", address, "dev", "eth0"], check=False, capture_output=True)
    threading.Thread(target=run, daemon=True).start()


def hold_engine(space, is_enough):
    """Suspends the first rank that starts in a namespace until `is_enough` is true, but for less than the 60 s that the other ranks wait,
    so that the store continues to listen. Runs in a thread."""
    def run():
        end = time.monotonic() + 240
        while time.monotonic() < end and not is_enough():
            for pid in subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True).stdout.split():
                try:
                    words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                    if words[0].endswith(b"ringmaster-engine") and b"--run" in words:
                        os.kill(int(pid), signal.SIGSTOP)
                        held = time.monotonic()
                        while time.monotonic() - held < 45 and not is_enough():
                            time.sleep(0.05)
                        os.kill(int(pid), signal.SIGCONT)
                        return
                except (FileNotFoundError, ProcessLookupError):
                    pass
            time.sleep(0.01)
    threading.Thread(target=run, daemon=True).start()
