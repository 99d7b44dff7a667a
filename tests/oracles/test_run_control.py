"""Compares real launches with transformers and PEFT: frozen parameters, learning rates for some parameters, the order of
rows, and how a run ends."""

import json
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import VOCABULARY, events_of, launch, make_config, make_model, make_rows
from test_transformers import TRAINING, assert_same_steps, load, train

RATE, DECAY = TRAINING["learning_rate"], TRAINING["weight_decay"]
WEIGHTS_SHARDED = dict(context_parallel_size=2, micro_batch_size=2, gradient_accumulation_steps=4, fsdp_version=2,
                       fsdp_config={"reshard_after_forward": True})


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llama")
    rows = make_rows(folder / "rows.jsonl", 44)
    return make_model(folder / "model", "llama"), rows, folder / "rows.jsonl"


def same_run(llama, tmp_path, history, trained, names=None, **keys):
    """Expects the same losses and norms from two ranks that share the weights, and the same final weights."""
    import safetensors.torch

    config = make_config(tmp_path, llama[0], llama[2], **TRAINING, **WEIGHTS_SHARDED, **keys)
    run = launch(config, tmp_path / "runs", "--ranks", 2)
    assert_same_steps(run, history)
    ours = safetensors.torch.load_file(next((tmp_path / "out").glob("*.safetensors")))
    for name, values in trained.items():
        assert (ours[name] - values).abs().max().item() < 2e-5 + 1e-3 * values.abs().max().item(), name
    return ours


# ------------------------------------------------------------------------------------------ which weights, at which rate


def test_frozen_parameters_and_rows_stay_as_they_are_quick(llama, tmp_path):
    """Freezes torch's parameters by the patterns and ranges of axolotl's utils/freeze.py: frozen parameters require no
    gradient, and frozen rows get none."""
    import torch

    model = load(llama[0])
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    whole = {name for name in before if name.startswith("model.layers.1.") or name.endswith("layers.2.mlp.up_proj.weight")}
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name in whole or name == "model.embed_tokens.weight"
    kept = torch.ones(VOCABULARY, 1)
    kept[:40] = 0
    kept[100] = 0
    model.model.embed_tokens.weight.register_hook(lambda gradient: gradient * (1 - kept))
    history = train(model, llama[1])
    keys = dict(unfrozen_parameters=["^model.layers.1.", "model.layers.[2-9]+.mlp.up_proj", "^model.embed_tokens.weight$[:40]", "^model.embed_tokens.weight[100]"])
    ours = same_run(llama, tmp_path, history, dict(model.named_parameters()), **keys)
    changed = {name for name in before if not torch.equal(ours[name], before[name])}
    assert changed == whole | {"model.embed_tokens.weight"}


def axolotls_adamw(rate_of):
    """Returns a function that builds AdamW with the parameter groups of axolotl's trainer: vectors, embedding and head
    have no weight decay."""
    import torch

    def make(model):
        groups = [{"params": [p], "lr": rate_of(name), "weight_decay": DECAY if p.dim() > 1 and not is_table(name) else 0.0}
                  for name, p in model.named_parameters()]
        return torch.optim.AdamW(groups, lr=RATE, betas=(0.9, TRAINING["adam_beta2"]), eps=1e-8)

    return make


def is_table(name):
    return "embed_tokens" in name or "lm_head" in name


RATES = {
    "embedding_lr": (dict(embedding_lr=2e-4), lambda name: 2e-4 if is_table(name) else RATE),
    "embedding_lr_scale": (dict(embedding_lr_scale=0.3), lambda name: 0.3 * RATE if is_table(name) else RATE),
    "lr_groups": (dict(lr_groups=[{"name": "queries", "modules": ["self_attn.q_proj", "layers.1.mlp"], "lr": 3e-3}], embedding_lr=1e-4),
                  lambda name: 1e-4 if is_table(name) else 3e-3 if ("q_proj" in name or "layers.1.mlp" in name) and "norm" not in name else RATE),
}


