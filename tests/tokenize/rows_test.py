"""Compares the tokens of each type of dataset with tokens that the test makes with the tokenizer alone."""

import json
from pathlib import Path

import pytest
from conftest import tokens_row, write_lines

IGNORED = -100


def encode(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False)


def test_completion_is_the_text_and_eos_and_all_of_it_is_labels(tokenize, model, tmp_path):
    folder, tokenizer = model
    texts = ["The fox jumps.", "Žluťoučký kůň\n\n漢字 🙂", "ends with</s>"]
    answer = tokenize(tokenizer=str(folder), sequence_len=100, datasets=[
        {"path": write_lines(tmp_path / "a.jsonl", [{"text": text} for text in texts]), "type": "completion"}])
    expected = [encode(tokenizer, text) + [tokenizer.eos_token_id] for text in texts[:2]] + [encode(tokenizer, texts[2])]
    assert answer.rows() == [(ids, ids) for ids in expected]
    assert answer.result["counts"]["read"] == answer.result["counts"]["kept"] == 3
    assert answer.result["tokens_total"] == sum(map(len, expected))
    assert answer.result["longest"] == max(map(len, expected))


def test_completion_takes_its_field_and_the_tokenizers_own_bos(tokenize, model_with_bos, tmp_path):
    folder, tokenizer = model_with_bos
    answer = tokenize(tokenizer=str(folder), sequence_len=100, datasets=[
        {"path": write_lines(tmp_path / "a.jsonl", [{"body": "The cat leaps"}]), "type": "completion", "field": "body"}])
    ids = [tokenizer.bos_token_id, *encode(tokenizer, "The cat leaps"), tokenizer.eos_token_id]
    assert answer.rows() == [(ids, ids)]


def test_a_long_completion_is_cut_into_pieces_and_an_empty_one_dropped(tokenize, model, tmp_path):
    folder, tokenizer = model
    text = "The fox jumps over 7 lazy dogs. " * 9
    answer = tokenize(tokenizer=str(folder), sequence_len=16, datasets=[
        {"path": write_lines(tmp_path / "a.jsonl", [{"text": text}, {"text": ""}, {"text": None}]), "type": "completion"}])
    whole = encode(tokenizer, text) + [tokenizer.eos_token_id]
    pieces = [whole[begin : begin + 16] for begin in range(0, len(whole), 16)]
    assert [ids for ids, _ in answer.rows()] == [piece for piece in pieces if len(piece) > 1]
    assert answer.result["counts"]["read"] == 3
    assert answer.result["counts"]["dropped_short"] == 2 + sum(len(piece) < 2 for piece in pieces)


def test_a_text_longer_than_64_pieces_is_cut_there_and_said_so(tokenize, model, tmp_path):
    folder, tokenizer = model
    text = "The fox jumps over 7 lazy dogs. " * 40
    answer = tokenize(tokenizer=str(folder), sequence_len=4, datasets=[
        {"path": write_lines(tmp_path / "a.jsonl", [{"text": text}]), "type": "completion"}])
    assert sum((ids for ids, _ in answer.rows()), []) == encode(tokenizer, text)[: 64 * 4]
    assert answer.result["counts"]["cut_texts"] == 1 and "64" in answer.warnings[0]


@pytest.mark.parametrize("train_on_inputs", [False, True])
def test_alpaca_has_its_prompt_with_and_without_input(tokenize, model_with_bos, tmp_path, train_on_inputs):
    folder, tokenizer = model_with_bos
    rows = [{"instruction": "Count.", "input": "dogs", "output": "7 dogs"}, {"instruction": "Jump.", "output": "It jumps"},
            {"instruction": "Leap.", "input": "", "output": "It leaps"}]
    answer = tokenize(tokenizer=str(folder), sequence_len=500, tokenization={"train_on_inputs": train_on_inputs}, datasets=[
        {"path": write_lines(tmp_path / "a.jsonl", rows), "type": "alpaca"}])
    prompts = [
        "Below is an instruction that describes a task, paired with an input that provides further context. Write a response "
        "that appropriately completes the request.\n\n### Instruction:\nCount.\n\n### Input:\ndogs\n\n### Response:\n",
        "Below is an instruction that describes a task. Write a response that appropriately completes the request.\n\n"
        "### Instruction:\nJump.\n\n### Response:\n",
        "Below is an instruction that describes a task. Write a response that appropriately completes the request.\n\n"
        "### Instruction:\nLeap.\n\n### Response:\n"]
    for (ids, labels), prompt, row in zip(answer.rows(), prompts, rows, strict=True):
        first = [tokenizer.bos_token_id, *encode(tokenizer, prompt)]
        second = [*encode(tokenizer, row["output"]), tokenizer.eos_token_id]
        assert ids == first + second
        assert labels == (first if train_on_inputs else [IGNORED] * len(first)) + second


