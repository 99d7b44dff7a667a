"""Tests that evaluation is exact over any number of ranks, and that the run saves what the configuration asks for."""

import pytest

from ringmaster_runs import events_of, launch, make_config


def test_evaluation_is_the_same_on_every_mesh_and_that_of_transformers(llama, rows_file, tmp_path):
    import json

    import torch
    import transformers

    keys = dict(val_set_size=9, eval_steps=2, max_steps=4, learning_rate=1e-3, warmup_steps=0)
    evaluations = []
    for ranks, mesh in [(1, {}), (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", gradient_accumulation_steps=1)),
                        (4, dict(context_parallel_size=2, micro_batch_size=1))]:
        config = make_config(tmp_path, llama, rows_file, **{**keys, **mesh}, output_dir=str(tmp_path / f"out{ranks}"))
        run = launch(config, tmp_path / "runs", "--ranks", ranks)
        found = events_of(run, kind="eval")
        assert [event["step"] for event in found] == [2, 4]
        evaluations.append(found)
    for other in evaluations[1:]:
        assert [e["tokens"] for e in other] == [e["tokens"] for e in evaluations[0]]
        assert [e["loss"] for e in other] == pytest.approx([e["loss"] for e in evaluations[0]], rel=1e-5)

    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out1", dtype=torch.float32)
    total, valid = 0.0, 0
    for line in rows_file.read_text().splitlines()[-9:]:
        row = json.loads(line)
        labels = torch.tensor(row["labels"][1:])
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([row["input_ids"]])).logits[0, :-1]
        total += torch.nn.functional.cross_entropy(logits, labels, ignore_index=-100, reduction="sum").item()
        valid += int((labels != -100).sum())
    assert evaluations[0][-1]["tokens"] == valid
    assert evaluations[0][-1]["loss"] == pytest.approx(total / valid, rel=1e-5)


def test_saves_follow_the_file_and_the_oldest_go(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=9, save_steps=2, save_strategy=None, save_total_limit=2)
    run = launch(config, tmp_path / "runs", "--ranks", 2)
    assert [event["step"] for event in events_of(run, kind="checkpoint")] == [2, 4, 6, 8]
    assert sorted(path.parent.name for path in run.glob("checkpoints/*/complete")) == ["step-00000006", "step-00000008"]


def test_without_a_word_about_saving_each_epoch_saves(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=None, num_epochs=2, save_strategy=None, micro_batch_size=4)
    run = launch(config, tmp_path / "runs", "--ranks", 2)
    assert [event["step"] for event in events_of(run, kind="checkpoint")] == [6, 12]  # 44 rows, 8 per step


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("precision", ["fp32", "bf16", "bf16 full"])
def test_precision_and_recomputation_change_little_or_nothing(precision, checkpointing, llama, rows_file, tmp_path):
    keys = {"fp32": {}, "bf16": {"bf16": True}, "bf16 full": {"bf16": "full"}}[precision]
    plain = launch(make_config(tmp_path, llama, rows_file), tmp_path / "runs", "--ranks", 1)
    config = make_config(tmp_path, llama, rows_file, gradient_checkpointing=checkpointing, context_parallel_size=2, **keys,
                         output_dir=str(tmp_path / "other"))
    other = launch(config, tmp_path / "runs", "--ranks", 2)
    bound = 1e-5 if precision == "fp32" else 2e-2
    assert [e["loss"] for e in events_of(other)] == pytest.approx([e["loss"] for e in events_of(plain)], rel=bound)
