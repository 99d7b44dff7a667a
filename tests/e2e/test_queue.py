"""Tests that a queue starts its runs in order, as many at a time as its slots allow, and continues after all of its
processes were killed."""

import json
import os
import pathlib
import signal
import time

import pytest

from queued_runs import are_over, asker, entries, wait_until
from ringmaster_runs import events_of, make_config


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield asker()
    kill_all(tmp_path)


def processes_of(folder):
    """Returns the queue's processes, agents and ranks whose command line or data folder names `folder`."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words and b"ringmaster" in words and int(process.name) != os.getpid():
            found.append(int(process.name))
    return found


def kill_all(folder):
    for _ in range(20):
        processes = processes_of(folder)
        if not processes:
            return
        for pid in processes:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.1)
    raise AssertionError("processes that do not die")


def events(run, kind):
    return events_of(pathlib.Path(run["dir"]), kind=kind)


def add_runs(ask, count, config, *options):
    seeds = json.dumps(list(range(1, count + 1)))
    ask("queue", "add", config, "--ranks", 1, "--slots", 2, "--sweep", f"seed={seeds}", "--no-preflight", *options)


def complete_each_once_although_all_is_killed(ask, llama, rows_file, tmp_path, count, steps, kills):
    config = make_config(tmp_path, llama, rows_file, max_steps=steps, save_strategy="steps", save_steps=20, output_dir=str(tmp_path / "out"))
    add_runs(ask, count, config)
    for kill in range(kills):
        begun = 2 * kill + 1
        wait_until(lambda: sum((run["step"] or 0) > 0 for run in entries(ask)) >= begun
                   and any(run["state"] == "running" and (run["step"] or 0) > 20 for run in entries(ask)))
        kill_all(tmp_path)
        ask("runs")  # any command of Ringmaster makes the queue continue
    runs = wait_until(lambda: are_over(ask))
    assert [run["state"] for run in runs] == ["completed"] * count
    assert [run["set"] for run in runs] == [{"seed": seed} for seed in range(1, count + 1)]
    starts, spans, attempts = [], [], 0
    for run in runs:
        assert [event["state"] for event in events(run, "done")] == ["completed"]
        assert [event["step"] for event in events(run, "done")] == [steps]
        hellos = events(run, "hello")
        attempts += len(hellos)
        starts.append(hellos[0]["t"])
        spans += [(hellos[-1]["t"], 1), (events(run, "done")[0]["t"], -1)]
        assert (tmp_path / "out" / run["name"] / "model.safetensors").exists()
    assert attempts >= count + kills, "each kill has cut a run off"
    # Two runs that start together write their hello events in any order.
    assert all(before < after for before, after in zip(starts, starts[2:])), "the runs start in the order of the queue"
    active = peak = 0
    for _, change in sorted(spans):
        active += change
        peak = max(peak, active)
    assert peak <= 2, "no more than the slots"


def test_runs_complete_once_and_in_order_although_all_is_killed(ask, llama, rows_file, tmp_path):
    complete_each_once_although_all_is_killed(ask, llama, rows_file, tmp_path, count=4, steps=400, kills=1)


def test_every_run_of_twenty_completes_once_although_all_is_killed(ask, llama, rows_file, tmp_path):
    complete_each_once_although_all_is_killed(ask, llama, rows_file, tmp_path, count=20, steps=400, kills=3)


def test_a_waiting_run_is_moved_and_removed_and_what_cannot_be_is_said(ask, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=400, output_dir=str(tmp_path / "out"))
    ask("queue", "add", config, "--ranks", 1, "--no-preflight", "--name", "long")
    assert "long of the queue" in ask("queue", "add", config, "--ranks", 1, status=1), "two runs would write one folder"
    ask("queue", "add", config, "--ranks", 1, "--no-preflight", "--name", "try", "--sweep", "learning_rate=[1e-3, 2e-3]",
        "--sweep", "weight_decay=[0, 0.1]")
    names = [f"try-{number}" for number in range(1, 5)]
    assert [run["name"] for run in entries(ask)] == ["long", *names]
    assert entries(ask)[2]["set"] == {"learning_rate": 0.001, "weight_decay": 0.1}
    ask("queue", "move", "try-4", "--to", 2)
    ask("queue", "remove", "try-2")
    assert [run["name"] for run in entries(ask)] == ["long", "try-4", "try-1", "try-3"]
    wait_until(lambda: entries(ask)[0]["step"])
    assert {run["state"] for run in entries(ask)[1:]} == {"queued"}
    assert "ringmaster stop long" in ask("queue", "remove", "long", status=1)
    assert "is not in the queue" in ask("queue", "remove", "try-2", status=2)
    for wrong in ("seed=3", "seed=[", "seed=[]", tmp_path / "missing.yaml"):
        assert ask("queue", "add", config, "--sweep", wrong, status=2)
    assert "learning_rate  weight_decay" in ask("queue")
    ask("stop", "long", "--now")
    wait_until(lambda: entries(ask)[1]["state"] != "queued")