def test_rows_that_hold_tokens_need_no_tokenizer(tokenize, tmp_path):
    rows = [{"input_ids": [1, 2, 3], "labels": [IGNORED, 2, 3], "attention_mask": [1, 1, 1]}, tokens_row([4, 5]),
            {"input_ids": [6, 7], "labels": [IGNORED, IGNORED]}]
    answer = tokenize(vocab_size=8, datasets=[{"path": write_lines(tmp_path / "a.jsonl", rows), "type": ""}])
    assert answer.rows() == [([1, 2, 3], [IGNORED, 2, 3]), ([4, 5], [4, 5]), ([6, 7], [IGNORED, IGNORED])]


def test_long_rows_are_dropped_cut_or_refused(tokenize, tmp_path):
    rows = [tokens_row(list(range(length))) for length in (3, 9, 1, 5, 0, 6)]
    entry = {"path": write_lines(tmp_path / "a.jsonl", rows)}
    dropped = tokenize(datasets=[entry], sequence_len=5)
    assert [len(ids) for ids, _ in dropped.rows()] == [3, 5]
    counts = dropped.result["counts"]
    assert (counts["read"], counts["kept"], counts["dropped_long"], counts["dropped_short"], counts["truncated"]) == (6, 2, 2, 2, 0)
    lost = json.loads((Path(dropped.result["tokens"]).parent / "lost.json").read_text())
    assert all(row["place"] == f"{row['file']}, {row['unit']} {row['number']}" for row in lost) and len(lost) == 4
    cut = tokenize(datasets=[entry], sequence_len=5, excess_length="truncate")
    assert [ids for ids, _ in cut.rows()] == [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
    assert cut.result["counts"]["truncated"] == 2
    refused = tokenize(datasets=[entry], sequence_len=5, excess_length="raise")
    assert refused.status == 1 and refused.failure["where"].endswith("a.jsonl, line 2") and "9 tokens" in refused.failure["error"]


def test_no_row_left_is_an_error_with_the_counts(tokenize, tmp_path):
    entry = {"path": write_lines(tmp_path / "a.jsonl", [tokens_row([1] * 9), tokens_row([1])])}
    answer = tokenize(datasets=[entry], sequence_len=5)
    assert answer.status == 1
    assert "2 read, 1 longer than sequence_len, 1 shorter than 2 tokens" in answer.failure["error"]
    assert not [item for item in (tmp_path / "cache").iterdir() if item.is_dir()]


def test_several_datasets_follow_each_other_in_order(tokenize, tmp_path):
    paths = [write_lines(tmp_path / f"{name}.jsonl", [tokens_row([name, row]) for row in range(3)]) for name in (5, 2, 9)]
    answer = tokenize(datasets=[{"path": path} for path in paths])
    assert [ids for ids, _ in answer.rows()] == [[name, row] for name in (5, 2, 9) for row in range(3)]


def test_the_last_rows_are_evaluated_under_curriculum_sampling(tokenize, tmp_path):
    entry = {"path": write_lines(tmp_path / "a.jsonl", [tokens_row([row, row]) for row in range(11)])}
    answer = tokenize(datasets=[entry], val_set_size=0.1, curriculum_sampling=True)
    assert [ids[0] for ids, _ in answer.rows()] == list(range(9))
    assert [ids[0] for ids, _ in answer.rows("eval_tokens")] == [9, 10]
    assert (answer.result["rows"], answer.result["eval_rows"]) == (9, 2)


def test_other_evaluation_rows_are_drawn_by_the_seed(tokenize, tmp_path):
    entry = {"path": write_lines(tmp_path / "a.jsonl", [tokens_row([row, row]) for row in range(40)])}
    first, again, other = (tokenize(datasets=[entry], val_set_size=8, seed=seed) for seed in (1, 1, 2))
    train, evaluation = ([ids[0] for ids, _ in first.rows(which)] for which in ("tokens", "eval_tokens"))
    assert train == sorted(train) and evaluation == sorted(evaluation) and sorted(train + evaluation) == list(range(40))
    assert len(evaluation) == 8
    assert first.rows("eval_tokens") == again.rows("eval_tokens") != other.rows("eval_tokens")


def test_an_evaluation_set_that_leaves_nothing_is_refused(tokenize, tmp_path):
    entry = {"path": write_lines(tmp_path / "a.jsonl", [tokens_row([1, 2])] * 3)}
    answer = tokenize(datasets=[entry], val_set_size=3)
    assert answer.status == 1 and answer.failure["where"] == "val_set_size" and "3 of 3 rows" in answer.failure["error"]


def test_test_datasets_are_the_evaluation_rows(tokenize, tmp_path):
    answer = tokenize(datasets=[{"path": write_lines(tmp_path / "a.jsonl", [tokens_row([1, 2])] * 3)}],
                      test_datasets=[{"path": write_lines(tmp_path / "b.jsonl", [tokens_row([3, 4])])}])
    assert answer.rows("eval_tokens") == [([3, 4], [3, 4])]
    assert (answer.result["rows"], answer.result["eval_rows"]) == (3, 1)
    assert answer.result["eval_counts"]["read"] == 1


def test_no_evaluation_rows_means_no_file(tokenize, tmp_path):
    answer = tokenize(datasets=[{"path": write_lines(tmp_path / "a.jsonl", [tokens_row([1, 2])])}])
    assert answer.result["eval_tokens"] is None and answer.result["eval_rows"] == 0


@pytest.mark.parametrize(("row", "message"), [
    ('{"input_ids": [1, 2', "not valid JSON"),
    ("[1, 2]", "a row has to be a JSON object, not a list"),
    ({"tokens": [1, 2]}, "the row has no field 'input_ids'"),
    ({"input_ids": [1, 2, 3], "labels": [1, 2]}, "labels has 2 entries, input_ids 3"),
    ({"input_ids": [1, 2.5]}, "input_ids has to be a list of whole numbers"),
    ({"input_ids": [1, None]}, "input_ids has to be a list of whole numbers"),
    ({"input_ids": [[1, 2]]}, "input_ids has to be a list of whole numbers"),
    ({"input_ids": "1 2"}, "input_ids has to be a list of whole numbers"),
    (tokens_row([1, 8]), "input_ids[1] is 8: the model's vocabulary has ids 0 to 7"),
    (tokens_row([-1, 2]), "input_ids[0] is -1"),
    ({"input_ids": [1, 10**30]}, "input_ids has to be a list of whole numbers"),
    ({"input_ids": [1, 2], "labels": [-1, 2]}, "labels[0] is -1"),
    ({"input_ids": [1, 2]}, "the row has no field 'labels'"),
    ({"input_ids": [1, 2], "labels": None}, "the row has no field 'labels'"),
    (b'{"input_ids": [1, 2], "x": "\xff"}', "not valid UTF-8"),
])
def test_a_broken_row_is_named_by_file_and_line(tokenize, tmp_path, row, message):
    path = write_lines(tmp_path / "a.jsonl", [tokens_row([1, 2]), tokens_row([3, 4])])
    line = row if isinstance(row, bytes) else (row if isinstance(row, str) else json.dumps(row)).encode()
    with open(path, "ab") as file:
        file.write(b"\n" + line + b'\ntokens_row([1, 2])\n')
    answer = tokenize(vocab_size=8, datasets=[{"path": path}])
    assert answer.status == 1
    assert message in answer.failure["error"]
    assert answer.failure["where"] == f"{path}, line 4"


@pytest.mark.parametrize(("row", "message"), [
    ({"body": "x"}, "the row has no field 'text'"),
    ({"text": 5}, "field 'text' has to be text, not a number"),
    ('{"text": "\\ud800"}', "lone surrogate"),
])
def test_a_broken_text_is_named_by_file_and_line(tokenize, model, tmp_path, row, message):
    path = write_lines(tmp_path / "a.jsonl", [{"text": "The fox"}, row])
    answer = tokenize(tokenizer=str(model[0]), datasets=[{"path": path, "type": "completion"}])
    assert answer.status == 1 and message in answer.failure["error"] and answer.failure["where"] == f"{path}, line 2"


def test_a_tokenizer_that_is_larger_than_the_model_is_refused_by_row(tokenize, model, tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"text": "The fox jumps"}])
    answer = tokenize(tokenizer=str(model[0]), vocab_size=100, datasets=[{"path": path, "type": "completion"}])
    assert answer.status == 1 and "0 to 99" in answer.failure["error"]


