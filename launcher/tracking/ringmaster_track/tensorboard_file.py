"""Writes and reads TensorBoard's event files without its package: records (length, masked CRC-32C, data, masked CRC-32C) of
Event{double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5}, Summary{repeated Value
value = 1}, Value{string tag = 1; float simple_value = 2} (tensorflow/core/util/event.proto)."""
from __future__ import annotations

import fcntl
import os
import struct
import time
from pathlib import Path

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def _table():
    rows = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        rows.append(byte)
    return rows


TABLE = _table()


def masked_crc(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + masked_crc(length) + data + masked_crc(data)


def whole_records(content: bytes):
    """Yields (data, end offset) of each record up to the first that is damaged or cut off."""
    at = 0
    while at + 12 <= len(content):
        length = struct.unpack_from("<Q", content, at)[0]
        end = at + 12 + length + 4
        data = content[at + 12:at + 12 + length]
        sound = end <= len(content) and content[at + 8:at + 12] == masked_crc(content[at:at + 8])
        if not sound or content[end - 4:end] != masked_crc(data):
            return
        yield data, end
        at = end


def varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, wire: int, payload: bytes) -> bytes:
    head = varint(number << 3 | wire)
    return head + (varint(len(payload)) if wire == BYTES else b"") + payload


def fields(message: bytes):
    """Yields (number, value) of a message that this module wrote."""
    at = 0
    while at < len(message):
        key, at = _varint_at(message, at)
        wire = key & 7
        if wire == VARINT:
            value, at = _varint_at(message, at)
        else:
            length = {FIXED64: 8, FIXED32: 4}.get(wire)
            if length is None:
                length, at = _varint_at(message, at)
            value, at = message[at:at + length], at + length
        yield key >> 3, value


def _varint_at(message: bytes, at: int):
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def scalar_event(t: float, step: int, values: dict) -> bytes:
    summary = b"".join(
        field(1, BYTES, field(1, BYTES, tag.encode()) + field(2, FIXED32, struct.pack("<f", value)))
        for tag, value in values.items())
    return field(1, FIXED64, struct.pack("<d", t)) + field(2, VARINT, varint(step)) + field(5, BYTES, summary)


class ScalarFile:
    """Appends scalars. Removes a record that an earlier process left incomplete; `held` has the (tag, step) of each scalar."""

    def __init__(self, path: Path):
        self.number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        fcntl.flock(self.number, fcntl.LOCK_EX)
        content = b""
        with os.fdopen(os.dup(self.number), "rb") as file:
            content = file.read()
        self.held, end = set(), 0
        for data, end in whole_records(content):
            self._note(data)
        os.ftruncate(self.number, end)
        os.lseek(self.number, end, os.SEEK_SET)
        self.waiting = b"" if end else record(field(1, FIXED64, struct.pack("<d", time.time())) +
                                              field(3, BYTES, b"brain.Event:2"))

    def _note(self, data: bytes):
        event = dict(fields(data))
        for _, value in fields(event.get(5, b"")):
            self.held.add((dict(fields(value))[1].decode(), event.get(2, 0)))

    def add(self, t: float, step: int, values: dict):
        self.waiting += record(scalar_event(t, step, values))

    def flush(self):
        while self.waiting:
            self.waiting = self.waiting[os.write(self.number, self.waiting):]

    def close(self):
        self.flush()
        os.fsync(self.number)
        os.close(self.number)
