"""Tests that runs over SSH wait in the queue for their machines, and that each run trains once even if every process
on this machine is killed."""

import os
import pathlib
import signal
import time

import pytest

from queued_runs import are_over, asker, entries, wait_until
from ringmaster_runs import events_of, make_config
from tiny import llama, rows_file  # noqa: F401  (fixtures)


def kill_those_with(variable):
    """Kills the processes that have this variable in their environment."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            pass


class Here:
    """Runs the command line on this machine, and can kill this machine's processes without those of the nodes."""

    def __init__(self, client):
        self.client, self.ask = client, asker(client.env(OMP_NUM_THREADS="1"))

    def kill(self):
        kill_those_with(f"XDG_DATA_HOME={self.client.folder}/data")

    def add(self, config, name, *options, **more):
        return self.ask("queue", "add", config, "--ranks", 1, "--no-preflight", "--name", name, "--set",
                        f"output_dir={config.parent}/out-{name}", *options, **more)


@pytest.fixture
def here(client):
    for name in ("a", "b"):
        client.host(name, client.serve(name))
    made = Here(client)
    yield made
    made.kill()


def dirs(here):
    return {run["name"]: pathlib.Path(run["dir"]) for run in entries(here.ask)}


def span(run):
    """Returns when a run began and ended. Fails if the run began or ended more than once."""
    (hello,), (done,) = events_of(run, kind="hello"), events_of(run, kind="done")
    return hello["t"], done["t"]


def test_runs_wait_for_their_machines_and_each_trains_once_although_all_here_is_killed(here, llama, rows_file, tmp_path):  # noqa: F811
    config = make_config(tmp_path, llama, rows_file, max_steps=120)
    here.add(config, "a1", "--node", "a", "--set", "max_steps=1500")
    here.add(config, "a2", "--node", "a")
    here.add(config, "b1", "--node", "b")
    assert entries(here.ask)[1]["place"] == {"hosts": ["a"], "partition": None}
    for pause in (1.0, 0.3, 1.7, 0.6, 2.5, 4, 6, 8):
        time.sleep(pause)
        here.kill()
        here.ask("runs")  # any command of Ringmaster continues the queue
    runs = wait_until(lambda: are_over(here.ask))
    assert [(run["name"], run["state"], run["step"]) for run in runs] == [
        ("a1", "completed", 1500), ("a2", "completed", 120), ("b1", "completed", 120)], runs
    spans = {name: span(run) for name, run in dirs(here).items()}
    assert spans["a1"][1] < spans["a2"][0], "runs on the same machine wait for each other"
    assert spans["b1"][0] < spans["a2"][0], "a run on another machine does not wait for them"
    assert all((tmp_path / f"out-{name}/model.safetensors").exists() for name in spans)


def test_a_run_whose_start_nobody_recorded_is_not_started_twice(here, llama, rows_file, tmp_path):  # noqa: F811
    config = make_config(tmp_path, llama, rows_file, max_steps=120)
    here.add(config, "first", "--node", "a", "--node", "b", "--ranks", 2)
    run = dirs(here)["first"]
    queued = (run / "run.json").read_text()
    assert '"queued"' in queued
    wait_until(lambda: (run / "events/rank-00000.jsonl").exists() and events_of(run))
    here.kill()
    (run / "run.json").write_text(queued)  # as if the queue was killed after the start and before the start was recorded
    here.ask("runs")
    (listed,) = wait_until(lambda: are_over(here.ask))
    assert listed["state"] == "completed", listed
    span(run)


def test_a_start_of_only_some_nodes_is_begun_anew(here, llama, rows_file, tmp_path):  # noqa: F811
    config = make_config(tmp_path, llama, rows_file, max_steps=60)
    here.add(config, "two", "--node", "a", "--node", "b", "--ranks", 2)
    run = dirs(here)["two"]
    queued = (run / "run.json").read_text()
    wait_until(lambda: (run / "events/rank-00000.jsonl").exists() and events_of(run))
    here.kill()
    b = here.client.servers[1]
    kill_those_with(f"HOME={b.home}")  # as if the start had never reached node b
    (state,) = b.home.glob("data/ringmaster/runs/*/*/node-1/run.json")
    state.unlink()
    (run / "run.json").write_text(queued)
    here.ask("runs")
    (listed,) = wait_until(lambda: are_over(here.ask))
    assert (listed["state"], listed["step"]) == ("completed", 60), listed
    assert [len(events_of(run, rank, kind="done")) for rank in (0, 1)] == [1, 1]


def test_a_run_that_its_machine_cut_off_goes_on_from_its_newest_checkpoint(here, llama, rows_file, tmp_path):  # noqa: F811
    config = make_config(tmp_path, llama, rows_file, max_steps=300, save_strategy="steps", save_steps=20)
    here.add(config, "cut", "--node", "a")
    run = dirs(here)["cut"]
    wait_until(lambda: (entries(here.ask)[0]["step"] or 0) > 20)
    kill_those_with(f"HOME={here.client.servers[0].home}")
    listed = wait_until(lambda: [one for one in entries(here.ask) if one["state"] == "completed"])
    assert listed[0]["step"] == 300
    starts = [(event["attempt"], event["start_step"]) for event in events_of(run, kind="hello")]
    assert starts[0] == (1, 0) and starts[1][0] == 2 and starts[1][1] >= 20 and len(starts) == 2, starts


def test_a_machine_that_is_away_is_waited_for(here, llama, rows_file, tmp_path):  # noqa: F811
    config = make_config(tmp_path, llama, rows_file, max_steps=5)
    here.add(config, "long", "--node", "a", "--set", "max_steps=100")
    here.add(config, "away", "--node", "a")
    wait_until(lambda: entries(here.ask)[0]["step"])
    here.client.servers[0].stop()
    time.sleep(3)
    assert [run["state"] for run in entries(here.ask)][1] == "queued"
    here.client.servers[0].start()
    assert [run["state"] for run in wait_until(lambda: are_over(here.ask))] == ["completed", "completed"]


def test_what_cannot_be_queued_is_said(here, llama, rows_file, tmp_path):  # noqa: F811
    config = make_config(tmp_path, llama, rows_file, max_steps=5)
    assert "has its machines to itself" in here.add(config, "slots", "--node", "a", "--slots", 2, status=2)
    assert "--restarts" in here.add(config, "restarts", "--node", "a", "--node", "b", "--restarts", 1, status=2)
    assert "none is named" in here.add(config, "trust", "--trust-on-first-use", status=2)
    here.client.known_hosts.write_text("")
    assert "known" in here.add(config, "stranger", "--node", "a", status=3)
    assert not entries(here.ask)
