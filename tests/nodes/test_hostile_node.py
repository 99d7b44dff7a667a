"""Runs malicious nodes (hostile_node.py) against watch, fetch, runs, nodes, stop and resume: no file changes except
those that a node may write, no host is contacted that no command names, memory stays below 200 MB, and SIGTERM ends
the program."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import hostile_node
from ringmaster_runs import BIN, make_config

MOST_MIB = 200
PATIENCE_S = 60  # limit for processes that end by themselves; SIGTERM ends the others
HEARD_S = 1      # time for a program to process what it received
ENDS_S = 20      # limit after SIGTERM


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """Returns plan.json of a run of two ranks, as a launch writes it."""
    folder = tmp_path_factory.mktemp("plan")
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 256, "hidden_size": 64, "intermediate_size": 112,
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512, "rms_norm_eps": 1e-6,
        "tie_word_embeddings": False}))
    (folder / "rows.jsonl").write_text(json.dumps({"input_ids": [1, 2, 3], "labels": [1, 2, 3]}) + "\n")
    config = make_config(folder, folder, folder / "rows.jsonl", reinit_weights=True)
    done = subprocess.run([BIN / "ringmaster", "plan", config, "--ranks", "2", "--device", "cpu", "--json"], capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout)


@pytest.fixture
def place(client, tmp_path, plan):
    """Provides a home with files to protect, a run on the node "liar", and a host that no command names."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    for name in (".bashrc", ".ssh/authorized_keys", "thesis.json"):
        (home / name).write_text(f"mine: {name}\n")
    server = client.serve("liar")
    shell = f'command="{sys.executable} {hostile_node.__file__} {server.folder}" '
    (server.folder / "authorized_keys").write_text(shell + pathlib.Path(f"{client.key}.pub").read_text())
    client.host("liar", server)
    with Stranger() as stranger:
        client.set_config(client.config.read_text().split("\nHost *\n")[0] + f"\nHost victim 127.0.0.9 127.0.0.8\n  HostName 127.0.0.1\n  Port {stranger.port}\n")
        yield Place(client, server, home, stranger, plan, tmp_path)


class Stranger:
    """Runs a server that the SSH configuration lists but no command names. It counts connections, of which there must
    be none."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port, self.dialled = self.socket.getsockname()[1], 0
        threading.Thread(target=self.listen, daemon=True).start()
        return self

    def listen(self):
        while True:
            try:
                self.socket.accept()[0].close()
                self.dialled += 1
            except OSError:
                return

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Place:
    def __init__(self, client, server, home, stranger, plan, folder):
        self.client, self.server, self.home, self.stranger, self.folder = client, server, home, stranger, folder
        self.output = folder / "out"
        self.runs = folder / "runs"
        self.run = self.runs / hostile_node.RUN
        plan = {**plan, "config": {**plan["config"], "output_dir": str(self.output)}}
        (server.folder / "plan.json").write_text(json.dumps(plan))

    def launched(self, state="running"):
        """Writes the run directory that `launch --node liar` leaves."""
        self.output.mkdir(exist_ok=True)
        for name in ("events", "logs"):
            (self.run / name).mkdir(parents=True)
        (self.output / "ringmaster-run.json").write_text(json.dumps({"run": self.run.name, "dir": str(self.run), "process": hostile_node.process()}))
        shutil.copy(self.server.folder / "plan.json", self.run / "plan.json")
        (self.run / "config.yaml").write_text("base_model: x\n")
        (self.run / "run.json").write_bytes(hostile_node.state(state=state, writer=hostile_node.process(host="", pid=0), nodes=[]))
        (self.run / "remote.json").write_bytes(hostile_node.remote(self.server.folder))

    def command(self, kind):
        name, runs = hostile_node.RUN, ["--runs-dir", self.runs]
        if kind == "adopt":
            return ["watch", name, "--node", "liar", *runs]
        if kind in ("runs", "nodes"):
            return [kind, "--node", "liar"]
        self.launched("failed" if kind == "resume" else "running")
        words = kind.split()
        return [words[0], name, *words[1:], *runs]

    def snapshot(self):
        """Returns every file except those that the node, the servers and the client may write."""
        record = {"events/rank-00000.jsonl", "events/rank-00001.jsonl", "logs/rank-00000.log", "logs/rank-00001.log", "agent.log", "samples.jsonl", "run.json", "mirror.lock"}
        found = {}
        for root, folders, names in os.walk(self.folder):
            folders[:] = [one for one in folders if pathlib.Path(root) / one not in (self.client.folder,)]
            for name in names:
                file = pathlib.Path(root) / name
                if file.parent.is_relative_to(self.run) and str(file.relative_to(self.run)) in record and not file.is_symlink():
                    continue
                found[str(file.relative_to(self.folder))] = os.readlink(file) if file.is_symlink() else hashlib.sha256(file.read_bytes()).hexdigest()
        return found


def ended(process, seconds):
    """Returns the process's exit status and peak memory in MiB, or None if it still runs after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_maxrss / 1024
        time.sleep(0.02)
    return None


