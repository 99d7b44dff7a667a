"""Tests that other programs can read the exports."""

import csv
import json

import pytest

from conftest import make_run, run

RANKS, STEPS = 2, 5


def export(tmp_path, form, to):
    make_run(tmp_path / "runs/one", RANKS, STEPS)
    done = run("export", "one", "--runs-dir", tmp_path / "runs", "--format", form, "--to", to, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_csv_holds_every_point_once(tmp_path):
    told = export(tmp_path, "csv", tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert told["points"] == len(rows) == RANKS * STEPS
    assert [(int(row["step"]), int(row["rank"])) for row in rows] == [(step, rank) for step in range(1, STEPS + 1) for rank in range(RANKS)]
    for row in rows:
        step, rank = int(row["step"]), int(row["rank"])
        assert float(row["loss"]) == 4 / step, "the later line of step 2 counts"
        assert row["rank_loss"] == "" if (rank, step) == (1, 3) else float(row["rank_loss"]) == 4 / step + 0.5 * rank
        assert float(row["lr"]) == 1e-4 / step
        assert int(row["comm_bytes"]) == 5_000_000_000 + rank
        assert float(row["exposed_comm_s"]) == 0.125
        assert float(row["t"]) > 1.7e9
        assert float(row["router_loss"]) == 0.25 / step
        assert row["skipped"] == ("true" if step == 4 else "")
        assert float(row["reward"]) == 0.5 and row["reward_functions"] == 'rewards."short"=-0.25; rewards.exact=0.75'
    events = map(json.loads, (tmp_path / "runs/one/events/rank-00000.jsonl").read_text().splitlines())
    fields = {field for event in events if event["type"] == "step" for field in event}
    assert set(rows[0]) == fields - {"type"}, "every field of the event is a column"


def test_csv_lines_end_as_rfc_4180_says(tmp_path):
    export(tmp_path, "csv", tmp_path / "run.csv")
    raw = (tmp_path / "run.csv").read_bytes()
    assert raw.endswith(b"\r\n") and raw.count(b"\n") == raw.count(b"\r\n") == RANKS * STEPS + 1


def test_tensorboard_reads_every_point(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    told = export(tmp_path, "tensorboard", tmp_path / "board")
    assert sorted(path.name for path in (tmp_path / "board").iterdir()) == ["global", "rank_00000", "rank_00001"]
    points = 0
    read = {}
    for folder in (tmp_path / "board").iterdir():
        board = EventAccumulator(str(folder), size_guidance={"scalars": 0})
        board.Reload()
        read[folder.name] = {tag: {event.step: event.value for event in board.Scalars(tag)} for tag in board.Tags()["scalars"]}
        points += sum(map(len, read[folder.name].values()))
        assert all(event.wall_time > 1.7e9 for tag in board.Tags()["scalars"] for event in board.Scalars(tag))
    assert points == told["points"]
    assert read["global"]["loss"] == pytest.approx({step: 4 / step for step in range(1, STEPS + 1)}, rel=1e-6)
    assert read["global"]["router_loss"] == {step: 0.25 / step for step in (1, 2, 4)} | {3: pytest.approx(0.25 / 3), 5: pytest.approx(0.05)}
    assert set(read["global"]["reward"].values()) == {0.5} and set(read["global"]["reward_functions/rewards.exact"].values()) == {0.75}
    assert read["global"]["eval_loss"] == {STEPS: 2.5}
    assert set(read["rank_00001"]["rank_loss"]) == {1, 2, 4, 5}
    assert read["rank_00000"]["overhead"] == {step: 0.25 for step in range(1, STEPS + 1)}
    assert abs(read["rank_00001"]["comm_bytes"][1] - 5_000_000_001) < 512


def test_what_it_cannot_export_is_said(tmp_path):
    make_run(tmp_path / "runs/one")
    for arguments, said in [(["--to", tmp_path / "x"], "--format"), (["--format", "xls", "--to", tmp_path / "x"], "xls"), (["--format", "csv"], "--to")]:
        done = run("export", "one", "--runs-dir", tmp_path / "runs", *arguments)
        assert done.returncode == 2 and said in done.stderr
