"""Runs the same training in transformers and here, on every mesh. Losses, gradient norms and the final model must be equal."""

import sys
import pathlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import events_of, launch, losses_of, make_config, make_model, make_rows, state_of, steps_to_train
from transformers_loss import count_labels, summed_loss

STEPS = steps_to_train(20, 8)
ROWS_PER_STEP = 8

# Maps a name to (ranks, keys).
MESHES = {
    "1 rank": (1, dict(micro_batch_size=2, gradient_accumulation_steps=4)),
    "2 ranks, ring": (2, dict(context_parallel_size=2, ring_attn_func="batch_ring", micro_batch_size=1,
                              gradient_accumulation_steps=8)),
    "2 ranks, zigzag": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=2,
                                gradient_accumulation_steps=4)),
    "4 ranks as 2 x 2": (4, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=2,
                                 gradient_accumulation_steps=2)),
    "2 ranks, ulysses": (2, dict(context_parallel_size=2, ulysses_size=2, micro_batch_size=2, gradient_accumulation_steps=4)),
    "4 ranks, stripe and ulysses": (4, dict(context_parallel_size=4, ulysses_size=2, ring_attn_func="batch_stripe",
                                            micro_batch_size=2, gradient_accumulation_steps=4)),
    "2 ranks, weights sharded": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=2,
                                         gradient_accumulation_steps=4, fsdp_version=2,
                                         fsdp_config={"reshard_after_forward": True})),
    "4 ranks as 2 x 2, gradients sharded": (4, dict(context_parallel_size=2, micro_batch_size=2, gradient_accumulation_steps=2,
                                                    fsdp_version=2, fsdp_config={"reshard_after_forward": False})),
}
# Lists the remaining layouts and transports, for one model.
LAYOUTS = {f"{ranks} ranks, {layout}": (ranks, dict(context_parallel_size=ranks, ring_attn_func=layout, micro_batch_size=2,
                                                    gradient_accumulation_steps=4))
           for ranks, layout in ((2, "batch_stripe"), (2, "varlen_llama3"), (3, "varlen_ring"), (2, "varlen_zigzag"), (3, "balanced"),
                                 (2, "auto"))}
LAYOUTS["4 ranks, llama3 by 2 heads"] = (4, dict(context_parallel_size=4, ring_attn_func="varlen_llama3", heads_k_stride=2,
                                                 micro_batch_size=2, gradient_accumulation_steps=4))
LAYOUTS["4 ranks, ulysses over 2 key heads"] = (4, dict(context_parallel_size=4, ulysses_size=4, micro_batch_size=2,
                                                        gradient_accumulation_steps=4))
MODELS = {
    "llama": {},
    "qwen2": {"tie_word_embeddings": True},
    "qwen3": {},
    "mistral": {"head_dim": 24},
}
TRAINING = dict(max_steps=STEPS, learning_rate=1e-3, lr_scheduler="cosine", warmup_steps=4, weight_decay=0.1,
                max_grad_norm=0.5, adam_beta2=0.95)


def load(model_dir):
    import torch
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)


def adamw(model, decays=lambda name, parameter: parameter.dim() > 1):
    import torch

    trained = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    return torch.optim.AdamW([{"params": [p for name, p in trained if decays(name, p)], "weight_decay": TRAINING["weight_decay"]},
                              {"params": [p for name, p in trained if not decays(name, p)], "weight_decay": 0.0}],
                             lr=TRAINING["learning_rate"], betas=(0.9, TRAINING["adam_beta2"]), eps=1e-8)


def train(model, rows, make_optimizer=adamw, one_by_one=False):
    """Trains with the parts of transformers' Trainer: the loss over all valid labels of a step, and then one update. The rows of
    a step form one batch or, with `one_by_one`, a batch each."""
    import torch
    import transformers

    model.train()
    optimizer = make_optimizer(model)
    schedule = transformers.get_scheduler("cosine", optimizer, TRAINING["warmup_steps"], STEPS)
    history, position = [], 0
    for _ in range(STEPS):
        batch = rows[position:position + ROWS_PER_STEP]  # the last rows of an epoch form a smaller step
        position = 0 if position + ROWS_PER_STEP >= len(rows) else position + ROWS_PER_STEP
        valid, total = count_labels(batch), 0.0
        for rows_at_once in [[row] for row in batch] if one_by_one else [batch]:
            loss = summed_loss(model, rows_at_once) / valid
            loss.backward()
            total += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), TRAINING["max_grad_norm"]).item()
        history.append({"loss": total, "grad_norm": norm, "lr": schedule.get_last_lr()[0], "valid": valid})
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return history


@pytest.fixture(scope="module")
def reference(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    model_dir = make_model(folder / "model", request.param, **MODELS[request.param])
    rows = make_rows(folder / "rows.jsonl", 44)  # each epoch has 5 whole steps and a partial one
    trained = load(model_dir)
    history = train(trained, rows)
    return folder, model_dir, trained, history


# By default Llama is trained on every mesh, and the other models, which differ in a layer's own operations, on three.
QUICK = ("2 ranks, zigzag", "4 ranks as 2 x 2", "2 ranks, weights sharded")
CASES = [pytest.param(kind, mesh, id=f"{kind}, {mesh}" + (", quick" if kind == "llama" or mesh in QUICK else ""))
         for kind in sorted(MODELS) for mesh in MESHES]


@pytest.mark.parametrize("reference, mesh", CASES, indirect=["reference"])
def test_losses_and_the_exported_model_are_those_of_transformers(reference, mesh, tmp_path):
    check(reference, *MESHES[mesh], tmp_path)


@pytest.mark.parametrize("reference", ["llama"], indirect=True)
@pytest.mark.parametrize("layout", LAYOUTS, ids=[f"{layout}, quick" for layout in LAYOUTS])
def test_every_layout_trains_as_transformers_does(reference, layout, tmp_path):
    check(reference, *LAYOUTS[layout], tmp_path)


def assert_same_steps(run, history, **others):
    """Expects each step's loss and gradient norm to equal those of `history`. `others` names further values and their relative
    bounds."""
    for event, expected in zip(events_of(run), history, strict=True):
        for name, rel in {"loss": 1e-5, "grad_norm": 1e-4, **others}.items():
            assert event[name] == pytest.approx(expected[name], rel=rel), (name, event["step"])


def check(reference, ranks, keys, tmp_path):
    import torch
    import transformers

    folder, model_dir, trained, history = reference
    config = make_config(tmp_path, model_dir, folder / "rows.jsonl", **TRAINING, **keys)
    run = launch(config, tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"

    steps = events_of(run)
    assert [event["step"] for event in steps] == list(range(1, STEPS + 1))
    assert_same_steps(run, history, lr=1e-9)
    assert [event["valid_tokens"] for event in steps] == [expected["valid"] for expected in history]
    for rank in range(1, ranks):
        assert losses_of(run, rank) == losses_of(run), "the loss is global"
    assert sum(events_of(run, rank)[0]["rank_valid_tokens"] for rank in range(ranks)) == history[0]["valid"]

    ours = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out", dtype=torch.float32)
    ids = torch.arange(64).unsqueeze(0)
    with torch.no_grad():
        difference = (ours(ids).logits - trained(ids).logits).abs().max().item()
    assert difference < 1e-4
