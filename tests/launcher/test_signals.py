"""Tests what Ctrl-C, SIGTERM and a closed terminal do, and what is drawn on a terminal."""

import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import socket
import struct
import subprocess
import termios
import time

import pytest

from conftest import BIN, make_run


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def keep_running(run):
    """Turns the run into one that this process supervises and that never ends."""
    stat = pathlib.Path("/proc/self/stat").read_text()
    me = {"host": socket.gethostname(), "pid": os.getpid(), "start_time": int(stat.rsplit(")", 1)[1].split()[19]),
          "boot_id": pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()}
    state = json.loads((run / "run.json").read_text())
    state.update(state="running", writer=me, nodes=[{"host": me["host"], "agent": me, "ranks": []}])
    (run / "run.json").write_text(json.dumps(state))
    return run


def start(*arguments, env=None, **options):
    return subprocess.Popen([str(BIN / "ringmaster"), *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}, **options)


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGHUP, 0)])
def test_leaving_a_watched_run_leaves_it_as_it_is(tmp_path, number, status):
    run = keep_running(make_run(tmp_path / "runs/one"))
    before = (run / "run.json").read_text()
    watch = start("watch", run)
    assert watch.stdout.readline().startswith("step 1")
    watch.send_signal(number)
    watch.communicate(timeout=20)
    assert watch.returncode == status
    assert (run / "run.json").read_text() == before


# Writing a short name fails only when stdout is flushed; writing a long one fails at once and leaves nothing
# to flush.
@pytest.mark.parametrize("length", [1, 6000])
def test_a_reader_that_went_away_ends_the_watching(tmp_path, length):
    run = keep_running(make_run(tmp_path / "runs/one"))
    watch = start("watch", run, "--json")
    watch.stdout.readline()
    watch.stdout.close()
    name = length * "x"
    with open(run / "events/rank-00000.jsonl", "a") as events:
        events.write(f'{{"type":"phase","t":1,"rank":0,"name":"{name}","done":0,"total":0}}\n')
    assert watch.wait(timeout=20) == 0


@pytest.fixture
def slow_python(tmp_path):
    """Returns an environment whose Python never finishes tokenizing and writes down its pid."""
    python = tmp_path / "env/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 1000\n")
    python.chmod(0o755)
    return {"RINGMASTER_PYTHON_ENV": str(tmp_path / "env"), "XDG_CACHE_HOME": str(tmp_path / "cache"), "CUDA_VISIBLE_DEVICES": ""}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_before_it_starts_a_run_is_stopped_and_nothing_is_left(make_config, tmp_path, slow_python, number):
    launch = start("prepare", make_config(), "--runs-dir", tmp_path / "runs", "--name", "one", env=slow_python)
    wait_for((tmp_path / "pid").exists, "the Python step")
    state = json.loads((tmp_path / "runs/one/run.json").read_text())
    assert state["state"] == "preparing"
    launch.send_signal(number)
    _, said = launch.communicate(timeout=20)
    assert launch.returncode == 130 and "interrupted" in said
    state = json.loads((tmp_path / "runs/one/run.json").read_text())
    assert state["state"] == "stopped" and "before it started" in state["reason"]
    child = int((tmp_path / "pid").read_text())
    wait_for(lambda: not pathlib.Path(f"/proc/{child}").exists(), "the end of the Python step")


def test_killed_while_preparing_it_takes_its_python_along(make_config, tmp_path, slow_python):
    launch = start("prepare", make_config(), "--runs-dir", tmp_path / "runs", "--name", "one", env=slow_python)
    wait_for((tmp_path / "pid").exists, "the Python step")
    launch.kill()
    launch.communicate(timeout=20)
    child = int((tmp_path / "pid").read_text())
    wait_for(lambda: not pathlib.Path(f"/proc/{child}").exists(), "the end of the Python step")
    listed = json.loads(subprocess.run([BIN / "ringmaster", "runs", "--runs-dir", tmp_path / "runs", "--json"], capture_output=True, text=True).stdout)
    assert listed[0]["state"] == "failed"


def on_terminal(arguments, columns=80, rows=24, env=None):
    """Returns what is written to a terminal of that size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    clean = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    done = subprocess.Popen([str(BIN / "ringmaster"), *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs,
                            env={**clean, "TERM": "xterm-256color", **(env or {})})
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the last writer has closed the terminal
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    return done.wait(timeout=20), written.decode().replace("\r\n", "\n")


def plain(text):
    return re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", text)


def pictures(written):
    """Returns each picture that was drawn: the texts between jumps back to the first line."""
    return re.split(r"\033\[\d+A\r", written.split("\033[?25l", 1)[1].split("\033[?25h", 1)[0])


@pytest.mark.parametrize("ranks", [2, 64])
@pytest.mark.parametrize("columns, rows", [(80, 24), (60, 12), (120, 40)])
def test_the_live_picture_fits_the_terminal(tmp_path, ranks, columns, rows):
    run = make_run(tmp_path / "runs/one", ranks, 5)
    status, written = on_terminal(["watch", run], columns, rows)
    assert status == 0
    for picture in pictures(written):
        lines = plain(picture).rstrip("\n").split("\n")
        assert len(lines) <= rows - 1
        assert all(len(line.lstrip("\r")) <= columns for line in lines), lines
    last = plain(pictures(written)[-1])
    assert "step 5" in last and "evaluation 2.5000 at step 5" in last and "overhead 25 %" in last
    if ranks == 2:
        assert re.search(r"^ +0  0\.8000 +0\.5 s", last, re.M) and re.search(r"^ +1  1\.3000", last, re.M)
    elif rows > 12:
        assert "median" in last and "(rank 63)" in last
    assert "completed" in plain(written.split("\033[?25h")[-1])


def test_colour_is_for_terminals_that_want_it(tmp_path):
    run = make_run(tmp_path / "runs/one")
    assert "\033[32m" in on_terminal(["watch", run])[1]
    assert not re.search(r"\033\[[0-9;]*m", on_terminal(["watch", run], env={"NO_COLOR": "1"})[1])
