"""Tests that a user service of systemd continues the queue after a restart of the machine. systemd accepts its unit,
and the unit's command continues runs that were cut off. If systemd refuses, nothing changes."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess

import pytest

from queued_runs import are_over, entries, wait_until
from ringmaster_runs import events_of, make_config, ringmaster
from test_queue import ask, kill_all  # noqa: F401  (a fixture)

UNIT = "ringmaster-queue.service"

# Stands in for systemd's programs: records each call, fails the verb that the file `refuses` names, and keeps a link for an
# enabled unit as `systemctl enable` does.
SYSTEMCTL = """#!/bin/sh
echo "$(basename "$0") $*" >> {folder}/calls
[ "$1" = --user ] && shift
if grep -qx -- "$1" {folder}/refuses 2>/dev/null; then echo "Failed to $1: no medium found" >&2; exit 1; fi
case "$1" in
enable) touch {folder}/enabled ;;
disable) rm -f {folder}/enabled ;;
is-enabled) [ -e {folder}/enabled ] ;;
show-user) cat {folder}/linger ;;
esac
"""


class Systemd:
    def __init__(self, folder):
        self.folder, self.config = folder, folder / "config %h$x"
        self.unit = self.config / "systemd/user" / UNIT
        self.programs = folder / "programs"
        self.programs.mkdir()
        for name in ("systemctl", "loginctl"):
            (self.programs / name).write_text(SYSTEMCTL.format(folder=folder))
            (self.programs / name).chmod(0o755)
        self.refuse()
        self.linger("yes")

    def refuse(self, verb=""):
        (self.folder / "refuses").write_text(verb + "\n")

    def linger(self, says):
        (self.folder / "linger").write_text(says + "\n")

    def is_enabled(self):
        return (self.folder / "enabled").exists()

    def calls(self):
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        file.write_text("")
        return lines

    def command(self):
        """Returns the words of the unit's command and its environment, unquoted as systemd does it."""
        words, environment = [], {}
        for line in self.unit.read_text().splitlines():
            key, _, value = line.partition("=")
            if key == "ExecStart":
                words = [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(value)]
            if key == "Environment":
                environment.update(word.replace("%%", "%").split("=", 1) for word in shlex.split(value))
        return words, environment


@pytest.fixture
def systemd(tmp_path, monkeypatch):
    made = Systemd(tmp_path)
    monkeypatch.setenv("PATH", f"{made.programs}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(made.config))
    return made


def service(*arguments, status=0):
    done = ringmaster("queue", "service", *arguments, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout) if "--json" in arguments else done.stdout + done.stderr


def test_the_service_is_switched_on_and_off(systemd, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data 100%h $HOME \"here\""))
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert service("--json") == {"type": "service", "on": False, "unit": str(systemd.unit), "lingers": True, "obstacle": ""}
    assert not systemd.unit.exists() and not any("able" in call.replace("is-enabled", "") for call in systemd.calls())
    assert "on: the queue goes on by itself" in service("on")
    calls = systemd.calls()
    assert calls.index("systemctl --user daemon-reload") < calls.index(f"systemctl --user enable --now {UNIT}")
    words, environment = systemd.command()
    assert words[1:] == ["queue", "run", "--runs-dir", str(tmp_path / "data 100%h $HOME \"here\"" / "ringmaster/runs")]
    assert environment["PATH"].startswith(str(systemd.programs)) and environment["XDG_CONFIG_HOME"] == str(systemd.config)
    text = systemd.unit.read_text()
    assert "hf_secret" not in text and "100%%h $$HOME" in text, "systemd would replace %h and $HOME"
    assert "\nKillMode=process\n" in text, "the end of the service would kill the runs"
    assert service("--json")["on"]
    assert service("on") and systemd.unit.exists(), "a second time writes it anew"
    systemd.calls()
    assert "off" in service("off")
    assert not systemd.unit.exists() and not systemd.is_enabled() and not service("--json")["on"]
    calls = systemd.calls()
    assert f"systemctl --user disable {UNIT}" in calls and not any("stop" in call or "--now" in call for call in calls)
    assert "off" in service("off"), "a second time does nothing"


def test_a_person_who_does_not_linger_is_told(systemd):
    assert "enable-linger" not in service("on")
    systemd.linger("no")
    assert "loginctl enable-linger" in service("status") and service("--json")["lingers"] is False


@pytest.mark.parametrize("verb", ["show-environment", "daemon-reload", "enable"])
def test_a_systemd_that_refuses_changes_nothing(systemd, verb):
    systemd.refuse(verb)
    said = service("on", status=3)
    assert "no medium found" in said and "the queue continues when you next run a Ringmaster command" in said, said
    assert not systemd.unit.exists() and not systemd.is_enabled()
    assert service("on", "--json", status=3)["finding"]["code"] == "QUEUE-SERVICE"
    systemd.refuse()
    service("on")
    before = systemd.unit.read_text()
    systemd.unit.write_text(before + "# a line of the person\n")
    systemd.refuse(verb)
    service("on", status=3)
    assert systemd.unit.read_text() == before + "# a line of the person\n" and systemd.is_enabled()


def test_without_systemd_one_message_says_what_to_do(systemd, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    for wish in ("on", "off"):
        said = service(wish, status=3)
        assert "systemctl is not installed" in said and "the queue continues when you next run a Ringmaster command" in said, said
    assert not systemd.config.exists(), "nothing is half-written"
    assert "off: systemctl is not installed" in service()
    assert "none of on, off and status" in service("perhaps", status=2)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_reads_the_unit_without_a_complaint(systemd, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data 100%h $HOME \"here\""))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    service("on")

    def complaints():
        done = subprocess.run(["systemd-analyze", "--user", "verify", systemd.unit], capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    assert complaints() == ""
    systemd.unit.write_text(systemd.unit.read_text().replace("OOMPolicy", "OOMPolity"))
    assert "OOMPolity" in complaints(), "systemd-analyze would have complained"


def test_the_unit_goes_on_with_what_a_restart_cut_off(systemd, ask, llama, rows_file, tmp_path):  # noqa: F811
    config = make_config(tmp_path, llama, rows_file, max_steps=200, save_strategy="steps", save_steps=20, output_dir=str(tmp_path / "out"))
    ask("queue", "add", config, "--ranks", 1, "--no-preflight", "--name", "cut")
    service("on")
    wait_until(lambda: (entries(ask)[0]["step"] or 0) > 20)
    kill_all(tmp_path)
    words, environment = systemd.command()
    del environment["XDG_DATA_HOME"]  # the unit's command names the runs folder
    home = {name: os.environ[name] for name in ("HOME", "RINGMASTER_PYTHON_ENV") if name in os.environ}
    subprocess.run(words, env={**home, **environment}, check=True, timeout=240, cwd="/")
    runs = are_over(ask)
    assert runs and [run["state"] for run in runs] == ["completed"]
    assert len(events_of(pathlib.Path(runs[0]["dir"]), kind="hello")) == 2
