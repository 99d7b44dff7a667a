"""Tests runs on two nodes with their own addresses, in network namespaces: which programs listen where, and what
happens when links are cut. Needs root."""

import json
import os
import re
import shutil
import subprocess
import time

import pytest

from namespaces import NAME, NET, ip, network  # noqa: F401  (a fixture)
from ringmaster_runs import BIN, kept_model, make_config, make_rows, state_of
from test_remote_runs import launch_on, processes_of, raw_steps, run, steps, there, wait_for

pytestmark = pytest.mark.skipif(os.getuid() != 0 or shutil.which("ip") is None, reason="network namespaces need root and iproute2")

@pytest.fixture
def pair(client, network):
    client.a = client.serve("a", address=f"{NET}.11", port=22, inside=["ip", "netns", "exec", network[0]])
    client.b = client.serve("b", address=f"{NET}.12", port=22, inside=["ip", "netns", "exec", network[1]])
    client.known_hosts.write_text("".join(server.known_hosts_line().replace("[", "").replace("]:22", "") for server in client.servers))
    for name, server in (("a", client.a), ("b", client.b)):
        client.host(name, server)
    return client


@pytest.fixture
def config(tmp_path):
    make_rows(tmp_path / "rows.jsonl", 44)
    return make_config(tmp_path, kept_model(tmp_path / "model", "llama"), tmp_path / "rows.jsonl", max_steps=4000)


def listening(space):
    """Returns (kind, address, owning programs) of every TCP, UDP, raw and Unix socket that listens in a namespace."""
    said = subprocess.run(["ip", "netns", "exec", space, "ss", "-Hlnp", "-t", "-u", "-w", "-x"], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in said.splitlines()]
    return [(row[0], row[4], sorted(set(re.findall(r'"([^"]+)",pid=', row[-1])))) for row in rows]


def test_everything_that_listens_during_a_run_is_on_the_stated_interface_with_the_stated_owner(pair, config, network, tmp_path):
    before = [listening(space) for space in network]
    assert [[(kind, address) for kind, address, _ in seen] for seen in before] == [[("tcp", f"{NET}.{11 + i}:22")] for i in range(2)]
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach")
    watch = subprocess.Popen([str(BIN / "ringmaster"), "watch", str(remote)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             env=pair.env(), start_new_session=True)
    wait_for(lambda: len(steps(remote)) >= 3, "step 3 here")
    owners = []
    for i, space in enumerate(network):
        ours = [row for row in listening(space) if row not in before[i]]
        assert ours and all(kind == "tcp" and address.startswith(f"{NET}.{11 + i}:") for kind, address, _ in ours), ours
        owners.append([owner for _, _, owner in ours])
    # Node 0's agent and the store stop listening after all ranks have connected; Gloo keeps listening.
    assert all(owner == ["ringmaster-engi"] for owner in owners[0] + owners[1]), owners
    here = subprocess.run(["ss", "-Hlnp", "-t", "-u", "-w", "-x"], capture_output=True, text=True, check=True).stdout
    assert f"pid={watch.pid}," not in here
    run(pair, "stop", "--now", remote)
    watch.wait(30)
    assert state_of(remote)["state"] == "stopped"
    wait_for(lambda: [listening(space) for space in network] == before, "the end of all that listened")


def test_the_clients_link_may_be_down_for_ten_seconds(pair, config, network, tmp_path):
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach")
    watch = subprocess.Popen([str(BIN / "ringmaster"), "watch", str(remote)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             env=pair.env(), start_new_session=True)
    wait_for(lambda: len(steps(remote)) >= 3, "step 3 here")
    ip("addr", "del", f"{NET}.1/24", "dev", f"{NAME}br")  # the nodes still reach each other through the bridge
    time.sleep(10)
    ip("addr", "add", f"{NET}.1/24", "dev", f"{NAME}br")
    far = len(steps(there(pair.a)))
    wait_for(lambda: len(steps(remote)) > far, "the view to catch up")
    run(pair, "stop", remote)
    assert watch.wait(30) == 0
    for rank in range(2):
        told = raw_steps(remote, rank)
        assert told == list(range(1, len(told) + 1)) and len(told) > far


def test_a_node_whose_link_is_cut_ends_the_run_everywhere(pair, config, network, tmp_path):
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: len(steps(there(pair.a))) >= 3, "step 3")
    ip("link", "set", "eth0", "down", inside=network[1])
    wait_for(lambda: not processes_of(pair.a.home) + processes_of(pair.b.home), "the end of all processes", 60)
    state = json.loads((there(pair.a) / "run.json").read_text())
    assert state["state"] == "failed" and "node 1" in state["reason"] and "silent" in state["reason"], state["reason"]
    assert "node 0" in json.loads((there(pair.b) / "node-1/run.json").read_text())["reason"]
