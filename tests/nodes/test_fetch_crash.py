"""Disturbs `ringmaster fetch` at every call by which it changes the disk: the call fails, or the process is killed
just before it. The fetch replaces an older checkpoint of the same step. A mixture of the two must never be marked
complete, and a second fetch must bring the node's files."""

import dataclasses
import hashlib
import json
import os
import shutil

import pytest

from crash_points import disturbed, points_of, recorded, spread
from ringmaster_runs import BIN, kept_model, launch, make_config, make_rows, ringmaster
from sshd import Client
from test_remote_runs import there


def hashes(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir() if file.suffix != ".part"}


class Fetch:
    def __init__(self, folder):
        self.client = Client(folder / "client")
        self.client.host("a", self.client.serve("a"))
        model = kept_model(folder / "model", "llama", hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
                           num_key_value_heads=1)
        make_rows(folder / "rows.jsonl", 12, longest=16)
        keys = dict(sequence_len=16, max_steps=4, save_steps=2, save_strategy=None)
        config = make_config(folder, model, folder / "rows.jsonl", **keys)
        self.env = self.client.env(OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="")
        launch(config, folder / "runs", "--node", "a", "--ranks", 1, "--name", "run", "--no-preflight", env=self.env)
        self.there = there(self.client.servers[0]) / "checkpoints/step-00000004"
        self.to = folder / "to"
        self.here, self.former = self.to / "step-00000004", folder / "former"
        shutil.copytree(there(self.client.servers[0]) / "checkpoints/step-00000002", self.former)
        self.command = [BIN / "ringmaster", "fetch", folder / "runs/run", "--checkpoint", "4", "--to", self.to]
        self.reset()
        self.log = recorded(self.command, self.env, [self.to], folder / "fetch.log")
        assert hashes(self.here) == hashes(self.there)

    def reset(self):
        shutil.rmtree(self.to, ignore_errors=True)
        shutil.copytree(self.former, self.here)

    def disturb(self, point):
        """Runs a fetch that is disturbed at `point`. A file arrives in more or fewer pieces each time, so a write
        that does not occur is replaced by the write before it."""
        for nth in range(point.nth, -1, -1):
            for _ in range(3):
                self.reset()
                died = disturbed(self.command, self.env, [self.to], dataclasses.replace(point, nth=nth))
                if died.returncode != 0 or point.call != "write":
                    return died
        return died

    def check(self, point):
        died = self.disturb(point)
        if point.how == "KILL":
            assert died.returncode == -9, (point, died.stderr)
        else:
            assert died.returncode == 1 and os.strerror(point.errno) in died.stderr, (point, died.stderr, died.stdout)
        if (self.here / "complete").exists():
            assert hashes(self.here) in (hashes(self.there), hashes(self.former)), point
        again = ringmaster(*self.command[1:], "--json", env=self.env)
        assert json.loads(again.stdout)["files"] == len(hashes(self.there)), point
        assert hashes(self.here) == hashes(self.there), point
        assert not list(self.here.glob("*.part")), point


@pytest.fixture(scope="module")
def fetch(tmp_path_factory):
    made = Fetch(tmp_path_factory.mktemp("fetch"))
    yield made
    made.client.close()


def run_points(fetch, points, capsys, what):
    for point in points:
        fetch.check(point)
    with capsys.disabled():
        print(f"\n{what}: {len(points)} points", flush=True)


def test_a_spread_of_points(fetch, capsys):
    run_points(fetch, spread(points_of(fetch.log), 3), capsys, "crash matrix of fetch, a spread")


def test_every_point(fetch, capsys):
    run_points(fetch, points_of(fetch.log), capsys, "crash matrix of fetch")
