"""Sends rows to trackio as transformers' TrackioCallback logs them, into trackio's SQLite file or to a Space."""
from __future__ import annotations

import inspect
import os

from .points import STEP_KEY, key_of_row
from .tracker import Problem, Tracker, variable


class TrackioTracker(Tracker):
    title = "trackio"
    client = "trackio"
    install = "pip install trackio"

    def space(self):
        return self.settings.text("trackio_space_id") or variable("TRACKIO_SPACE_ID")

    @property
    def is_local(self):
        return not self.space() and not variable("TRACKIO_SERVER_URL")

    def problem(self):
        if not self.space() or variable("HF_TOKEN") or os.path.exists(_token_file()):
            return None
        return Problem("key", "has no token of the Hugging Face hub for trackio_space_id", "`hf auth login`")

    def open(self):
        self.settings.export(["trackio_"])
        os.environ.setdefault("TRACKIO_STORAGE_MODE", "sqlite")  # rows in a network folder could not be read back in another mode
        import trackio

        self.project = self.settings.text("trackio_project_name") or "huggingface"
        self.name = self.settings.name("trackio_run_name")
        self.held = {key for row in self._rows() if (key := key_of_row(row))}
        options = {"embed": False, "auto_log_cpu": False, "auto_log_gpu": False}
        known = inspect.signature(trackio.init).parameters
        self.run = trackio.init(project=self.project, name=self.name, space_id=self.space(), resume="allow",
                                config=self.settings.parameters,
                                **{name: value for name, value in options.items() if name in known})

    def _rows(self):
        if self.space():
            from trackio.remote_client import RemoteClient

            token = variable("HF_TOKEN")
            client = RemoteClient(self.space(), hf_token=token, verbose=False)
            return client.predict(project=self.project, run=self.name, api_name="/get_logs") or []
        from trackio.sqlite_storage import SQLiteStorage

        return SQLiteStorage.get_logs(self.project, self.name)

    def send(self, points):
        for point in points:
            if point.key not in self.held:
                self.run.log({**point.row(), STEP_KEY: point.step}, step=point.step)

    def close(self, state):
        self.run.finish()


def _token_file() -> str:
    home = variable("HF_HOME") or os.path.join(variable("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    return os.path.expanduser(variable("HF_TOKEN_PATH") or os.path.join(home, "token"))
