"""Tests that a run that is killed and resumed is bit-identical to one that was never interrupted."""

import json
import os
import shutil
import signal
import subprocess

import pytest

from ringmaster_runs import BIN, events_of, launch, losses_of, make_config, ringmaster, state_of, wait_for


def steps_done(run):
    try:
        return len(events_of(run))
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("order, precision", [("file order", {}), ("shuffled", dict(bf16=True))], ids=str)
def test_killed_and_resumed_gives_the_same_losses_and_weights(order, precision, llama, rows_file, tmp_path):
    keys = dict(**precision, max_steps=60, save_steps=7, save_strategy=None, save_total_limit=2, context_parallel_size=2,
                ring_attn_func="batch_zigzag", curriculum_sampling=order == "file order", lr_scheduler="linear")
    straight = make_config(tmp_path, llama, rows_file, **keys, output_dir=str(tmp_path / "straight"))
    whole = launch(straight, tmp_path / "runs", "--ranks", 2, "--name", "straight")
    broken = make_config(tmp_path, llama, rows_file, **keys, output_dir=str(tmp_path / "broken"))
    run = launch(broken, tmp_path / "runs", "--ranks", 2, "--name", "broken", "--detach")
    wait_for(lambda: steps_done(run) >= 17, "step 17")
    os.kill(state_of(run)["nodes"][0]["ranks"][1]["pid"], signal.SIGKILL)
    wait_for(lambda: state_of(run)["state"] == "failed", "the end of the run")
    assert steps_done(run) < 60
    complete = sorted(path.parent.name for path in run.glob("checkpoints/step-*/complete"))
    assert 1 <= len(complete) <= 2

    ringmaster("resume", run)
    assert state_of(run)["state"] == "completed"
    hello = events_of(run, kind="hello")
    assert [event["attempt"] for event in hello] == [1, 2]
    assert hello[1]["start_step"] == int(complete[-1].split("-")[1])
    for rank in range(2):
        assert losses_of(run, rank) == losses_of(whole, rank)
    assert (tmp_path / "broken/model.safetensors").read_bytes() == (tmp_path / "straight/model.safetensors").read_bytes()


def test_a_run_with_restarts_goes_on_by_itself_with_the_same_losses(llama, rows_file, tmp_path):
    keys = dict(max_steps=30, save_steps=5, save_strategy=None, context_parallel_size=2, ring_attn_func="batch_zigzag")
    straight = make_config(tmp_path, llama, rows_file, **keys, output_dir=str(tmp_path / "straight"))
    whole = launch(straight, tmp_path / "runs", "--ranks", 2, "--name", "straight")
    broken = make_config(tmp_path, llama, rows_file, **keys, output_dir=str(tmp_path / "broken"))
    run = launch(broken, tmp_path / "runs", "--ranks", 2, "--name", "broken", "--restarts", 1, "--detach")
    wait_for(lambda: steps_done(run) >= 12, "step 12")
    os.kill(state_of(run)["nodes"][0]["ranks"][1]["pid"], signal.SIGKILL)
    wait_for(lambda: state_of(run)["state"] in ("completed", "failed"), "the end of the run")
    assert state_of(run)["state"] == "completed" and state_of(run)["attempt"] == 2
    assert [losses_of(run, rank) for rank in range(2)] == [losses_of(whole, rank) for rank in range(2)]


@pytest.fixture(scope="module")
def six_steps(llama, rows_file, tmp_path_factory):
    """Returns a completed run with checkpoints of steps 2, 4 and 6. The run may restart automatically once."""
    folder = tmp_path_factory.mktemp("six")
    config = make_config(folder, llama, rows_file, max_steps=6, save_steps=2, save_strategy=None)
    return launch(config, folder / "runs", "--ranks", 1, "--name", "six", "--restarts", 1)


def copy_of(run, folder):
    shutil.copytree(run, folder / "run")
    return folder / "run"


def test_a_restart_never_takes_a_checkpoint_of_an_abandoned_timeline(six_steps, tmp_path):
    run = copy_of(six_steps, tmp_path)
    ringmaster("resume", run, "--checkpoint", 2, "--set", "max_steps=4000", "--set", "save_steps=3000", "--set", "learning_rate=2e-3",
               "--set", f"output_dir={tmp_path / 'out'}", "--detach")
    wait_for(lambda: len(events_of(run, kind="hello")) == 2 and events_of(run)[-1]["lr"] > 1e-3, "a step of attempt 2")
    os.kill(state_of(run)["nodes"][0]["ranks"][0]["pid"], signal.SIGKILL)
    wait_for(lambda: len(events_of(run, kind="hello")) == 3, "the restart")
    ringmaster("stop", run, "--now")
    assert [event["start_step"] for event in events_of(run, kind="hello")] == [0, 2, 2]
    names = sorted(path.name for path in (run / "checkpoints").iterdir())
    assert names == ["step-00000002", "step-00000004.abandoned-by-attempt-2", "step-00000006.abandoned-by-attempt-2"]


def resume_without_agent(run, step, output_dir):
    """Starts rank 0 without an agent, as other launchers do."""
    plan = json.loads((run / "plan.json").read_text())
    plan["config"]["output_dir"] = str(output_dir)
    (run / "plan.json").write_text(json.dumps(plan))
    done = subprocess.run([BIN / "ringmaster-engine", "--run", run, "--resume", str(step)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""})
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_an_agent_rank_0_sets_the_abandoned_timeline_aside(six_steps, tmp_path):
    run = copy_of(six_steps, tmp_path)
    resume_without_agent(run, 4, tmp_path / "out")
    names = sorted(path.name for path in (run / "checkpoints").iterdir())
    assert names == ["step-00000002", "step-00000004", "step-00000006", "step-00000006.abandoned-by-attempt-2"]
    assert losses_of(run) == losses_of(six_steps)


