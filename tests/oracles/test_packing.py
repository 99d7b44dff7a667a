"""Compares packed rows on every layout and mesh with transformers, which computes the same documents one by
one."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import events_of, launch, losses_of, make_config, make_model, make_rows, next_fit, state_of
from transformers_loss import count_labels, learn

STEPS = 4
SEQUENCE = 128
ROWS_PER_STEP = 4
LAYOUTS = ["batch_ring", "batch_zigzag", "batch_stripe", "varlen_llama3", "varlen_ring", "varlen_zigzag", "balanced", "auto"]
RATE = 1e-3

# Maps a name to (ranks, keys): every layout on a ring, and some layouts with all-to-all, replicas and whole rows on one
# rank.
WAYS = {"1 rank": (1, dict(micro_batch_size=2, gradient_accumulation_steps=2))}
for layout in LAYOUTS:
    WAYS[f"2 ranks, {layout}"] = (2, dict(context_parallel_size=2, ring_attn_func=layout, micro_batch_size=1,
                                          gradient_accumulation_steps=4))
WAYS.update({
    "3 ranks, balanced, unpadded": (3, dict(context_parallel_size=3, ring_attn_func="balanced", micro_batch_size=2,
                                            gradient_accumulation_steps=2, pad_to_sequence_len=False)),
    "4 ranks, balanced and ulysses": (4, dict(context_parallel_size=4, ulysses_size=2, ring_attn_func="balanced",
                                              micro_batch_size=4, gradient_accumulation_steps=1)),
    "4 ranks, llama3 and ulysses": (4, dict(context_parallel_size=4, ulysses_size=2, ring_attn_func="varlen_llama3",
                                            heads_k_stride=2, micro_batch_size=2, gradient_accumulation_steps=2)),
    "4 ranks, ulysses": (4, dict(context_parallel_size=4, ulysses_size=4, micro_batch_size=1, gradient_accumulation_steps=4)),
    "4 ranks as 2 x 2": (4, dict(context_parallel_size=2, ring_attn_func="varlen_zigzag", micro_batch_size=1,
                                 gradient_accumulation_steps=2)),
})
MODELS = {"llama": dict(num_attention_heads=4, num_key_value_heads=2),
          "mistral": dict(sliding_window=24)}  # shorter than most documents


def train_with_transformers(model_dir, rows):
    """Trains on each document by itself, so that nothing can leak."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(model_dir, attn_implementation="eager", dtype=torch.float32)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    losses, position = [], 0
    for _ in range(STEPS):
        step, position = rows[position:position + ROWS_PER_STEP], position + ROWS_PER_STEP
        if position >= len(rows):
            position = 0
        documents = [document for row in step for document in row]
        losses.append((learn(model, documents), count_labels(documents)))
        optimizer.step()
        optimizer.zero_grad()
    return losses


@pytest.fixture(scope="module", params=sorted(MODELS))
def reference(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    model_dir = make_model(folder / "model", request.param, **MODELS[request.param])
    rows = next_fit(make_rows(folder / "rows.jsonl", 40, seed=9, longest=96), SEQUENCE)
    return folder, model_dir, rows, train_with_transformers(model_dir, rows)


@pytest.mark.parametrize("way", WAYS)
def test_packed_losses_are_those_of_the_documents_one_by_one(reference, way, tmp_path):
    folder, model_dir, rows, expected = reference
    ranks, keys = WAYS[way]
    config = make_config(tmp_path, model_dir, folder / "rows.jsonl", sequence_len=SEQUENCE, sample_packing=True,
                         max_steps=STEPS, learning_rate=RATE, lr_scheduler="constant", warmup_steps=0, weight_decay=0,
                         max_grad_norm=1e6, **keys)
    run = launch(config, tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    losses = losses_of(run)
    assert losses == [pytest.approx(loss, rel=1e-5) for loss, _ in expected]
    steps = events_of(run)
    assert [event["valid_tokens"] for event in steps] == [valid for _, valid in expected]
    assert steps[0]["tokens"] == sum(len(document["input_ids"]) for row in rows[:ROWS_PER_STEP] for document in row)
    assert sum(events_of(run, rank)[0]["rank_valid_tokens"] for rank in range(ranks)) == expected[0][1]
