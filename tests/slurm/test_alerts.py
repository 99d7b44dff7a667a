"""Tests that a webhook and a command get the alerts of a Slurm job's run, including the alert of the run's end, before the
job is over."""

import json
import os
import pathlib
import signal

import pytest
from alert_hook import BUSY, Hook, keeper, kinds_told, make_spiking_rows

from ringmaster_runs import VOCABULARY, make_config, ringmaster, state_of, wait_for
from slurm import ONE_THREAD, job_of, steps


@pytest.fixture
def hook():
    server = Hook()
    yield server
    server.shutdown()


def submit(slurm, tmp_path, hook, config, command):
    done = ringmaster("launch", config, "--ranks", 2, "--detach", "--json", "--runs-dir", tmp_path / "runs", "--slurm", "partition=main", "--alert-webhook",
                      hook.url, "--alert-command", " ".join(command), env=slurm.env(**ONE_THREAD))
    return pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"])


def test_a_spike_and_the_end_are_told_while_the_job_is_there(slurm, llama, hook, tmp_path):
    command, told = keeper(tmp_path)
    rows = make_spiking_rows(tmp_path / "rows.jsonl", VOCABULARY, 45 * 4, 12 * 4)
    config = make_config(tmp_path, llama, rows, max_steps=57, sequence_len=24, lr_scheduler="constant", warmup_steps=0, learning_rate=5e-3)
    job_states = {}
    hook.on_post = lambda post: job_states.update({post["kind"]: slurm.state_of(job_of(run))})
    hook.seconds = 4
    run = submit(slurm, tmp_path, hook, config, command)
    wait_for(lambda: state_of(run)["state"] == "completed", "the end")
    wait_for(lambda: slurm.state_of(job_of(run)) in ("COMPLETED", ""), "the end of the job")
    assert [post["kind"] for post in hook.told()] == ["spike", "completed"], "the job waits until both are delivered"
    assert [post["step"] for post in hook.told()] == [46, 57] and {post["run"] for post in hook.told()} == {run.name}
    assert {kind: job_states[kind] for kind in ("spike", "completed")} == {"spike": "RUNNING", "completed": "RUNNING"}
    shown = ringmaster("watch", run, "--json", env=slurm.env(**ONE_THREAD)).stdout.splitlines()
    assert [(line["kind"], line["step"]) for line in map(json.loads, shown) if line["type"] == "alert" and line["kind"] not in BUSY] == [("spike", 46)]
    assert kinds_told(told) == ["spike", "completed"]
    assert hook.url not in (run / "alerts.log").read_text()


def test_a_requeued_job_tells_its_end_once(slurm, llama, rows_file, hook, tmp_path):
    command, told = keeper(tmp_path)
    config = make_config(tmp_path, llama, rows_file, max_steps=60, save_strategy=None, save_steps=1000)
    run = submit(slurm, tmp_path, hook, config, command)
    wait_for(lambda: len(steps(run)) >= 3, "step 3")
    slurm.say("scancel", "--signal=USR1", job_of(run))
    wait_for(lambda: state_of(run)["state"] == "completed" and state_of(run)["attempt"] == 2, "the end of the second start")
    wait_for(lambda: slurm.state_of(job_of(run)) in ("COMPLETED", ""), "the end of the job")
    assert [(post["kind"], post["step"]) for post in hook.told()] == [("completed", 60)]
    assert kinds_told(told) == ["completed"]


def test_a_rank_that_is_killed_is_told_as_a_failure(slurm, llama, rows_file, hook, tmp_path):
    command, told = keeper(tmp_path)
    config = make_config(tmp_path, llama, rows_file, max_steps=100000)
    run = submit(slurm, tmp_path, hook, config, command)
    wait_for(lambda: len(steps(run)) >= 3, "step 3")
    os.kill(next(pid for pid in engines_of(run)), signal.SIGKILL)
    wait_for(lambda: slurm.state_of(job_of(run)) in ("FAILED", ""), "the end of the job")
    assert [post["kind"] for post in hook.told()] == ["failed"] and hook.told()[0]["step"] >= 3
    assert kinds_told(told) == ["failed"]


def test_a_stall_is_told_while_it_lasts(slurm, llama, rows_file, hook, tmp_path):
    """Tests a stopped rank under Slurm, where no agent ends such a run."""
    command, told = keeper(tmp_path)
    config = make_config(tmp_path, llama, rows_file, max_steps=100000)
    run = submit(slurm, tmp_path, hook, config, command)
    wait_for(lambda: len(steps(run)) >= 8, "step 8")
    rank = next(engines_of(run))
    os.kill(rank, signal.SIGSTOP)
    try:
        wait_for(lambda: [post for post in hook.posts if post["kind"] == "stall"], "the alert", 100)
    finally:
        os.kill(rank, signal.SIGCONT)
    stall = next(post for post in hook.posts if post["kind"] == "stall")
    assert stall["value"] >= 60 and stall["step"] >= 8 and slurm.state_of(job_of(run)) == "RUNNING"
    slurm.say("scancel", job_of(run))


def engines_of(run):
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"ringmaster-engine") and str(run).encode() in words:
            yield int(entry.parent.name)