def test_resuming_passes_over_damaged_checkpoints_and_says_why(six_steps, tmp_path):
    run = copy_of(six_steps, tmp_path)
    optimizer, model = run / "checkpoints/step-00000006/optimizer.safetensors", run / "checkpoints/step-00000004/model.safetensors"
    os.truncate(optimizer, optimizer.stat().st_size - 4)
    content = bytearray(model.read_bytes())
    content[-10] ^= 1
    model.write_bytes(content)
    asked = ringmaster("resume", run, "--checkpoint", 6, check=False)
    assert asked.returncode == 1
    assert "optimizer.safetensors has" in asked.stderr and "the newest whole one is of step 2" in asked.stderr
    resumed = ringmaster("resume", run, "--set", f"output_dir={tmp_path / 'out'}")
    assert "the checkpoint of step 6 is passed over: optimizer.safetensors has" in resumed.stderr
    assert "the checkpoint of step 4 is passed over: model.safetensors has another content" in resumed.stderr
    assert events_of(run, kind="hello")[-1]["start_step"] == 2
    told = [event["message"] for event in events_of(run, kind="warning")]
    assert any("step 6 is passed over" in text for text in told) and any("step 4 is passed over" in text for text in told)
    assert losses_of(run) == losses_of(six_steps)
    assert (run / "checkpoints/step-00000006/complete").exists()


def test_a_checkpoint_of_the_former_version_resumes(six_steps, tmp_path):
    """Checks a run of the former version, whose `complete` files are empty. A checkpoint without the optimizer, as a
    kill could leave it, is skipped."""
    run = copy_of(six_steps, tmp_path)
    for step in (2, 4, 6):
        (run / f"checkpoints/step-{step:08d}/complete").write_text("")
    (run / "checkpoints/step-00000006/optimizer.safetensors").unlink()
    ringmaster("resume", run, "--set", f"output_dir={tmp_path / 'out'}", "--set", "max_steps=6")
    assert events_of(run, kind="hello")[-1]["start_step"] == 4
    assert losses_of(run) == losses_of(six_steps)


def test_the_loss_watchdog_counts_on_after_a_resume(llama, rows_file, tmp_path):
    """Every loss is above the threshold. Step 3 logs the first loss; steps 4, 5 and 6 find it too high, and the run
    ends. Checkpoint 5 is saved while the watchdog counts, and between two logged losses, so that the next one
    averages steps from before and after the resume."""
    config = make_config(tmp_path, llama, rows_file, max_steps=20, logging_steps=3, loss_watchdog_threshold=0.01, loss_watchdog_patience=3,
                         save_steps=1, save_strategy=None)
    whole = launch(config, tmp_path / "runs", "--ranks", 1, "--no-preflight")
    assert [event["step"] for event in events_of(whole)] == [1, 2, 3, 4, 5, 6]
    run = copy_of(whole, tmp_path)
    resume_without_agent(run, 5, tmp_path / "out2")
    assert events_of(run, kind="hello")[-1]["start_step"] == 5 and losses_of(run) == losses_of(whole)
    end = "checkpoints/step-00000006/trainer_state.json"
    assert (run / end).read_text() == (whole / end).read_text()


def test_stopping_saves_and_resuming_goes_on(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=400, context_parallel_size=2)
    run = launch(config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: steps_done(run) >= 3, "step 3")
    ringmaster("stop", run)
    state = state_of(run)
    assert state["state"] == "stopped"
    stopped_at = len(events_of(run))
    assert (run / f"checkpoints/step-{stopped_at:08d}/complete").exists()
    assert 3 <= stopped_at < 400
    ringmaster("resume", run, "--set", f"max_steps={stopped_at + 4}")
    assert state_of(run)["state"] == "completed"
    assert [event["step"] for event in events_of(run)] == list(range(1, stopped_at + 5))
    assert events_of(run, kind="hello")[-1]["start_step"] == stopped_at


def test_stopping_at_once_ends_the_run_without_a_checkpoint(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=4000)
    run = launch(config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: steps_done(run) >= 3, "step 3")
    ringmaster("stop", run, "--now")
    assert state_of(run)["state"] == "stopped"
    assert not list(run.glob("checkpoints/*"))


def test_sigterm_to_one_rank_stops_all_and_saves(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=4000, context_parallel_size=2)
    run = launch(config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: steps_done(run) >= 3, "step 3")
    os.kill(state_of(run)["nodes"][0]["ranks"][1]["pid"], signal.SIGTERM)
    wait_for(lambda: state_of(run)["state"] == "stopped", "the stop")
    assert list(run.glob("checkpoints/step-*/complete"))


def test_the_trigger_file_asks_for_a_checkpoint(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=4000)
    run = launch(config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: steps_done(run) >= 2, "step 2")
    (tmp_path / "out/axolotl_checkpoint.save").touch()
    wait_for(lambda: list(run.glob("checkpoints/step-*/complete")), "the checkpoint")
    assert not (tmp_path / "out/axolotl_checkpoint.save").exists()
    assert state_of(run)["state"] == "running"
    ringmaster("stop", run, "--now")
