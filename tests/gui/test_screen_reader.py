"""Tests that a user with a screen reader and a keyboard can launch and stop the example."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import BIN


def test_the_example_is_launched_by_what_is_announced(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data"),
                   "XDG_CONFIG_HOME": str(home / "config"), "QT_QPA_PLATFORM": "xcb", "RINGMASTER_PYTHON_ENV": sys.prefix}
    assert shutil.which("dbus-run-session") and shutil.which("xdotool"), "packaging/setup --tests installs them"
    done = subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 1440x1000x24", "dbus-run-session", "--", "/usr/bin/python3",
                           str(pathlib.Path(__file__).parent / "screen_reader.py"), str(BIN)],
                          env=environment, capture_output=True, text=True, timeout=600)
    for run in (home / "data/ringmaster/runs").glob("*"):  # if the test ended early, its run is still alive
        subprocess.run([BIN / "ringmaster", "stop", run, "--now"], env=environment, capture_output=True)
    print(done.stdout[-20000:])
    assert done.returncode == 0, done.stderr[-2000:]
