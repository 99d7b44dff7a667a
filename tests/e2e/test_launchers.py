"""Tests that the engine computes the same losses under other launchers: under torchrun, and with the variables that
Slurm sets."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

from ringmaster_runs import BIN, events_of, launch, losses_of, make_config, ringmaster, state_of, wait_for

ENGINE = BIN / "ringmaster-engine"


@pytest.fixture(scope="module")
def launched(llama, rows_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("launchers")
    config = make_config(folder, llama, rows_file, context_parallel_size=2, ring_attn_func="batch_zigzag")
    return config, launch(config, folder / "runs", "--ranks", 2)


def prepared(config, folder):
    done = ringmaster("prepare", config, "--runs-dir", folder / "runs", "--ranks", 2, "--json", "--overwrite")
    return pathlib.Path(json.loads(done.stdout)["dir"])


def test_torchrun_trains_a_prepared_run_to_the_same_losses(launched, tmp_path):
    config, whole = launched
    run = prepared(config, tmp_path)
    assert (run / "token").stat().st_mode & 0o777 == 0o600
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--no-python", "--standalone", "--nproc-per-node", "2",
                           "--", ENGINE, "--run", run], capture_output=True, text=True, timeout=180, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert state_of(run)["state"] == "completed"
    for rank in range(2):
        assert losses_of(run, rank) == losses_of(whole, rank)
    assert (run / "logs/rank-00000.log").read_text()


def test_slurms_variables_train_a_prepared_run_to_the_same_losses(launched, tmp_path):
    config, whole = launched
    run = prepared(config, tmp_path)
    clean = {key: value for key, value in os.environ.items() if key not in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")}
    ranks = []
    for rank in range(2):
        env = {**clean, "SLURM_PROCID": str(rank), "SLURM_NTASKS": "2", "SLURM_LOCALID": str(rank), "OMP_NUM_THREADS": "1",
               "SLURM_JOB_ID": str(os.getpid()), "SLURM_JOB_NODELIST": "localhost"}
        ranks.append(subprocess.Popen([ENGINE, "--run", run], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    for process in ranks:
        text, _ = process.communicate(timeout=120)
        assert process.returncode == 0, text
    assert losses_of(run) == losses_of(whole)


def test_two_launchers_never_train_one_run_directory(launched, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, context_parallel_size=2, ring_attn_func="batch_zigzag", max_steps=100000)
    run = prepared(config, tmp_path)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--no-python", "--standalone", "--nproc-per-node", "2", "--", ENGINE, "--run", run]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    first = subprocess.Popen(torchrun, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for(lambda: (run / "events/rank-00000.jsonl").exists() and len(losses_of(run)) >= 2, "step 2 of the first")
        holder = events_of(run, 0, "hello")[0]["pid"]
        second = subprocess.run(torchrun, env=env, capture_output=True, text=True, timeout=120)
        alone = subprocess.run([ENGINE, "--run", run], capture_output=True, text=True, timeout=60)
        agent = subprocess.run([BIN / "ringmaster-agent", "--run", run, "--ranks", "2"], capture_output=True, text=True, timeout=60)
        for done in (second, alone, agent):
            assert f"is run by process {holder} on host" in done.stdout + done.stderr, done.stdout + done.stderr
        assert second.returncode == alone.returncode == agent.returncode == 1
        assert state_of(run)["state"] == "running"
        for rank in range(2):
            assert len(events_of(run, rank, "hello")) == 1 and not events_of(run, rank, "error")
            told = [json.loads(line)["type"] for line in (run / f"events/rank-{rank:05d}.jsonl").read_text().split("\n")[:-1]]
            assert told.count("phase") == len(dict.fromkeys(event["name"] for event in events_of(run, rank, "phase"))), told
    finally:
        first.send_signal(signal.SIGTERM)  # torchrun passes it on to the ranks, which save and stop
        first.wait(60)


def test_a_wrong_number_of_ranks_is_said(launched, tmp_path):
    config, _ = launched
    run = prepared(config, tmp_path)
    done = subprocess.run([ENGINE, "--run", run], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "2 ranks" in done.stdout + done.stderr
