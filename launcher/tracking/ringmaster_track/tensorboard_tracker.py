"""Writes scalars for TensorBoard as transformers' TensorBoardCallback names them. No client is needed."""
from __future__ import annotations

import os
from pathlib import Path

from .tensorboard_file import ScalarFile
from .tracker import Tracker, variable

FILE = "events.out.tfevents.0000000000.ringmaster"  # one file for all processes of the run


class TensorboardTracker(Tracker):
    title = "TensorBoard"

    @property
    def is_local(self):
        return True

    def problem(self):
        return None

    def folder(self) -> Path:
        named = variable("TENSORBOARD_LOGGING_DIR")
        if named:
            return Path(os.path.expanduser(named))
        output = Path(self.settings.output_dir) if self.settings.output_dir else None
        if output and os.access(output, os.W_OK):
            return output / "runs" / self.settings.run
        return self.settings.folder / "tensorboard"

    def open(self):
        self.folder().mkdir(parents=True, exist_ok=True)
        self.file = ScalarFile(self.folder() / FILE)

    def send(self, points):
        for point in points:
            new = {tag: value for tag, value in point.row().items() if (tag, point.step) not in self.file.held}
            if new:
                self.file.add(point.t, point.step, new)
        self.file.flush()

    def close(self, state):
        self.file.close()
