"""Tests `ringmaster setup` with a replacement for Python: what it runs, when it runs nothing, and what it
reports on failure."""

import hashlib
import json

from conftest import BIN, run

PYTHON = """#!/bin/sh
echo "$0 $*" >> "{log}"
case "$*" in
  *venv*) for last; do :; done; mkdir -p "$last/bin"; cp "$0" "$last/bin/python" ;;
  *make_example*) for last; do :; done; mkdir -p "$last" ;;
  *install*) {install} ;;
esac
"""


def stand_in(tmp_path, install="exit 0"):
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "python3").write_text(PYTHON.format(log=tmp_path / "log", install=install))
    (tools / "python3").chmod(0o755)
    return {"RINGMASTER_SYSTEM_PYTHON": str(tools / "python3"), "RINGMASTER_PYTHON_ENV": str(tmp_path / "env"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_the_environment_is_made_once(tmp_path):
    env = stand_in(tmp_path)
    done = run("setup", "--json", env=env)
    assert done.returncode == 0, done.stderr
    example = tmp_path / "cache/ringmaster/example"
    assert json.loads(done.stdout) == {"ok": True, "environment": str(tmp_path / "env"), "example": str(example / "example.yaml")}
    venv, pip, packages, made = (tmp_path / "log").read_text().splitlines()
    assert "-m venv" in venv and pip.endswith("--require-hashes --only-binary :all: -r " + str(tmp_path / "env/.ringmaster/pip.txt")) and made.endswith(f"make_example.py --to {example}")
    requirements = BIN.parent / "share/ringmaster/requirements.txt"
    assert " --require-hashes --only-binary :all: " in packages
    assert packages.endswith(f"-r {BIN}/../share/ringmaster/requirements.txt") or packages.endswith(f"-r {requirements}")
    stamp = "tokenize-" + hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    assert [path.name for path in (tmp_path / "env/.ringmaster").iterdir()] == [stamp]
    done = run("setup", env=env)
    assert done.returncode == 0 and "everything is installed" in done.stdout
    assert [line for line in (tmp_path / "log").read_text().splitlines()[4:] if "make_example" not in line] == []


def test_a_failure_is_exit_status_3_with_pips_words_and_is_made_good(tmp_path):
    done = run("setup", env=stand_in(tmp_path, "echo no matching distribution; exit 1"))
    assert done.returncode == 3 and "no matching distribution" in done.stderr
    assert (tmp_path / "env/.ringmaster/installing").exists()
    done = run("setup", env=stand_in(tmp_path))
    assert done.returncode == 0
    assert not (tmp_path / "env/.ringmaster/installing").exists()


def test_what_pip_says_is_told_as_it_comes(tmp_path):
    says = "; ".join(f"echo '{line}'" for line in [
        "Collecting torch==2.11.0", "  Downloading torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl (530.6 MB)",
        "Progress 0 of 530600000", "Progress 265300000 of 530600000"])
    done = run("setup", env=stand_in(tmp_path, f'case "$*" in *requirements.txt) {says}; sleep 0.3; exit 1 ;; esac'))
    assert done.returncode == 3 and "downloading torch 2.11.0" in done.stderr
    assert "Collecting torch==2.11.0" in done.stderr and "Progress" not in done.stderr