def until_heard(place, kind, answers, process):
    """Waits until a process that ends by itself has ended, and until any other process has received the attack.
    Returns what `ended` returns, which is None for a process that still runs."""
    if kind not in ("watch", "adopt", "stop"):
        return ended(process, answers.get("patience", PATIENCE_S))
    mark = place.server.folder / ("said-" + next((one for one in ("noise", "stderr", "stop") if one in answers), "follow"))
    end = time.monotonic() + PATIENCE_S
    follows = place.run / "mirror.lock"  # exists once the run is adopted; before that, the program only reads the run
    if "plant" in answers:  # the program sees planted files before it asks the node
        mark = follows
    while not (mark.exists() and (kind != "adopt" or follows.exists())) and time.monotonic() < end:
        if finished := ended(process, 0.1):
            return finished
    return ended(process, HEARD_S)


def attack(place, name):
    kind, answers = hostile_node.ATTACKS[name]
    command = place.command(kind)
    (place.server.folder / "attack").write_text(name)
    for mark in place.server.folder.glob("said-*"):
        mark.unlink()
    if "plant" in answers:
        answers["plant"](place.run, place.home)
    before = place.snapshot()
    with open(place.folder / "said.txt", "wb") as said:
        process = subprocess.Popen([str(BIN / "ringmaster"), *map(str, command)], stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
                                   cwd=place.home, env=place.client.env(HOME=str(place.home)))
        end = until_heard(place, kind, answers, process)
        if end is None:
            process.send_signal(signal.SIGTERM)
            end = ended(process, ENDS_S)
        if end is None:
            process.kill()
            end = ended(process, 10)
            raise AssertionError(f"{name}: SIGTERM does not end it")
    said = (place.folder / "said.txt").read_bytes()
    (place.folder / "said.txt").unlink()
    status, memory = end
    assert status >= 0 or status == -signal.SIGTERM, (name, status, said[-2000:])
    assert memory < MOST_MIB, (name, memory)
    assert b"\x1b" not in said and b"terminate called" not in said, (name, said[-2000:])
    assert place.stranger.dialled == 0, f"{name}: a host that nobody named was dialled"
    check_files(place, name, kind, before, place.snapshot())
    return memory, said


def check_files(place, name, kind, before, after):
    gone = [file for file in before if after.get(file) != before[file] and not file.endswith("ringmaster-run.json")]
    assert not gone, (name, "changed or deleted", gone)
    new = set(after) - set(before)
    if kind == "adopt":  # an adopted run has these files
        new -= {f"runs/{hostile_node.RUN}/{file}" for file in ("config.yaml", "plan.json", "remote.json")}
    if kind.startswith(("fetch", "resume")):  # parts of a file that may be fetched
        new -= {file for file in new if file.startswith(("out/", f"runs/{hostile_node.RUN}/checkpoints/step-00000002/")) and ".json" in file or ".safetensors" in file}
    new -= {"out/config.json", "out/config.json.part", "out/model.safetensors.part"}
    assert not new, (name, "made", sorted(new)[:20])


@pytest.mark.parametrize("name", [name for name in hostile_node.ATTACKS if name in hostile_node.SPREAD])
def test_an_attack_of_each_kind(name, place):
    attack(place, name)


@pytest.mark.slow
def test_every_attack(place, tmp_path):
    largest, began = (0, ""), time.monotonic()
    for name in hostile_node.ATTACKS:
        for folder in (place.runs, place.output):
            shutil.rmtree(folder, ignore_errors=True)
        memory, _ = attack(place, name)
        largest = max(largest, (memory, name))
    assert len(hostile_node.ATTACKS) >= 60
    print(f"{len(hostile_node.ATTACKS)} attacks in {time.monotonic() - began:.0f} s; at most {largest[0]:.0f} MiB ({largest[1]})", file=sys.__stdout__)


def test_a_node_that_does_as_it_should_is_followed(place):
    """Runs the same server without an attack. This shows that failures of the other tests come from the attacks."""
    (place.server.folder / "attack").write_text("none")
    command = place.command("watch")
    process = subprocess.Popen([str(BIN / "ringmaster"), *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=place.client.env(HOME=str(place.home)))
    events, end = place.run / hostile_node.EVENTS, time.monotonic() + 30
    while not events.exists() and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(ENDS_S) >= 0
    assert events.read_bytes() == hostile_node.step()


def test_the_person_hears_which_nodes_are_not_contacted(place):
    (place.server.folder / "attack").write_text("adopt: another host")
    said = place.folder / "said.txt"
    with open(said, "wb") as out:
        process = subprocess.Popen([str(BIN / "ringmaster"), "watch", hostile_node.RUN, "--node", "liar", "--runs-dir", str(place.runs)],
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=place.client.env(HOME=str(place.home)))
    names_all, end = f"`ringmaster watch {hostile_node.RUN} --node liar --node victim` names all in their order", time.monotonic() + PATIENCE_S
    while names_all not in said.read_text() and time.monotonic() < end:
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(ENDS_S) >= 0
    assert "node 1 of 2, which its launcher calls victim, is not contacted" in said.read_text() and names_all in said.read_text(), said.read_text()
    assert place.stranger.dialled == 0
