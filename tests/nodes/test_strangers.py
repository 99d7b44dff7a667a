"""Tests strangers on the network: they get no secret, sockets listen only at the addresses that the README states,
and the run continues or reports why it ended."""

import os
import pathlib
import subprocess
import time

import pytest

from ringmaster_runs import BIN, events_of, kept_model, launch, losses_of, make_config, make_rows, ringmaster, state_of, wait_for
from sshd import free_port
from strangers import Hammer, Sniffer, Stranger, listeners
from namespaces import NAME, NET, cut_off, hold_engine, network  # noqa: F401  (a fixture)
from test_network import config, pair  # noqa: F401  (fixtures)
from test_remote_runs import launch_on, run, steps, there

ENGINE = BIN / "ringmaster-engine"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
KEYS = dict(context_parallel_size=2, ring_attn_func="batch_zigzag", save_strategy=None, save_steps=100000)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    make_rows(folder / "rows.jsonl", 44)
    return folder, kept_model(folder / "model", "llama")


@pytest.fixture(scope="module")
def straight(model, tmp_path_factory):
    """Returns the losses of an undisturbed run."""
    folder = tmp_path_factory.mktemp("straight")
    config = make_config(folder, model[1], model[0] / "rows.jsonl", max_steps=8, **KEYS)
    return losses_of(launch(config, folder / "runs", "--ranks", 2, "--no-preflight", env=ONE_THREAD))


def prepared(model, folder, **keys):
    config = make_config(folder, model[1], model[0] / "rows.jsonl", **{**KEYS, **keys})
    said = ringmaster("prepare", config, "--runs-dir", folder / "runs", "--ranks", 2, "--no-preflight", env=ONE_THREAD).stdout
    return pathlib.Path(said.strip())


def start_rank(run, rank, port):
    env = {**os.environ, **ONE_THREAD, "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2",
           "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    return subprocess.Popen([ENGINE, "--run", run], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def secret_of(run):
    return (run / "token").read_text().strip().encode()


def is_explained(state):
    """Returns whether the run has failed with a reason that explains why."""
    return state["state"] == "failed" and len(state["reason"]) > 20


@pytest.mark.parametrize("spoil", [False, True], ids=["reads", "spoils"])
def test_a_stranger_at_the_store_while_ranks_meet(spoil, model, straight, tmp_path):
    run = prepared(model, tmp_path, max_steps=8)
    port = free_port()
    first = start_rank(run, 0, port)
    wait_for(lambda: (port in [one[1] for one in listeners("ringmaster-eng")]), "rank 0's store", 30)
    assert [one[:2] for one in listeners("ringmaster-eng") if one[3] == first.pid] == [("127.0.0.1", port)]
    stranger = Stranger()
    keys = stranger.read_store(("127.0.0.1", port))
    assert keys, "the store did not answer a stranger: this test proves nothing"
    stranger.bother(("127.0.0.1", port))
    if spoil:
        stranger.spoil_store(("127.0.0.1", port))
    second = start_rank(run, 1, port)
    hammer = Hammer(lambda: [("127.0.0.1", port)], spoil=True) if spoil else None
    said = [process.communicate(timeout=150)[0] for process in (first, second)]
    heard = bytes(stranger.heard) + (bytes(hammer.stop().heard) if hammer else b"")
    stranger.let_go()
    assert len(heard) > 100 and secret_of(run) not in heard and bytes.fromhex(secret_of(run).decode()) not in heard
    state = state_of(run)
    if state["state"] == "completed":
        assert losses_of(run) == losses_of(run, 1) == straight
    else:
        assert spoil and is_explained(state), (state, said)
        assert losses_of(run) == straight[:len(losses_of(run))]


def test_strangers_at_a_local_run(model, straight, tmp_path):
    config = make_config(tmp_path, model[1], model[0] / "rows.jsonl", max_steps=100000, **KEYS)
    said = ringmaster("launch", config, "--runs-dir", tmp_path / "runs", "--ranks", 2, "--no-preflight", "--detach", env=ONE_THREAD)
    (folder,) = (tmp_path / "runs").iterdir()
    assert said.returncode == 0
    wait_for(lambda: len(steps(folder)) >= 3, "step 3")
    pids = {event["pid"] for rank in range(2) for event in events_of(folder, rank, "hello")}
    agents = {int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in pids}
    ours = [one for one in listeners("ringmaster") if one[3] in pids | agents]  # agents of other tests may listen too
    assert ours and {one[0] for one in ours} == {"127.0.0.1"} and {one[3] for one in ours} == pids, ours
    stranger = Stranger()
    for address, port, _, _ in ours:
        assert not stranger.keys((address, port)), "a store still listens"
        stranger.bother((address, port))
    before = len(steps(folder))
    time.sleep(1)
    stranger.let_go()
    if state_of(folder)["state"] == "running":
        wait_for(lambda: len(steps(folder)) > before + 2, "steps after the strangers")
        ringmaster("stop", folder)
        assert state_of(folder)["state"] == "stopped"
    else:
        assert is_explained(state_of(folder)), state_of(folder)
    assert losses_of(folder)[:3] == losses_of(folder, 1)[:3]
    assert secret_of(folder) not in stranger.heard


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")
@pytest.mark.parametrize("spoil", [False, True], ids=["reads", "spoils"])
def test_strangers_at_a_run_on_two_nodes(spoil, pair, config, network, tmp_path):
    stated = [f"{NET}.{11 + i}" for i in range(2)]
    seen = set()

    def ports():
        now = [(i, *one[:3]) for i, space in enumerate(network) for one in listeners("ringmaster", inside=["ip", "netns", "exec", space])]
        seen.update(now)
        return [(address, port) for _, address, port, _ in now]

    sniffer = Sniffer(f"{NAME}br")
    hammer = Hammer(ports, spoil)
    cut_off(network[1], stated[0], lambda: hammer.over.is_set() or any(program.startswith("ringmaster-agen") for *_, program in list(seen)))
    hold_engine(network[1], hammer.has_met_store)
    try:
        remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach", "--no-preflight")
        wait_for(lambda: len(steps(there(pair.a))) >= 5 or state_of(there(pair.a))["state"] == "failed", "step 5 or the end", 240)
        state = state_of(there(pair.a))
    finally:
        stranger, wire = hammer.stop(), sniffer.stop()
    assert spoil or state["state"] == "running", state
    if state["state"] == "running":
        run(pair, "stop", "--now", remote)
    else:
        assert is_explained(state), state
    print(f"{len(seen)} listeners, {stranger.tried} conversations, {len(stranger.heard)} bytes heard, {len(wire)} bytes on the wire")
    assert {(i, address) for i, address, _, _ in seen} <= {(0, stated[0]), (1, stated[1])}, seen
    assert b"arrived/0" in stranger.heard, "no stranger met the store: this test proves nothing"
    assert any(program.startswith("ringmaster-agen") for _, _, _, program in seen), "the agent's port was never met"
    secret = secret_of(there(pair.a))
    for bytes_seen in (bytes(stranger.heard), wire):
        assert secret not in bytes_seen and bytes.fromhex(secret.decode()) not in bytes_seen
    assert b"agent 2 1 " in wire, "the agents' greeting was not seen on the wire: this test proves nothing"
