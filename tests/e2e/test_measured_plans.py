"""Tests plans that use measurements: `ringmaster calibrate` and `ringmaster plan --measure`, on two CPU
ranks."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

from ringmaster_runs import BIN, make_config


@pytest.fixture
def world(tmp_path):
    """Returns an environment with a cache folder for this test alone, because the cache stores one set of measured
    figures per machine."""
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "CUDA_VISIBLE_DEVICES": "", "TMPDIR": str(tmp_path)}


def ringmaster(world, *arguments):
    return subprocess.run([BIN / "ringmaster", *map(str, arguments)], capture_output=True, text=True, timeout=120, env=world,
                          stdin=subprocess.DEVNULL)


def plan(world, *arguments):
    done = ringmaster(world, "plan", *arguments, "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def codes(plan):
    return {entry["code"] for entry in plan["diagnostics"]}


def tensors(plan):
    return max(rank["total"] - rank["runtime"] for rank in plan["memory"]["per_rank"])


def leftovers(tmp_path):
    return [path for path in pathlib.Path(tmp_path).glob("ringmaster-*")]


def test_calibrate_measures_in_seconds_and_plans_use_it(world, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file)
    assert plan(world, config, "--ranks", 2)["time"]["basis"] == "assumed"
    start = time.monotonic()
    done = ringmaster(world, "calibrate", "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - start < 40
    (figures,) = json.loads(done.stdout)
    for precision in ("float32", "bfloat16"):
        assert all(value > 1e8 for value in figures[precision].values())
    assert figures["memory_bytes_per_s"] > 1e8 and figures["link_bytes_per_s"] > 1e7 and 0 < figures["link_latency_s"] < 0.1
    assert "measuring: memory copy" in done.stderr
    after = plan(world, config, "--ranks", 2)
    assert after["time"]["basis"] == "measured" and "TIME-MEASURED" in codes(after)
    assert plan(world, config, "--ranks", 2, "--nodes", 2)["time"]["basis"] == "assumed"
    pathlib.Path(figures["file"]).write_text("{")
    assert plan(world, config, "--ranks", 2)["time"]["basis"] == "assumed"


def test_ctrl_c_ends_a_calibration_and_keeps_nothing(world, tmp_path):
    process = subprocess.Popen([BIN / "ringmaster", "calibrate", "--device", "cpu"], env=world, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    while "measuring" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert not list((tmp_path / "cache").rglob("*.json"))


def test_a_measured_plan_replaces_the_estimate_and_corrects_others(world, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, sequence_len=384, context_parallel_size=2, ring_attn_func="batch_zigzag",
                         output_dir="out")
    before = plan(world, config, "--ranks", 2)
    assert before["memory"]["basis"] == "formula"
    done = ringmaster(world, "plan", config, "--ranks", 2, "--device", "cpu", "--measure", "--json")
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert measured["memory"]["basis"] == "measured" and measured["time"]["basis"] == "measured"
    assert {"MEM-MEASURED", "TIME-MEASURED"} <= codes(measured)
    assert tensors(measured) == pytest.approx(tensors(before), rel=0.10)
    assert measured["time"]["step_s"] > 0
    assert plan(world, config, "--ranks", 2)["time"] == measured["time"], "it is kept"
    # The trial leaves nothing behind and touches none of the user's files.
    assert not (tmp_path / "out").exists() and not leftovers(tmp_path)
    assert not list((tmp_path / "cache").rglob("*.safetensors"))
    longer = plan(world, config, "--ranks", 2, "--set", "sequence_len=512")
    assert longer["memory"]["basis"] == "recalibrated" and longer["time"]["step_s"] != before["time"]["step_s"]
    other = plan(world, config, "--ranks", 2, "--set", "gradient_checkpointing=true")
    assert other["memory"]["basis"] == "formula"


@pytest.mark.parametrize("keys", [
    dict(rl="dpo"), dict(rl="kto"), dict(reward_model=True), dict(process_reward_model=True, num_labels=2),
    dict(rl="grpo", trl={"reward_funcs": ["sorting.exact"], "num_generations": 4, "max_completion_length": 8}, max_steps=3)],
    ids=lambda keys: keys.get("rl") or next(iter(keys)))
def test_a_plan_of_preferences_or_rollouts_is_measured_too(world, llama, rows_file, tmp_path, keys):
    config = make_config(tmp_path, llama, rows_file, sequence_len=192, micro_batch_size=4, context_parallel_size=2,
                         ring_attn_func="batch_zigzag", **keys)
    before, measured = (plan(world, config, "--ranks", 2, *options) for options in ([], ["--measure"]))
    assert before["memory"]["basis"] == "formula" and measured["memory"]["basis"] == measured["time"]["basis"] == "measured"
    assert tensors(measured) == pytest.approx(tensors(before), rel=0.10) and not leftovers(tmp_path)


def test_ctrl_c_ends_a_measuring_run_with_its_ranks(world, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, sequence_len=512, micro_batch_size=64)
    process = subprocess.Popen([BIN / "ringmaster", "plan", config, "--ranks", "2", "--device", "cpu", "--measure"], env=world,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "measuring" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    running = subprocess.run(["pgrep", "-f", f"ringmaster-engine --run {tmp_path}"], capture_output=True, text=True).stdout
    assert not running and not leftovers(tmp_path)
