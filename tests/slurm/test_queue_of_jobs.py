"""Tests that runs wait in the queue for a Slurm partition, and that each run becomes exactly one job even if every
process of the queue is killed."""

import json
import os
import pathlib
import shutil
import signal
import time

import pytest

from queued_runs import are_over, asker, entries, wait_until
from ringmaster_runs import events_of, make_config, state_of
from slurm import ONE_THREAD


class Here:
    """Runs the command line on this machine, and finds the queue's processes but not those of jobs."""

    def __init__(self, slurm, folder):
        self.slurm, self.folder = slurm, folder
        self.programs = folder / "programs"
        self.programs.mkdir()
        self.ask = asker(slurm.env(**ONE_THREAD, XDG_DATA_HOME=str(folder / "data"), PATH=f"{self.programs}:{os.environ['PATH']}"))

    def add(self, config, *options, **more):
        return self.ask("queue", "add", config, "--ranks", 1, "--no-preflight", "--slurm", "partition=main", *options, **more)

    def runs(self):
        return [pathlib.Path(run["dir"]) for run in entries(self.ask)]

    def runners(self):
        """Returns the queue's processes. Jobs are left out, although they have this machine's environment variables
        too."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                if words[1:3] == [b"queue", b"run"] and str(self.folder).encode() in (process / "environ").read_bytes():
                    found.append(int(process.name))
            except OSError:
                pass
        return found

    def kill(self):
        for pid in self.runners():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def jobs(self, run):
        lines = self.slurm.say("squeue", "--noheader", "--states=all", "--format=%i|%Z").stdout.splitlines()
        return [line.split("|")[0] for line in lines if line.strip().endswith(f"|{run}")]


@pytest.fixture
def here(slurm, tmp_path):
    made = Here(slurm, tmp_path)
    yield made
    made.kill()


def test_a_partition_takes_as_many_jobs_as_its_slots_say_although_all_here_is_killed(here, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=60, output_dir=str(tmp_path / "out"))
    here.add(config, "--name", "try", "--sweep", "seed=[1, 2, 3, 4]", "--slots", 2)
    runs = here.runs()
    assert entries(here.ask)[0]["place"] == {"hosts": [], "partition": "main"}
    assert "has not been submitted yet" in here.ask("stop", runs[3], status=1)
    peak = 0
    for pause in (0.5, 0.9, 0.2, 1.5, 0.4):
        time.sleep(pause)
        here.kill()
        peak = max(peak, sum(here.slurm.state_of(job) in ("PENDING", "RUNNING") for run in runs for job in here.jobs(run)))
        here.ask("runs")  # any command of Ringmaster continues the queue
    listed = wait_until(lambda: are_over(here.ask))
    assert [(run["state"], run["step"]) for run in listed] == [("completed", 60)] * 4, listed
    assert [len(here.jobs(run)) for run in runs] == [1] * 4
    spans = [(events_of(run, kind="hello")[0]["t"], events_of(run, kind="done")[0]["t"]) for run in runs]
    assert all(len(events_of(run, kind=kind)) == 1 for run in runs for kind in ("hello", "done"))
    assert spans[2][0] > min(spans[0][1], spans[1][1]) and peak <= 2, "a third job waits until one of two is over"
    numbers = [int(here.jobs(run)[0]) for run in runs]
    assert numbers == sorted(numbers), "the jobs are submitted in the order of the queue"


def test_without_slots_slurm_gets_all_jobs_at_once_beside_a_run_of_this_machine(here, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=30, output_dir=str(tmp_path / "out"))
    here.ask("queue", "add", config, "--ranks", 1, "--no-preflight", "--name", "here", "--set", "max_steps=100000", "--set",
             f"output_dir={tmp_path}/here")
    here.add(config, "--name", "try", "--sweep", "seed=[1, 2, 3]", "--slurm", "begin=now+1hour")
    runs = here.runs()[1:]
    wait_until(lambda: all(here.jobs(run) for run in runs))
    assert [run["state"] for run in entries(here.ask)][1:] == ["queued"] * 3
    assert "has been started" in here.ask("queue", "remove", runs[0], status=1)
    for run in runs:
        here.ask("stop", run)
    here.ask("stop", here.runs()[0], "--now")
    wait_until(lambda: are_over(here.ask))


def test_a_job_whose_number_nobody_recorded_is_found_again(here, llama, rows_file, tmp_path):
    """Kills the queue's process after sbatch has submitted the job and before sbatch prints the job's number."""
    submit = here.programs / "sbatch"
    submit.write_text(f"""#!/bin/sh
number=$({shutil.which("sbatch")} "$@") || exit 1
case "$*" in *--test-only*) exit 0 ;; esac
[ -e {tmp_path}/killed ] || {{ touch {tmp_path}/killed; kill -KILL $PPID; exit 1; }}
echo $number
""")
    submit.chmod(0o755)
    config = make_config(tmp_path, llama, rows_file, max_steps=30, output_dir=str(tmp_path / "out"))
    here.add(config, "--name", "lost")
    (run,) = here.runs()
    wait_until(lambda: (tmp_path / "killed").exists() and not here.runners())
    assert json.loads((run / "slurm.json").read_text())["job"] == "" and here.jobs(run)
    here.ask("runs")
    (listed,) = wait_until(lambda: are_over(here.ask))
    assert listed["state"] == "completed", listed
    assert len(here.jobs(run)) == 1 and json.loads((run / "slurm.json").read_text())["job"] == here.jobs(run)[0]
    assert state_of(run)["attempt"] == 1


def test_a_login_node_takes_one_job_after_the_other_although_all_here_is_killed(here, client, llama, rows_file, tmp_path):
    client.host("login", client.serve("login", environment=f"SLURM_CONF={here.slurm.conf}"))
    here.ask = asker(client.env())
    config = make_config(tmp_path, llama, rows_file, max_steps=40, output_dir=str(tmp_path / "out"))
    here.add(config, "--node", "login", "--name", "there", "--sweep", "seed=[1, 2]", "--slots", 1)
    assert entries(here.ask)[1]["place"] == {"hosts": [], "partition": "login:main"}
    runs = here.runs()
    for pause in (1, 0.4, 3):
        time.sleep(pause)
        here.kill()
        here.ask("runs")
    listed = wait_until(lambda: are_over(here.ask))
    assert [(run["state"], run["step"]) for run in listed] == [("completed", 40)] * 2, listed
    there = [json.loads((run / "remote.json").read_text())["nodes"][0]["run_dir"] for run in runs]
    assert [len(here.jobs(folder)) for folder in there] == [1, 1]
    assert events_of(runs[0], kind="done")[0]["t"] < events_of(runs[1], kind="hello")[0]["t"]
    assert all((tmp_path / "out" / run.name / "model.safetensors").exists() for run in runs)


def test_what_slurm_would_refuse_is_said_before_it_is_queued(here, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=5)
    said = here.add(config, "--slurm", "partition=nowhere", status=3)
    assert "partition" in said and not entries(here.ask), said
