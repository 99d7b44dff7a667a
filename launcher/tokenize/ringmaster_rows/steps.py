"""type: stepwise_supervised. A row is a prompt and the steps of an answer, each with its own label, which belongs to the step's last
token, as axolotl's process reward models learn them."""

import numpy as np

from .encoders import IGNORED, Example, check_text, field_of
from .report import Failure
from .rows import json_kind


def judged(rows, entry, tokenizer, sequence_len, labels):
    """Yields an Example for each row, cut to sequence_len."""
    separator = ids_of(tokenizer, entry.get("step_separator") or "\n")
    most, last_only = entry.get("max_completion_length") or None, bool(entry.get("train_on_last_step_only"))
    bos = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
    for row in rows:
        prompt = bos + ids_of(tokenizer, field_of(row, "prompt"))
        answer, judgements = [], []
        for step, label in judged_steps(row, labels, last_only):
            ids = ids_of(tokenizer, check_text(step, "completions", row.place)) + separator
            answer += ids
            judgements += [IGNORED] * (len(ids) - 1) + [label]
        ids = (prompt + answer[:most])[:sequence_len]
        found = ([IGNORED] * len(prompt) + judgements[:most])[:sequence_len]
        yield Example(row.place, np.asarray(ids, np.int64), np.asarray(found, np.int64), cut=len(prompt) + len(answer) > len(ids))


def ids_of(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def listed(row, name):
    values = row.values.get(name)
    if not isinstance(values, list):
        raise Failure(f"field {name!r} has to be a list, not {json_kind(values)}" if name in row.values else f"the row has no field {name!r}",
                      str(row.place), f"it has: {', '.join(map(str, row.values))}")
    return values


def judged_steps(row, count, last_only):
    """Returns [(text, label)]."""
    steps, labels = listed(row, "completions"), listed(row, "labels")
    if len(steps) != len(labels):
        raise Failure(f"the row has {len(steps)} completions and {len(labels)} labels", str(row.place), "one label for each completion")
    for label in labels:
        if not isinstance(label, (bool, int)) or not 0 <= int(label) < count:
            raise Failure(f"a step's label is {label!r}", str(row.place), f"a whole number below num_labels, {count}, or true or false")
    last = len(labels) - 1
    return [(step, IGNORED if last_only and index < last else int(label)) for index, (step, label) in enumerate(zip(steps, labels, strict=True))]
