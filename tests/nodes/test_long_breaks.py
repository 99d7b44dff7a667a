"""Injects one failure at a time into a run over several nodes. Some runs must end on every node in time, report the first cause,
and resume bit-exactly; the others must continue without losing or repeating a step. Takes minutes and needs root."""

import json
import os
import pty
import shutil
import signal
import subprocess
import threading
import time

import pytest

from ringmaster_runs import BIN, launch, losses_of, make_config, state_of
from test_elsewhere import ALONE, follow, steps_of
from test_network import NAME, NET, ip, network  # noqa: F401
from test_remote_runs import agent_pid, launch_on, processes_of, raw_steps, run, steps, there, wait_for
from tiny import llama, rows_file  # noqa: F401  (fixtures)

pytestmark = pytest.mark.skipif(os.getuid() != 0 or shutil.which("ip") is None, reason="network namespaces need root and iproute2")

KEYS = dict(max_steps=160, context_parallel_size=2, ring_attn_func="batch_zigzag", save_strategy=None, save_steps=40)


@pytest.fixture(scope="module")
def straight(llama, rows_file, tmp_path_factory):
    """Returns the losses of the same run without interruptions."""
    folder = tmp_path_factory.mktemp("straight")
    return losses_of(launch(make_config(folder, llama, rows_file, **KEYS), folder / "runs", "--ranks", 2, env=ALONE))


@pytest.fixture
def disk(tmp_path):
    """Gives node 0 its own disk, so that it can be filled."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1100m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def pair(client, network, disk):
    client.a = client.serve("a", address=f"{NET}.11", port=22, inside=["ip", "netns", "exec", network[0]], home=disk / "home")
    client.b = client.serve("b", address=f"{NET}.12", port=22, inside=["ip", "netns", "exec", network[1]])
    client.known_hosts.write_text("".join(server.known_hosts_line().replace("[", "").replace("]:22", "") for server in client.servers))
    for name, server in (("a", client.a), ("b", client.b)):
        client.host(name, server)
    return client


def rank_pid(server, rank):
    nodes = json.loads((there(server) / "run.json").read_text())["nodes"]
    return next(one["pid"] for node in nodes for one in node["ranks"] if one["rank"] == rank)


def isolate(on):
    """Separates the nodes from each other; the client reaches both."""
    for i in range(2):
        ip("link", "set", f"{NAME}v{i}", "type", "bridge_slave", "isolated", "on" if on else "off")


def fill(disk):
    ballast = disk / "ballast"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with open(ballast, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, free - (300 << 10))  # some steps' events still fit, a checkpoint does not


BREAKS = {
    "a killed rank": (lambda c, d: os.kill(rank_pid(c.a, 1), signal.SIGKILL), 30, "rank 1 was killed by signal 9"),
    "a killed agent of node 0": (lambda c, d: os.kill(agent_pid(c.a, 0), signal.SIGKILL), 30, "its supervisor"),
    "a killed agent of node 1": (lambda c, d: os.kill(agent_pid(c.b, 1), signal.SIGKILL), 30, "node 1"),
    "a stopped rank": (lambda c, d: os.kill(rank_pid(c.a, 0), signal.SIGSTOP), 30, "rank 0 was stopped by SIGSTOP"),
    "a stopped agent": (lambda c, d: os.kill(agent_pid(c.b, 1), signal.SIGSTOP), 60, "node 1"),
    "a cut link between the nodes": (lambda c, d: isolate(True), 60, "has been silent for 20 s"),
    "a full disk at a checkpoint": (lambda c, d: fill(d), 30, "No space left on device"),
}


def mend(pair, disk, what):
    if what == "a stopped agent":
        os.kill(agent_pid(pair.b, 1), signal.SIGCONT)
    if what == "a cut link between the nodes":
        isolate(False)
    (disk / "ballast").unlink(missing_ok=True)


@pytest.mark.parametrize("what", BREAKS)
def test_the_run_ends_everywhere_in_time_names_the_cause_and_resumes_to_the_last_bit(what, pair, disk, straight, llama, rows_file, tmp_path):
    break_it, limit, reason = BREAKS[what]
    remote = launch_on(pair, make_config(tmp_path, llama, rows_file, **KEYS), tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: len(steps(there(pair.a))) >= 45, "step 45")
    break_it(pair, disk)
    began = time.monotonic()
    stopped_agent = agent_pid(pair.b, 1) if what == "a stopped agent" else None
    left = lambda: [pid for pid in processes_of(pair.a.home) + processes_of(pair.b.home) if pid != stopped_agent]  # noqa: E731
    wait_for(lambda: not left(), "the end of all processes", limit)
    print(f"\n{what}: every process gone after {time.monotonic() - began:.1f} s")
    mend(pair, disk, what)
    assert run(pair, "watch", remote, check=False).returncode == 1
    print(f"  reason: {state_of(remote)['reason'].splitlines()[0]}")
    assert state_of(remote)["state"] == "failed" and reason in state_of(remote)["reason"], state_of(remote)["reason"]
    wait_for(lambda: not processes_of(pair.a.home) + processes_of(pair.b.home), "the end of the last agent", 30)
    run(pair, "resume", remote)
    assert (state_of(remote)["state"], state_of(remote)["attempt"]) == ("completed", 2)
    assert losses_of(remote, 0) == losses_of(remote, 1) == straight


def down(seconds):
    ip("addr", "del", f"{NET}.1/24", "dev", f"{NAME}br")
    time.sleep(seconds)
    ip("addr", "add", f"{NET}.1/24", "dev", f"{NAME}br")


def move():
    """Changes the client's address, as a move to another network does. The old connections no longer carry data."""
    ip("addr", "del", f"{NET}.1/24", "dev", f"{NAME}br")
    ip("addr", "add", f"{NET}.2/24", "dev", f"{NAME}br")


