"""Tests that a webhook and a command get the alerts of runs on machines reached by SSH. The run's first node calls
them even while no client is connected."""

import json
import os
import signal

import pytest
from alert_hook import BUSY, Hook, keeper, kinds_told, make_spiking_rows

from ringmaster_runs import VOCABULARY, make_config, state_of, wait_for
from test_remote_runs import launch_on, pair, processes_of, run, steps, there  # noqa: F401  (fixtures)
from tiny import llama, rows_file  # noqa: F401  (fixtures)


@pytest.fixture
def hook():
    server = Hook()
    yield server
    server.shutdown()


def told_by(hook, command):
    return "--alert-webhook", hook.url, "--alert-command", " ".join(command)


def test_the_first_node_tells_of_a_spike_and_of_the_end_though_nobody_is_connected(pair, llama, hook, tmp_path):
    command, told = keeper(tmp_path, "import os; open(sys.argv[0] + '.home', 'a').write(os.environ['HOME'] + '\\n')")
    rows = make_spiking_rows(tmp_path / "rows.jsonl", VOCABULARY, 45 * 4, 12 * 4)
    config = make_config(tmp_path, llama, rows, max_steps=57, sequence_len=24, lr_scheduler="constant", warmup_steps=0, learning_rate=5e-3)
    here = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--name", "two", "--detach", *told_by(hook, command))
    pair.a.stop()
    pair.b.stop()
    wait_for(lambda: len(hook.told()) == 2 and len(kinds_told(told)) == 2, "two alerts")
    wait_for(lambda: not processes_of(pair.a.home) and not processes_of(pair.b.home), "the end of all processes")
    assert [(post["kind"], post["step"]) for post in hook.told()] == [("spike", 46), ("completed", 57)]
    assert kinds_told(told) == ["spike", "completed"]
    assert set((tmp_path / "keep.py.home").read_text().split()) == {str(pair.a.home)}, "the first node runs the command"
    kept = there(pair.a) / "alerts.json"
    assert kept.stat().st_mode & 0o777 == 0o600 and json.loads(kept.read_text())["webhook"] == hook.url
    assert not (there(pair.b) / "alerts.json").exists() and hook.url.encode() not in b"".join(
        file.read_bytes() for file in there(pair.b).rglob("*") if file.is_file() and file.stat().st_size < 1 << 20)
    pair.a.start()
    pair.b.start()
    shown = run(pair, "watch", here, "--json").stdout.splitlines()
    assert [(line["kind"], line["step"]) for line in map(json.loads, shown) if line["type"] == "alert" and line["kind"] not in BUSY] == [("spike", 46)]
    assert (here / "alerts.json").exists() and hook.url not in (there(pair.a) / "alerts.log").read_text()


@pytest.mark.parametrize("dies", ["rank of the first node", "rank of the second node", "agent of the first node"])
def test_a_run_that_fails_is_told_once(pair, llama, rows_file, hook, tmp_path, dies):
    command, told = keeper(tmp_path)
    config = make_config(tmp_path, llama, rows_file, max_steps=100000)
    launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach", *told_by(hook, command))
    wait_for(lambda: len(steps(there(pair.a))) >= 3, "step 3")
    second = dies == "rank of the second node"
    node = json.loads((there(pair.b) / "node-1/run.json" if second else there(pair.a) / "run.json").read_text())["nodes"][0]
    os.kill(node["agent"]["pid"] if dies.startswith("agent") else node["ranks"][0]["pid"], signal.SIGKILL)
    wait_for(lambda: hook.told() and kinds_told(told), "the alert")
    wait_for(lambda: not processes_of(pair.a.home), "the end of the first node's processes")
    assert [post["kind"] for post in hook.told()] == ["failed"] and hook.told()[0]["step"] >= 3
    assert kinds_told(told) == ["failed"]


def test_a_person_who_stops_and_resumes_a_run_there_is_told_of_its_end_alone(pair, llama, rows_file, hook, tmp_path):
    command, told = keeper(tmp_path)
    config = make_config(tmp_path, llama, rows_file, max_steps=150)
    here = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach", *told_by(hook, command))
    wait_for(lambda: len(steps(there(pair.a))) >= 3, "step 3")
    run(pair, "stop", here)
    wait_for(lambda: state_of(there(pair.a))["state"] == "stopped", "the stop")
    run(pair, "resume", here)
    wait_for(lambda: hook.told() and kinds_told(told), "the alert")
    wait_for(lambda: not processes_of(pair.a.home), "the end of the first node's processes")
    assert [(post["kind"], post["step"]) for post in hook.told()] == [("completed", 150)] and kinds_told(told) == ["completed"]
