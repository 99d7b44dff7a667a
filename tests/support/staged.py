"""Tests staging a file. Tests call this with a small size, and a benchmark with a large size."""

import json
import os
import pathlib
import subprocess

from wire import Wire

STAGE_FILE = pathlib.Path(os.environ["RINGMASTER_BIN"]).parent / "tests" / "stage_file"
MB = 1_000_000


def stage(client, file, to, check=True):
    done = subprocess.run([STAGE_FILE, "a", file, to], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
                          env=client.env(XDG_CACHE_HOME=str(client.folder / "cache")))
    if check:
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    return done


def wired_server(client):
    """Starts a server, host a, behind a Wire that counts bytes; returns the server and the Wire."""
    server = client.serve("a")
    wire = Wire((server.address, server.port))
    with open(client.known_hosts, "a") as file:
        file.write(server.known_hosts_line().replace(f":{server.port} ", f":{wire.port} "))
    client.set_config(f"\nHost a\n  HostName 127.0.0.1\n  Port {wire.port}\n")
    return server, wire


def sent_once_and_resumed(client, folder, size):
    """Stages a file over a wire that is cut in the middle, stages it again, and then once more unchanged; returns the bytes on the wire
    for the second and the third time."""
    server, wire = wired_server(client)
    file, to = folder / "model.safetensors", server.home / "models/model.safetensors"
    with open(file, "wb") as out:
        for _ in range(size // MB):
            out.write(os.urandom(MB))
    wire.start(cut_after=size // 2)
    cut = stage(client, file, to, check=False)
    assert cut.returncode == 3 and not to.exists(), cut.stdout + cut.stderr
    wire.start()
    resumed = stage(client, file, to)
    counted = {"resumed": wire.bytes}
    assert resumed["sent_bytes"] < 0.6 * size and wire.bytes < 0.6 * size, (resumed, wire.bytes)
    assert subprocess.run(["cmp", file, to]).returncode == 0
    assert not list(to.parent.glob("ringmaster/objects/*part*"))
    wire.start()
    again = stage(client, file, to)
    counted["unchanged"] = wire.bytes
    assert again["sent_bytes"] == 0 and wire.bytes < MB, wire.bytes
    wire.close()
    return counted