def kill(viewer):
    viewer.kill()
    viewer.wait()


CUTS = {"the link down for 60 s": lambda viewer: down(60), "another address": lambda viewer: move(), "the client killed": kill}


@pytest.mark.parametrize("what", CUTS)
def test_the_run_does_not_notice_what_happens_to_its_viewer_and_the_view_catches_up(what, pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=100000, context_parallel_size=2)
    viewer = follow(pair, "launch", config, "--runs-dir", tmp_path / "runs", "--name", "seen", "--node", "a", "--node", "b", "--ranks", 2,
                    out=subprocess.DEVNULL)
    remote = tmp_path / "runs/seen"
    wait_for(lambda: len(steps(remote)) >= 3, "step 3 here")
    before = len(steps(there(pair.a)))
    CUTS[what](viewer)
    began = time.monotonic()
    wait_for(lambda: len(steps(there(pair.a))) >= before + 100, "100 more steps")
    if what == "the client killed":
        viewer = follow(pair, "watch", remote, out=subprocess.DEVNULL)
    far = len(steps(there(pair.a)))
    wait_for(lambda: len(steps(remote)) > far, "the view to catch up")
    print(f"\n{what}: caught up {time.monotonic() - began:.1f} s later, {far - before} steps meanwhile")
    run(pair, "stop", remote)
    assert viewer.wait(60) == 0
    for rank, server in enumerate((pair.a, pair.b)):
        told = raw_steps(remote, rank)
        assert told == list(range(1, len(told) + 1)) and len(told) > far
        file = f"events/rank-{rank:05d}.jsonl"
        assert (remote / file).read_bytes() == (there(server) / file).read_bytes()


class Person:
    """Answers one question at a terminal."""

    def __init__(self, who, *words):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(BIN / "ringmaster", ["ringmaster", *map(str, words)], who.env(OMP_NUM_THREADS="1", TERM="xterm"))
        self.said = ""
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while chunk := os.read(self.terminal, 65536):
                self.said += chunk.decode(errors="replace")
        except OSError:
            pass

    def answer(self, question, words):
        wait_for(lambda: question in self.said, question, 120)
        os.write(self.terminal, words.encode())

    def wait(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def three(client):
    for name in "abc":
        client.host(name, client.serve(name))
    client.a, client.b, client.c = client.servers
    return client


@pytest.mark.parametrize("how", ["a person agrees", "a person does not", "a script with --shrink", "a script"])
def test_a_lost_node_is_left_out_only_where_that_was_agreed(how, three, llama, rows_file, tmp_path):
    keys = dict(max_steps=120, micro_batch_size=1, gradient_accumulation_steps=2, save_strategy=None, save_steps=20)
    (tmp_path / "alone").mkdir()
    config = make_config(tmp_path, llama, rows_file, **keys)
    words = ["launch", config, "--runs-dir", tmp_path / "runs", "--name", "fewer", "--node", "a", "--node", "b", "--node", "c", "--ranks", 3, "--restarts", 1]
    words += ["--shrink"] if "--shrink" in how else []
    person = Person(three, *words) if "person" in how else follow(three, *words)
    wait_for(lambda: len(steps_of(three.a)) >= 25, "step 25")
    lost = rank_pid(three.a, 1)
    three.b.stop()
    os.kill(lost, signal.SIGKILL)
    remote = tmp_path / "runs/fewer"
    if "person" in how:
        person.answer("go on like that? [y/N]", "y\n" if how.endswith("agrees") else "n\n")
        status = person.wait()
        said = person.said
    else:
        said = person.communicate(timeout=180)[0]
        status = person.returncode
    assert "ranks 2 instead of 3" in said and "rows a step 6, as before" in said and "gradient accumulation 3 instead of 2" in said, said
    if how in ("a person does not", "a script"):
        assert status == 1 and "not started again" in said and "--shrink" in said, said
        assert state_of(remote)["state"] == "failed" and state_of(remote)["attempt"] == 1
        return
    assert status == 0, said
    assert (state_of(remote)["state"], state_of(remote)["attempt"], state_of(remote)["ranks"]) == ("completed", 2, 2)
    local = launch(make_config(tmp_path / "alone", llama, rows_file, **keys), tmp_path / "runs", "--ranks", 3, "--name", "alone", env=ALONE)
    for rank in range(2):
        assert losses_of(remote, rank) == pytest.approx(losses_of(local, rank), abs=1e-6)
    assert (remote / "events/rank-00001.jsonl").read_bytes() == (there(three.c) / "events/rank-00001.jsonl").read_bytes()