def test_special_tokens_are_taken_where_the_vocabulary_has_them(tokenize, model, model_with_bos, tmp_path):
    folder, tokenizer = model
    entry = {"path": write_lines(tmp_path / "a.jsonl", [{"text": "The fox"}]), "type": "completion"}
    answer = tokenize(tokenizer=str(folder), datasets=[entry], special_tokens={"eos_token": "<|im_end|>"})
    assert answer.rows()[0][0] == [*encode(tokenizer, "The fox"), tokenizer.convert_tokens_to_ids("<|im_end|>")]
    both = tokenize(tokenizer=str(model_with_bos[0]), datasets=[entry],
                    special_tokens={"bos_token": "<s>", "eos_token": "<|im_end|>"})
    assert both.rows()[0][0][0] == model_with_bos[1].bos_token_id
    refused = tokenize(tokenizer=str(folder), datasets=[entry], special_tokens={"pad_token": "[PAD]"})
    assert refused.status == 1 and refused.failure["where"] == "special_tokens.pad_token"


@pytest.mark.parametrize(("entry", "where"), [
    ({"type": "shargpt"}, "datasets.0.type"), ({"type": {"format": "{x}"}}, "datasets.0.type.format"),
    ({"type": "bradley_terry.chat_template"}, "datasets.0.type"), ({"type": "completion", "skip": 4}, "datasets.0.skip"), ({"type": "completion", "ds_type": "xml"}, "datasets.0.ds_type"),
])
def test_what_would_choose_other_rows_is_refused(tokenize, model, tmp_path, entry, where):
    path = write_lines(tmp_path / "a.jsonl", [{"text": "The fox"}])
    answer = tokenize(tokenizer=str(model[0]), datasets=[{"path": path, **entry}])
    assert answer.status == 1 and answer.failure["where"] == where


