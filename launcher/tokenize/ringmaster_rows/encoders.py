"""Turns rows into examples: input ids and labels (-100 for no label; not shifted), as axolotl makes them. An encoder is a generator
function over rows. It forms batches itself, because a tokenizer uses every core for a batch."""

import json
from typing import NamedTuple

import numpy as np

from .report import Failure
from .rows import Place, json_kind

IGNORED = -100
BATCH_CHARACTERS = 1 << 21
BATCH_ROWS = 1000
# axolotl tokenizes at most this many times sequence_len of one text, and drops the rest.
COMPLETION_PIECES = 64


class Rollout(NamedTuple):
    """Holds the fields of a row of rl: grpo besides its tokens."""

    advantage: float
    old_log_p: np.ndarray  # float64, for each token of prompt and completion; NaN: not given


class Example(NamedTuple):
    place: Place
    input_ids: np.ndarray
    labels: np.ndarray
    cut: bool = False  # true: tokens at the end of the text were already left out
    counted: bool = True  # true: axolotl makes a row of this example; it makes none of an empty completion
    documents: tuple = ()  # lengths of its documents, under `rl`
    fate: str = ""  # "kept", "cut", "long" or "short", if the encoder applied the length rules itself
    same: bytes = b""  # bytes that dataset_exact_deduplication compares instead of the tokens
    desirable: bool | None = None  # the row's label under rl: kto
    rollout: Rollout | None = None  # more fields of the row under rl: grpo
    fields: str = ""  # all of the row as JSON, if reward functions get it


def batches(items, length):
    """Yields lists of items whose `length`s sum to about BATCH_CHARACTERS."""
    batch, characters = [], 0
    for item in items:
        batch.append(item)
        characters += length(item)
        if characters >= BATCH_CHARACTERS or len(batch) == BATCH_ROWS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def field_of(row, name, default=None):
    """Returns the text in a field; null is empty text. If the field is missing, the error lists the fields that exist."""
    if name not in row.values:
        if default is not None:
            return default
        raise Failure(f"the row has no field {name!r}", str(row.place), f"it has: {', '.join(map(str, row.values)) or 'none'}")
    return check_text(row.values[name], name, row.place)


def check_text(value, name, place):
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Failure(f"field {name!r} has to be text, not {json_kind(value)}", str(place))
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Failure(f"field {name!r} is not valid Unicode: a lone surrogate at character {error.start + 1}",
                      str(place)) from error
    return value


def token_ids(tokenizer, texts, most=None, empty_too=False):
    """Returns the token ids of each text, at most `most`, with the special tokens that the tokenizer adds (a BOS, for instance). An
    empty text has none, unless `empty_too`."""
    ids = [[] for _ in texts]
    filled = [index for index, text in enumerate(texts) if text or empty_too]
    if filled:
        limit = {"truncation": True, "max_length": most} if most else {}
        encoded = tokenizer([texts[index] for index in filled], return_attention_mask=False, **limit)["input_ids"]
        for index, found in zip(filled, encoded, strict=True):
            ids[index] = found
    return ids


def eos_of(tokenizer):
    if tokenizer.eos_token_id is None:
        raise Failure("the tokenizer has no end-of-text token, which each text ends with", "special_tokens.eos_token",
                      "name a token of its vocabulary")
    return tokenizer.eos_token_id


def with_eos(ids, eos):
    return ids if not ids or ids[-1] == eos else [*ids, eos]


def completion(rows, entry, tokenizer, sequence_len):
    """Encodes the text and EOS in pieces of sequence_len; every token is a label."""
    name, eos, most = entry.get("field") or "text", eos_of(tokenizer), sequence_len * COMPLETION_PIECES
    texts = ((row.place, field_of(row, name)) for row in rows)
    for batch in batches(texts, lambda item: len(item[1])):
        for (place, text), ids in zip(batch, token_ids(tokenizer, [text for _, text in batch]), strict=True):
            cut = len(ids) > most
            ids = token_ids(tokenizer, [text], most)[0] if cut else ids
            ids = np.asarray(ids if len(ids) >= most else with_eos(ids, eos), dtype=np.int64)
            for begin in range(0, max(len(ids), 1), sequence_len):
                piece = ids[begin : begin + sequence_len]
                yield Example(place, piece, piece, cut and begin + sequence_len >= len(ids), len(ids) > 0)


def pretokenized(rows):
    """Takes rows that hold `input_ids` and `labels`. Rows without labels are refused, as in axolotl: nothing says which tokens to
    train on."""
    for row in rows:
        if "input_ids" not in row.values:
            raise Failure("the row has no field 'input_ids', and the dataset has no type", str(row.place),
                          f"it has: {', '.join(map(str, row.values)) or 'none'}; text needs a type: completion, alpaca or chat_template")
        input_ids = integers(row.values["input_ids"], "input_ids", row.place)
        if row.values.get("labels") is None:
            raise Failure("the row has no field 'labels', which says what tokens are trained on", str(row.place),
                          "write labels beside input_ids: the same ids to train on every token, -100 for a token that is not trained on")
        labels = integers(row.values["labels"], "labels", row.place)
        if len(labels) != len(input_ids):
            raise Failure(f"labels has {len(labels)} entries, input_ids {len(input_ids)}", str(row.place))
        yield Example(row.place, input_ids, labels)


def integers(values, name, place):
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        array = None
    if array is not None and array.size == 0 and isinstance(values, (list, np.ndarray)):
        return np.zeros(0, np.int64)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu" or array.max() > np.iinfo(np.int64).max:
        raise Failure(f"{name} has to be a list of whole numbers", str(place), offender(values))
    return array.astype(np.int64)


def offender(values):
    if not isinstance(values, (list, tuple)):
        return f"it is {json_kind(values)}"
    for index, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int):
            return f"entry {index} is {json.dumps(value, default=str)[:60]}"
    return ""


def check_ids(example, vocab_size):
    """Raises Failure if the model does not have one of the ids."""
    end = vocab_size or np.iinfo(np.int32).max
    for name, array, least in (("input_ids", example.input_ids, 0), ("labels", example.labels, IGNORED)):
        valid = (array >= 0) | (array == least)
        wrong = np.flatnonzero(~valid | (array >= end))
        if len(wrong):
            meaning = f"the model's vocabulary has ids 0 to {end - 1}" + (", no label is -100" if name == "labels" else "")
            raise Failure(f"{name}[{wrong[0]}] is {array[wrong[0]]}: {meaning}", str(example.place))
