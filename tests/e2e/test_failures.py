"""Tests that every failure gives one message that names its cause, the right exit status, and a run directory that is
still readable."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import pytest

from ringmaster_runs import BIN, events_of, launch, losses_of, make_config, ringmaster, state_of, wait_for
from test_resume import steps_done


def launch_badly(config, runs, *arguments):
    done = ringmaster("launch", config, "--runs-dir", runs, *arguments, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_killed_rank_ends_the_run_with_its_name_and_nothing_left(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=100000, context_parallel_size=2)
    run = launch(config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: steps_done(run) >= 2, "step 2")
    node = state_of(run)["nodes"][0]
    os.kill(node["ranks"][1]["pid"], signal.SIGKILL)
    began = time.monotonic()
    wait_for(lambda: state_of(run)["state"] == "failed", "the end of the run", 15)
    assert time.monotonic() - began < 15
    reason = state_of(run)["reason"]
    assert "rank 1" in reason and "signal 9" in reason
    wait_for(lambda: not any(pathlib.Path(f"/proc/{rank['pid']}").exists() for rank in node["ranks"]), "the ranks' end", 15)
    wait_for(lambda: not pathlib.Path(f"/proc/{node['agent']['pid']}").exists(), "the agent's end", 15)
    assert losses_of(run)


def test_missing_and_malformed_files_are_exit_status_2(tmp_path):
    status, text = launch_badly(tmp_path / "nowhere.yaml", tmp_path / "runs")
    assert status == 2 and "nowhere.yaml" in text
    broken = tmp_path / "broken.yaml"
    broken.write_text("base_model: x\ndatasets: [\nsequence_len: 12\n")
    status, text = launch_badly(broken, tmp_path / "runs")
    assert status == 2 and "broken.yaml" in text
    done = ringmaster("plan", broken, "--json", check=False)
    report = json.loads(done.stdout)
    assert done.returncode == 2 and report["ok"] is False
    assert any(entry["line"] > 0 for entry in report["diagnostics"])


def test_an_unknown_model_type_is_refused_by_name(llama, rows_file, tmp_path):
    strange = shutil.copytree(llama, tmp_path / "strange")
    config_json = json.loads((strange / "config.json").read_text())
    (strange / "config.json").write_text(json.dumps({**config_json, "model_type": "mamba"}))
    status, text = launch_badly(make_config(tmp_path, strange, rows_file), tmp_path / "runs")
    assert status == 1 and "mamba" in text


def test_truncated_weights_are_named(llama, rows_file, tmp_path):
    cut = shutil.copytree(llama, tmp_path / "cut")
    weights = (cut / "model.safetensors").read_bytes()
    (cut / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    status, text = launch_badly(make_config(tmp_path, cut, rows_file), tmp_path / "runs", "--name", "cut")
    assert status == 1 and "model.safetensors" in text and "truncated" in text
    state = state_of(tmp_path / "runs/cut")
    assert state["state"] == "failed" and "model.safetensors" in state["reason"]


def test_a_broken_row_is_named_by_file_and_line(llama, tmp_path):
    rows = tmp_path / "broken.jsonl"
    rows.write_text('{"input_ids": [1, 2, 3], "labels": [1, 2, 3]}\n{"input_ids": [1, 2, \n')
    status, text = launch_badly(make_config(tmp_path, llama, rows), tmp_path / "runs")
    assert status == 1 and "broken.jsonl" in text and "line 2" in text


def test_a_port_in_use_is_exit_status_3(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file)
    run = json.loads(ringmaster("prepare", config, "--runs-dir", tmp_path / "runs", "--ranks", 2, "--json").stdout)["dir"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        env = {**os.environ, "RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        done = subprocess.run([BIN / "ringmaster-engine", "--run", run], env=env, capture_output=True, text=True, timeout=90)
    assert done.returncode == 3
    assert str(port) in done.stdout + done.stderr
    assert state_of(pathlib.Path(run))["state"] == "failed"


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here: " + mounted.stderr.strip())
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_at_checkpoint_time_is_named_and_keeps_the_last_checkpoint(llama, rows_file, small_disk, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=40, save_steps=2, save_strategy=None)
    status, text = launch_badly(config, small_disk / "runs", "--ranks", 2, "--name", "full")
    run = small_disk / "runs/full"
    assert status == 1 and "No space left on device" in text and "step-" in text
    state = state_of(run)
    assert state["state"] == "failed" and "No space left on device" in state["reason"]
    complete = list(run.glob("checkpoints/step-*/complete"))
    assert complete, "the checkpoints before it stay"
    assert losses_of(run)
    assert not list(run.glob("checkpoints/.*partial"))


def test_a_loss_that_is_not_finite_stops_the_run_with_rank_layer_and_step(llama, rows_file, tmp_path):
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(llama, dtype=torch.float32)
    with torch.no_grad():
        model.model.layers[1].mlp.up_proj.weight[3, 3] = float("nan")
    model.save_pretrained(tmp_path / "nan")
    config = make_config(tmp_path, tmp_path / "nan", rows_file, context_parallel_size=2)
    status, text = launch_badly(config, tmp_path / "runs", "--ranks", 2)
    assert status == 1 and "nan" in text
    assert "step 1" in text and "layer 1" in text and "rank 0" in text


def test_closing_the_terminal_leaves_the_run_alive(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=100000)
    viewer = subprocess.Popen([BIN / "ringmaster", "launch", config, "--runs-dir", tmp_path / "runs", "--name", "alive", "--ranks", "2"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    run = tmp_path / "runs/alive"
    wait_for(lambda: steps_done(run) >= 2, "step 2")
    os.killpg(viewer.pid, signal.SIGHUP)
    viewer.wait(timeout=20)
    before = steps_done(run)
    wait_for(lambda: steps_done(run) > before + 2, "further steps")
    assert state_of(run)["state"] == "running"
    ringmaster("stop", run, "--now")
    assert events_of(run, kind="hello")[0]["attempt"] == 1


def test_two_runs_at_once_do_not_share_an_output_dir(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=100000)
    run = launch(config, tmp_path / "runs", "--ranks", 1, "--name", "first", "--detach")
    for arguments in (["--name", "second"], ["--name", "second", "--overwrite"]):
        status, text = launch_badly(config, tmp_path / "runs", "--ranks", 1, *arguments)
        assert status == 1 and "output_dir is in use by the run first" in text, text
    assert not (tmp_path / "runs/second").exists()
    ringmaster("stop", run, "--now")
    other = launch(config, tmp_path / "runs", "--ranks", 1, "--name", "third", "--set", "max_steps=1")
    assert state_of(other)["state"] == "completed"


def test_slurms_warning_while_the_libraries_load_is_not_the_end_of_the_rank(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=100000)
    run = pathlib.Path(json.loads(ringmaster("prepare", config, "--runs-dir", tmp_path / "runs", "--ranks", 1, "--json").stdout)["dir"])
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    rank = subprocess.Popen(["env", "--block-signal=USR1", BIN / "ringmaster-engine", "--run", run], env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)  # a job's script starts the agent in the same way
    wait_for(lambda: b"ringmaster-engine" in pathlib.Path(f"/proc/{rank.pid}/cmdline").read_bytes().split(b"\0")[0], "the engine's start", 10)
    rank.send_signal(signal.SIGUSR1)
    said, _ = rank.communicate(timeout=60)
    assert rank.returncode == 0 and state_of(run)["state"] == "queued", said
    assert "its time was nearly over" in state_of(run)["reason"] and list(run.glob("checkpoints/step-*/complete"))
