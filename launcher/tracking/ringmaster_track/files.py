"""Reads files of a run directory that another machine may have written."""
from __future__ import annotations

import os
import stat
from pathlib import Path


def open_regular(path: Path):
    """Opens a regular file for reading; returns None if it is missing, a link, a pipe or a device."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    return os.fdopen(number, "rb")


def read_regular(path: Path, most: int) -> bytes | None:
    """Returns the content; None if the file is missing, not regular or longer than `most` bytes."""
    file = open_regular(path)
    if file is None:
        return None
    with file:
        content = file.read(most + 1)
    return content if len(content) <= most else None
