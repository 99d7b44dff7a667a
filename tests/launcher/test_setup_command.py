"""`ringmaster setup` with a stand-in for Python: what is run, when nothing is, and what a failure says."""

import hashlib
import json

from conftest import BIN, run

PYTHON = """#!/bin/sh
echo "$0 $*" >> "{log}"
case "$*" in
  *venv*) for last; do :; done; mkdir -p "$last/bin"; cp "$0" "$last/bin/python" ;;
  *install*) {install} ;;
esac
"""


def stand_in(tmp_path, install="exit 0"):
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "python3").write_text(PYTHON.format(log=tmp_path / "log", install=install))
    (tools / "python3").chmod(0o755)
    return {"PATH": f"{tools}:/usr/bin:/bin", "RINGMASTER_PYTHON_ENV": str(tmp_path / "env"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_the_environment_is_made_once(tmp_path):
    env = stand_in(tmp_path)
    done = run("setup", "--json", env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"ok": True, "environment": str(tmp_path / "env")}
    calls = (tmp_path / "log").read_text().splitlines()
    assert len(calls) == 2 and "-m venv" in calls[0]
    requirements = BIN.parent / "share/ringmaster/requirements.txt"
    assert calls[1].endswith(f"-r {BIN}/../share/ringmaster/requirements.txt") or calls[1].endswith(f"-r {requirements}")
    stamp = "tokenize-" + hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    assert [path.name for path in (tmp_path / "env/.ringmaster").iterdir()] == [stamp]
    done = run("setup", env=env)
    assert done.returncode == 0 and "everything is installed" in done.stdout
    assert len((tmp_path / "log").read_text().splitlines()) == 2


def test_a_failure_is_exit_status_3_with_pips_words_and_is_made_good(tmp_path):
    done = run("setup", env=stand_in(tmp_path, "echo no matching distribution; exit 1"))
    assert done.returncode == 3 and "no matching distribution" in done.stderr
    assert (tmp_path / "env/.ringmaster/installing").exists()
    done = run("setup", env=stand_in(tmp_path))
    assert done.returncode == 0
    assert not (tmp_path / "env/.ringmaster/installing").exists()
