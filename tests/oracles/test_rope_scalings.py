"""Compares every rope scaling of the supported models with transformers: the first loss on rows longer than
the original context."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import launch, losses_of, make_config, make_model, make_rows

SCALINGS = {
    "linear": {"rope_type": "linear", "factor": 4.0},
    "dynamic": {"rope_type": "dynamic", "factor": 2.0},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 32},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
}


@pytest.mark.parametrize("scaling", SCALINGS)
def test_the_first_loss_is_that_of_transformers(scaling, tmp_path):
    import torch
    import transformers

    longest = 64 if scaling == "dynamic" else 256
    model_dir = make_model(tmp_path / "model", "llama", max_position_embeddings=longest,
                           rope_parameters={"rope_theta": 10000.0, **SCALINGS[scaling]})
    rows = make_rows(tmp_path / "rows.jsonl", 1, seed=5, longest=96, masked=False)
    rows[0]["input_ids"] = rows[0]["labels"] = [(7 * i) % 251 for i in range(96)]
    (tmp_path / "rows.jsonl").write_text(__import__("json").dumps(rows[0]) + "\n")
    model = transformers.AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)
    ids = torch.tensor([rows[0]["input_ids"]])
    with torch.no_grad():
        expected = model(input_ids=ids, labels=ids).loss.item()
    config = make_config(tmp_path, model_dir, tmp_path / "rows.jsonl", micro_batch_size=1, max_steps=1,
                         context_parallel_size=2, ring_attn_func="batch_zigzag")
    run = launch(config, tmp_path / "runs", "--ranks", 2)
    assert losses_of(run)[0] == pytest.approx(expected, rel=1e-5)
