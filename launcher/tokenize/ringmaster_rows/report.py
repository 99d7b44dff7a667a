"""Writes stdout: JSON lines of progress and warnings, and finally the result or the error."""

import json
import os
import sys
import time

REFUSED, USAGE, UNREACHABLE, INTERRUPTED = 1, 2, 3, 130


class Interrupted(BaseException):
    """SIGTERM or SIGINT arrived; only the end of the program may catch it."""


class Failure(Exception):
    """Holds what went wrong, where (file and line, key), the nearest thing that works, and the exit status."""

    def __init__(self, what, where="", hint="", status=REFUSED):
        super().__init__(what)
        self.what, self.where, self.hint, self.status = what, where, hint, status


class Report:
    """Owns stdout. Anything that a library prints there goes to stderr instead."""

    SECONDS_BETWEEN = 0.1

    def __init__(self):
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._phase, self._next = None, 0.0

    def progress(self, phase, done, total, of=""):
        """Writes progress, throttled; a phase's first and last line are always written. `phase` is a code of launcher/base/progress.cpp,
        `of` the value in its text; `total` is 0 if it is not known."""
        now = time.monotonic()
        if (phase, of) == self._phase and now < self._next and (not total or done < total):
            return
        self._phase, self._next = (phase, of), now + self.SECONDS_BETWEEN
        self.line({"phase": phase, "of": of, "done": done, "total": total})

    def warning(self, text):
        self.line({"warning": text})

    def result(self, result):
        self.line({"result": result})

    def failure(self, failure):
        self.line({"error": failure.what, "where": failure.where, "hint": failure.hint, "exit": failure.status})

    def line(self, value):
        self._out.write(json.dumps(value, ensure_ascii=False) + "\n")
        self._out.flush()
