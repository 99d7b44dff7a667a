"""Follows one run for one tracker, from its first step until the run is over and everything is sent."""
from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

from . import settings as config
from .all import TRACKERS
from .check import problem_of
from .events import ENDS, FILE, EventFile, run_state

POLL_S = 0.5
FIRST_PAUSE_S, LONGEST_PAUSE_S = 2.0, 60.0
UNTOLD_S = 30  # seconds without an answer from the tracker until a warning
PATIENCE_AFTER_END_S = 15 * 60  # seconds without an answer until this process gives up, once the run is over
DONE, NOT_SET_UP, GAVE_UP = 0, 2, 3


class Follower:
    def __init__(self, run_dir: Path, tracker, warn):
        self.run_dir = run_dir
        self.tracker = tracker
        self.warn = warn
        self.asked_to_end = False
        self.told = False
        self.since = time.monotonic()  # time of the tracker's last answer
        signal.signal(signal.SIGTERM, self._on_term)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # ringmaster-agent starts this program with SIGTERM blocked

    def _on_term(self, *_):
        self.asked_to_end = True

    def run(self) -> int:
        pause = FIRST_PAUSE_S
        while True:
            try:
                self._send_all()
                return DONE
            except Exception as problem:  # the tracker's problem: no network, or a refusal by its server
                print(self.tracker.without_secrets(traceback.format_exc()), file=sys.stderr, flush=True)
                self._tell_once(problem)
                if self._has_waited_too_long():
                    self.warn(f"was not reached: {type(problem).__name__}: {first_line(problem)}",
                              f"`ringmaster watch {self.run_dir}` sends what is missing")
                    return GAVE_UP
            self._wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _send_all(self):
        """Opens the tracker again each time, so that the tracker itself reports which steps it has."""
        events = EventFile(self.run_dir)
        is_open = False
        while True:
            state = run_state(self.run_dir)  # read before the events: when the run is over, all of them are there
            over = state in ENDS or self.asked_to_end or not self.run_dir.is_dir()
            points = events.poll()
            if points and not is_open:  # a run that fails before its first step creates nothing at a tracker
                self.tracker.open()
                is_open = True
            if points:
                self.tracker.send(points)
            self.since = time.monotonic()
            if not points and events.is_read():
                if over:
                    return self.tracker.close(state) if is_open else None
                self._wait(POLL_S)

    def _has_waited_too_long(self) -> bool:
        waited = time.monotonic() - self.since > PATIENCE_AFTER_END_S
        return self.asked_to_end or (waited and run_state(self.run_dir) in ENDS)

    def _tell_once(self, problem):
        if not self.told and time.monotonic() - self.since > UNTOLD_S:
            self.told = True
            self.warn(f"is not reached: {type(problem).__name__}: {first_line(problem)}", "it is tried again and again")

    def _wait(self, seconds: float):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.asked_to_end:
            time.sleep(min(0.1, seconds))


def first_line(problem) -> str:
    return (str(problem).strip().splitlines() or [""])[0][:300]


def warner(run_dir: Path, tracker, mirror: bool):
    """Returns a function that writes warnings to the log and, unless the events are a copy of
    another machine's, to the run's events."""

    def warn(message: str, fix: str):
        text = tracker.without_secrets(f"{tracker.title} {message}: {fix}")
        print(text, file=sys.stderr, flush=True)
        if mirror:
            return
        append_event(run_dir, {"type": "warning", "t": time.time(), "rank": 0, "message": text, "where": "tracking"})

    return warn


def append_event(run_dir: Path, event: dict):
    """Appends an event to those of rank 0. Waits for rank 0 to create the file, because this process may start sooner; gives up once the run is over."""
    while True:
        over = run_state(run_dir) in ENDS or not run_dir.is_dir()
        try:
            number = os.open(run_dir / FILE, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK)
            os.write(number, json.dumps(event).encode() + b"\n")
            return os.close(number)
        except FileNotFoundError:
            if over:
                return
            time.sleep(POLL_S)
        except OSError:
            return  # the text is in the log


def hold(settings, name: str):
    """Returns the lock that one sending process per run and tracker holds; waits while another process holds it."""
    settings.folder.mkdir(exist_ok=True)
    number = os.open(settings.folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    fcntl.flock(number, fcntl.LOCK_EX)
    return number


def note_done(settings, name: str, state: str):
    """Records that everything was sent, for `ringmaster watch`; the file is removed if the run
    continues later."""
    if state in ENDS:
        (settings.folder / f"{name}.done").write_text(state + "\n")


def main(run: str, name: str, mirror: bool) -> int:
    run_dir = Path(run).absolute()
    settings = config.load(run_dir / "tracking" / "settings.json", run_dir)
    tracker = TRACKERS[name](settings)
    lock = hold(settings, name)
    (settings.folder / f"{name}.done").unlink(missing_ok=True)
    if os.path.isdir(settings.base_dir) and os.access(settings.base_dir, os.W_OK):
        os.chdir(settings.base_dir)  # relative paths of the configuration are relative to its file
    else:
        os.chdir(settings.folder)
    warn = warner(run_dir, tracker, mirror)
    problem = problem_of(tracker)
    if problem:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # so that SIGTERM ends the wait for rank 0
        warn(problem.message, problem.fix)
        return NOT_SET_UP
    end = Follower(run_dir, tracker, warn).run()
    if end == DONE:
        note_done(settings, name, run_state(run_dir))
    os.close(lock)
    return end
