"""Tests trackers of runs on other machines: which machine sends to a tracker, and that no node gets a tracker's
key."""

import json
import pathlib

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from ringmaster_runs import events_of, make_config, wait_for
from test_remote_runs import launch_on, pair, there  # noqa: F401  (fixtures)
from tiny import llama, rows_file  # noqa: F401  (fixtures)


def test_files_are_written_where_the_run_was_launched_and_keys_stay_there(pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=4, output_dir=str(tmp_path / "out"), use_tensorboard=True,
                         comet_project_name="long-rows", comet_api_key="verysecretvalue")
    here = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--name", "two", COMET_API_KEY="anothersecretvalue")
    settings = json.loads((here / "tracking/settings.json").read_text())
    assert settings["trackers"] == {"comet": "launcher", "tensorboard": "launcher"}
    assert json.loads((there(pair.a) / "tracking/settings.json").read_text()) == settings
    assert not (there(pair.b) / "tracking").exists()
    wait_for(lambda: (here / "tracking/tensorboard.done").exists(), "the last step")
    reader = EventAccumulator(str(tmp_path / "out/runs/two"), size_guidance={"scalars": 0})
    reader.Reload()
    assert [point.step for point in reader.Scalars("train/loss")] == [event["step"] for event in events_of(here, 0)] == [1, 2, 3, 4]
    assert list(pair.a.home.glob("data/ringmaster/programs/*/share/ringmaster/ringmaster_track/follow.py"))
    for server in (pair.a, pair.b):
        for file in filter(pathlib.Path.is_file, server.home.rglob("*")):
            if file.stat().st_size < 1 << 20:
                assert b"verysecretvalue" not in file.read_bytes() and b"anothersecretvalue" not in file.read_bytes(), file
    both = (here / "events/rank-00000.jsonl").read_bytes(), (there(pair.a) / "events/rank-00000.jsonl").read_bytes()
    assert both[0] == both[1]  # trackers write nothing into the client's copy of the events
