"""Tests the process of reward functions, with the requests that the engine sends."""

import json
from pathlib import Path

import pytest
from conftest import run_forked, write_lines

FUNCTIONS = """
import asyncio, sys
import numpy

def length(completions, **kwargs):
    print("a function may print")
    return [len(completion) for completion in completions]

def right(prompts, completions, answer, trainer_state, **kwargs):
    assert sys.stdin.read() == ""
    return [None if a is None else numpy.float32(a in c) + trainer_state.global_step for a, c in zip(answer, completions)]

async def slow(completion_ids, **kwargs):
    await asyncio.sleep(0.01)
    return numpy.array([ids[0] for ids in completion_ids])

def talks(prompts, completions, **kwargs):
    assert prompts[0][-1]["role"] == "user" and completions[0][0]["role"] == "assistant"
    return [True] * len(prompts)

def broken(completions, **kwargs):
    return [1 / 0 for _ in completions]

def few(completions, **kwargs):
    return [0.0]

def nan(completions, **kwargs):
    return [0.0, float("nan")]

def word(completions, **kwargs):
    return ["1", "2"]

def nothing(completions, **kwargs):
    pass

def leaves(completions, **kwargs):
    raise SystemExit(0)
"""


@pytest.fixture
def ask(tmp_path, model):
    """Returns the function ask(names, texts, prompts) -> (lines of the answer, status)."""
    folder, tokenizer = model

    def run(names, texts=("one two", "three"), prompts=("What?", "How?")):
        (tmp_path / "my_rewards.py").write_text(FUNCTIONS)
        rows = [{"prompt": prompt, "answer": answer} for prompt, answer in zip(prompts, ("two", None))]
        request = {"functions": names, "prompts": write_lines(tmp_path / "prompts.jsonl", rows), "base_dir": str(tmp_path),
                   "tokenizer": str(folder), "tokenization": {}, "special_tokens": {}}
        (tmp_path / "rewards.json").write_text(json.dumps(request))
        question = {"step": 7, "prompts": [0, 1], "completions": [[*tokenizer(text)["input_ids"], tokenizer.eos_token_id] for text in texts]}
        status, said = run_forked(["--rewards", tmp_path / "rewards.json"], stdin=json.dumps(question) + "\n")
        return [line for line in map(json.loads, said.splitlines()) if "phase" not in line], status

    return run


def test_functions_are_called_as_trl_calls_them(ask, model):
    names = ["my_rewards.length", "my_rewards.right", "my_rewards.slow"]
    lines, status = ask(names)
    first = [model[1](text)["input_ids"][0] for text in ("one two", "three")]
    assert status == 0 and lines[0] == {"ready": names} and [line["running"] for line in lines[1:4]] == names
    assert lines[4] == {"rewards": [[7.0, 5.0], [8.0, None], [float(id) for id in first]]}


def test_conversations_are_lists_of_messages(ask):
    lines, status = ask(["my_rewards.talks"], prompts=[[{"role": "user", "content": text}] for text in ("What?", "How?")])
    assert status == 0 and lines[-1] == {"rewards": [[1.0, 1.0]]}


@pytest.mark.parametrize("name, what, where", [
    ("my_rewards.broken", "ZeroDivisionError: division by zero (my_rewards.py, line ", "reward function my_rewards.broken"),
    ("my_rewards.few", "returned 1 rewards for 2 completions", "reward function my_rewards.few"),
    ("my_rewards.nan", "the reward is nan", "reward function my_rewards.nan, completion 2, prompt 'How?'"),
    ("my_rewards.word", "the reward is str, not a number", "reward function my_rewards.word, completion 1, prompt 'What?'"),
    ("my_rewards.nothing", "returned NoneType, not a list of rewards", "reward function my_rewards.nothing"),
    ("my_rewards.leaves", "SystemExit: 0", "reward function my_rewards.leaves"),
    ("my_rewards.missing", "module my_rewards has no function missing", "trl.reward_funcs: my_rewards.missing"),
    ("no_such_module.f", "there is no module no_such_module", "trl.reward_funcs: no_such_module.f"),
    ("just_a_word", "is no function of a module", "trl.reward_funcs: just_a_word"),
])
def test_each_failure_says_which_function(ask, name, what, where):
    lines, status = ask([name])
    assert status == 1 and lines[-1]["error"].startswith(what) and lines[-1]["where"] == where


