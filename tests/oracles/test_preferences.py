"""Compares training on preferences with TRL's losses, which trl_reference.py recorded in trl_losses.json. Covers every
loss, on every mesh, with adapters and without. Five cases in full training are compared with TRL in float64 and with a
larger epsilon of AdamW, because there TRL's own float32 losses miss its float64 losses by up to 1e-4 (trl_reference.py
says why)."""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import events_of, launch, losses_of, make_config, ringmaster, state_of
from trl_reference import CALM_EPSILON, LOSSES, MODELS, STEPS, prepare

# Maps a name to (ranks, keys). A step has 4 rows.
MESHES = {
    "1 rank": (1, dict(micro_batch_size=4)),
    "1 rank, accumulated": (1, dict(micro_batch_size=1, gradient_accumulation_steps=4, gradient_checkpointing=True)),
    "ring": (2, dict(context_parallel_size=2, ring_attn_func="batch_ring", micro_batch_size=2, gradient_accumulation_steps=2)),
    "zigzag": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=4)),
    "ulysses": (2, dict(context_parallel_size=2, ulysses_size=2, micro_batch_size=1, gradient_accumulation_steps=4)),
    "2 x 2": (4, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=2)),
    "2 x 2, weights sharded": (4, dict(context_parallel_size=2, micro_batch_size=1, gradient_accumulation_steps=2, fsdp_version=2,
                                       fsdp_config={"reshard_after_forward": True})),
}
QUICK = [("dpo", "zigzag"), ("kto", "ulysses"), ("reward", "zigzag")]
OURS = dict(max_steps=STEPS, learning_rate=1e-3, lr_scheduler="constant", warmup_steps=0, weight_decay=0, max_grad_norm=1.0)


RECORDED = json.loads((pathlib.Path(__file__).parent / "trl_losses.json").read_text())


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Returns a function that creates the model, the adapter and the rows of a case once and returns their folder."""
    known = {}

    def of(loss, kind, adapter, long=False):
        case = LOSSES[loss][0], kind, adapter, long
        if case not in known:
            known[case] = tmp_path_factory.mktemp("case")
            prepare(known[case], *case)
        return known[case]

    return of


def train(prepared, tmp_path, loss, mesh, kind, adapter, long=False, **more):
    folder = prepared(loss, kind, adapter, long)
    ranks, sizes = MESHES[mesh]
    keys = dict(adapter="lora", lora_model_dir=str(folder / "begun")) if adapter else {}
    config = make_config(tmp_path, folder / "model", folder / "rows.jsonl", **OURS, **sizes, **LOSSES[loss][2], **keys, **more)
    run = launch(config, tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    return run


def check(prepared, tmp_path, loss, mesh, kind, adapter):
    case = f"{loss} {kind} {'lora' if adapter else 'full'}"
    calm = RECORDED["float64 calm"].get(case)
    expected = calm or RECORDED["float32"][case]
    run = train(prepared, tmp_path, loss, mesh, kind, adapter, **({"adam_epsilon": CALM_EPSILON} if calm else {}))
    print(f"{case}: TRL in float32 is {RECORDED['drift'][case]:.1e} from TRL in float64")
    assert losses_of(run) == pytest.approx(expected, rel=1e-5)
    assert max(expected) - min(expected) > 0.02, "nothing was learned"
    proof = json.loads((run / "preflight.json").read_text())
    assert proof["ok"] and ", " + LOSSES[loss][0] in proof["proved"]
    return run


def check_saved_scores(folder):
    """Checks that the saved model has exactly the tensors that transformers' class expects."""
    import transformers

    model, found = transformers.AutoModelForSequenceClassification.from_pretrained(folder, output_loading_info=True)
    assert not found["missing_keys"] and not found["unexpected_keys"] and model.config.num_labels == 1


@pytest.mark.parametrize("loss, mesh", QUICK, ids=lambda name: name)
def test_quick_losses_are_those_of_trl(prepared, tmp_path, loss, mesh):
    run = check(prepared, tmp_path, loss, mesh, "llama", False)
    assert all(("kl" in event) == (loss == "kto") for event in events_of(run))
    if loss == "reward":
        check_saved_scores(tmp_path / "out")
    margins = [event for event in events_of(run) if "reward_margin" in event]  # KTO steps without desirable or without undesirable rows have no margin
    assert margins and margins[-1]["rewards_chosen"] - margins[-1]["rewards_rejected"] == pytest.approx(margins[-1]["reward_margin"])


@pytest.mark.parametrize("adapter", [False, True], ids=["full", "lora"])
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_is_that_of_trl_on_every_mesh(prepared, tmp_path, loss, mesh, kind, adapter):
    check(prepared, tmp_path, loss, mesh, kind, adapter)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("loss", LOSSES)
def test_answers_of_512_tokens_are_within_1e_4_of_trl_in_float64(prepared, tmp_path, loss, kind):
    expected = RECORDED["long"][f"{loss} {kind} full"]
    run = train(prepared, tmp_path, loss, "zigzag", kind, False, long=True, adam_epsilon=CALM_EPSILON, sequence_len=640)
    print(f"{loss} {kind}: {max(abs(one - other) / max(other, 0.01) for one, other in zip(losses_of(run), expected)):.1e}")
    assert losses_of(run) == pytest.approx(expected, rel=1e-4, abs=1e-6)  # some losses end near 0


def test_a_merged_reward_model_is_that_of_peft(prepared, tmp_path):
    import peft
    import torch
    import transformers

    run = train(prepared, tmp_path, "reward", "zigzag", "llama", True)
    ringmaster("merge", run, "--to", tmp_path / "merged")
    check_saved_scores(tmp_path / "merged")
    base = transformers.AutoModelForSequenceClassification.from_pretrained(prepared("reward", "llama", True) / "model", num_labels=1)
    theirs = peft.PeftModel.from_pretrained(base, tmp_path / "out").merge_and_unload().eval()
    ours = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "merged").eval()
    ids = torch.arange(1, 40).unsqueeze(0)
    with torch.no_grad():
        assert (ours(ids).logits - theirs(ids).logits).abs().max() < 1e-5
    refused = ringmaster("generate", tmp_path / "merged", "--prompt", "w1", check=False)
    assert refused.returncode == 1 and "scores" in refused.stderr
