"""Tests that preflight passes on every mesh and model that the oracles train, in float32 and bfloat16, with fresh
weights and after some steps of training."""

import json
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "oracles")]
import test_packing as packing  # noqa: E402
import test_transformers as plain  # noqa: E402
from ringmaster_runs import kept_model, launch, make_config, make_rows, ringmaster  # noqa: E402

CASES = [(kind, changes, {}, way) for kind, changes in plain.MODELS.items() for way in plain.MESHES.items()]
CASES += [("llama", {}, {}, way) for way in plain.LAYOUTS.items()]
CASES += [(kind, changes, dict(sample_packing=True, sequence_len=packing.SEQUENCE), way)
          for kind, changes in packing.MODELS.items() for way in packing.WAYS.items()]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Returns a function (kind, changes, weights) -> folder, which creates each model once."""
    folder, made = tmp_path_factory.mktemp("models"), {}
    make_rows(folder / "rows.jsonl", 44)

    def model(kind, changes, weights):
        key = (kind, str(changes), weights)
        if key not in made:
            here = folder / str(len(made))
            here.mkdir()
            if weights == "fresh":
                made[key] = kept_model(here / "model", kind, **changes)
            else:
                config = make_config(here, model(kind, changes, "fresh"), folder / "rows.jsonl", max_steps=60, micro_batch_size=4,
                                     learning_rate=3e-3)
                launch(config, here / "runs", "--ranks", 1, "--no-preflight")
                made[key] = here / "out"
        return made[key]

    model.rows = folder / "rows.jsonl"
    return model


@pytest.mark.parametrize("weights", ["fresh", "trained"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("kind, changes, more, way", CASES, ids=lambda value: value[0] if isinstance(value, tuple) else None)
def test_a_right_mesh_passes(kind, changes, more, way, precision, weights, models, tmp_path):
    ranks, keys = way[1]
    config = make_config(tmp_path, models(kind, changes, weights), models.rows,
                         **{**keys, **more, **({"bf16": True} if precision == "bf16" else {})})
    report = json.loads(ringmaster("preflight", config, "--ranks", ranks, "--json", check=False).stdout.splitlines()[-1])
    worst = max(report["gradients"] + report["attention"], key=lambda entry: entry["relative_error"])
    print(f"{kind}, {way[0]}, {precision}, {weights}: {worst} of {report['bound']}, float32 {report.get('float32')}")
    assert report["ok"], report["failure"]
