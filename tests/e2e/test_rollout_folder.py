"""Trains on files of rollouts that another process drops into a folder while the run trains, and compares with a run that has the same
rows in one file from the start."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from test_sampling import task, write_config  # noqa: F401  (a fixture)

from ringmaster_runs import events_of, launch, losses_of, ringmaster, state_of, wait_for

STEPS, PER_STEP, RANKS = 6, 4, 2
FILES = (3, 1, 7, 4, 9)  # rows of each file; some files end within a step's rows
WRITER = """
import json, os, sys, time
folder, files, pause = sys.argv[1], json.loads(sys.argv[2]), float(sys.argv[3])
for name, text in files:
    time.sleep(pause)
    with open(os.path.join(folder, "." + name), "w") as file:
        for part in range(0, len(text), 100):  # in parts, so that a reader could see half a file
            file.write(text[part : part + 100])
            file.flush()
            time.sleep(pause / 5)
    os.rename(os.path.join(folder, "." + name), os.path.join(folder, name))
"""


def rows_made(count=sum(FILES)):
    source = random.Random(11)

    def ids(least, most):
        return [source.randrange(2, 16) for _ in range(source.randint(least, most))]

    rows = [{"prompt_ids": ids(1, 6), "completion_ids": ids(1, 8), "advantages": source.gauss(0, 1)} for _ in range(count)]
    for row in rows[::2]:
        row["old_per_token_logps"] = [source.uniform(-4, -1) for _ in row["completion_ids"]]
    return rows


def text_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def files_of(rows):
    """Returns [name, text] of each file; together the files hold the rows in order."""
    files, begin = [], 0
    for number, count in enumerate(FILES):
        files.append([f"{number:06d}.jsonl", text_of(rows[begin : begin + count])])
        begin += count
    return files


def put(folder, name, text):
    (folder / f".{name}").write_text(text)
    (folder / f".{name}").rename(folder / name)


def write(folder, files, pause=0.3):
    """Starts a process that writes the files into the folder, one after the other."""
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder), json.dumps(files), str(pause)])


def policy(task, name, trl, **keys):
    config = write_config(task, name, micro_batch_size=PER_STEP // RANKS, max_steps=STEPS, learning_rate=1e-2, **keys)
    values = json.loads(config.read_text())
    values["trl"] = trl
    config.write_text(json.dumps(values))
    return config


@pytest.fixture(scope="module")
def given(task):
    """Trains on one file that holds all rows; returns the run and the rows."""
    rows = rows_made()
    (task[0] / "given.jsonl").write_text(text_of(rows))
    config = policy(task, "given", {}, datasets=[{"path": "./given.jsonl", "ds_type": "json", "type": ""}], curriculum_sampling=True)
    return launch(config, task[0] / "runs", "--ranks", RANKS, "--name", "given"), rows


def watched(task, name, timeout=60, **keys):
    folder = task[0] / f"in-{name}"
    folder.mkdir()
    return folder, policy(task, name, {"rollout_folder": f"./in-{name}", "rollout_timeout": timeout}, datasets=None, **keys)


def waits(run):
    events = run / "events/rank-00000.jsonl"
    return [event for event in events_of(run, kind="phase") if event["name"] == "rollouts"] if events.exists() else []


def check_equal(task, run, given, name):
    assert [event["step"] for event in events_of(run)] == list(range(1, STEPS + 1))
    assert losses_of(run) == losses_of(given[0]) and losses_of(run, 1) == losses_of(run)
    assert len(set(losses_of(run))) == STEPS and all(event["grad_norm"] > 1e-3 for event in events_of(run))
    assert (task[0] / name / "model.safetensors").read_bytes() == (task[0] / "given/model.safetensors").read_bytes()


def test_files_that_come_meanwhile_train_as_one_file(task, given):
    folder, config = watched(task, "watched")
    run = launch(config, task[0] / "runs", "--ranks", RANKS, "--name", "watched", "--detach")
    wait_for(lambda: waits(run), "the run to wait before its first step")
    assert waits(run)[0]["total"] == 60
    writer = write(folder, files_of(given[1]))
    wait_for(lambda: state_of(run)["state"] == "completed", "the end")
    assert writer.wait(10) == 0
    check_equal(task, run, given, "watched")
    phases = [event["name"] for event in events_of(run, kind="phase")]
    assert phases[-2:] == ["train", "export"] and "preflight" in phases, "a wait ends by naming the phase that goes on"
    taken = [json.loads(line) for line in (run / "rollouts/taken.jsonl").read_text().splitlines()]
    assert [entry["rows"] for entry in taken] == list(FILES)
    plan = json.loads((run / "plan.json").read_text())
    assert plan["batch"]["total_steps"] == STEPS and plan["data"]["rows"] == STEPS * PER_STEP and plan["data"]["tokens"] == ""
    assert json.loads((run / "preflight.json").read_text())["ok"], "preflight uses the first rows, which are trained on all the same"


def test_a_folder_gives_the_divergence_from_the_first_weights_too(task, given):
    rows = given[1]
    file = policy(task, "given-beta", {"beta": 0.2}, datasets=[{"path": "./given.jsonl", "ds_type": "json", "type": ""}],
                  curriculum_sampling=True)
    given_run = launch(file, task[0] / "runs", "--ranks", RANKS, "--name", "given-beta")
    assert losses_of(given_run)[1:] != losses_of(given[0])[1:], "the divergence has no weight"
    folder = task[0] / "in-beta"
    folder.mkdir()
    config = policy(task, "beta", {"rollout_folder": "./in-beta", "rollout_timeout": 60, "beta": 0.2}, datasets=None)
    for name, text in files_of(rows):
        put(folder, name, text)
    run = launch(config, task[0] / "runs", "--ranks", RANKS, "--name", "beta")
    assert losses_of(run) == losses_of(given_run)
    assert (task[0] / "beta/model.safetensors").read_bytes() == (task[0] / "given-beta/model.safetensors").read_bytes()


def test_a_resumed_run_may_take_fewer_rows_a_step(task, given):
    """Rows that a step has trained on are not taken again, and none is left out, if the batch becomes smaller."""
    folder, config = watched(task, "smaller", save_strategy=None, save_steps=2)
    files = files_of(given[1])
    for name, text in files[:2]:
        put(folder, name, text)  # four rows: one step
    put(folder, *files[2])
    run = launch(config, task[0] / "runs", "--ranks", RANKS, "--name", "smaller", "--detach")
    wait_for(lambda: waits(run) and len(events_of(run)) == 2, "a wait for the third step's rows")
    ringmaster("stop", run)
    wait_for(lambda: state_of(run)["state"] == "stopped", "the end", 30)
    for name, text in files[3:]:
        put(folder, name, text)
    ringmaster("resume", run, "--set", "micro_batch_size=1", "--set", "max_steps=10")
    steps = events_of(run)
    assert [event["step"] for event in steps] == list(range(1, 11))
    lengths = [len(row["completion_ids"]) for row in given[1]]
    taken = [sum(lengths[begin : begin + count]) for begin, count in [(0, 4), (4, 4), *((8 + 2 * i, 2) for i in range(8))]]
    assert [event["valid_tokens"] for event in steps] == taken


def test_a_killed_and_resumed_run_trains_on_the_same_rows(task, given):
    folder, config = watched(task, "killed", save_strategy=None, save_steps=2)
    files = files_of(given[1])
    for name, text in files[:4]:
        put(folder, name, text)  # 15 rows: three steps, and a part of the fourth
    run = launch(config, task[0] / "runs", "--ranks", RANKS, "--name", "killed", "--detach")
    wait_for(lambda: waits(run) and len(events_of(run)) == 3, "a wait for the fourth step's rows")
    os.kill(state_of(run)["nodes"][0]["ranks"][0]["pid"], signal.SIGKILL)
    wait_for(lambda: state_of(run)["state"] == "failed", "the end of the run")
    put(folder, "000001-late.jsonl", text_of(rows_made(9)[5:]))  # its name sorts between those of files that were taken
    for name, text in files[:2]:
        (folder / name).unlink()  # no row of these files is needed again
    writer = write(folder, files[4:], 0.5)
    ringmaster("resume", run)
    assert writer.wait(10) == 0 and events_of(run, kind="hello")[-1]["start_step"] == 2
    check_equal(task, run, given, "killed")
    assert any("000001-late.jsonl came after" in event["message"] for event in events_of(run, kind="warning"))


def test_a_file_that_lies_ends_the_run_and_loses_no_step(task, given):
    folder, config = watched(task, "lied")
    files = files_of(given[1])
    rows = given[1][4:11]
    broken = [*rows[:4], {**rows[4], "completion_ids": [16, *rows[4]["completion_ids"][1:]]}, *rows[5:]]
    for name, text in [*files[:2], ["000002.jsonl", text_of(broken)], *files[3:]]:
        put(folder, name, text)
    done = ringmaster("launch", config, "--runs-dir", task[0] / "runs", "--ranks", RANKS, "--name", "lied", "--json", check=False)
    assert done.returncode == 1
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["type"] == "error" and last["finding"]["code"] == "ROLLOUT-FOLDER", last
    said = json.dumps(last["finding"])
    assert "000002.jsonl, line 5" in said and "is 16: the model's vocabulary has ids 0 to 15" in said, last
    run = task[0] / "runs/lied"
    assert len(events_of(run)) == 1 and [path.name for path in (run / "checkpoints").iterdir()] == ["step-00000001"]
    put(folder, "000002.jsonl", files[2][1])
    ringmaster("resume", run)
    check_equal(task, run, given, "lied")


def test_a_run_that_gets_no_file_ends_with_the_reason_and_can_be_stopped_before(task, given):
    folder, config = watched(task, "late", timeout=3)
    files = files_of(given[1])
    for name, text in files[:4]:
        put(folder, name, text)
    done = ringmaster("launch", config, "--runs-dir", task[0] / "runs", "--ranks", RANKS, "--name", "late", "--json", check=False)
    last = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 1 and last["finding"]["code"] == "ROLLOUT-FOLDER", last
    assert "1 more rows were needed, and within 3 s no new file came" in last["finding"]["message"] and "in-late" in json.dumps(last["finding"])
    run = task[0] / "runs/late"
    assert (run / "checkpoints/step-00000003").is_dir(), "the completed steps are saved"
    known = len(waits(run))
    ringmaster("resume", run, "--detach", "--set", "trl.rollout_timeout=600")
    wait_for(lambda: len(waits(run)) > known, "the resumed run to wait")
    begun = time.monotonic()
    ringmaster("stop", run)
    wait_for(lambda: state_of(run)["state"] == "stopped", "the end", 30)
    assert time.monotonic() - begun < 30
    put(folder, *files[4])
    ringmaster("resume", run)
    check_equal(task, run, given, "late")
