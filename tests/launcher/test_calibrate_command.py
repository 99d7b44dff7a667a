"""Tests `ringmaster calibrate` without measuring, and `plan --timeline`; tests/e2e measures."""

import json

from conftest import run


def test_a_gpu_that_is_not_there_is_exit_status_3():
    done = run("calibrate", "--device", "cuda")
    assert done.returncode == 3 and "no GPU is seen" in done.stderr and "--device cpu" in done.stderr
    assert not done.stdout


def test_an_engine_that_cannot_start_is_exit_status_3_and_says_what_to_do(tmp_path):
    """Runs copies of the programs, which have no LibTorch next to them."""
    from conftest import BIN
    import shutil
    import subprocess

    for name in ("ringmaster", "ringmaster-engine"):
        shutil.copy2(BIN / name, tmp_path / name)
    done = subprocess.run([tmp_path / "ringmaster", "calibrate", "--device", "cpu", "--json"], capture_output=True, text=True, timeout=60,
                          env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": "", "CUDA_VISIBLE_DEVICES": ""})
    assert done.returncode == 3
    assert "libtorch" in done.stderr and "ringmaster setup" in done.stderr
    assert json.loads(done.stdout)["error"]["message"]


def test_strange_devices_and_lonely_trust_are_exit_status_2():
    assert run("calibrate", "--device", "tpu").returncode == 2
    assert run("calibrate", "--trust-on-first-use").returncode == 2


def test_the_timeline_is_a_chrome_trace(make_config, tmp_path):
    file = tmp_path / "step.json"
    done = run("plan", make_config(context_parallel_size=2, ring_attn_func="batch_zigzag"), "--ranks", 4, "--timeline", file, "--json")
    plan = json.loads(done.stdout)
    trace = json.loads(file.read_text())
    assert done.returncode == 0 and "all 4 ranks" in done.stderr
    assert trace["otherData"]["step_s"] == plan["time"]["step_s"]
    names = {event["name"] for event in trace["traceEvents"] if event["ph"] == "X"}
    assert {"layer 0 hop 0 forward", "layer 1 hop 1 backward", "update"} <= names


def test_no_timeline_of_a_plan_with_an_error(make_config, tmp_path):
    done = run("plan", make_config(context_parallel_size=3), "--ranks", 4, "--timeline", tmp_path / "step.json")
    assert done.returncode == 1 and not (tmp_path / "step.json").exists() and "--timeline" in done.stderr
    assert run("plan", make_config(), "--timeline", tmp_path / "no" / "folder.json").returncode == 1


def test_what_will_not_fit_is_not_measured(make_config):
    done = run("plan", make_config(), "--device-memory", "0.0001", "--measure")
    assert done.returncode == 1 and "will not fit" in done.stderr and "sequence_len" in done.stderr
