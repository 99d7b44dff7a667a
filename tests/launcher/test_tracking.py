"""Sends runs to TensorBoard, which needs no client, and reads them back with the tensorboard package."""

import ast
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from conftest import BIN, run
from test_signals import keep_running, wait_for
from tracked_run import PACKAGE, TrackedRun, step_event


def scalars(folder):
    """Returns {tag: [(step, value)]} as TensorBoard reads it."""
    reader = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    reader.Reload()
    return {tag: [(point.step, point.value) for point in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}


def steps_of(folder):
    """Returns every (kind, step) that TensorBoard holds, sorted."""
    held = scalars(folder)
    return sorted([("train", step) for step, _ in held.get("train/loss", [])] + [("eval", step) for step, _ in held.get("eval/loss", [])])


def test_each_step_is_sent_once_though_the_process_is_killed(tmp_path):
    tracked = TrackedRun(tmp_path / "one", ["tensorboard"], {"use_tensorboard": True})
    tracked.send_with_kills("tensorboard", 0.8)
    assert steps_of(tracked.folder / "tracking/tensorboard") == tracked.expected()


def function_of(package, file, name):
    """Returns a function of a package without importing the package, which takes seconds."""
    source = (pathlib.Path(importlib.util.find_spec(package).origin).parent / file).read_text()
    node, = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name)
    found = {}
    exec(ast.unparse(node), found)
    return found[name]


def test_the_names_are_those_of_transformers(tmp_path):
    rewrite_logs = function_of("transformers", "integrations/integration_utils.py", "rewrite_logs")
    tracked = TrackedRun(tmp_path / "one", ["tensorboard"], {})
    tracked.train(10)
    tracked.say("completed")
    assert tracked.send("tensorboard") == 0
    held = scalars(tracked.folder / "tracking/tensorboard")
    known = rewrite_logs({"loss": 3 - 1 / 1024, "grad_norm": 0.25, "learning_rate": 0.5, "epoch": 1 / 64})
    assert {tag: held[tag][0] for tag in known} == {tag: (1, value) for tag, value in known.items()}
    assert held["eval/loss"] == [(10, 2.5)]
    own = {tag for tag in held if tag not in known and tag != "eval/loss"}
    assert own and all(tag.startswith("ringmaster/") for tag in own)
    assert held["ringmaster/overhead"][0] == (1, 0.25)


def test_a_record_that_was_cut_off_is_written_again(tmp_path):
    tracked = TrackedRun(tmp_path / "one", ["tensorboard"], {})
    tracked.train(5)
    tracked.say("completed")
    assert tracked.send("tensorboard") == 0
    file = next((tracked.folder / "tracking/tensorboard").iterdir())
    file.write_bytes(file.read_bytes()[:-9])
    assert tracked.send("tensorboard") == 0
    assert steps_of(file.parent) == tracked.expected()


def test_hostile_events_are_passed_over(tmp_path):
    tracked = TrackedRun(tmp_path / "one", ["tensorboard"], {})
    good = json.dumps(step_event(1))
    lines = [b"x" * (10 << 20), b"[" * 60000, b'{"type":"step"}', b"\xff\xfe\x00", b'{"type":"step","t":1,"rank":0,"step":' + b"9" * 5000 + b"}",
             good.replace('"step": 1', '"step": -1').encode(), good.replace('"step": 1', '"step": true').encode(),
             good.replace('"step": 1', '"step": "2"').encode(), good.replace('"t": 1700000001.0', '"t": NaN').encode(), b"null", b"1e999", b'"step"',
             json.dumps([step_event(7)]).encode(), json.dumps({"type": "eval", "t": 1, "rank": 0, "step": 1, "loss": [1]}).encode()]
    tracked.append(b"\n".join(lines) + b"\n")
    wrong_values = {**step_event(2), "loss": None, "lr": "fast", "grad_norm": {"a": 1}, "tokens": 10**400, "epoch": float("inf")}
    tracked.append(json.dumps(wrong_values) + "\n" + good + "\n" + good.replace("2.99", "9.99") + "\n" + '{"type":"step","half')
    tracked.say("completed")
    assert tracked.send("tensorboard", seconds=30) == 0
    held = scalars(tracked.folder / "tracking/tensorboard")
    assert held["train/loss"] == [(1, step_event(1)["loss"])]  # the first event of a step counts
    assert [step for step, _ in held["ringmaster/step_s"]] == [2, 1]
    assert [step for step, _ in held["train/learning_rate"]] == [1]


