"""Removes secrets from text that is written into the run directory: a client's error may quote an address."""
from __future__ import annotations

import os
import re

REMOVED = "[removed]"
NAMES = re.compile(r"(?i)(key|token|password|passwd|secret|credentials)$")
USER_INFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/@]+@")
SHORTEST = 6


def masked(text: str, known=()) -> str:
    """Replaces passwords in addresses, `known` values, and the values of variables whose names suggest a secret."""
    secrets = {value for name, value in os.environ.items() if NAMES.search(name)} | {value for value in known if value}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST:
            text = text.replace(secret, REMOVED)
    return USER_INFO.sub(rf"\1{REMOVED}@", text)
