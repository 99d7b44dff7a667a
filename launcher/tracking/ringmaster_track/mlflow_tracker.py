"""Sends metrics to MLflow as transformers' MLflowCallback names them, in a run that a tag identifies."""
from __future__ import annotations

import os

from .masking import REMOVED
from .points import number
from .tracker import Problem, Tracker, flat, variable

TAG = "ringmaster.run"
MOST_METRICS = 1000  # maximum metrics in one call
MOST_PARAMS = 100
LONGEST_PARAM = 500
STATUS = {"completed": "FINISHED", "failed": "FAILED", "stopped": "KILLED"}


class MlflowTracker(Tracker):
    title = "MLflow"
    client = "mlflow"
    install = "pip install mlflow"

    @property
    def is_local(self):
        uri = self.settings.text("mlflow_tracking_uri") or variable("MLFLOW_TRACKING_URI") or ""
        return not uri.startswith(("http:", "https:", "databricks", "postgresql", "mysql", "mssql"))

    def problem(self):
        if REMOVED in (self.settings.text("mlflow_tracking_uri") or ""):
            return Problem("password", "has a password in mlflow_tracking_uri, which is not kept with a run",
                           "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, and take it out of the address")
        return None

    def open(self):
        self.settings.export(["mlflow_", "hf_mlflow_"])
        uri = variable("MLFLOW_TRACKING_URI")
        if uri and (uri.startswith("file:") or "://" not in uri and not uri.startswith("databricks")):
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # MLflow 3 requires this for a folder
        import mlflow

        self.mlflow = mlflow
        self.api = mlflow.MlflowClient(tracking_uri=uri)
        run = self._found() or self._made()
        self.run_id = run.info.run_id
        self.api.update_run(self.run_id, status="RUNNING")
        self._send_parameters(run)
        self.held = {key: {metric.step for metric in self.api.get_metric_history(self.run_id, key)}
                     for key in run.data.metrics}

    def _experiment(self) -> str:
        name = variable("MLFLOW_EXPERIMENT_NAME")
        if not name:
            return variable("MLFLOW_EXPERIMENT_ID") or "0"
        found = self.api.get_experiment_by_name(name)
        return found.experiment_id if found else self.api.create_experiment(name)

    def _found(self):
        if variable("MLFLOW_RUN_ID"):
            return self.api.get_run(variable("MLFLOW_RUN_ID"))
        self.experiment = self._experiment()
        found = self.api.search_runs([self.experiment], f"tags.`{TAG}` = '{self.settings.id}'", max_results=1)
        return found[0] if found else None

    def _made(self):
        return self.api.create_run(self.experiment, run_name=self.settings.name("mlflow_run_name"),
                                   tags={TAG: self.settings.id, "mlflow.source.name": "ringmaster"})

    def _send_parameters(self, run):
        new = [self.mlflow.entities.Param(name, str(value)[:LONGEST_PARAM])
               for name, value in flat(self.settings.parameters).items() if name not in run.data.params]
        for at in range(0, len(new), MOST_PARAMS):
            self.api.log_batch(self.run_id, params=new[at:at + MOST_PARAMS])

    def send(self, points):
        new = [metric for point in points for metric in self._missing(point)]
        for at in range(0, len(new), MOST_METRICS):
            self.api.log_batch(self.run_id, metrics=new[at:at + MOST_METRICS])

    def _missing(self, point):
        """Returns which metrics of a point are unsent: a process that ends in the middle of a step may have sent only some."""
        return [self.mlflow.entities.Metric(name, number(value), int(point.t * 1000), point.step)
                for name, value in point.values.items() if point.step not in self.held.get(name, ())]

    def close(self, state):
        if state in STATUS:
            self.api.set_terminated(self.run_id, STATUS[state])