@pytest.mark.parametrize("case", RATES)
def test_some_parameters_have_another_rate(case, llama, tmp_path):
    keys, rate_of = RATES[case]
    model = load(llama[0])
    history = train(model, llama[1], axolotls_adamw(rate_of))
    same_run(llama, tmp_path, history, dict(model.named_parameters()), **keys)


def test_loraplus_gives_b_the_rate_that_peft_gives_it(llama, tmp_path):
    import peft
    import peft.optimizers
    import torch

    settings = peft.LoraConfig(task_type="CAUSAL_LM", r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"], modules_to_save=["lm_head"])
    torch.manual_seed(5)
    model = peft.get_peft_model(load(llama[0]), settings)
    model.save_pretrained(tmp_path / "begun")
    history = train(model, llama[1], lambda model: peft.optimizers.create_loraplus_optimizer(
        model, torch.optim.AdamW, lr=RATE, loraplus_lr_ratio=8.0, betas=(0.9, TRAINING["adam_beta2"]), eps=1e-8))
    same_run(llama, tmp_path, history, peft.get_peft_model_state_dict(model), adapter="lora", lora_model_dir=str(tmp_path / "begun"),
             loraplus_lr_ratio=8)


# ------------------------------------------------------------------------------------------ the order of rows


def test_rows_of_similar_length_come_together_as_in_transformers(llama, tmp_path, monkeypatch):
    """A run with one row per step shows the random order of rows. A second run, with group_by_length and two rows per
    step, must take the rows in the order that transformers computes from that random order."""
    import torch
    from transformers.trainer_pt_utils import get_length_grouped_indices

    count = 21
    lengths = random.Random(3).sample(range(4, 60), count)
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({"input_ids": list(range(length)), "labels": list(range(length))}) + "\n" for length in lengths))

    def tokens(name, **keys):
        (tmp_path / name).mkdir()
        config = make_config(tmp_path / name, llama[0], file, curriculum_sampling=False, max_steps=None, num_epochs=1, **keys)
        return [event["tokens"] for event in events_of(launch(config, tmp_path / "runs", "--ranks", 1, "--no-preflight"))]

    order = [lengths.index(length) for length in tokens("random", micro_batch_size=1)]
    assert sorted(order) == list(range(count)) and order != sorted(order)
    monkeypatch.setattr(torch, "randperm", lambda *_, **__: torch.tensor(order))
    expected = [lengths[row] for row in get_length_grouped_indices(lengths, 2)]
    assert tokens("grouped", micro_batch_size=1, gradient_accumulation_steps=2, group_by_length=True) == [
        sum(expected[begin:begin + 2]) for begin in range(0, count, 2)]


# ------------------------------------------------------------------------------------------ how a run ends


def constant_rows(file, count, seed, longest=24):
    """Writes rows of one length without masked labels, so that the mean over batches equals the mean over
    labels."""
    source = random.Random(seed)
    rows = [[source.randrange(VOCABULARY) if i % 3 else 7 for i in range(longest)] for _ in range(count)]
    file.write_text("".join(json.dumps({"input_ids": ids, "labels": ids}) + "\n" for ids in rows))
    return rows


