"""Follows events/rank-00000.jsonl by byte offset. Lines from a node are not trusted: long, damaged and repeated ones are skipped."""
from __future__ import annotations

import json
import os
from pathlib import Path

from .files import open_regular, read_regular
from .points import point_of

LONGEST_LINE = 64 << 10
MOST_AT_ONCE = 4 << 20
MOST_POINTS = 10_000_000  # limit per run, so that the points seen take at most 2 GiB
ENDS = ("completed", "failed", "stopped")
FILE = "events/rank-00000.jsonl"


class EventFile:
    """Reads each point once, in the order of the file: if a resumed run repeats a step, the first one counts."""

    def __init__(self, run_dir: Path):
        self.file = Path(run_dir) / FILE
        self.offset = 0
        self.skipping = False  # inside a line that is too long
        self.seen = set()
        self.more = False  # the last read ended before the file did

    def poll(self) -> list:
        """Returns the points of the complete lines that were added since the last call."""
        file = open_regular(self.file)
        if file is None:
            return []
        with file:
            if os.fstat(file.fileno()).st_size < self.offset:  # the file was replaced
                self.offset, self.skipping = 0, False
            file.seek(self.offset)
            text = file.read(MOST_AT_ONCE)
            self.more = len(text) == MOST_AT_ONCE
        return self._new_points(text)

    def is_read(self) -> bool:
        """Returns whether no complete line is left to read."""
        return not self.more

    def _new_points(self, text: bytes) -> list:
        whole = text.rfind(b"\n") + 1
        if whole == 0:
            if len(text) > LONGEST_LINE:  # the line's newline has not come yet
                self.offset += len(text)
                self.skipping = True
            return []
        self.offset += whole
        lines = text[:whole].split(b"\n")
        if self.skipping:
            lines = lines[1:]
            self.skipping = False
        return [point for line in lines if (point := self._new_point(line)) is not None]

    def _new_point(self, line: bytes):
        if not line or len(line) > LONGEST_LINE or len(self.seen) >= MOST_POINTS:
            return None
        try:
            point = point_of(json.loads(line))
        except (ValueError, RecursionError):
            return None
        if point is None or point.key in self.seen:
            return None
        self.seen.add(point.key)
        return point


def run_state(run_dir: Path) -> str:
    """Returns the state that run.json names; "" if it cannot be read."""
    try:
        state = json.loads(read_regular(Path(run_dir) / "run.json", 4 << 20) or b"{}").get("state")
    except (ValueError, RecursionError, AttributeError):
        return ""
    return state if isinstance(state, str) else ""
