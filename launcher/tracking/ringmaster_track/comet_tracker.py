"""Sends metrics to Comet as transformers' CometCallback names them; offline, it writes an archive for `comet upload`."""
from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path

from .masking import masked
from .points import shown
from .tracker import Problem, Tracker, flat, variable

MESSAGES = "messages.json"  # name within an archive
QUIET = {"log_code": False, "log_graph": False, "parse_args": False, "log_git_metadata": False,
         "log_git_patch": False, "auto_output_logging": False, "auto_param_logging": False,
         "auto_metric_logging": False, "display_summary_level": 0}


class CometTracker(Tracker):
    title = "Comet"
    client = "comet_ml"
    install = "pip install comet_ml"

    def online(self) -> bool:
        said = self.settings.keys.get("comet_online", variable("COMET_START_ONLINE"))
        return str(said).lower() not in ("false", "0", "no", "off")

    def api_key(self):
        return self.settings.secret("comet_api_key") or variable("COMET_API_KEY")

    @property
    def is_local(self):
        return not self.online()

    def without_secrets(self, text):
        return masked(text, [self.api_key()])

    def problem(self):
        home = os.path.expanduser(variable("COMET_CONFIG") or "~/.comet.config")
        if not self.online() or self.api_key() or os.path.exists(home) or os.path.exists(".comet.config"):
            return None
        return Problem("key", "has no API key on this machine", "`comet login`, or `comet_online: false`")

    def open(self):
        self.settings.export(["comet_"])
        import comet_ml

        given = self.settings.text("comet_experiment_key") or variable("COMET_EXPERIMENT_KEY")
        self.key = given or hashlib.sha1(self.settings.id.encode()).hexdigest()
        self.folder = Path(variable("COMET_OFFLINE_DIRECTORY") or self.settings.folder / "comet")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.held = self._held_online(comet_ml) if self.online() else _archived(self.folder, self.key)
        config = comet_ml.ExperimentConfig(name=self.settings.run, offline_directory=str(self.folder), **QUIET)
        self.experiment = comet_ml.start(
            api_key=self.api_key() if self.online() else None, workspace=self.settings.text("comet_workspace"),
            project_name=self.settings.text("comet_project_name"), experiment_key=self.key,
            mode=self.settings.text("comet_mode") or ("get_or_create" if self.online() or not self.held else "get"),
            online=self.online(), experiment_config=config)
        self.experiment.log_parameters(flat(self.settings.parameters))

    def _held_online(self, comet_ml) -> set:
        experiment = comet_ml.API(api_key=self.api_key()).get_experiment_by_key(self.key)
        metrics = experiment.get_metrics() if experiment else []
        return {(metric.get("metricName"), int(metric["step"])) for metric in metrics if metric.get("step") is not None}

    def send(self, points):
        for point in points:
            new = {shown(name): value for name, value in point.values.items()
                   if (shown(name), point.step) not in self.held}
            if new:
                self.experiment.log_metrics(new, step=point.step, epoch=point.values.get("epoch"))

    def close(self, state):
        self.experiment.end()


def _archived(folder: Path, key: str) -> set:
    """Returns the (metric, step) pairs in the archives that earlier processes completed; deletes incomplete archives."""
    held = set()
    for file in folder.glob(f"*{key}*.zip"):
        try:
            with zipfile.ZipFile(file) as archive:
                held.update(_metrics(archive.read(MESSAGES)))
        except (zipfile.BadZipFile, KeyError):  # its process was killed before the archive was complete
            file.unlink()
    return held


def _metrics(messages: bytes):
    for line in messages.splitlines():
        metric = json.loads(line).get("payload", {}).get("metric", {})
        if metric.get("step") is not None:
            yield metric.get("metricName"), int(metric["step"])