def test_what_a_client_says_is_written_without_secrets():
    said = "401 from https://ann:hunter22@host/api with verysecretvalue, step 4"
    code = "import sys; sys.path[0] = sys.argv[1]; from ringmaster_track.masking import masked; print(masked(sys.argv[2]))"
    out = subprocess.run([sys.executable, "-c", code, PACKAGE.parent, said], env={**os.environ, "WANDB_API_KEY": "verysecretvalue"}, text=True,
                         capture_output=True, check=True).stdout
    assert out.strip() == "401 from https://[removed]@host/api with [removed], step 4"


def test_mutated_lines_are_numbers_or_nothing(tmp_path):
    code = """
import json, math, pathlib, random, sys
sys.path[0] = sys.argv[1]
from ringmaster_track.events import EventFile
chance, events = random.Random(7), EventFile(pathlib.Path('/nonexistent'))
words = [b'1e999', b'-', b'"', b'{', b'[[', b'null', b'true', b'\\\\ud800', b'\\0', b'NaN', b'9' * 400, b'Infinity', b'eval', b'step']
kept = 0
for line in range(20000):
    text = bytearray(sys.argv[2].encode())
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(text))
        text[at:at + chance.randrange(6)] = chance.choice(words + [bytes([chance.randrange(256)])])
    events.seen.clear()
    point = events._new_point(bytes(text))
    if point:
        kept += 1
        assert 0 <= point.step <= 10**12 and all(type(value) is float and math.isfinite(value) for value in point.values.values())
        json.dumps(point.row())
assert kept > 5000, kept
"""
    subprocess.run([sys.executable, "-c", code, PACKAGE.parent, json.dumps(step_event(3))], check=True, timeout=60)


def test_links_and_pipes_are_not_followed(tmp_path):
    tracked = TrackedRun(tmp_path / "one", ["tensorboard"], {})
    secret = tmp_path / "elsewhere.jsonl"
    secret.write_text(json.dumps(step_event(1)) + "\n")
    tracked.events.unlink()
    tracked.events.symlink_to(secret)
    tracked.say("completed")
    assert tracked.send("tensorboard", seconds=20) == 0
    tracked.events.unlink()
    os.mkfifo(tracked.events)
    assert tracked.send("tensorboard", seconds=20) == 0
    assert not (tracked.folder / "tracking/tensorboard").exists()


