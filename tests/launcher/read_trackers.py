"""Prints what a tracker holds for a run, read by the tracker's client: read_trackers.py TRACKER RUN ->
[[kind, step, loss], …]."""

import json
import pathlib
import struct
import sys
import zipfile

tracker, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def of_row(row):
    """Returns [kind, step, loss] of a row that has the names of transformers' callbacks."""
    kind = "eval" if "eval/loss" in row else "train"
    return [kind, row["train/global_step"], row[f"{kind}/loss"]]


def wandb():
    for file in sorted(folder.glob("tracking/wandb/offline-run-*/*.wandb")):
        yield from map(of_row, wandb_rows(file))


def wandb_rows(file):
    """W&B's clients before 0.20 have a reader in Python; later ones read these files only in Go."""
    from wandb.proto import wandb_internal_pb2

    for data in leveldb_records(file.read_bytes()[7:]):
        record = wandb_internal_pb2.Record.FromString(data)
        if record.HasField("history"):
            yield {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}


def leveldb_records(log):
    """Reads the format of https://github.com/google/leveldb/blob/main/doc/log_format.md, with a first block 7
    bytes shorter; stops at an incomplete record."""
    whole, at, end_of_block = b"", 0, 32768 - 7
    while at + 7 <= len(log):
        if end_of_block - at < 7:
            at, end_of_block = end_of_block, end_of_block + 32768
            continue
        length, kind = struct.unpack("<HB", log[at + 4:at + 7])
        piece = log[at + 7:at + 7 + length]
        if kind == 0 or len(piece) < length:
            return
        at += 7 + length
        whole += piece
        if kind in (1, 4):
            yield whole
            whole = b""
        if at >= end_of_block:
            end_of_block += 32768


def mlflow():
    import mlflow

    api = mlflow.MlflowClient()
    runs = api.search_runs([api.get_experiment_by_name("x").experiment_id])
    assert len(runs) == 1 and runs[0].info.status == "FINISHED", runs
    names = set(runs[0].data.metrics)
    steps = {name: [(metric.step, metric.value) for metric in api.get_metric_history(runs[0].info.run_id, name)] for name in names}
    for name in names - {"loss", "eval_loss"}:  # each name of a step occurs once
        assert [step for step, _ in steps[name]] == [step for step, _ in steps["loss"]], name
    for name in names & {"loss", "eval_loss"}:
        yield from (["train" if name == "loss" else "eval", step, value] for step, value in steps[name])


def trackio():
    from trackio import Api
    from trackio.sqlite_storage import SQLiteStorage

    run, = Api().runs("p")
    yield from map(of_row, SQLiteStorage.get_logs("p", run.name))


def comet():
    for file in folder.glob("tracking/comet/*.zip"):
        with zipfile.ZipFile(file) as archive:
            messages = [json.loads(line)["payload"] for line in archive.read("messages.json").splitlines()]
        for metric in (message["metric"] for message in messages if "metric" in message):
            if metric["metricName"] in ("train/loss", "eval/loss"):
                yield [metric["metricName"].split("/")[0], metric["step"], metric["metricValue"]]


print(json.dumps(list({"wandb": wandb, "mlflow": mlflow, "trackio": trackio, "comet": comet}[tracker]())))
