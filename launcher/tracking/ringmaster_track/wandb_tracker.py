"""Sends rows to Weights & Biases as transformers' WandbCallback logs them, in a run that is resumed by its id."""
from __future__ import annotations

import netrc
import os
from pathlib import Path
from urllib.parse import urlparse

from .points import STEP_KEY, key_of_row
from .tracker import Problem, Tracker, variable
from .wandb_file import history_rows, wait_for_writers


class WandbTracker(Tracker):
    title = "Weights & Biases"
    client = "wandb"
    install = "pip install wandb"

    def mode(self) -> str:
        mode = (self.settings.text("wandb_mode") or variable("WANDB_MODE") or "online").lower()
        return {"dryrun": "offline", "run": "online"}.get(mode, mode)

    @property
    def is_local(self):
        return self.mode() == "offline"

    def problem(self):
        if self.mode() != "online" or variable("WANDB_API_KEY") or _netrc_has(_host()):
            return None
        return Problem("key", "has no API key on this machine", "`wandb login`, or `wandb_mode: offline`")

    def open(self):
        folder = Path(variable("WANDB_DIR") or self.settings.folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.settings.export(["wandb_"])
        os.environ.pop("WANDB_LOG_MODEL", None)
        import wandb

        run_id = self.settings.text("wandb_run_id") or variable("WANDB_RUN_ID") or self.settings.id
        wait_for_writers(folder / "wandb")
        self.held = set() if self.mode() == "online" else _keys_in(folder / "wandb", run_id)
        self.run = wandb.init(
            project=self.settings.text("wandb_project") or variable("WANDB_PROJECT") or "huggingface",
            entity=self.settings.text("wandb_entity"), name=self.settings.name("wandb_name"), id=run_id,
            mode=self.mode(), dir=str(folder), resume="allow", config=self.settings.parameters,
            settings=wandb.Settings(console="off", disable_git=True, disable_code=True, x_disable_stats=True))
        self.run.define_metric(STEP_KEY)
        self.run.define_metric("*", step_metric=STEP_KEY, step_sync=True)
        self.there = self.run.step if self.mode() == "online" else 0  # rows that the server has
        self.next = 0

    def send(self, points):
        """Sends the k-th point of the events file as row k, so that the row number identifies the point."""
        for point in points:
            if self.next >= self.there and point.key not in self.held:
                row = {**point.row(), STEP_KEY: point.step, "_timestamp": point.t}
                self.run.log(row, step=self.next, commit=True)
            self.next += 1

    def close(self, state):
        self.run.finish(exit_code=1 if state == "failed" else 0)


def _host() -> str:
    return urlparse(variable("WANDB_BASE_URL") or "https://api.wandb.ai").hostname or "api.wandb.ai"


def _netrc_has(host: str) -> bool:
    named = variable("NETRC")
    for file in [named] if named else ["~/.netrc", "~/_netrc"]:
        try:
            if netrc.netrc(os.path.expanduser(file)).authenticators(host):
                return True
        except (OSError, netrc.NetrcParseError):
            continue
    return False


def _keys_in(folder: Path, run_id: str) -> set:
    """Returns the keys of the points that earlier processes wrote; each process writes a folder of its own."""
    files = sorted(folder.glob(f"offline-run-*-{run_id}/run-{run_id}.wandb"))
    return {key for file in files for row in history_rows(file) if (key := key_of_row(row))}
