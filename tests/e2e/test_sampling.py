"""Trains on completions that a run samples and the user's reward functions judge: from an axolotl YAML to a model that transformers
loads."""

import itertools
import json
import os
import random
import signal

import pytest
from safetensors.numpy import load_file

from ringmaster_runs import events_of, launch, losses_of, ringmaster, state_of, wait_for

REWARDS = '''
def placed(completions, answer, **kwargs):
    return [sum(x == y for x, y in zip(c, a)) / max(len(c), len(a)) for c, a in zip(completions, answer)]

def exact(completions, answer, **kwargs):
    return [float(c == a) for c, a in zip(completions, answer)]

def digits(cfg):
    return lambda row: {"prompt": row["digits"] + "=", "answer": "".join(sorted(row["digits"]))}
'''
WORDS = ["<pad>", "</s>", "=", *"0123456789"]
DIGITS = 3


def save_model(folder):
    """Saves a random model and a tokenizer whose tokens are digits."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<pad>"))
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.Split("", "isolated"), decoders.Fuse()
    transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>", pad_token="<pad>").save_pretrained(folder)
    torch.manual_seed(3)
    transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=16, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
        max_position_embeddings=32, tie_word_embeddings=False, eos_token_id=1, pad_token_id=0, bos_token_id=None)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """Returns a folder with a model, reward functions, rows to train on, and the numbers that are held out."""
    folder = tmp_path_factory.mktemp("sampling")
    save_model(folder / "model")
    (folder / "sorting.py").write_text(REWARDS)
    numbers = ["".join(one) for one in itertools.product("0123456789", repeat=DIGITS)]
    random.Random(1).shuffle(numbers)
    held, trained = numbers[: len(numbers) // 5], numbers[len(numbers) // 5 :]
    (folder / "rows.jsonl").write_text("".join(json.dumps({"digits": one}) + "\n" for one in trained))
    return folder, held, trained


def write_config(task, name, trl=None, **keys):
    folder = task[0]
    config = {"base_model": "./model", "datasets": [{"path": "./rows.jsonl", "ds_type": "json", "type": "sorting.digits"}], "rl": "grpo",
              "trl": {"reward_funcs": ["sorting.placed", "sorting.exact"], "max_completion_length": DIGITS + 1, "num_generations": 4,
                      **(trl or {})},
              "sequence_len": 16, "micro_batch_size": 8, "gradient_accumulation_steps": 1, "max_steps": 3, "optimizer": "adamw_torch",
              "learning_rate": 1e-3, "lr_scheduler": "constant", "warmup_steps": 0, "weight_decay": 0.0, "seed": 5, "save_strategy": "no",
              "flash_attention": True, "output_dir": str(folder / name), **keys}
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))
    return file


def text_of(ids):
    return "".join(WORDS[id] for id in ids if 1 < id < len(WORDS))


def newest(run, rank=0):
    """Returns (prompt, completion, number of the completion's tokens, advantage) for each of the newest completions."""
    read = load_file(run / f"rollouts/rank-{rank}.safetensors")
    bounds = list(itertools.pairwise(read["row_offsets"].tolist()))
    rows = [(read["input_ids"][begin:end].tolist(), read["labels"][begin:end].tolist()) for begin, end in bounds]
    return [(text_of(ids[: labels.count(-100)]), text_of(ids[labels.count(-100) :]), len(ids) - labels.count(-100), advantage)
            for (ids, labels), advantage in zip(rows, read["advantages"].tolist())]


def mean(values):
    return sum(values) / len(values)


def spread(values):
    return (sum((value - mean(values)) ** 2 for value in values) / (len(values) - 1)) ** 0.5


def check_sample(task, sample):
    """Compares a sample's log-probabilities with those that transformers computes at sample_temperature."""
    import torch
    import transformers

    model = transformers.LlamaForCausalLM.from_pretrained(task[0] / "quick", dtype=torch.float32).eval()
    prompt = [WORDS.index(letter) for letter in "123="]
    with torch.no_grad():
        logs = (model(input_ids=torch.tensor([prompt + sample["ids"]])).logits[0] / 0.5).log_softmax(-1)
    expected = [logs[len(prompt) - 1 + i, id].item() for i, id in enumerate(sample["ids"])]
    assert sample["log_probabilities"] == pytest.approx(expected, abs=1e-4), "the training's temperature is not applied too"


def test_a_file_with_reward_functions_trains_and_its_figures_are_those_of_its_completions(task):
    config = write_config(task, "quick", {"reward_weights": [1.0, 2.0], "temperature": 2.0}, sample_prompts=["123="], sample_temperature=0.5,
                          sample_max_new_tokens=4)
    run = launch(config, task[0] / "runs", "--ranks", 2)
    events = events_of(run)
    assert [event["step"] for event in events] == [1, 2, 3] and state_of(run)["state"] == "completed"
    plan = json.loads((run / "plan.json").read_text())["batch"]
    assert plan["global"] == 16 and plan["steps_per_epoch"] == len(task[2]) // 4, "4 prompts a step"
    made = newest(run)
    assert made == newest(run, 1) and len(made) == 16
    assert [prompt for prompt, *_ in made[::4]] == [prompt for prompt, *_ in made[3::4]], "4 completions of each prompt"
    assert {prompt[:-1] for prompt, *_ in made} <= set(task[2])
    answers = ["".join(sorted(prompt[:-1])) for prompt, *_ in made]
    placed = [sum(x == y for x, y in zip(text, answer)) / max(len(text), DIGITS) for (_, text, *_), answer in zip(made, answers)]
    exact = [float(text == answer) for (_, text, *_), answer in zip(made, answers)]
    rewards = [first + 2 * second for first, second in zip(placed, exact)]
    last = events[-1]
    assert last["reward_functions"] == pytest.approx({"sorting.placed": mean(placed), "sorting.exact": mean(exact)})
    assert last["reward"] == pytest.approx(mean(rewards)) and last["reward_std"] == pytest.approx(spread(rewards))
    assert last["completion_tokens"] == mean([tokens for _, _, tokens, _ in made])
    for begin in range(0, 16, 4):
        group = rewards[begin : begin + 4]
        assert [one[3] for one in made[begin : begin + 4]] == pytest.approx([(value - mean(group)) / (spread(group) + 1e-4) for value in group])
    lines = [json.loads(line) for line in (run / "rollouts.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3], "the preflight's completions have no line"
    assert lines[2]["rewards"]["sorting.placed"]["std"] == pytest.approx(spread(placed))
    check_sample(task, json.loads((run / "samples.jsonl").read_text().splitlines()[-1]))
    assert f"reward {last['reward']:.3g}"[:9] in ringmaster("watch", run).stdout


@pytest.mark.parametrize("keys", [
    dict(adapter="lora", lora_r=4, lora_alpha=8, lora_target_linear=True, learning_rate=3e-2),
    dict(learning_rate=3e-3, fsdp_version=2, fsdp_config={"reshard_after_forward": True})], ids=["adapter", "whole"])
def test_the_divergence_from_the_start_is_the_one_that_transformers_computes(keys, task):
    import peft
    import torch
    import transformers

    name = "adapter" if "adapter" in keys else "whole"
    launch(write_config(task, f"{name}-1", {"beta": 0.5}, max_steps=1, **keys), task[0] / "runs", "--ranks", 2, "--no-preflight")
    run = launch(write_config(task, f"{name}-2", {"beta": 0.5}, max_steps=2, **keys), task[0] / "runs", "--ranks", 2)
    first, second = (event["kl"] for event in events_of(run))
    assert first == pytest.approx(0, abs=1e-9), "the first step's model is that of the start"
    read = load_file(run / "rollouts/rank-0.safetensors")

    def model_of(folder):
        return transformers.LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    start = model_of(task[0] / "model")
    trained = peft.PeftModel.from_pretrained(model_of(task[0] / "model"), task[0] / f"{name}-1") if name == "adapter" else model_of(task[0] / f"{name}-1")

    def logs(model, ids, labels):
        found = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        return torch.stack([found[at - 1, id] for at, id in enumerate(labels) if id != -100])

    terms, lengths = [], []
    with torch.no_grad():
        for begin, end in itertools.pairwise(read["row_offsets"].tolist()):
            row = read["input_ids"][begin:end].tolist(), read["labels"][begin:end].tolist()
            difference = logs(start, *row) - logs(trained.eval(), *row)
            terms.append((difference.exp() - difference - 1).sum().item())
            lengths.append(len(difference))
    assert second == pytest.approx(sum(terms) / sum(lengths), rel=1e-4) and second > 1e-6


def test_a_function_that_fails_ends_the_run_with_its_name(task):
    (task[0] / "failing.py").write_text("def some(completions, **kwargs):\n    return [1 / 0 for _ in completions]\n")
    config = write_config(task, "failing", {"reward_funcs": ["failing.some"]})
    done = ringmaster("launch", config, "--runs-dir", task[0] / "runs", "--ranks", 1, check=False)
    assert done.returncode == 1 and "failing.some" in done.stdout + done.stderr and "division by zero" in done.stdout + done.stderr


def test_a_killed_and_resumed_run_learns_the_same_bits(task):
    keys = dict(micro_batch_size=32, max_steps=60, save_steps=7, save_strategy=None, save_total_limit=2)
    whole = launch(write_config(task, "straight", **keys), task[0] / "runs", "--ranks", 2, "--name", "straight")
    run = launch(write_config(task, "broken", **keys), task[0] / "runs", "--ranks", 2, "--name", "broken", "--detach")
    wait_for(lambda: (run / "events/rank-00000.jsonl").exists() and len(events_of(run)) >= 17, "step 17")
    os.kill(state_of(run)["nodes"][0]["ranks"][1]["pid"], signal.SIGKILL)
    wait_for(lambda: state_of(run)["state"] == "failed", "the end of the run")
    assert len(events_of(run)) < 60
    ringmaster("resume", run)
    assert events_of(run, kind="hello")[1]["start_step"] >= 14
    assert losses_of(run) == losses_of(whole)
    assert [event["reward"] for event in events_of(run)] == [event["reward"] for event in events_of(whole)]
    assert (task[0] / "broken/model.safetensors").read_bytes() == (task[0] / "straight/model.safetensors").read_bytes()
