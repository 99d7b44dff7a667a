"""Tests strangers who connect to a Slurm job on two nodes: every socket listens on its node's address, no secret is
sent, and the job continues or reports why it ended."""

import json
import os
import shutil
import time

import pytest

from namespaces import NAME, NET, hold_engine, network  # noqa: F401  (a fixture)
from ringmaster_runs import losses_of, make_config, ringmaster, wait_for
from slurm import SlurmOnNodes
from strangers import Hammer, Sniffer, listeners
from test_slurm import KEYS, ONE_THREAD, steps

pytestmark = pytest.mark.skipif(os.getuid() != 0 or shutil.which("ip") is None, reason="network namespaces need root and iproute2")


@pytest.fixture
def nodes(network, tmp_path_factory):  # noqa: F811
    cluster = SlurmOnNodes(tmp_path_factory.mktemp("slurm2"), f"{NET}.1", [(space, f"{NET}.{11 + i}") for i, space in enumerate(network)])
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def told(nodes, run):
    """Returns the run as `ringmaster runs` reports it: rank 0 may have been killed before it could record the
    job's end."""
    time.sleep(1)
    said = ringmaster("runs", "--json", "--runs-dir", run.parent, env=nodes.env()).stdout
    (state,) = json.loads(said)
    return state


@pytest.mark.parametrize("spoil", [False, True], ids=["reads", "spoils"])
def test_strangers_at_a_job_on_two_nodes(spoil, nodes, network, llama, rows_file, tmp_path):  # noqa: F811
    config = make_config(tmp_path, llama, rows_file, max_steps=100000, **KEYS)
    seen = set()

    def ports():
        now = [(i, *one[:2]) for i, space in enumerate(network) for one in listeners("ringmaster", inside=["ip", "netns", "exec", space])]
        seen.update(now)
        return [(address, port) for _, address, port in now]

    sniffer, hammer = Sniffer(f"{NAME}br"), Hammer(ports, spoil)
    hold_engine(network[1], hammer.has_met_store)
    try:
        ringmaster("launch", config, "--ranks", 2, "--slurm", "nodes=2", "--slurm", "ntasks-per-node=1", "--runs-dir", tmp_path / "runs",
                   "--no-preflight", "--detach", env=nodes.env(**ONE_THREAD))
        (run,) = (tmp_path / "runs").iterdir()
        wait_for(lambda: len(steps(run)) >= 5 or told(nodes, run)["state"] == "failed", "step 5 or the end", 240)
        state = told(nodes, run)
    finally:
        stranger, wire = hammer.stop(), sniffer.stop()
    assert spoil or state["state"] == "running", state
    if state["state"] == "running":
        ringmaster("stop", run, "--now", env=nodes.env())
        assert losses_of(run)[:3] == losses_of(run, 1)[:3]
    else:
        assert state["state"] == "failed" and len(state["reason"]) > 20, state
    print(f"{len(seen)} listeners, {stranger.tried} conversations, {len(stranger.heard)} bytes heard, {len(wire)} bytes on the wire")
    addresses, stated = {(i, address) for i, address, _ in seen}, {(0, f"{NET}.11"), (1, f"{NET}.12")}
    assert addresses <= stated and (addresses == stated or state["state"] == "failed"), seen  # rank 1 may not listen yet
    assert b"arrived/0" in stranger.heard, "no stranger met the store: this test proves nothing"
    secret = (run / "token").read_text().strip()
    for bytes_seen in (bytes(stranger.heard), wire):
        assert secret.encode() not in bytes_seen and bytes.fromhex(secret) not in bytes_seen
