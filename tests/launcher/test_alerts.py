"""Tests that ringmaster-agent delivers each alert of a run once, to the webhook and to the command, whatever the
run's name."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from alert_hook import Hook, keeper
from conftest import BIN, run
from test_signals import wait_for

sys.path.insert(0, str(BIN.parent / "share/ringmaster"))
from ringmaster_track import post  # noqa: E402

HOSTILE = "$(touch owned); `touch owned` -rf \x1b[31m<b>"


class AlertedRun:
    def __init__(self, folder, ranks=2, **settings):
        self.folder, self.ranks, self.steps = pathlib.Path(folder), ranks, 0
        (self.folder / "events").mkdir(parents=True)
        (self.folder / "config.yaml").write_text("base_model: x\n")
        self.write(**settings)
        self.say("running")

    def write(self, **settings):
        (self.folder / "alerts.json").write_text(json.dumps(settings))

    def say(self, state):
        stat = pathlib.Path(f"/proc/{os.getpid()}/stat").read_text().rsplit(")", 1)[1].split()
        (self.folder / "run.json").write_text(json.dumps({
            "name": "one", "state": state, "ranks": self.ranks, "attempt": 1, "created": time.time(), "started": time.time(), "updated": time.time(),
            "ended": 0, "reason": "", "nodes": [],
            "writer": {"pid": os.getpid(), "host": os.uname().nodename, "start_time": int(stat[19]),
                       "boot_id": pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()}}))

    def train(self, steps, loss=lambda step: 2.0, wait=lambda step, rank: 0.01, ago=0.0):
        for step in range(self.steps + 1, self.steps + steps + 1):
            for rank in range(self.ranks):
                value = loss(step)
                line = {"type": "step", "t": time.time() - ago, "rank": rank, "step": step, "loss": value, "lr": 1e-4, "tokens": 100, "step_s": 0.5,
                        "exposed_comm_s": wait(step, rank)}
                with open(self.folder / f"events/rank-{rank:05}.jsonl", "a") as events:
                    events.write(json.dumps(line).replace("NaN", "null") + "\n")
        self.steps += steps

    def deliver(self):
        self.agent = subprocess.Popen([BIN / "ringmaster-agent", "--alerts", self.folder], stdin=subprocess.DEVNULL)
        return self

    def end(self):
        self.say("completed")
        assert self.agent.wait(60) == 0

    def log(self):
        return (self.folder / "alerts.log").read_text()


@pytest.fixture
def hook():
    server = Hook()
    yield server
    server.shutdown()


def test_each_alert_is_delivered_once_and_names_the_rank(tmp_path, hook):
    command, told = keeper(tmp_path)
    alerted = AlertedRun(tmp_path / "one", ranks=3, webhook=hook.url, command=[*command, "--word"])
    alerted.train(40, ago=100)
    alerted.train(1, loss=lambda step: 9, ago=50)  # an alert of an earlier attempt
    alerted.deliver()
    time.sleep(1.5)
    alerted.train(60, wait=lambda step, rank: 0.01 if rank == 2 else 0.2)
    alerted.train(1, loss=lambda step: float("nan"))
    wait_for(lambda: len(hook.posts) == 2 and len(told()) == 2, "two alerts")
    alerted.train(5)
    alerted.end()
    wait_for(lambda: len(hook.posts) == 3, "the end")
    assert sorted(post["kind"] for post in hook.posts) == ["completed", "nan", "slow_rank"]
    assert hook.posts[-1]["step"] == 107 and "The run is complete" in hook.posts[-1]["text"]
    slow = next(post for post in hook.posts if post["kind"] == "slow_rank")
    assert slow["rank"] == 2 and slow["run"] == "one" and slow["type"] == "alert" and 0.3 < slow["value"] < 0.5
    assert slow["text"] == slow["content"] and slow["text"].startswith("Ringmaster, run one: Rank 2 is slow at step ")
    for arguments, given in told():
        alert = json.loads(given)
        assert arguments[0] == "--word" and len(arguments) == 2 and arguments[1].endswith(alert["message"])
        assert alert["kind"] in ("nan", "slow_rank", "completed") and "text" not in alert
    assert "secret" not in alerted.log()


def test_the_end_is_told_last(tmp_path, hook):
    alerted = AlertedRun(tmp_path / "one", ranks=1, webhook=hook.url).deliver()
    hook.on_post = lambda post: time.sleep(2 if post["kind"] == "nan" else 0)
    alerted.train(40)
    alerted.train(1, loss=lambda step: float("nan"))
    wait_for(lambda: hook.requests, "the alert")
    alerted.end()
    assert [post["kind"] for post in hook.posts] == ["nan", "completed"]


def test_a_hostile_name_stays_one_argument(tmp_path, hook):
    command, told = keeper(tmp_path)
    alerted = AlertedRun(tmp_path / HOSTILE, ranks=1, webhook=hook.url, command=command, kinds=["nan"]).deliver()
    alerted.train(40)
    alerted.train(1, loss=lambda step: float("nan"))
    wait_for(lambda: len(hook.posts) == 1 and len(told()) == 1, "the alert")
    alerted.end()
    (arguments, _), = told()
    assert len(arguments) == 1 and arguments[0].startswith("Ringmaster, run $(touch owned); `touch owned` -rf  [31m<b>: The loss")
    assert "\x1b" not in hook.posts[0]["text"] and not list(tmp_path.rglob("owned")) and not pathlib.Path("owned").exists()


def test_only_the_chosen_kinds_are_delivered(tmp_path, hook):
    alerted = AlertedRun(tmp_path / "one", ranks=1, webhook=hook.url, kinds=["nan"]).deliver()
    alerted.train(40)
    alerted.train(3, loss=lambda step: 9)
    alerted.train(1, loss=lambda step: float("nan"))
    wait_for(lambda: hook.posts, "the alert")
    alerted.end()
    assert [post["kind"] for post in hook.posts] == ["nan"]


@pytest.mark.parametrize("state, told", [("failed", ["failed"]), ("stopped", [])])
def test_a_run_that_fails_is_told_and_one_that_a_person_stops_is_not(state, told, tmp_path, hook):
    alerted = AlertedRun(tmp_path / "one", ranks=1, webhook=hook.url).deliver()
    alerted.train(7)
    time.sleep(1.5)
    alerted.say(state)
    assert alerted.agent.wait(60) == 0
    assert [(post["kind"], post["step"]) for post in hook.posts] == [(kind, 7) for kind in told]


def test_a_run_ends_though_the_command_hangs_and_nobody_answers(tmp_path):
    command, told = keeper(tmp_path, "import time, subprocess; subprocess.Popen(['sleep', '600']); time.sleep(600)")
    alerted = AlertedRun(tmp_path / "one", ranks=1, command=command, kinds=["nan"]).deliver()
    alerted.train(40)
    alerted.train(1, loss=lambda step: float("nan"))
    began = time.monotonic()
    wait_for(told, "the command")
    alerted.end()
    assert 25 < time.monotonic() - began < 45 and "took too long" in alerted.log()
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True).stdout.split()
    assert not left


def test_the_webhook_is_tried_again_if_the_server_fails(hook):
    pauses = []
    hook.answers[:] = [503, 429]
    assert post.deliver(hook.url, b"{}", pauses.append) == post.SENT
    assert len(hook.requests) == 3 and pauses == [2, 8]
    hook.requests.clear()
    hook.answers[:] = [503] * 9
    assert post.deliver(hook.url, b"{}", pauses.append) == post.NOT_REACHED and len(hook.requests) == 3
    hook.requests.clear()
    hook.answers[:] = [404]
    assert post.deliver(hook.url, b"{}", pauses.append) == post.REFUSED and len(hook.requests) == 1


def test_the_webhook_follows_no_redirect_and_no_other_scheme(hook, tmp_path):
    hook.answers[:] = [302]
    assert post.deliver(hook.url, b"{}", lambda _: None) == post.REFUSED
    assert hook.requests == ["/hook?secret=7"]
    (tmp_path / "file").write_text("x")
    said = subprocess.run([sys.executable, BIN.parent / "share/ringmaster/ringmaster_track", "post"], capture_output=True, text=True,
                          input=json.dumps({"url": (tmp_path / "file").as_uri(), "body": {}}))
    assert said.returncode == post.REFUSED


def test_watch_prints_alerts_as_lines_and_as_events(tmp_path):
    alerted = AlertedRun(tmp_path / "one", ranks=2)
    alerted.train(60, wait=lambda step, rank: 0.01 if rank == 1 else 0.2)
    alerted.train(1, loss=lambda step: float("nan"))
    alerted.say("completed")
    lines = [json.loads(line) for line in run("watch", alerted.folder, "--json").stdout.splitlines()]
    alerts = [line for line in lines if line["type"] == "alert"]
    assert [(alert["kind"], alert["rank"]) for alert in alerts] == [("slow_rank", 1), ("nan", None)]
    assert alerts[1]["step"] == 61 and alerts[1]["value"] is None and alerts[1]["t"] > 1e9
    text = run("watch", alerted.folder).stdout
    assert len(re.findall("^alert  ", text, re.M)) == 2 and "alert  Rank 1 is slow at step" in text


def test_launch_keeps_the_settings_with_the_run(tmp_path, make_config):
    home = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data")}
    mine = tmp_path / "config/ringmaster/alerts.json"
    mine.parent.mkdir(parents=True)
    mine.write_text(json.dumps({"webhook": "https://example.org/mine", "kinds": ["nan"]}))
    made = run("prepare", make_config(), "--ranks", "1", "--device", "cpu", "--alert-command", "mail -s 'a b' ann", env=home)
    assert made.returncode == 0, made.stderr
    kept = pathlib.Path(made.stdout.strip()) / "alerts.json"
    assert json.loads(kept.read_text()) == {"kinds": ["nan"], "desktop": True, "webhook": "https://example.org/mine", "command": ["mail", "-s", "a b", "ann"]}
    assert kept.stat().st_mode & 0o777 == 0o600
    for option, value in (("--alert-webhook", "example.org"), ("--alert-command", "mail 'open")):
        refused = run("prepare", make_config(), "--json", option, value, env=home)
        assert refused.returncode == 1 and "ALERT-SETTINGS" in refused.stdout, refused.stdout
    plain = run("prepare", make_config(output_dir="out2"), "--ranks", "1", "--device", "cpu", "--alert-webhook", "", env=home)
    assert not (pathlib.Path(plain.stdout.strip()) / "alerts.json").exists()
