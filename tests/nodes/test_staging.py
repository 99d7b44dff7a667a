"""Tests that files are sent to a machine only once: files that are already there are not sent again, and an
interrupted transfer continues."""

import hashlib
import json
import os
import time

from staged import MB, sent_once_and_resumed, stage, wired_server


def test_a_cut_transfer_goes_on_and_an_unchanged_file_is_not_sent_again(client, tmp_path):
    sent_once_and_resumed(client, tmp_path, 24 * MB)


def test_what_was_spoilt_on_its_way_is_thrown_away_and_comes_anew(client, tmp_path):
    server, wire = wired_server(client)
    file, to = tmp_path / "model.safetensors", server.home / "models/model.safetensors"
    file.write_bytes(os.urandom(8 * MB))
    wire.start(cut_after=6 * MB)  # more than a channel's window of 2 MiB, so the node has begun to write
    assert stage(client, file, to, check=False).returncode == 3
    (part,) = to.parent.glob("ringmaster/objects/*part*")
    until = time.monotonic() + 30
    while not part.stat().st_size and time.monotonic() < until:
        time.sleep(0.1)  # the node may write the last bytes after the connection has closed
    spoilt = bytearray(part.read_bytes())
    spoilt[0] ^= 1
    part.write_bytes(spoilt)
    wire.start()
    bad = stage(client, file, to, check=False)
    assert bad.returncode == 3 and "another content" in bad.stderr and not to.exists()
    assert stage(client, file, to)["sent_bytes"] == 8 * MB
    assert to.read_bytes() == file.read_bytes()


def test_a_large_file_is_read_again_only_where_it_has_changed(client, tmp_path):
    server, _ = wired_server(client)
    file, to = tmp_path / "model.safetensors", server.home / "models/model.safetensors"
    with open(file, "wb") as out:
        out.truncate(68 * MB)
    time.sleep(1.5)  # a file that just changed could change again within the clock's resolution
    assert stage(client, file, to)["sent_bytes"] == 68 * MB
    (known,) = json.loads((client.folder / "cache/ringmaster/content-hashes.json").read_text()).items()
    assert known[0] == str(file) and known[1]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    times = file.stat()
    with open(file, "r+b") as out:
        out.write(b"x")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert stage(client, file, to)["sent_bytes"] == 68 * MB
    assert to.read_bytes()[:2] == b"x\0"