@pytest.mark.parametrize("shards", [1, 3, 7])
def test_a_shard_holds_the_rows_that_datasets_puts_there(tokenize, tmp_path, shards):
    from datasets import Dataset

    rows = [tokens_row([row, row]) for row in range(20)]
    path = write_lines(tmp_path / "a.jsonl", rows)
    for index in range(shards):
        answer = tokenize(datasets=[{"path": path, "shards": shards, "shards_idx": index}], seed=5)
        expected = Dataset.from_list(rows).shuffle(seed=5).shard(num_shards=shards, index=index)["input_ids"]
        assert [ids for ids, _ in answer.rows()] == list(expected)
    whole = tokenize(datasets=[{"path": path, "preprocess_shards": shards}], seed=5)
    assert sorted(ids[0] for ids, _ in whole.rows()) == list(range(20))


def axolotls_evaluation(sets, size, seed, before=False, merged=True, unique=False):
    """Returns the rows that axolotl's merge_datasets and create_train_validation_split set aside, computed
    with `datasets` itself."""
    from datasets import Dataset, concatenate_datasets

    sets = [Dataset.from_list(rows) for rows in sets]
    if len(sets) > 1 and before:
        sets = [rows.shuffle(seed=seed) for rows in sets]
    whole = concatenate_datasets(sets)
    whole = whole.shuffle(seed=seed) if merged else whole
    if unique:
        first = {str(row): index for index, row in reversed(list(enumerate(whole)))}
        whole = whole.select(sorted(first.values()))
    return sorted(whole.train_test_split(test_size=size, shuffle=False, seed=seed)["test"]["input_ids"])


@pytest.mark.parametrize("options", [{}, {"before": True}, {"merged": False}, {"unique": True}, {"before": True, "merged": False, "unique": True}])
def test_the_evaluation_rows_are_axolotls(tokenize, tmp_path, options):
    sets = [[tokens_row([part, row % 9]) for row in range(15)] for part in (4, 2)]
    entries = [{"path": write_lines(tmp_path / f"{part}.jsonl", rows)} for part, rows in enumerate(sets)]
    names = {"before": "shuffle_before_merging_datasets", "merged": "shuffle_merged_datasets", "unique": "dataset_exact_deduplication"}
    answer = tokenize(datasets=entries, val_set_size=0.2, seed=11, tokenization={names[key]: value for key, value in options.items()})
    assert sorted(ids for ids, _ in answer.rows("eval_tokens")) == axolotls_evaluation(sets, 0.2, 11, **options)
    whole = answer.rows() + answer.rows("eval_tokens")
    assert len(whole) == (18 if options.get("unique") else 30) == answer.result["counts"]["kept"]


def test_a_row_with_an_image_is_refused_by_its_line(tokenize, model, tmp_path):
    talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    path = write_lines(tmp_path / "a.jsonl", [{"messages": talk}, {"messages": talk, "images": ["a.png"]}])
    answer = tokenize(tokenizer=str(model[0]), datasets=[{"path": path, "type": "chat_template"}])
    assert answer.status == 1 and "only text is trained" in answer.failure["error"] and answer.failure["where"] == f"{path}, line 2"


@pytest.mark.parametrize("key, value, why", [
    ("old_per_token_logps", [0.0], "old_per_token_logps has to hold a number for each"), ("advantages", None, "no field 'advantages'"),
    ("tool_mask", [2, 1], "tool_mask has to hold a 0 or a 1"), ("completion_mask", [0, 1], "completion_mask has a 0 before a 1")])
def test_a_wrong_rollout_is_refused_with_its_place(tokenize, tmp_path, key, value, why):
    rollout = {"prompt_ids": [1, 2], "completion_ids": [3, 4], "advantages": 1.0}
    entry = {"path": write_lines(tmp_path / "a.jsonl", [rollout, {**rollout, key: value}])}
    answer = tokenize(datasets=[entry], sequence_len=8, preference="grpo")
    assert answer.status == 1 and why in answer.failure["error"] and answer.failure["where"].endswith("a.jsonl, line 2")