def processes_of(folder):
    """Returns the pids of the processes that send this run."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"send" in words and str(folder).encode() in words:
            found.append(int(process.name))
    return found


def test_the_agent_starts_a_killed_process_again(tmp_path):
    tracked = TrackedRun(tmp_path / "one", ["tensorboard"], {})
    keep_running(tracked.folder)
    keeper = subprocess.Popen([BIN / "ringmaster-agent", "--track", tracked.folder, "--sender", "node"])
    tracked.train(5)
    board = tracked.folder / "tracking/tensorboard"
    wait_for(lambda: board.exists() and len(steps_of(board)) == 5, "the first steps")
    os.kill(processes_of(tracked.folder)[0], signal.SIGKILL)
    tracked.train(5)
    wait_for(lambda: len(steps_of(board)) == 11, "the steps after the kill")
    tracked.say("completed")
    assert keeper.wait(30) == 0
    assert steps_of(board) == tracked.expected()
    assert (tracked.folder / "tracking/tensorboard.done").exists()


def test_the_process_ends_with_the_view_that_it_belongs_to(tmp_path):
    tracked = TrackedRun(tmp_path / "one", ["tensorboard"], {})
    keep_running(tracked.folder)
    view = subprocess.Popen(["sleep", "600"])
    keeper = subprocess.Popen([BIN / "ringmaster-agent", "--track", tracked.folder, "--sender", "any", "--with", str(view.pid)])
    tracked.train(3)
    wait_for(lambda: processes_of(tracked.folder), "the sending process")
    view.kill()
    view.wait()
    assert keeper.wait(30) == 0
    assert steps_of(tracked.folder / "tracking/tensorboard") == tracked.expected()
    assert not (tracked.folder / "tracking/tensorboard.done").exists()


NO_KEYS = {"COMET_API_KEY": "", "HOME": "/nonexistent"}


def test_a_client_that_is_missing_is_a_finding_of_the_plan(make_config):
    config = make_config(comet_project_name="long-rows")
    found = [one for one in json.loads(run("plan", config, "--json", env=NO_KEYS).stdout)["diagnostics"] if one["code"] == "TRACKER-SETUP"]
    assert len(found) == 1 and found[0]["severity"] == "warning"
    assert "Comet" in found[0]["message"] and "pip install comet_ml" in found[0]["hint"]
    offline = run("plan", make_config(use_tensorboard=True), "--json", env=NO_KEYS)
    assert "TRACKER-SETUP" not in offline.stdout


def test_a_launched_run_is_sent_and_a_missing_client_fails_nothing(make_config, tmp_path):
    config = make_config(use_tensorboard=True, comet_project_name="long-rows", comet_api_key="verysecretvalue", val_set_size=0.2, eval_steps=2,
                         mlflow_tracking_uri="https://ann:hunter22@tracking.invalid", chat_template_kwargs={"api_key": "anothersecret"})
    done = run("launch", config, "--runs-dir", tmp_path / "runs", "--name", "one", "--ranks", "2", "--no-preflight", env=NO_KEYS)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "runs/one"
    wait_for(lambda: (folder / "tracking/tensorboard.done").exists(), "the last step")
    held = scalars(tmp_path / "out/runs/one")
    events = [json.loads(line) for line in (folder / "events/rank-00000.jsonl").read_text().splitlines()]
    wait_for(lambda: "pip install comet_ml" in (folder / "events/rank-00000.jsonl").read_text(), "the warning")
    losses = [(event["step"], event["loss"]) for event in events if event["type"] == "step"]
    assert len(losses) == 4
    assert [step for step, _ in held.get("train/loss", [])] == [1, 2, 3, 4]
    assert max(abs(sent - loss) for (_, sent), (_, loss) in zip(held["train/loss"], losses)) < 1e-6
    assert [step for step, _ in held["eval/loss"]] == [event["step"] for event in events if event["type"] == "eval"]
    written = "".join(file.read_text(errors="replace") for file in (folder / "tracking").rglob("*") if file.is_file())
    for secret in ("verysecretvalue", "hunter22", "anothersecret"):
        assert secret not in written
    assert '"learning_rate": 0.001' in written


def test_a_missing_client_is_told_though_rank_0_starts_later(tmp_path):
    tracked = TrackedRun(tmp_path / "one", ["comet"], {})
    tracked.events.unlink()
    process = tracked.sender("comet", **NO_KEYS)
    log = tracked.folder / "tracking/comet.log"
    wait_for(lambda: "Comet" in log.read_text(), "the problem in the log")
    tracked.append("")
    assert process.wait(30) == 2
    event = json.loads(tracked.events.read_text())
    assert event["type"] == "warning" and "Comet" in event["message"]


def test_a_watch_sends_what_was_missing_when_a_run_ended(make_config, tmp_path):
    config = make_config(use_tensorboard=True)
    folder = tmp_path / "runs/one"
    assert run("launch", config, "--runs-dir", tmp_path / "runs", "--name", "one", "--ranks", "1", "--no-preflight").returncode == 0
    wait_for(lambda: (folder / "tracking/tensorboard.done").exists(), "the last step")
    board = tmp_path / "out/runs/one"
    file = next(board.iterdir())
    whole = steps_of(board)
    file.write_bytes(file.read_bytes()[:len(file.read_bytes()) // 2])
    (folder / "tracking/tensorboard.done").unlink()
    assert run("watch", folder).returncode == 0
    wait_for(lambda: (folder / "tracking/tensorboard.done").exists(), "what was missing")
    assert steps_of(board) == whole


def test_no_run_without_a_tracker_has_a_folder_for_it(make_config, tmp_path):
    prepared = run("prepare", make_config(), "--runs-dir", tmp_path / "runs", "--ranks", "1")
    assert prepared.returncode == 0 and not (pathlib.Path(prepared.stdout.strip()) / "tracking").exists()


def test_every_tracker_of_axolotl_is_asked_about(tmp_path):
    tracked = TrackedRun(tmp_path / "one", ["wandb", "mlflow", "comet", "trackio", "tensorboard"], {"wandb_mode": "offline", "comet_online": False})
    said = subprocess.run([sys.executable, PACKAGE, "check", tracked.folder / "tracking/settings.json"], capture_output=True, text=True, check=True)
    lines = {line.split("\t")[0]: line.split("\t")[1:] for line in said.stdout.splitlines()}
    assert lines.keys() == {"wandb", "mlflow", "comet", "trackio", "tensorboard"}
    assert lines["tensorboard"] == ["ready", "file", "", ""]
    assert lines["wandb"][1] == lines["comet"][1] == "file" and all(re.fullmatch("ready|none", line[0]) for line in lines.values())
