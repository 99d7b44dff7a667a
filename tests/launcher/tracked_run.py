"""Makes a run directory that grows as a test needs it, and starts the process that sends it to a tracker."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

BIN = pathlib.Path(os.environ["RINGMASTER_BIN"])
PACKAGE = BIN.parent / "share/ringmaster/ringmaster_track"


class TrackedRun:
    def __init__(self, folder, trackers, keys, python=sys.executable):
        self.folder, self.python, self.steps = pathlib.Path(folder), python, 0
        (self.folder / "events").mkdir(parents=True)
        (self.folder / "tracking").mkdir()
        self.events = self.folder / "events/rank-00000.jsonl"
        self.events.touch()
        settings = {"id": "9f3a12bc44de", "run": "one", "trackers": dict.fromkeys(trackers, "node"), "keys": keys,
                    "parameters": {"learning_rate": 1e-4, "datasets": [{"path": "rows.jsonl"}]}}
        (self.folder / "tracking/settings.json").write_text(json.dumps(settings))
        self.say("running")

    def say(self, state):
        (self.folder / "run.json").write_text(json.dumps({"name": "one", "state": state}))

    def append(self, text):
        with open(self.events, "ab") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def train(self, steps, first=None):
        """Appends steps, with an evaluation after every tenth."""
        begin = self.steps + 1 if first is None else first
        for step in range(begin, begin + steps):
            self.append(json.dumps(step_event(step)) + "\n")
            if step % 10 == 0:
                self.append(json.dumps({"type": "eval", "t": 1.7e9 + step, "rank": 0, "step": step, "loss": 2.5, "tokens": 5}) + "\n")
        self.steps = max(self.steps, begin + steps - 1)

    def sender(self, tracker, **env):
        log = open(self.folder / "tracking" / f"{tracker}.log", "ab")
        return subprocess.Popen([self.python, PACKAGE, "send", self.folder, tracker], stdout=log, stderr=log, env={**os.environ, **env})

    def send(self, tracker, seconds=120, **env):
        """Sends all points; returns the exit status."""
        return self.sender(tracker, **env).wait(seconds)

    def send_with_kills(self, tracker, seconds, **env):
        """Kills the sending process twice half way and once during its start, then lets a last process finish."""
        for life in (seconds, 0.3, seconds):
            process = self.sender(tracker, **env)
            end = time.monotonic() + life
            while time.monotonic() < end:
                self.train(3)
                time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.train(4, first=self.steps - 7)  # as a resume from an older checkpoint does
        self.say("completed")
        assert self.send(tracker, **env) == 0, (self.folder / "tracking" / f"{tracker}.log").read_text()[-3000:]

    def expected(self):
        """Returns every (kind, step) that a tracker must hold, sorted."""
        return sorted([("train", step) for step in range(1, self.steps + 1)] + [("eval", step) for step in range(10, self.steps + 1, 10)])


def step_event(step):
    return {"type": "step", "t": 1.7e9 + step, "rank": 0, "step": step, "epoch": step / 64, "loss": 3 - step / 1024, "tokens": 100, "lr": 0.5,
            "grad_norm": 0.25, "step_s": 0.5, "exposed_comm_s": 0.125, "tokens_per_s": 200.0, "peak_memory_bytes": 4096}
