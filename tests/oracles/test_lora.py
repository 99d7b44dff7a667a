"""Compares adapters (LoRA) with PEFT: the same training on every mesh, and a result that PEFT reads."""

import json
import os
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import events_of, launch, losses_of, make_config, make_model, make_rows, ringmaster, state_of, wait_for
from test_transformers import STEPS, TRAINING, adamw, assert_same_steps, load, train
from transformers_loss import count_labels, summed_loss

MODELS = {
    "llama": {},
    "qwen2": {"tie_word_embeddings": True},
    "qwen3": {},
    "phi3": {},
    "gpt_neox": dict(num_key_value_heads=None),
    "falcon": dict(intermediate_size=None, num_key_value_heads=None, ffn_hidden_size=112, tie_word_embeddings=False),
    "gptj": dict(intermediate_size=None, num_key_value_heads=None, n_inner=112, rotary_dim=8),
}
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
ALL = [*ATTENTION, "gate_proj", "up_proj", "down_proj"]
ADAPTERS = {
    "llama": dict(r=8, lora_alpha=16, target_modules=ALL),
    "qwen2": dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"], use_rslora=True),
    "qwen3": dict(r=3, lora_alpha=7, target_modules=[*ATTENTION, "up_proj"]),
    "phi3": dict(r=8, lora_alpha=16, target_modules=["qkv_proj", "o_proj", "gate_up_proj", "down_proj"]),
    "gpt_neox": dict(r=5, lora_alpha=16, target_modules=["query_key_value", "dense_h_to_4h"]),
    "falcon": dict(r=5, lora_alpha=16, target_modules=["query_key_value", "dense", "dense_4h_to_h"]),
    "gptj": dict(r=4, lora_alpha=16, target_modules=["q_proj", "v_proj", "out_proj", "fc_in", "fc_out"]),
}
# A step has 8 rows.
MESHES = {
    "quick, 1 rank": (1, dict(micro_batch_size=2, gradient_accumulation_steps=4)),
    "quick, ring": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=2, gradient_accumulation_steps=4)),
    "ulysses": (2, dict(context_parallel_size=2, ulysses_size=2, micro_batch_size=4, gradient_accumulation_steps=2)),
    "data parallel": (2, dict(micro_batch_size=1, gradient_accumulation_steps=4)),
    "recomputed": (1, dict(micro_batch_size=4, gradient_accumulation_steps=2, gradient_checkpointing=True)),
    "quick, ring, weights sharded": (2, dict(context_parallel_size=2, micro_batch_size=2, gradient_accumulation_steps=4,
                                             fsdp_version=2, fsdp_config={"reshard_after_forward": True})),
    "2 x 2, weights sharded": (4, dict(context_parallel_size=2, micro_batch_size=2, gradient_accumulation_steps=2, fsdp_version=2,
                                       fsdp_config={"reshard_after_forward": True}, gradient_checkpointing=True)),
}
STAGES = {
    1: dict(deepspeed={"zero_optimization": {"stage": 1}}),
    2: dict(fsdp_version=2, fsdp_config={"reshard_after_forward": False}),
    3: dict(fsdp_version=2, fsdp_config={"reshard_after_forward": True}),
}


def adapter_keys(**changes):
    return {"adapter": "lora", "lora_r": 8, "lora_alpha": 16, "lora_target_linear": True, **changes}


def logits_of(model):
    import torch

    model.eval()
    with torch.no_grad():
        return model(torch.arange(64).unsqueeze(0)).logits


def loss_of(model, rows):
    """Returns the mean loss over all labels."""
    import torch

    model.eval()
    with torch.no_grad():
        return summed_loss(model, rows).item() / count_labels(rows)


@pytest.fixture(scope="module")
def reference(request, tmp_path_factory):
    """Returns what PEFT trains from an adapter that PEFT initialised."""
    import peft
    import torch

    kind = request.param
    folder = tmp_path_factory.mktemp(kind)
    model_dir = make_model(folder / "model", kind, **MODELS[kind])
    rows = make_rows(folder / "rows.jsonl", 44)
    torch.manual_seed(11)
    model = peft.get_peft_model(load(model_dir), peft.LoraConfig(task_type="CAUSAL_LM", **ADAPTERS[kind]))
    model.save_pretrained(folder / "begun")
    history = train(model, rows)
    return folder, model_dir, model, history


