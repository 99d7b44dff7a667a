"""Disturbs, one at a time, the system calls that change the disk during a save, a second save of the same step, a prune, or the placing
of the final model: the call fails, or the process is killed just before it. Afterwards the losses and the model of
`ringmaster resume` are bit-identical to those of an undisturbed run."""

import dataclasses
import os
import shutil
import subprocess

import pytest

from crash_points import HOWS, disturbed, points_of, recorded, spread
from ringmaster_runs import BIN, kept_model, losses_of, make_config, make_rows, ringmaster, state_of

CLEAN = {key: value for key, value in os.environ.items() if key not in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")}
ENV = {**CLEAN, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}


class Scenario:
    """Puts a run directory into a certain state, runs a program that changes its checkpoints or the final model, and
    checks what is left."""

    def __init__(self, folder):
        model = kept_model(folder / "model", "llama", hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
                           num_key_value_heads=1)
        make_rows(folder / "rows.jsonl", 12, longest=16)
        config = make_config(folder, model, folder / "rows.jsonl", sequence_len=16, max_steps=4, save_steps=2, save_strategy=None,
                             save_total_limit=1)
        ringmaster("prepare", config, "--runs-dir", folder / "runs", "--ranks", 1, "--name", "run", "--no-preflight", env=ENV)
        self.run, self.out, self.kept = folder / "runs/run", folder / "out", folder / "kept"
        self.engine = [BIN / "ringmaster-engine", "--run", self.run]
        self.keep("prepared")
        self.log = recorded(self.engine, ENV, self.watched, folder / "train.log")
        assert state_of(self.run)["state"] == "completed"
        self.losses, self.model = losses_of(self.run), (self.out / "model.safetensors").read_bytes()
        # The state "stopped" is a run that was killed when its second save began: checkpoint 2 is complete, and no
        # model was placed yet. `resave` saves checkpoint 2 again.
        self.reset("prepared")
        second_save = self.log[self.second_save()]
        disturbed(self.engine, ENV, self.watched, dataclasses.replace(second_save, how="KILL"))
        self.keep("stopped")
        self.resave = [BIN.parent / "tests/resave", self.run, "2"]
        self.resave_log = recorded(self.resave, ENV, self.watched, folder / "resave.log")

    def second_save(self):
        """Returns the index in the log at which the second save begins."""
        return next(number for number, point in enumerate(self.log) if "step-00000004" in point.path)

    @property
    def watched(self):
        return [self.run / "checkpoints", self.out]

    def keep(self, name):
        for folder in (self.run, self.out):
            if folder.exists():
                shutil.copytree(folder, self.kept / name / folder.name)

    def reset(self, name):
        for folder in (self.run, self.out):
            shutil.rmtree(folder, ignore_errors=True)
            if (self.kept / name / folder.name).exists():
                shutil.copytree(self.kept / name / folder.name, folder)

    def resume(self, by_command_line):
        """Resumes with the command line or with the engine itself, as under torchrun, which is four times as fast."""
        if by_command_line:
            return ringmaster("resume", self.run, env=ENV, check=False)
        return subprocess.run(self.engine, env=ENV, capture_output=True, text=True, timeout=120)

    def check(self, command, state, point, by_command_line):
        self.reset(state)
        died = disturbed(command, ENV, self.watched, point)
        if point.how == "KILL":
            assert died.returncode == -9, (point, died.stderr)
        elif died.returncode != 0:
            assert died.returncode == 1 and os.strerror(point.errno) in died.stderr + died.stdout, (point, died.stderr, died.stdout)
        if state_of(self.run)["state"] != "completed":
            again = self.resume(by_command_line)
            assert again.returncode == 0, (point, again.stderr, again.stdout)
        assert state_of(self.run)["state"] == "completed", point
        assert losses_of(self.run) == self.losses, point
        assert (self.out / "model.safetensors").read_bytes() == self.model, point
        left = {path.name for path in (self.run / "checkpoints").iterdir() if not path.name.startswith(".")}
        assert left in ({"step-00000004"}, {"step-00000002", "step-00000004"}), (point, left)  # killed before the prune
        if died.returncode != 0:  # files that a failed call did not delete remain as hidden files
            assert not [path for path in self.out.iterdir() if path.suffix not in (".json", ".safetensors")], point


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return Scenario(tmp_path_factory.mktemp("crash"))


def all_points(scenario):
    """Returns the points of a run from its second save on (that save, the prune and the placing of the model), and all points of saving a
    step again."""
    second = scenario.log[scenario.second_save():]
    return ([(scenario.engine, "prepared", point) for point in points_of(second)] +
            [(scenario.resave, "stopped", point) for point in points_of(scenario.resave_log)])


def run_points(scenario, cases, capsys, what, one_in=1):
    for number, (command, state, point) in enumerate(cases):
        scenario.check(command, state, point, number % one_in == 0)
    with capsys.disabled():
        print(f"\n{what}: {len(cases)} points: " + ", ".join(f"{sum(case[2].call == call for case in cases)} {call}"
              for call in ("write", "fsync", "rename", "unlink", "rmdir")), flush=True)


def test_a_spread_of_points(scenario, capsys):
    run_points(scenario, spread(all_points(scenario), 10), capsys, "crash matrix, a spread")


def test_every_point(scenario, capsys):
    cases = all_points(scenario)
    paths = {case[2].path for case in cases}
    for part in ("model.safetensors", "optimizer.safetensors", "trainer_state.json", "complete", ".former", ".removed", "/out/config.json"):
        assert any(part in path for path in paths), part
    assert {case[2].how for case in cases} == set(HOWS)
    run_points(scenario, cases, capsys, "crash matrix", one_in=10)
