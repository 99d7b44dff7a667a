"""Tests training on preferences, from rows of text to a model that transformers loads, with axolotl's DPO example on a tiny
model."""

import importlib.util
import json
import math
import pathlib

import pytest

from ringmaster_runs import events_of, launch, make_config, make_model, ringmaster

TOKENIZE = importlib.util.spec_from_file_location("tokenize_conftest", pathlib.Path(__file__).parent.parent / "tokenize" / "conftest.py")
tokenize = importlib.util.module_from_spec(TOKENIZE)
TOKENIZE.loader.exec_module(tokenize)

# Holds the keys of axolotl's examples/qwen2/dpo.yaml, without base_model, data sets and tracker keys.
EXAMPLE = {"chat_template": "qwen_25", "rl": "dpo", "val_set_size": 0.0, "sequence_len": 128, "sample_packing": False, "gradient_accumulation_steps": 1,
           "micro_batch_size": 4, "lr_scheduler": "cosine", "optimizer": "adamw_torch", "learning_rate": 2e-3, "bf16": False, "tf32": False,
           "gradient_checkpointing": True, "logging_steps": 1, "warmup_ratio": 0.1, "warmup_steps": None, "weight_decay": 0.0, "curriculum_sampling": None}
ENTRY = {"type": "chat_template.default", "field_messages": "conversation", "field_chosen": "chosen", "field_rejected": "rejected",
         "message_property_mappings": {"role": "role", "content": "content"},
         "roles": {"system": ["system"], "user": ["user"], "assistant": ["assistant"]}}
ANIMALS = ("fox", "cat", "horse")


def row(number):
    animal = ANIMALS[number % 3]
    return {"conversation": [{"role": "user", "content": f"The {animal} jumps over {number} lazy dogs?"}],
            "chosen": {"role": "assistant", "content": f"It was happy, {animal}."}, "rejected": {"role": "assistant", "content": "It was sad, wasn't it?"}}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("preference")
    model = make_model(folder / "model", "qwen2", vocab_size=512, num_hidden_layers=2)
    tokenizer = tokenize.make_tokenizer(model)
    tokenizer.chat_template = tokenize.CHATML
    tokenizer.save_pretrained(model)
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(row(number)) + "\n" for number in range(24)))
    return model, rows


def config_of(tmp_path, prepared, **keys):
    model, rows = prepared
    entry = keys.pop("entry", ENTRY)
    return make_config(tmp_path, model, rows, **{**EXAMPLE, "datasets": [{"path": str(rows), **entry}], "max_steps": 10, **keys})


def margin(folder, tokenizer_of):
    """Returns the mean of log p(chosen) − log p(rejected) over the rows, computed by transformers."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizer_of)
    total = 0.0
    for number in range(24):
        talk = row(number)
        sums = []
        for answer in (talk["chosen"], talk["rejected"]):
            prompt = tokenizer.apply_chat_template(talk["conversation"], add_generation_prompt=True, return_dict=True)["input_ids"]
            ids = torch.tensor([prompt + tokenizer(answer["content"] + "<|im_end|>", add_special_tokens=False)["input_ids"]])
            with torch.no_grad():
                logs = model(input_ids=ids).logits[0, :-1].log_softmax(-1)
            sums.append(logs.gather(1, ids[0, 1:, None])[len(prompt) - 1 :].sum().item())
        total += sums[0] - sums[1]
    return total / 24


def test_an_axolotl_example_trains_in_a_ring_and_its_model_prefers_the_chosen_answers(prepared, tmp_path):
    config = config_of(tmp_path, prepared, context_parallel_size=2)
    run = launch(config, tmp_path / "runs", "--ranks", 2)
    events = events_of(run)
    losses = [event["loss"] for event in events]
    said = ringmaster("watch", run).stdout
    assert said.count("reference …") == 1 and "ranks" not in said, "a phase is named once, and no rank has a loss of its own"
    assert losses[0] == pytest.approx(math.log(2), abs=1e-5), "the policy starts as the reference: -logsigmoid(0)"
    assert losses[-1] < 0.8 * losses[0] and events[-1]["reward_accuracy"] == 1
    assert events[-1]["reward_margin"] > events[1]["reward_margin"]
    # By Jensen's inequality, the mean of -logsigmoid is at least -logsigmoid of the mean.
    assert losses[-1] >= math.log1p(math.exp(-events[-1]["reward_margin"])) - 1e-6
    assert margin(tmp_path / "out", prepared[0]) > margin(prepared[0], prepared[0]) + 1


@pytest.mark.parametrize("rl, keys, start", [
    ("ipo", {"rl_beta": 0.1}, 25.0),  # (0 - 1 / (2 beta))²
    ("kto", {"entry": {"type": {"field_prompt": "prompt"}}}, 0.5),  # 1 - sigmoid(0)
    ("orpo", {"entry": {"type": "chat_template.argilla"}}, None),
    ("simpo", {"simpo_gamma": 0.5, "cpo_alpha": 0.0}, None),
])
def test_the_other_methods_train_too_and_the_mesh_does_not_matter(rl, keys, start, prepared, tmp_path):
    model, rows = prepared
    if rl == "kto":
        rows = tmp_path / "judged.jsonl"
        rows.write_text("".join(json.dumps({"prompt": f"The {ANIMALS[i % 3]}?\n", "completion": "It was happy." if i % 2 else "It was sad.",
                                            "label": bool(i % 2)}) + "\n" for i in range(24)))
    if rl == "orpo":
        rows = tmp_path / "talks.jsonl"
        rows.write_text("".join(json.dumps({name: [*row(i)["conversation"], row(i)[name]] for name in ("chosen", "rejected")}) + "\n" for i in range(24)))
    losses = []
    for ranks, mesh in ((1, {}), (2, {"context_parallel_size": 2, "ring_attn_func": "batch_zigzag"})):
        config = config_of(tmp_path, (model, rows), rl=rl, max_steps=4, warmup_ratio=None, output_dir=str(tmp_path / f"out{ranks}"), **mesh, **keys)
        losses.append([event["loss"] for event in events_of(launch(config, tmp_path / "runs", "--ranks", ranks))])
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    assert start is None or losses[0][0] == pytest.approx(start, rel=1e-4)
    assert losses[0][-1] < losses[0][0]


def test_rows_shows_both_answers_of_a_pair(prepared, tmp_path):
    config = config_of(tmp_path, prepared)
    said = ringmaster("rows", config, "--n", 1).stdout
    chosen, rejected = said.index("chosen:"), said.index("rejected:")
    assert chosen < said.index("It was happy") < rejected < said.index("It was sad")
    shown = json.loads(ringmaster("rows", config, "--n", 1, "--json").stdout)["shown"][0]
    assert shown["documents"] == 2 and {part["document"] for part in shown["parts"]} == {0, 1}