# By default each kind of model is trained on a ring with sharded weights, and Llama on two other meshes too.
CASES = [pytest.param(kind, mesh, id=f"{kind}, {mesh if kind == 'llama' or 'sharded' in mesh else mesh.removeprefix('quick, ')}")
         for kind in sorted(MODELS) for mesh in MESHES]


@pytest.mark.parametrize("reference, mesh", CASES, indirect=["reference"])
def test_losses_are_those_of_peft_and_it_reads_the_adapter(reference, mesh, tmp_path):
    import peft

    folder, model_dir, trained, history = reference
    ranks, sizes = MESHES[mesh]
    held_out = make_rows(tmp_path / "held_out.jsonl", 9, seed=5)
    config = make_config(tmp_path, model_dir, folder / "rows.jsonl", **TRAINING, **sizes, adapter="lora",
                         lora_model_dir=str(folder / "begun"), eval_steps=STEPS,
                         test_datasets=[{"path": str(tmp_path / "held_out.jsonl"), "ds_type": "json", "type": ""}])
    run = launch(config, tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    assert ranks == 1 or json.loads((run / "preflight.json").read_text())["ok"]
    assert_same_steps(run, history)
    assert (logits_of(trained) - logits_of(load(model_dir))).abs().max().item() > 1e-3, "nothing was learned"

    out = tmp_path / "out"
    assert not list(out.glob("model*")) and not (out / "config.json").exists(), "it is no model by itself"
    ours = peft.PeftModel.from_pretrained(load(model_dir), out)
    assert json.loads((out / "adapter_config.json").read_text())["base_model_name_or_path"] == str(model_dir)
    assert (logits_of(ours) - logits_of(trained)).abs().max().item() < 1e-4
    evaluated = events_of(run, kind="eval")[-1]["loss"]
    assert evaluated == pytest.approx(loss_of(ours, held_out), rel=1e-5), "what the engine itself makes of it"
    assert loss_of(ours.merge_and_unload(), held_out) == pytest.approx(evaluated, rel=1e-5)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    make_rows(folder / "rows.jsonl", 44)
    return make_model(folder / "model", "llama"), folder / "rows.jsonl"


DORA = {
    "llama": dict(r=8, lora_alpha=16, target_modules=ALL),
    "qwen2": dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"]),
    "gpt_neox": dict(r=8, lora_alpha=16, target_modules=["query_key_value", "dense_4h_to_h"]),
}


def trainers_adamw(model):
    """Returns AdamW with the parameters that transformers chooses to decay: magnitudes do decay, though they are vectors."""
    import transformers

    decays = set(transformers.Trainer.get_decay_parameter_names(None, model))
    return adamw(model, lambda name, _: name in decays)


def train_as_peft(folder, mesh, history):
    """Trains the adapter that PEFT initialised in the folder, and expects the steps to be PEFT's. Returns the folder of the result."""
    ranks, sizes = MESHES[mesh]
    (folder / mesh).mkdir()
    config = make_config(folder / mesh, folder / "model", folder / "rows.jsonl", **TRAINING, **sizes, adapter="lora",
                         lora_model_dir=str(folder / "begun"))
    run = launch(config, folder / "runs", "--ranks", ranks)
    assert ranks == 1 or json.loads((run / "preflight.json").read_text())["ok"]
    assert_same_steps(run, history)
    return folder / mesh / "out"


@pytest.mark.parametrize("kind, meshes", [
    *(pytest.param(kind, MESHES, id=kind) for kind in DORA), pytest.param("gpt_neox", ["quick, ring, weights sharded"], id="gpt_neox, quick")])
def test_dora_is_that_of_peft(kind, meshes, tmp_path):
    """Tests peft_use_dora: losses on all meshes, the saved tensors, and the merged weights."""
    import peft
    import torch

    model_dir = make_model(tmp_path / "model", kind, **MODELS[kind])
    rows = make_rows(tmp_path / "rows.jsonl", 44)
    torch.manual_seed(11)
    model = peft.get_peft_model(load(model_dir), peft.LoraConfig(task_type="CAUSAL_LM", use_dora=True, **DORA[kind]))
    model.save_pretrained(tmp_path / "begun")
    history = train(model, rows, trainers_adamw)
    for mesh in meshes:
        out = train_as_peft(tmp_path, mesh, history)
    ours = peft.PeftModel.from_pretrained(load(model_dir), out)
    assert (logits_of(ours) - logits_of(model)).abs().max().item() < 1e-4
    ringmaster("merge", out, "--to", tmp_path / "merged", "--base", model_dir)
    assert (logits_of(load(tmp_path / "merged")) - logits_of(ours.merge_and_unload())).abs().max().item() < 1e-5


def test_a_new_dora_begins_as_the_frozen_model_quick(llama, tmp_path):
    plain = train_here(llama, tmp_path, "plain", 1, "--no-preflight", max_steps=1)
    dora = train_here(llama, tmp_path, "dora", 2, max_steps=4, peft_use_dora=True, lora_dropout=0.2, context_parallel_size=2, **STAGES[3])
    assert losses_of(dora)[0] == pytest.approx(losses_of(plain)[0], rel=1e-5)
    alone = train_here(llama, tmp_path, "alone", 1, "--no-preflight", max_steps=4, peft_use_dora=True, lora_dropout=0.2)
    assert losses_of(dora) == pytest.approx(losses_of(alone), rel=1e-5)


def train_here(llama, tmp_path, name, ranks, *arguments, **keys):
    (tmp_path / name).mkdir()
    config = make_config(tmp_path / name, *llama, **{"max_steps": 8, "learning_rate": 3e-3, **adapter_keys(), **keys})
    return launch(config, tmp_path / "runs", "--ranks", ranks, "--name", name, *arguments)


def assert_alike(run, expected, rel):
    assert losses_of(run) == pytest.approx(losses_of(expected), rel=rel)
    norms = [[event["grad_norm"] for event in events_of(one)] for one in (run, expected)]
    assert norms[0] == pytest.approx(norms[1], rel=20 * rel)


@pytest.mark.parametrize("packed", [False, True], ids=["rows", "quick, packed"])
def test_dropout_is_the_same_on_every_mesh(packed, llama, tmp_path):
    keys = dict(lora_dropout=0.3, sample_packing=packed, sequence_len=192 if packed else 96)
    alone = train_here(llama, tmp_path, "alone", 1, micro_batch_size=2, gradient_accumulation_steps=2, **keys)
    without = train_here(llama, tmp_path, "without", 1, micro_batch_size=2, gradient_accumulation_steps=2,
                         **{**keys, "lora_dropout": 0})
    assert losses_of(alone)[0] == pytest.approx(losses_of(without)[0], rel=1e-6), "B begins at zero"
    assert losses_of(alone)[-1] != pytest.approx(losses_of(without)[-1], rel=1e-4)
    others = {
        "ring": (2, dict(context_parallel_size=2, ring_attn_func="balanced", micro_batch_size=4)),
        "ulysses": (2, dict(context_parallel_size=2, ulysses_size=2, micro_batch_size=1, gradient_accumulation_steps=4)),
        "data parallel, recomputed": (2, dict(micro_batch_size=1, gradient_accumulation_steps=2, gradient_checkpointing=True)),
    }
    for name, (ranks, sizes) in others.items():
        run = train_here(llama, tmp_path, name, ranks, **sizes, **keys)
        assert_alike(run, alone, 1e-5)
        assert json.loads((run / "preflight.json").read_text())["ok"]


@pytest.mark.parametrize("keys", [dict(), dict(bf16=True), dict(bfloat16=True, gradient_checkpointing=True),
                                  dict(bf16=True, peft_use_dora=True), dict(bf16=True, adapter="qlora", load_in_4bit=True, peft_use_dora=True)], ids=str)
def test_no_stage_and_precision_changes_a_loss(keys, llama, tmp_path):
    mesh = dict(context_parallel_size=2, dp_shard_size=1, micro_batch_size=2, gradient_accumulation_steps=2)
    whole = train_here(llama, tmp_path, "whole", 2, "--no-preflight", **mesh, **keys)
    rel = 3e-3 if "bfloat16" in keys else 1e-4 if "bf16" in keys else 1e-6
    for stage, sharded in STAGES.items():
        run = train_here(llama, tmp_path, f"stage-{stage}", 2, **mesh, **sharded, **keys)
        assert json.loads((run / "plan.json").read_text())["zero_stage"] == stage
        assert_alike(run, whole, rel)


@pytest.mark.parametrize("stage", [0, 3])
def test_killed_and_resumed_gives_the_same_losses_and_adapter_quick(stage, llama, tmp_path):
    keys = dict(max_steps=60, save_steps=7, save_strategy=None, context_parallel_size=2, lora_dropout=0.1, peft_use_dora=stage == 3,
                **STAGES.get(stage, {}))
    whole = train_here(llama, tmp_path, "whole", 2, "--no-preflight", **keys)
    run = train_here(llama, tmp_path, "broken", 2, "--no-preflight", "--detach", **keys)
    wait_for(lambda: (run / "events/rank-00000.jsonl").exists() and len(events_of(run)) >= 17, "step 17")
    os.kill(state_of(run)["nodes"][0]["ranks"][1]["pid"], signal.SIGKILL)
    wait_for(lambda: state_of(run)["state"] == "failed", "the end of the run")
    assert len(events_of(run)) < 60
    saved = sorted(path.parent for path in run.glob("checkpoints/step-*/complete"))[-1]
    assert {path.name for path in saved.iterdir()} == {"adapter_config.json", "adapter_model.safetensors", "optimizer.safetensors",
                                                       "trainer_state.json", "complete"}
    ringmaster("resume", run)
    assert state_of(run)["state"] == "completed"
    for rank in range(2):
        assert losses_of(run, rank) == losses_of(whole, rank)
    files = [tmp_path / name / "out/adapter_model.safetensors" for name in ("broken", "whole")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_is_left_in_output_dir_is_of_one_kind(llama, tmp_path):
    out = tmp_path / "out"
    train_here(llama, tmp_path, "all", 1, max_steps=1, adapter=None, output_dir=str(out))
    assert (out / "model.safetensors").exists()
    train_here(llama, tmp_path, "adapter", 1, max_steps=1, output_dir=str(out))
    assert (out / "adapter_model.safetensors").exists() and not (out / "model.safetensors").exists()
    assert not (out / "config.json").exists()
    train_here(llama, tmp_path, "again", 1, max_steps=1, adapter=None, output_dir=str(out))
    assert (out / "model.safetensors").exists() and not list(out.glob("adapter_*"))


def test_a_value_that_is_not_finite_is_found_and_named(llama, tmp_path):
    (tmp_path / "run").mkdir()
    config = make_config(tmp_path / "run", *llama, **adapter_keys(), max_steps=8, learning_rate=1e30, warmup_steps=0, context_parallel_size=2)
    done = ringmaster("launch", config, "--runs-dir", tmp_path / "runs", "--ranks", 2, check=False)
    assert done.returncode == 1 and "first seen on rank" in done.stdout + done.stderr


def test_memory_holds_no_gradients_or_moments_of_frozen_weights(tmp_path):
    model = make_model(tmp_path / "model", "llama", vocab_size=2048, hidden_size=256, intermediate_size=704, num_hidden_layers=4)
    make_rows(tmp_path / "rows.jsonl", 8)
    held = {}
    for name, keys in {"all": dict(adapter=None), "adapter": {}}.items():
        run = train_here((model, tmp_path / "rows.jsonl"), tmp_path, name, 1, max_steps=2, **keys)
        held[name] = events_of(run)[-1]["memory_bytes"]
    assert held["adapter"] < 0.3 * held["all"]


def test_some_layers_are_adapted_as_peft_does_quick(tmp_path):
    import peft
    import torch

    model_dir = make_model(tmp_path / "model", "llama")
    rows = make_rows(tmp_path / "rows.jsonl", 44)
    torch.manual_seed(11)
    settings = peft.LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=16, target_modules=ALL, layers_to_transform=[0, 2])
    model = peft.get_peft_model(load(model_dir), settings)
    model.save_pretrained(tmp_path / "begun")
    history = train(model, rows)
    for mesh in ("quick, 1 rank", "quick, ring, weights sharded"):
        out = train_as_peft(tmp_path, mesh, history)
        assert json.loads((out / "adapter_config.json").read_text())["layers_to_transform"] == [0, 2]
    train_here((model_dir, tmp_path / "rows.jsonl"), tmp_path, "keys", 1, "--no-preflight", max_steps=1, peft_layers_to_transform=[1])
    import safetensors.torch

    names = safetensors.torch.load_file(tmp_path / "keys/out/adapter_model.safetensors")
    assert names and all(".layers.1." in name for name in names)


SAVED = {"both": ("llama", ["embed_tokens", "lm_head"], False), "both, tied, quick": ("llama", ["embed_tokens", "lm_head"], True),
         "embedding, tied": ("llama", ["embed_tokens"], True), "head": ("llama", ["lm_head"], False),
         "other names, quick": ("gpt_neox", ["embed_in", "lm_head"], False)}


@pytest.mark.parametrize("case", SAVED)
def test_modules_trained_whole_are_those_of_peft(case, tmp_path):
    """Tests lora_modules_to_save: losses on two meshes, the saved tensors, and the merged weights."""
    import peft
    import safetensors.torch
    import torch

    kind, modules, tied = SAVED[case]
    model_dir = make_model(tmp_path / "model", kind, **MODELS[kind], tie_word_embeddings=tied)
    rows = make_rows(tmp_path / "rows.jsonl", 44)
    torch.manual_seed(11)
    settings = peft.LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=16, target_modules=ATTENTION if kind == "llama" else ["query_key_value"],
                               modules_to_save=modules)
    model = peft.get_peft_model(load(model_dir), settings)
    model.save_pretrained(tmp_path / "begun")
    history = train(model, rows)
    theirs = peft.get_peft_model_state_dict(model)
    meshes = ["quick, 1 rank", "2 x 2, weights sharded"] if case == "both" else ["quick, ring, weights sharded"]
    for mesh in meshes:
        out = train_as_peft(tmp_path, mesh, history)
    ours = safetensors.torch.load_file(out / "adapter_model.safetensors")
    assert set(ours) == set(theirs)
    for name, values in theirs.items():
        assert (ours[name] - values).abs().max().item() < 2e-5 + 1e-3 * values.abs().max().item(), name
    assert json.loads((out / "adapter_config.json").read_text())["modules_to_save"] == modules
    ringmaster("merge", out, "--to", tmp_path / "merged", "--base", model_dir)
    merged = peft.PeftModel.from_pretrained(load(model_dir), out).merge_and_unload()
    assert (logits_of(load(tmp_path / "merged")) - logits_of(merged)).abs().max().item() < 1e-5


