"""Tests that changing the value of a key of the tokenizing program changes the rows, except for the keys in ELSEWHERE and
ELSEWHERE_IN_ENTRIES. The lists of keys come from the program itself, so a key without sample values here fails the test."""

import json
import sys

import pytest
from conftest import PROGRAM, Answer, run_forked, write_lines

sys.path.insert(0, str(PROGRAM.resolve().parent))

from ringmaster_rows.cache import Request  # noqa: E402
from ringmaster_rows.kinds import FIELDS, FILES, SHAREGPT  # noqa: E402
from ringmaster_rows.prepare import OPTIONS  # noqa: E402

TEXTS = [{"text": f"The fox {number}. " + "It jumps over lazy dogs. " * (number % 4)} for number in range(12)]
TALK = {"path": "talk.jsonl", "type": "chat_template"}
SAID = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?", "learn": True},
        {"role": "assistant", "content": "<think>hm</think>So it jumps.", "learn": False, "also": "It leaps.", "who": "user",
         "detail": [{"begin_offset": 0, "end_offset": 6, "train": True}], "mind": "Let me think.", "more": "m"}]
MARKED = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.reasoning_content }}|{{ message.idea }}|{{ message.content }}<|im_end|>\n{% endfor %}{{ tools }}"
SHARED = [{"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}, {"from": "me", "value": "A"},
                             {"from": "you", "value": "B"}],
           "other": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Bye"}]}]

# Maps a key to (the rest of the request, one value, another value). If the program refuses one of the values, that counts as a
# different outcome.
REQUEST = {
    "datasets": ({}, [{"path": "a.jsonl", "type": "completion"}], [{"path": "b.jsonl", "type": "completion"}]),
    "test_datasets": ({}, [{"path": "a.jsonl", "type": "completion"}], [{"path": "b.jsonl", "type": "completion"}]),
    "special_tokens": ({}, {"eos_token": "</s>"}, {"eos_token": "<|im_end|>"}), "sequence_len": ({}, 8, 16),
    "excess_length": ({"datasets": [{**TALK}], "sequence_len": 12}, "drop", "truncate"), "val_set_size": ({}, 0.2, 0.5), "seed": ({"val_set_size": 0.4}, 1, 2),
    "curriculum_sampling": ({"val_set_size": 0.4}, True, False), "sample_packing": ({}, True, False),
    "dataset_prepared_path": ({}, "saved", None), "row_limit": ({"datasets": [{"path": "a.jsonl", "type": "pretrain", "streamed": True}]}, 2, 3),
    "token_labels": ({"datasets": [{"path": "steps.jsonl", "type": "stepwise_supervised"}]}, 2, 3),
    "preference": ({"datasets": [{"path": "pairs.jsonl", "type": "chatml.prompt_pairs"}]}, "dpo", "kto"),
    "completion_tokens": ({"datasets": [{"path": "questions.jsonl", "type": ""}], "preference": "grpo", "sequence_len": 40}, 5, 35),
    "tokenizer": ({}, "one", "other"), "vocab_size": ({}, 100, None),
}
OPTION = {
    "chat_template": ({"datasets": [TALK]}, "llama3", "chatml"), "chat_template_jinja": ({"datasets": [TALK]}, MARKED, MARKED + "!"),
    "chat_template_kwargs": ({"datasets": [{**TALK, "chat_template_jinja": MARKED + "{{ extra }}"}]}, {"extra": "a"}, {"extra": "b"}),
    "default_system_message": ({"datasets": [{"path": "shared.jsonl", "type": "sharegpt", "conversation": "chatml"}], "tokenization": {"chat_template": "chatml"}}, "Be kind.", "Be brief."),
    "train_on_inputs": ({"datasets": [TALK]}, True, False),
    "eot_tokens": ({"special_tokens": {"eos_token": "</s>"}, "datasets": [{**TALK, "chat_template": "chatml"}]}, ["<|im_end|>"], ["<|absent|>"]),
    "tokenizer_type": ({}, "NoTokenizer", None), "min_sample_len": ({}, 1, 10), "dataset_exact_deduplication": ({"datasets": [{"path": "twice.jsonl", "type": "completion"}]}, True, False),
    "shuffle_merged_datasets": ({"val_set_size": 0.4}, False, True), "dataset_shard_num": ({"tokenization": {"dataset_shard_idx": 0}}, 2, 3),
    "dataset_shard_idx": ({"tokenization": {"dataset_shard_num": 3}}, 1, 2),
    "shuffle_before_merging_datasets": ({"datasets": [{"path": "a.jsonl", "type": "completion"}, {"path": "b.jsonl", "type": "completion"}],
                                         "val_set_size": 0.4, "tokenization": {"shuffle_merged_datasets": False}}, True, False),
    "streaming_multipack_buffer_size": ({"datasets": [{"path": "a.jsonl", "type": "pretrain", "streamed": True}]}, 3, 8),
    "tokenizer_use_mistral_common": ({}, True, False),
}
# These keys change the model's vocabulary (growth_test.py), a repository's version or which code may run. Rows in a local folder
# cannot show these effects.
ELSEWHERE = {"tokens", "added_tokens_overrides", "resize_token_embeddings_to_32x", "mean_resizing_embeddings", "shrink_embeddings", "revision_of_model",
             "trust_remote_code", "tokenizer_name", "tokenizer_legacy"}
JINJA = {**TALK, "chat_template_jinja": MARKED}
FILE = {"path": "a.jsonl", "type": "completion"}
ENTRY = {
    "path": (FILE, "a.jsonl", "b.jsonl"), "type": (FILE, "completion", ""), "ds_type": ({**FILE, "path": "plain"}, "json", "text"),
    "data_files": ({"path": "folder", "type": "completion"}, "train.jsonl", "test.jsonl"), "split": ({"path": "folder", "type": "completion"}, "train", "test"),
    "train_on_split": ({"path": "only", "type": "completion"}, "test", "validation"), "shards": ({**FILE, "shards_idx": 1}, 2, 3), "shards_idx": ({**FILE, "shards": 3}, 0, 1),
    "preprocess_shards": (FILE, 4, None), "field": ({"path": "two.jsonl", "type": "completion"}, "text", "other"),
    "text_column": ({"path": "two.jsonl", "type": "pretrain", "streamed": True}, "text", "other"),
    "field_messages": (TALK, "messages", "others"), "field_system": ({**TALK, "field_messages": "others"}, "system", "sys"),
    "field_tools": (JINJA, "tools", "utensils"), "field_thinking": (JINJA, "mind", "more"), "template_thinking_key": ({**JINJA, "field_thinking": "mind"}, "idea", "reasoning_content"),
    "message_property_mappings": (TALK, {"role": "role", "content": "content"}, {"role": "role", "content": "also"}),
    "message_field_role": (TALK, "role", "who"), "message_field_content": (TALK, "content", "also"), "message_field_training": (TALK, "learn", None),
    "message_field_training_detail": (TALK, "detail", None), "roles": (TALK, {"assistant": ["user"], "user": ["assistant"], "system": ["system"]}, None),
    "roles_to_train": (TALK, ["user"], ["assistant"]), "train_on_eos": ({**TALK, "chat_template": "chatml"}, "none", "all"), "train_on_eot": ({**TALK, "chat_template": "chatml"}, "all", None),
    "chat_template": (TALK, "chatml", "llama3"), "chat_template_jinja": (TALK, MARKED, MARKED + "!"), "drop_system_message": (TALK, True, False),
    "split_thinking": (JINJA, True, False), "conversation": ({"path": "shared.jsonl", "type": "sharegpt"}, "chatml", "vicuna_v1.1"),
    "field_human": ({"path": "shared.jsonl", "type": "sharegpt", "conversation": "chatml"}, "human", "me"),
    "field_model": ({"path": "shared.jsonl", "type": "sharegpt", "conversation": "chatml"}, "gpt", "you"),
    "strict": ({"path": "names.jsonl", "type": "sharegpt"}, True, False),
}
ELSEWHERE_IN_ENTRIES = {"name", "revision", "trust_remote_code"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory, model, model_with_bos):
    """Returns a folder with the files that the samples name, and two tokenizers."""
    from datasets import Dataset

    folder = tmp_path_factory.mktemp("keys")
    for name, tokenizer in (("one", model[1]), ("other", model_with_bos[1])):
        tokenizer.save_pretrained(folder / name)
    (folder / "folder").mkdir()
    (folder / "only").mkdir()
    other = [{"text": row["text"] + "more", "other": "Other text."} for row in TEXTS]
    message = [*SAID[1:]]
    files = {"a.jsonl": TEXTS, "b.jsonl": other, "two.jsonl": other, "twice.jsonl": TEXTS[:2] * 3, "plain": TEXTS, "folder/train.jsonl": TEXTS,
             "folder/test.jsonl": other, "only/test.jsonl": TEXTS, "only/validation.jsonl": other, "shared.jsonl": SHARED,
             "pairs.jsonl": [{"prompt": "Why?", "chosen": "So it jumps.", "rejected": "No.", "completion": "Yes.", "label": True}],
             "questions.jsonl": [{"prompt": "a"}, {"prompt": "The fox jumps over the dogs."}],
             "steps.jsonl": [{"prompt": "Why?", "completions": ["So."], "labels": [2]}],
             "names.jsonl": [{"conversations": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}],
             "talk.jsonl": [{"messages": SAID, "others": message, "system": "One.", "sys": "Other.", "tools": [{"a": 1}], "utensils": [{"b": 2}]}]}
    for name, content in files.items():
        write_lines(folder / name, content)
    Dataset.from_list([{"input_ids": [1, 2, 3], "labels": [1, 2, 3]}]).save_to_disk(folder / "saved")
    return folder


def outcome(folder, request):
    """Returns the written rows, or the text of the refusal."""
    request = {"datasets": [FILE], "tokenizer": "one", "base_dir": str(folder), "special_tokens": {"eos_token": "<|im_end|>"}, "sequence_len": 500, **request}
    request["tokenizer"] = str(folder / request["tokenizer"])
    request["tokenization"] = {key: value for key, value in request.get("tokenization", {}).items() if value is not None}
    (folder / "request.json").write_text(json.dumps(request))
    answer = Answer(*run_forked(["--request", folder / "request.json", "--cache", folder / "cache"]))
    if answer.failure:
        return answer.failure["error"]
    return answer.rows(), answer.rows("eval_tokens") if answer.result["eval_tokens"] else None


def differ(folder, one, other):
    first, second = outcome(folder, one), outcome(folder, other)
    assert not (isinstance(first, str) and isinstance(second, str)), (first, second)
    assert first != second


@pytest.mark.parametrize("key", sorted(set(Request.DEFAULTS) - {"base_dir", "tokenization"}))
def test_each_part_of_the_request_changes_the_rows(key, rows):
    beside, one, other = REQUEST[key]
    differ(rows, {**beside, key: one}, {**beside, key: other})


@pytest.mark.parametrize("key", sorted(OPTIONS - ELSEWHERE))
def test_each_option_of_tokenization_changes_the_rows(key, rows):
    beside, one, other = OPTION[key]
    differ(rows, *({**beside, "tokenization": {**beside.get("tokenization", {}), key: value}} for value in (one, other)))


@pytest.mark.parametrize("key", sorted(set().union(FILES, *FIELDS.values()) - ELSEWHERE_IN_ENTRIES))
def test_each_key_of_a_dataset_changes_the_rows(key, rows):
    entry, one, other = ENTRY[key]
    differ(rows, *({"datasets": [{name: part for name, part in {**entry, key: value}.items() if part is not None}]} for value in (one, other)))
    assert SHAREGPT <= set(FIELDS)
