"""Compares training on given rollouts with TRL's losses in float64, which trl_policy.py recorded in trl_policy_losses.json.
Covers every loss, on every mesh, with adapters and without."""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import events_of, launch, losses_of, make_config, state_of
from test_preferences import MESHES, OURS
from trl_policy import LONGEST, RULES, prepare
from trl_reference import CALM_EPSILON, MODELS

QUICK = [("grpo", "zigzag"), ("gspo", "ulysses")]
RECORDED = json.loads((pathlib.Path(__file__).parent / "trl_policy_losses.json").read_text())


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Returns a function that creates the model, the adapter and the rows of a case once and returns their folder."""
    known = {}

    def of(kind, adapter):
        if (kind, adapter) not in known:
            known[kind, adapter] = tmp_path_factory.mktemp("case")
            prepare(known[kind, adapter], kind, adapter)
        return known[kind, adapter]

    return of


def config_of(prepared, tmp_path, rule, sizes, kind, adapter, **more):
    folder = prepared(kind, adapter)
    keys = dict(adapter="lora", lora_model_dir=str(folder / "begun")) if adapter else {}
    settings = RULES[rule] | ({"max_completion_length": LONGEST} if rule == "dr_grpo" else {})
    return make_config(tmp_path, folder / "model", folder / "rows.jsonl", **OURS, **sizes, **keys, rl="grpo", trl=settings,
                       adam_epsilon=CALM_EPSILON, **more)


def check(prepared, tmp_path, rule, mesh, kind, adapter):
    ranks, sizes = MESHES[mesh]
    run = launch(config_of(prepared, tmp_path, rule, sizes, kind, adapter), tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    expected = RECORDED[f"{rule} {kind} {'lora' if adapter else 'full'}"]
    assert losses_of(run) == pytest.approx(expected, rel=1e-5, abs=1e-6)  # a loss may be near 0, because it is a mean of terms of both signs
    assert max(expected) - min(expected) > 0.02, "nothing was learned"
    proof = json.loads((run / "preflight.json").read_text())
    assert proof["ok"] and ", grpo" in proof["proved"]
    return run


@pytest.mark.parametrize("rule, mesh", QUICK, ids=lambda name: name)
def test_quick_losses_are_those_of_trl(prepared, tmp_path, rule, mesh):
    run = check(prepared, tmp_path, rule, mesh, "llama", False)
    assert all(("kl" in event) == ("beta" in RULES[rule]) for event in events_of(run))


def test_quick_packing_changes_no_loss(prepared, tmp_path):
    """A step trains on all rows, so that packed and unpacked rows give the same steps."""
    losses = []
    for name, packed in (("packed", True), ("alone", False)):
        (tmp_path / name).mkdir()
        sizes = dict(context_parallel_size=2, ring_attn_func="varlen_zigzag" if packed else "batch_ring", sample_packing=packed,
                     micro_batch_size=2, gradient_accumulation_steps=50)
        config = config_of(prepared, tmp_path / name, "gspo", sizes, "qwen3", False)
        values = json.loads(config.read_text()) | {"max_steps": 3}
        config.write_text(json.dumps(values))
        losses.append(losses_of(launch(config, tmp_path / name / "runs", "--ranks", 2)))
    assert len(losses[0]) == 3 and losses[0] == pytest.approx(losses[1], rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("adapter", [False, True], ids=["full", "lora"])
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("rule", RULES)
def test_every_loss_is_that_of_trl_on_every_mesh(prepared, tmp_path, rule, mesh, kind, adapter):
    check(prepared, tmp_path, rule, mesh, kind, adapter)
