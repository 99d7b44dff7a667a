"""Reads the .wandb files that W&B's client writes offline: records of its own protobuf in LevelDB's log
format (blocks of 32 KiB; a record is CRC-32C, length, type, data), after a header of 7 bytes."""
from __future__ import annotations

import json
import os
import struct
import time
from pathlib import Path

HEADER = b":W&B"
HEADER_BYTES = 7
BLOCK = 32768
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
WRITER_PATIENCE_S = 15


def records(file: Path):
    """Yields the data of each complete record; stops at the point where a file is cut off."""
    content = Path(file).read_bytes()
    if not content.startswith(HEADER):
        return
    at, parts = HEADER_BYTES, []
    while at + 7 <= len(content):
        left = BLOCK - at % BLOCK
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", content, at)
        data = content[at + 7:at + 7 + length]
        if kind not in (FULL, FIRST, MIDDLE, LAST) or len(data) < length:
            return
        at += 7 + length
        parts = [data] if kind in (FULL, FIRST) else parts + [data]
        if kind in (FULL, LAST):
            yield b"".join(parts)


def history_rows(file: Path):
    """Yields each row of the history as a dict."""
    from google.protobuf.message import DecodeError
    from wandb.proto import wandb_internal_pb2

    for data in records(file):
        record = wandb_internal_pb2.Record()
        try:
            record.ParseFromString(data)
        except DecodeError:
            return
        if record.WhichOneof("record_type") == "history":
            yield {item.key or "/".join(item.nested_key): json.loads(item.value_json)
                   for item in record.history.item}


def wait_for_writers(folder: Path) -> None:
    """Waits until no process has a file below the folder open: the client's server ends after the client."""
    deadline = time.monotonic() + WRITER_PATIENCE_S
    while _is_open_somewhere(folder):
        if time.monotonic() > deadline:
            raise TimeoutError(f"another process still writes below {folder}")
        time.sleep(0.05)


def _is_open_somewhere(folder: Path) -> bool:
    inside = os.path.realpath(folder) + os.sep
    for process in Path("/proc").glob("[0-9]*/fd"):
        if process.parent.name == str(os.getpid()):
            continue
        try:
            if any(os.readlink(one).startswith(inside) for one in process.iterdir()):
                return True
        except OSError:  # the process is gone, or belongs to another user
            continue
    return False