def test_the_former_name_of_a_head_trains_it_and_peft_reads_the_adapter_quick(tmp_path):
    import peft

    model_dir = make_model(tmp_path / "model", "gpt_neox", **MODELS["gpt_neox"])
    rows = make_rows(tmp_path / "rows.jsonl", 44)
    run = train_here((model_dir, tmp_path / "rows.jsonl"), tmp_path, "old", 2, context_parallel_size=2, lora_modules_to_save=["embed_in", "embed_out"],
                     eval_steps=8, test_datasets=[{"path": str(tmp_path / "rows.jsonl"), "ds_type": "json", "type": ""}], logging_steps=0.25)
    out = tmp_path / "old/out"
    assert json.loads((out / "adapter_config.json").read_text())["modules_to_save"] == ["embed_in", "lm_head"]
    ours = peft.PeftModel.from_pretrained(load(model_dir), out)
    assert loss_of(ours, rows) == pytest.approx(events_of(run, kind="eval")[-1]["loss"], rel=1e-5)
    assert (ours.base_model.model.lm_head.weight - load(model_dir).lm_head.weight).abs().max().item() > 1e-3, "it was trained"


def test_new_modules_begin_as_the_models_own(llama, tmp_path):
    import safetensors.torch

    run = train_here(llama, tmp_path, "saved", 1, "--no-preflight", max_steps=1, learning_rate=1e-12, lora_modules_to_save=["lm_head", "embed_tokens"])
    plain = train_here(llama, tmp_path, "plain", 1, "--no-preflight", max_steps=1, learning_rate=1e-12)
    assert losses_of(run) == losses_of(plain)
    saved = safetensors.torch.load_file(tmp_path / "saved/out/adapter_model.safetensors")
    base = safetensors.torch.load_file(llama[0] / "model.safetensors")
    for name in ("lm_head.weight", "model.embed_tokens.weight"):
        assert (saved["base_model.model." + name] - base[name]).abs().max().item() < 1e-9