def test_prompts_become_rows_without_labels(tokenize, tmp_path, model):
    """The fields of each row are kept next to its tokens, in the order of the rows."""
    rows = [{"prompt": "one two", "answer": 1}, {"prompt": "three " * 30, "answer": 2},
            {"prompt": [{"role": "user", "content": "four"}], "answer": 3}]
    found = tokenize(datasets=[{"path": write_lines(tmp_path / "rows.jsonl", rows), "type": ""}], tokenizer=str(model[0]),
                     preference="grpo", completion_tokens=10, sequence_len=60, curriculum_sampling=True)
    chat = model[1].apply_chat_template(rows[2]["prompt"], add_generation_prompt=True, return_dict=False)
    assert [ids for ids, _ in found.rows()] == [model[1]("one two")["input_ids"], list(chat)]
    assert all(label == -100 for _, labels in found.rows() for label in labels)
    assert found.result["counts"]["dropped_long"] == 1 and not found.warnings
    lines = Path(found.result["tokens"]).with_name("prompts.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [rows[0], rows[2]]


@pytest.mark.parametrize("row, said", [({"question": "a"}, "the row has no prompt"), ({"prompt": ""}, "the row has no prompt"),
                                       ({"prompt": 3}, "the row has no prompt"), ({"prompt": "a", "x": float("nan")}, "a field cannot be given")])
def test_a_broken_prompt_is_named(tokenize, tmp_path, model, row, said):
    found = tokenize(datasets=[{"path": write_lines(tmp_path / "rows.jsonl", [row]), "type": ""}], tokenizer=str(model[0]),
                     preference="grpo", completion_tokens=10, sequence_len=60)
    assert said in found.failure["error"] and "line 1" in found.failure["where"]


TRANSFORMS = """
from helper import ending

def questions(cfg, **kwargs):
    length = cfg.sequence_len
    def transform(example, tokenizer=None):
        return {"prompt": example["question"] + ending, "answer": example["answer"].split("####")[-1].strip(), "longest": length,
                "eos": tokenizer.eos_token}
    return transform, {"remove_columns": ["question"]}

def kept(cfg):
    return lambda example: {"prompt": example["question"]}

def curious(cfg):
    return cfg.learning_rate

def wrong(cfg):
    return lambda example: [example]
"""


@pytest.fixture
def transform(tokenize, tmp_path, model):
    """Returns the function transform(name) -> (answer, prompts.jsonl as values)."""

    def run(name, ending=" A:"):
        (tmp_path / "shapes.py").write_text(TRANSFORMS)
        (tmp_path / "helper.py").write_text(f"ending = {ending!r}\n")
        rows = write_lines(tmp_path / "rows.jsonl", [{"question": "one two", "answer": "so #### 3"}])
        found = tokenize(datasets=[{"path": rows, "type": name}], tokenizer=str(model[0]), preference="grpo", completion_tokens=10, sequence_len=60)
        lines = found.result and Path(found.result["tokens"]).with_name("prompts.jsonl").read_text().splitlines()
        return found, [json.loads(line) for line in lines or []]

    return run


def test_a_function_makes_prompts_of_rows(transform, model):
    """As in axolotl, the function gets the configuration, and its result is added to the row's columns or replaces
    them."""
    found, rows = transform("shapes.questions")
    assert rows == [{"prompt": "one two A:", "answer": "3", "longest": 60, "eos": "</s>"}]
    assert [ids for ids, _ in found.rows()] == [model[1]("one two A:")["input_ids"]]
    assert transform("shapes.kept")[1] == [{"question": "one two", "answer": "so #### 3", "prompt": "one two"}]


def test_changed_code_makes_new_rows(transform):
    assert [transform("shapes.questions", ending)[1][0]["prompt"] for ending in (" A:", " B:")] == ["one two A:", "one two B:"]


@pytest.mark.parametrize("name, said", [("shapes.curious", "reads cfg.learning_rate, which is not given"), ("shapes.missing", "has no function missing"),
                                        ("shapes.wrong", "returned list, not a dictionary"), ("nowhere.f", "there is no module nowhere")])
def test_a_broken_transform_is_named(transform, name, said):
    assert said in transform(name)[0].failure["error"]
