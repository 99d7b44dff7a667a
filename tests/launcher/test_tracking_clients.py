"""Tests that W&B (offline), MLflow (file store), trackio and Comet (offline) hold every step of a run once, even if the
sending process was killed half way. Each is read back with its own client, in a separate environment (trackers.txt)."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import run
from test_signals import wait_for
from tracked_run import TrackedRun

HERE = pathlib.Path(__file__).parent
KEYS = {"wandb_project": "p", "wandb_mode": "offline", "mlflow_experiment_name": "x", "trackio_project_name": "p", "comet_project_name": "p",
        "comet_online": False}


@pytest.fixture(scope="session")
def clients():
    """Returns the Python of an environment that has the clients; the environment is kept in the cache
    folder."""
    lock = HERE / "trackers.txt"
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ringmaster"
    folder = cache / f"venv-trackers-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"
    if not (folder / "whole").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", "--require-hashes", "-r", lock], check=True)
        (folder / "whole").touch()
    return folder / "bin/python"


@pytest.fixture
def places(tmp_path):
    """Returns variables that keep the clients' data below tmp_path."""
    return {"TRACKIO_DIR": str(tmp_path / "trackio"), "MLFLOW_TRACKING_URI": (tmp_path / "mlruns").as_uri(), "MLFLOW_ALLOW_FILE_STORE": "true",
            "HOME": str(tmp_path), "WANDB_SILENT": "true"}


def read_back(clients, tracker, folder, places):
    """Returns [(kind, step), value of the loss] of each row that the tracker holds."""
    out = subprocess.run([clients, HERE / "read_trackers.py", tracker, folder], capture_output=True, text=True, env={**os.environ, **places})
    assert out.returncode == 0, out.stderr
    return sorted(((kind, step), loss) for kind, step, loss in json.loads(out.stdout.splitlines()[-1]))


@pytest.mark.parametrize("tracker", ["wandb", "mlflow", "trackio", "comet"])
def test_each_step_is_held_once_though_the_process_is_killed(tmp_path, clients, places, tracker):
    tracked = TrackedRun(tmp_path / "one", [tracker], KEYS, clients)
    tracked.send_with_kills(tracker, 12, **places)
    held = read_back(clients, tracker, tracked.folder, places)
    assert [key for key, _ in held] == tracked.expected()
    assert all(loss == pytest.approx(2.5 if kind == "eval" else 3 - step / 1024) for (kind, step), loss in held)


def test_a_launched_run_is_held_by_wandb_and_mlflow(make_config, tmp_path, clients, places):
    config = make_config(wandb_project="p", wandb_mode="offline", use_mlflow=True, mlflow_experiment_name="x", max_steps=8)
    done = run("launch", config, "--runs-dir", tmp_path / "runs", "--name", "one", "--ranks", "2", "--no-preflight",
               env={**places, "VIRTUAL_ENV": str(clients.parent.parent)})
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "runs/one"
    for tracker in ("wandb", "mlflow"):
        wait_for(lambda name=tracker: (folder / f"tracking/{name}.done").exists(), f"the last step at {tracker}", seconds=120)
        events = [json.loads(line) for line in (folder / "events/rank-00000.jsonl").read_text().splitlines()]
        losses = [(("train", event["step"]), event["loss"]) for event in events if event["type"] == "step"]
        held = read_back(clients, tracker, folder, places)
        assert [key for key, _ in held] == [key for key, _ in losses] and len(held) == 8
        assert all(sent == pytest.approx(loss) for (_, sent), (_, loss) in zip(held, losses))
