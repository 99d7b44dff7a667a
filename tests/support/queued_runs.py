"""Runs the command line, and waits for the runs of its queue."""

import json
import subprocess
import time

from ringmaster_runs import BIN


def asker(env=None):
    """Returns ask(*arguments, status=0), which runs ringmaster, expects this exit status and returns the output; with --json,
    the output's lines as objects."""

    def ask(*arguments, status=0):
        done = subprocess.run([str(BIN / "ringmaster"), *map(str, arguments)], capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, env=env, start_new_session=True)
        assert done.returncode == status, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()] if "--json" in arguments else done.stdout + done.stderr

    return ask


def entries(ask):
    return [line for line in ask("queue", "--json") if line["type"] == "queued"]


def are_over(ask):
    listed = entries(ask)
    return listed if all(run["state"] in ("completed", "failed", "stopped") for run in listed) else None


def wait_until(true, patience=240):
    end = time.monotonic() + patience
    while not (answer := true()):
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.2)
    return answer
