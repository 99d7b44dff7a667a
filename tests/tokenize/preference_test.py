"""Tests that tokens of preferences equal those that axolotl and TRL train on (axolotl/expected_preference.json). Also tests the files
that hold these tokens."""

import json
import sys
from pathlib import Path

import pytest
from conftest import PROGRAM, Silent, write_lines
from safetensors.numpy import load_file

HERE = Path(__file__).resolve().parent / "axolotl"
sys.path[:0] = [str(HERE), str(PROGRAM.resolve().parent)]

from axolotl_test import loaded  # noqa: E402
from cases import digest_of, make_tokenizers, stop_the_clock  # noqa: E402
from cases_preference import all_cases, fingerprint  # noqa: E402
from ringmaster_rows.cache import Request  # noqa: E402
from ringmaster_rows.prepare import Encoders  # noqa: E402
from ringmaster_rows.report import Failure  # noqa: E402
from ringmaster_rows.rows import Place, Row  # noqa: E402

EXPECTED = json.loads((HERE / "expected_preference.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in all_cases()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    stop_the_clock()
    folder = tmp_path_factory.mktemp("tokenizers")
    made = {name: digest_of(tokenizer) for name, tokenizer in make_tokenizers(folder).items()}
    assert made == EXPECTED["tokenizers"], "these tokenizers are not those that axolotl saw: run axolotl/record_preference.py again"
    (folder / "rows.jsonl").write_text("{}\n")
    return folder


def split(example):
    """Returns [(ids, labels)] of an example's documents."""
    cuts = [sum(example.documents[:index]) for index in range(len(example.documents) + 1)]
    return [(example.input_ids[begin:end].tolist(), example.labels[begin:end].tolist()) for begin, end in zip(cuts, cuts[1:])]


def ours(case, folder):
    """Returns our tokens in the form of record_preference.rows_of."""
    config = dict(case["config"])
    length, strategy = config.pop("sequence_len"), config.pop("excess_length_strategy", "drop")
    request = Request({"base_dir": str(folder), "datasets": [case["entry"]], "tokenizer": str(folder / case["tokenizer"]), "tokenization": config,
                       "sequence_len": length, "excess_length": strategy, "preference": case["rl"]})
    encode, found = Encoders(request, Silent()), []
    encode._loaded = loaded(folder, case["tokenizer"], config.get("chat_template"))
    for number, row in enumerate(case["rows"], 1):
        try:
            (example,) = encode(request.sources[0], iter([Row(Place("rows.jsonl", "line", number), json.loads(json.dumps(row)))]))
            found.append(fingerprint(split(example), example.desirable) if example.fate in ("kept", "cut") else [])
        except Failure as failure:
            found.append(str(failure))
    return found


def test_every_case_is_recorded():
    assert set(EXPECTED["cases"]) == set(CASES)
    compared = [name for name, rows in EXPECTED["cases"].items() if any(rows)]
    assert len(compared) >= 200 and sum(row == [] for rows in EXPECTED["cases"].values() for row in rows) >= 20


@pytest.mark.parametrize("group", sorted({"/".join(name.split("/")[:2]) for name in CASES}))
def test_tokens_and_labels_are_those_of_axolotl_and_trl(group, folder):
    wrong = []
    for name, case in CASES.items():
        if not name.startswith(group + "/") and name != group:
            continue
        for number, (expected, found) in enumerate(zip(EXPECTED["cases"][name], ours(case, folder), strict=True), 1):
            if expected != found and not (expected is None and isinstance(found, str)):
                wrong.append(f"{name}, row {number}: {found}, axolotl and TRL have {expected}")
    assert not wrong, "\n".join(wrong)


PAIR = {"prompt": "Where is the fox?\n", "chosen": "It jumps.", "rejected": "It was happy."}


@pytest.fixture
def prefer(tokenize, tmp_path, model):
    def run(rows, **request):
        path = write_lines(tmp_path / "rows.jsonl", rows)
        return tokenize(datasets=[{"path": path, "type": request.pop("type", "passthrough")}], tokenizer=str(model[0]), **request)

    return run


def documents(path):
    """Returns, for each row of the file, its documents as (ids, labels)."""
    tensors = load_file(path)
    ends, rows = tensors["document_offsets"].tolist(), tensors["row_offsets"].tolist()
    held = [(tensors["input_ids"][begin:end].tolist(), tensors["labels"][begin:end].tolist()) for begin, end in zip(ends, ends[1:])]
    return [[item for item, begin in zip(held, ends) if first <= begin < last] for first, last in zip(rows, rows[1:])]


def test_a_row_holds_the_chosen_and_then_the_rejected_document(prefer, model):
    found = prefer([PAIR, {**PAIR, "chosen": "It leaps."}], preference="dpo", curriculum_sampling=True)
    assert found.result["rows"] == 2 and found.result["counts"]["kept"] == 2
    (chosen, rejected), other = documents(found.result["tokens"])
    assert [model[1].decode(ids) for ids, _ in (chosen, rejected)] == ["Where is the fox?\nIt jumps.</s>", "Where is the fox?\nIt was happy.</s>"]
    for ids, labels in (chosen, rejected):
        asked = labels.count(-100)
        assert model[1].decode(ids[:asked]) == PAIR["prompt"] and labels[asked:] == ids[asked:]
    assert model[1].decode(other[0][0]) == "Where is the fox?\nIt leaps.</s>" and other[1] == rejected


def test_a_label_says_which_completions_are_desirable(prefer):
    rows = [{"prompt": "Where?\n", "completion": text, "label": label} for text, label in (("a", True), ("b", 0), ("c", 1))]
    found = prefer(rows, preference="kto", type={"field_prompt": "prompt"}, tokenization={"shuffle_merged_datasets": False})
    tensors = load_file(found.result["tokens"])
    assert tensors["desirable"].tolist() == [1, 0, 1] and tensors["desirable"].dtype == "int32" and len(tensors["row_offsets"]) == 4


@pytest.mark.parametrize("sequential", [False, True])
def test_kto_trains_in_the_merged_order_as_trl_does(prefer, sequential):
    import datasets

    rows = [{"prompt": f"{'dog ' * number}?\n", "completion": "a", "label": True} for number in range(8)]
    found = prefer(rows, preference="kto", type={"field_prompt": "prompt"}, seed=3, curriculum_sampling=sequential)
    lengths = load_file(found.result["tokens"])["row_offsets"].tolist()
    order = datasets.Dataset.from_list([{"n": number} for number in range(8)]).shuffle(seed=3)["n"]
    assert order != sorted(order)
    sizes = [end - begin for begin, end in zip(lengths, lengths[1:])]
    assert [sorted(sizes).index(size) for size in sizes] == list(order)


def test_packed_pairs_stay_whole_and_a_pair_that_is_too_long_is_left_out(prefer):
    long = "It jumps over dogs. " * 5
    rows = [PAIR, PAIR, {**PAIR, "chosen": long, "rejected": long}, PAIR]
    whole = prefer(rows[:1], preference="dpo")
    size = whole.result["tokens_total"]
    found = prefer(rows, preference="dpo", sample_packing=True, sequence_len=2 * size, curriculum_sampling=True)
    assert [len(row) for row in documents(found.result["tokens"])] == [4, 2]
    assert found.result["counts"]["dropped_long"] == 1 and found.result["packing"]["documents"] == 3


def test_duplicates_are_rows_whose_every_field_is_equal(prefer):
    rows = [{**PAIR, "source": "a"}, {**PAIR, "source": "a"}, {**PAIR, "source": "b"}]
    assert prefer(rows, preference="dpo", tokenization={"dataset_exact_deduplication": True}).result["rows"] == 2


def test_rows_of_tokens_are_taken_as_they_are(prefer):
    row = {"chosen_input_ids": [5, 6, 7], "chosen_labels": [-100, 6, 7], "rejected_input_ids": [5, 8], "rejected_labels": [-100, 8]}
    found = prefer([row, {**row, "rejected_labels": [8, -100]}], preference="simpo", type="")
    assert documents(found.result["tokens"]) == [[([5, 6, 7], [-100, 6, 7]), ([5, 8], [-100, 8])]]
    assert found.result["counts"]["dropped_short"] == 1
    (single,) = documents(prefer([{"input_ids": [5, 6], "labels": [-100, 6], "label": False}], preference="kto", type="").result["tokens"])
    assert single == [([5, 6], [-100, 6])]


ROLLOUT = {"prompt_ids": [5, 6], "completion_ids": [7, 8, 9], "advantages": -0.5}


def test_rollouts_keep_their_advantages_and_old_log_probabilities(prefer):
    rows = [{**ROLLOUT, "old_per_token_logps": [-1.5, -2.0, -0.25], "tool_mask": [1, 0, 1]},
            {**ROLLOUT, "advantages": 2, "completion_mask": [1, 1, 0]}, {**ROLLOUT, "completion_mask": [0, 0, 0]},
            {**ROLLOUT, "completion_ids": [7] * 200}]
    found = prefer(rows, preference="grpo", type="", sequence_len=16, curriculum_sampling=True)
    assert documents(found.result["tokens"]) == [[([5, 6, 7, 8, 9], [-100, -100, 7, -100, 9])], [([5, 6, 7, 8], [-100, -100, 7, 8])],
                                                 [([5, 6, 7, 8, 9], [-100] * 5)]]
    assert found.result["counts"]["dropped_long"] == 1
    tensors = load_file(found.result["tokens"])
    assert tensors["advantages"].tolist() == [-0.5, 2, -0.5] and tensors["advantages"].dtype == "float64"
    old = tensors["old_log_probabilities"]
    assert [None if value != value else value for value in old.tolist()] == [None, None, -1.5, -2.0, -0.25] + [None] * 9


def test_packed_rollouts_of_one_prompt_lie_together(prefer):
    """Without grouping by prompt, packing would put one long and one short answer into each row."""
    rows = [{"prompt_ids": [5, number, 9], "completion_ids": [7] * count, "advantages": 0} for count in (5, 2, 5, 2) for number in (6, 7)]
    found = prefer(rows, preference="grpo", type="", sequence_len=26, sample_packing=True)
    assert [sorted(ids[1] for ids, _ in row) for row in documents(found.result["tokens"])] == [[6] * 4, [7] * 4]
    split = prefer(rows, preference="grpo", type="", sequence_len=14, sample_packing=True)
    assert sorted(sorted(ids[1] for ids, _ in row) for row in documents(split.result["tokens"])) == [[6, 6], [6, 6], [7, 7], [7, 7]]


def test_the_result_counts_prompts_that_answers_of_a_row_share(prefer):
    """Of a prompt of 4 tokens, answers share all but the last token."""
    prompt = [5, 6, 7, 8]
    row = {f"{name}_{key}": (prompt if key == "input_ids" else [-100] * 4) + answer
           for name, answer in (("chosen", [9]), ("rejected", [9, 10])) for key in ("input_ids", "labels")}
    other = {"chosen_input_ids": [5, 6], "chosen_labels": [-100, 6], "rejected_input_ids": [6, 8], "rejected_labels": [-100, 8]}
    found = prefer([row, other], preference="dpo", type="", sequence_len=8).result["shared_prompts"]
    assert found == pytest.approx({"tokens": 12 / 15, "cells": (15 + 21 - 6 + 6) / (15 + 21 + 6), "most": 8 / 16})
    scores = {"chosen_input_ids": [5, 6, 7, 1, 2], "rejected_input_ids": [5, 6, 8, 1]}
    assert prefer([scores], preference="reward", type="", sequence_len=8).result["shared_prompts"]["tokens"] == pytest.approx(7 / 9)
    rollouts = [{"prompt_ids": prompt, "completion_ids": [place], "advantages": 1} for place in range(1, 5)]
    packed = prefer(rollouts, preference="grpo", type="", sequence_len=10, sample_packing=True, curriculum_sampling=True)
    assert packed.result["shared_prompts"] == pytest.approx({"tokens": 14 / 20, "cells": 48 / 60, "most": 7 / 10})
    assert prefer(rollouts, preference="grpo", type="").result["shared_prompts"] is None, "that is up to the steps"
    learned = prefer([row] * 2, preference="orpo", type="", sequence_len=22, sample_packing=True, curriculum_sampling=True)
    assert learned.result["shared_prompts"]["tokens"] == pytest.approx(16 / 22), "each chosen answer learns its own prompt"


def test_packed_rollouts_keep_their_order(prefer):
    rows = [{**ROLLOUT, "advantages": place, "old_per_token_logps": [-place] * 3} for place in range(1, 6)]
    found = prefer(rows, preference="grpo", type="", sequence_len=11, sample_packing=True, curriculum_sampling=True)
    tensors = load_file(found.result["tokens"])
    assert [len(row) for row in documents(found.result["tokens"])] == [2, 2, 1]
    assert tensors["advantages"].tolist() == [1, 2, 3, 4, 5]
    assert tensors["old_log_probabilities"][4::5].tolist() == [-1, -2, -3, -4, -5]


@pytest.mark.parametrize("rl, kind, row, said", [
    ("grpo", "", {**ROLLOUT, "advantages": [1, 2]}, "advantages has to be one finite number"),
    ("grpo", "", {**ROLLOUT, "advantages": float("nan")}, "advantages has to be one finite number"),
    ("grpo", "", {**ROLLOUT, "old_per_token_logps": [-1, float("nan"), -1]}, "not finite"),
    ("grpo", "", {**ROLLOUT, "completion_mask": [0, 1, 1]}, "completion_mask has a 0 before a 1"),
    ("grpo", "", {**ROLLOUT, "prompt_ids": []}, "prompt_ids is empty"),
    ("grpo", "", PAIR, "no field 'prompt_ids'"),
    ("grpo", "chatml.intel", PAIR, "no dataset type"),
    ("dpo", "passthrough", {**PAIR, "chosen": ""}, "the row's chosen is empty"),
    ("dpo", "chatml.intel", {"chosen": "a", "rejected": "b"}, "no field 'question'"),
    ("dpo", "chatml.ultra", {**PAIR}, "has to be a list of messages"),
    ("dpo", "chat_template.default", {**PAIR, "messages": [{"role": "judge", "content": "x"}]}, "role 'judge'"),
    ("dpo", "chatml.argilla", PAIR, "not known under rl: dpo"),
    ("orpo", "chatml.intel", PAIR, "not known under rl: orpo"),
    ("kto", "chatml.intel", {"question": "a", "completion": "b"}, "desirable: true or false"),
    ("kto", "chatml.intel", {"question": "a", "completion": "b", "label": True, "chosen": "x", "rejected": "y"}, "belong to rl: dpo"),
    ("dpo", {"prompt_format": "{nothing}"}, PAIR, "prompt_format cannot be filled in"),
])
def test_a_broken_row_is_named(prefer, rl, kind, row, said):
    failure = prefer([row], preference=rl, type=kind).failure
    assert said in failure["error"] + failure["hint"] and failure["exit"] == 1


def test_axolotls_search_for_an_answer_that_the_template_changes_draws_a_warning(prefer):
    row = {"messages": "Where?", "chosen": "It jumps.", "rejected": "assistant"}
    assert "1 rows hold an answer" in prefer([row], preference="dpo", type="chat_template.default").warnings[0]
    assert not prefer([{**row, "rejected": "Here."}], preference="dpo", type="chat_template.default").warnings