def transformers_end(model_dir, rows, held_out, folder, patience, steps, **arguments):
    """Runs transformers' Trainer on the rows in their order; returns its evaluation losses, its last step and
    its model."""
    import torch
    import transformers

    class InOrder(transformers.Trainer):
        def _get_train_sampler(self, *_):
            return torch.utils.data.SequentialSampler(self.train_dataset)

    def dataset(rows):
        return [{"input_ids": torch.tensor(ids), "labels": torch.tensor(ids)} for ids in rows]

    arguments = transformers.TrainingArguments(
        str(folder), use_cpu=True, per_device_train_batch_size=4, per_device_eval_batch_size=4, max_steps=steps, learning_rate=1e-2, lr_scheduler_type="constant",
        weight_decay=0.0, max_grad_norm=1.0, eval_strategy="steps", eval_steps=2,
        **(arguments or dict(save_strategy="steps", save_steps=4, load_best_model_at_end=True)),
        report_to=[], disable_tqdm=True, logging_strategy="no", optim="adamw_torch", seed=3)
    callbacks = [transformers.EarlyStoppingCallback(patience)] if patience else []
    trainer = InOrder(load(model_dir), arguments, train_dataset=dataset(rows), eval_dataset=dataset(held_out), callbacks=callbacks)
    trainer.train()
    losses = {entry["step"]: entry["eval_loss"] for entry in trainer.state.log_history if "eval_loss" in entry}
    return losses, trainer.state.global_step, trainer.model


@pytest.mark.parametrize("patience", [pytest.param(3, id="early_stopping_quick"), pytest.param(None, id="load_best_model_at_end")])
def test_a_run_ends_as_transformers_ends_it(patience, llama, tmp_path):
    import safetensors.torch

    rows = constant_rows(tmp_path / "rows.jsonl", 24, 1)
    held_out = constant_rows(tmp_path / "held_out.jsonl", 8, 2)
    steps = 20
    losses, end, best = transformers_end(llama[0], rows, held_out, tmp_path / "theirs", patience, steps)
    lowest = min(losses, key=losses.get)
    assert 2 < lowest < end and (end < steps) == bool(patience), (losses, end)
    config = make_config(tmp_path, llama[0], tmp_path / "rows.jsonl", max_steps=steps, learning_rate=1e-2, lr_scheduler="constant", warmup_steps=0,
                         weight_decay=0.0, max_grad_norm=1.0, micro_batch_size=2, gradient_accumulation_steps=1, eval_steps=2, save_steps=4, save_strategy="steps",
                         early_stopping_patience=patience, load_best_model_at_end=True,
                         test_datasets=[{"path": str(tmp_path / "held_out.jsonl"), "ds_type": "json", "type": ""}])
    run = launch(config, tmp_path / "runs", "--ranks", 2)
    assert events_of(run)[-1]["step"] == end
    evaluated = {event["step"]: event["loss"] for event in events_of(run, kind="eval")}
    assert evaluated == {step: pytest.approx(loss, rel=1e-3) for step, loss in losses.items()}
    ours = safetensors.torch.load_file(tmp_path / "out/model.safetensors")
    for name, values in best.named_parameters():
        assert (ours[name] - values).abs().max().item() < 5e-4, name


def test_save_strategy_best_saves_after_the_evaluations_after_which_transformers_saves(llama, tmp_path):
    rows = constant_rows(tmp_path / "rows.jsonl", 24, 1)
    held_out = constant_rows(tmp_path / "held_out.jsonl", 8, 2)
    steps, best = 12, dict(save_strategy="best", metric_for_best_model="eval_loss")
    losses, _, _ = transformers_end(llama[0], rows, held_out, tmp_path / "theirs", None, steps, greater_is_better=False, **best)
    theirs = sorted(int(folder.name.split("-")[1]) for folder in (tmp_path / "theirs").glob("checkpoint-*"))
    assert 1 < len(theirs) < len(losses)
    config = make_config(tmp_path, llama[0], tmp_path / "rows.jsonl", max_steps=steps, learning_rate=1e-2, lr_scheduler="constant", warmup_steps=0,
                         weight_decay=0.0, max_grad_norm=1.0, micro_batch_size=2, gradient_accumulation_steps=1, eval_steps=2, save_total_limit=99, **best,
                         test_datasets=[{"path": str(tmp_path / "held_out.jsonl"), "ds_type": "json", "type": ""}])
    run = launch(config, tmp_path / "runs", "--ranks", 2, "--no-preflight")
    ours = {event["step"] for event in events_of(run, kind="checkpoint")}
    assert ours == set(theirs)
