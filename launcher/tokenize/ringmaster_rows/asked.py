"""Reads the rows of `rl: grpo` whose completions the run samples itself: `prompt` (a text that is continued, or a list of messages
that is answered), and fields that the reward functions get. The names and their meaning are those of TRL 1.16."""

import json

import numpy as np

from .encoders import IGNORED, Example
from .prompts import encoded
from .report import Failure


def prompts(rows, tokenizer, most):
    """Yields an Example without labels for each row. A prompt of more than `most` tokens leaves no room for its completion."""
    for row in rows:
        prompt = row.values.get("prompt")
        if not isinstance(prompt, (str, list)) or not prompt:
            raise Failure("the row has no prompt: a text, or a list of messages", str(row.place),
                          f"it has: {', '.join(map(str, row.values)) or 'none'}")
        ids = np.asarray(encoded(tokenizer, prompt, str(row.place)), np.int64)
        if not len(ids):
            raise Failure("the prompt has no tokens", str(row.place))
        yield Example(row.place, ids, np.full(len(ids), IGNORED), documents=(len(ids),), fate="long" if len(ids) > most else "kept",
                      same=fields_of(row).encode(), fields=fields_of(row))


def fields_of(row):
    try:
        return json.dumps(row.values, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Failure(f"a field cannot be given to a reward function: {error}", str(row.place)) from error
