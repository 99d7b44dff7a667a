"""Reports which trackers this Python can send to. The clients themselves are not imported: that takes seconds."""
from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from . import settings as config
from .all import TRACKERS
from .tracker import Problem


def problem_of(tracker) -> Problem | None:
    if tracker.client and importlib.util.find_spec(tracker.client) is None:
        return Problem("client", "has no client on this machine", f"`{tracker.install}`")
    return tracker.problem()


def main(file: str) -> int:
    """Prints a tab-separated line per tracker: NAME, ready|client|none, file|server, the problem's kind, its fix."""
    path = Path(file).absolute()
    settings = config.load(path, path.parent.parent)
    for name in config.asked(path):
        if name not in TRACKERS:
            continue
        tracker = TRACKERS[name](settings)
        problem = problem_of(tracker)
        has_client = not tracker.client or importlib.util.find_spec(tracker.client) is not None
        state = "ready" if problem is None else "client" if has_client else "none"
        store = "file" if tracker.is_local else "server"
        print(name, state, store, *([problem.kind, problem.fix] if problem else ["", ""]), sep="\t")
    sys.stdout.flush()
    return 0
