"""Tests that a run ends if one of its ranks is alive but silent, and that the run's reason names the rank, its layer
and its hop."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from ringmaster_runs import BIN, launch, make_config, ringmaster, state_of, wait_for
from test_resume import steps_done

RANKS = 4
RING = dict(context_parallel_size=RANKS, ring_attn_func="batch_zigzag", max_steps=100000)
PLACE = r"(in|after) layer \d+, hop \d+"


@pytest.fixture
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def log_of(run, rank):
    return (run / f"logs/rank-{rank:05d}.log").read_text()


def pid_of(run, rank):
    return state_of(run)["nodes"][0]["ranks"][rank]["pid"]


def is_gone(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_stopped_rank_ends_the_run_and_every_log_names_it_with_layer_and_hop(llama, rows_file, tmp_path, one_thread):
    run = launch(make_config(tmp_path, llama, rows_file, **RING), tmp_path / "runs", "--ranks", RANKS, "--detach")
    wait_for(lambda: steps_done(run) >= 3, "step 3")
    node = state_of(run)["nodes"][0]
    os.kill(pid_of(run, 2), signal.SIGSTOP)
    began = time.monotonic()
    wait_for(lambda: state_of(run)["state"] == "failed", "the end of the run", 30)
    assert time.monotonic() - began > 8, "who continues it soon does no harm"
    named = rf"rank 2 was stopped by SIGSTOP and not continued for 10 s: it (waits|is at work) {PLACE}"
    reason = state_of(run)["reason"]
    assert re.search(named, reason.splitlines()[0]), reason
    for rank in range(RANKS):
        assert re.search(rf"agent: the run failed: {named}.*; this rank (waits|is at work) {PLACE}", log_of(run, rank)), log_of(run, rank)
        assert re.search(rf"\n  rank {rank} (waits|is at work) {PLACE}", reason), reason
    wait_for(lambda: all(is_gone(process["pid"]) for process in [node["agent"], *node["ranks"]]), "the end of all processes", 15)


def test_a_rank_that_is_continued_in_time_trains_on(llama, rows_file, tmp_path, one_thread):
    run = launch(make_config(tmp_path, llama, rows_file, **RING), tmp_path / "runs", "--ranks", RANKS, "--detach")
    wait_for(lambda: steps_done(run) >= 3, "step 3")
    for _ in range(2):
        os.kill(pid_of(run, 1), signal.SIGSTOP)
        time.sleep(6)
        os.kill(pid_of(run, 1), signal.SIGCONT)
        before = steps_done(run)
        wait_for(lambda: steps_done(run) > before + 2, "further steps")
    assert state_of(run)["state"] == "running"
    ringmaster("stop", run, "--now")


def test_an_agent_that_was_suspended_with_its_ranks_goes_on(llama, rows_file, tmp_path, one_thread):
    run = launch(make_config(tmp_path, llama, rows_file, ddp_timeout=8, **RING), tmp_path / "runs", "--ranks", RANKS, "--detach")
    wait_for(lambda: steps_done(run) >= 3, "step 3")
    node = state_of(run)["nodes"][0]
    everyone = [process["pid"] for process in [node["agent"], *node["ranks"]]]
    for pid in everyone:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(14)
    for pid in everyone:
        os.kill(pid, signal.SIGCONT)
    before = steps_done(run)
    wait_for(lambda: steps_done(run) > before + 2, "further steps")
    assert state_of(run)["state"] == "running"
    ringmaster("stop", run, "--now")


def test_under_torchrun_a_transfer_that_nobody_answers_ends_by_itself(llama, rows_file, tmp_path, one_thread):
    config = make_config(tmp_path, llama, rows_file, ddp_timeout=6, **RING)
    done = ringmaster("prepare", config, "--runs-dir", tmp_path / "runs", "--ranks", RANKS, "--json")
    run = pathlib.Path(json.loads(done.stdout)["dir"])
    torchrun = subprocess.Popen([sys.executable, "-m", "torch.distributed.run", "--no-python", "--standalone", "--nproc-per-node", str(RANKS),
                                 "--", BIN / "ringmaster-engine", "--run", run], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: steps_done(run) >= 3, "step 3")
        pids = [json.loads(open(run / f"events/rank-{rank:05d}.jsonl").readlines()[1])["pid"] for rank in range(RANKS)]
        os.kill(pids[2], signal.SIGSTOP)
        others = [rank for rank in range(RANKS) if rank != 2]
        wait_for(lambda: all(is_gone(pids[rank]) for rank in others), "the end of the others", 30)
        whom = "(rank 2 to (send|take) .*|the .* of all 4 ranks of world) "
        logs = "".join(log_of(run, rank) for rank in others)
        assert re.search(rf"rank \d waits {PLACE}, for {whom}.*: nothing came for 6 s", logs), logs
        for rank in others:
            assert re.search(rf"error: rank {rank} waits {PLACE}, for ", log_of(run, rank)), log_of(run, rank)
    finally:
        subprocess.run(["kill", "-9", str(pids[2])], check=False)
        torchrun.terminate()
        torchrun.wait(60)
