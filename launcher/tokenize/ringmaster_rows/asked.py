"""Reads the rows of `rl: grpo` whose completions the run samples itself: `prompt` (a text that is
continued, or a list of messages that is answered), and fields that the reward functions get. The
names and their meaning are those of TRL 1.16. A dataset's type may name a user's function that
makes such rows, as in axolotl."""

import inspect
import json

import numpy as np

from .encoders import IGNORED, Example
from .functions import described, function_named
from .prompts import encoded
from .report import Failure

MAP_KEYS = {"remove_columns"}  # arguments of Dataset.map that a transform may return


def prompts(rows, tokenizer, most, transform=None):
    """Yields an Example without labels for each row. A prompt of more than `most` tokens counts as too long, because it leaves no room for
    its completion."""
    for row in rows:
        values = transform(row) if transform else row.values
        prompt = values.get("prompt")
        if not isinstance(prompt, (str, list)) or not prompt:
            raise Failure("the row has no prompt: a text, or a list of messages", str(row.place),
                          f"it has: {', '.join(map(str, values)) or 'none'}")
        ids = np.asarray(encoded(tokenizer, prompt, str(row.place)), np.int64)
        if not len(ids):
            raise Failure("the prompt has no tokens", str(row.place))
        fields = as_json(values, row.place)
        yield Example(row.place, ids, np.full(len(ids), IGNORED), documents=(len(ids),), fate="long" if len(ids) > most else "kept",
                      same=fields.encode(), fields=fields)


def as_json(values, place):
    try:
        return json.dumps(values, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Failure(f"a field cannot be given to a reward function: {error}", str(place)) from error


class Settings:
    """Gives a transform the settings of the request under axolotl's names."""

    KNOWN = ("sequence_len", "datasets", "seed", "sample_packing", "excess_length_strategy")

    def __init__(self, request, where):
        known = {**request["tokenization"], **{name: request[name] for name in self.KNOWN[:-1]}, "excess_length_strategy": request["excess_length"]}
        self.__dict__.update(known, _known=known, _where=where)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Failure(f"the function reads cfg.{name}, which is not given to it", self._where, f"it may read: {', '.join(sorted(self._known))}")


def transform_of(source, request, tokenizer):
    """Returns a function from a row to the values of a row of prompts; None if the type names no function."""
    name, where = source.entry.get("type"), f"{source.key}.type"
    if not name:
        return None
    make = function_named(name, where, request.base_dir)
    try:
        made = make(Settings(request, where))
    except Failure:
        raise
    except Exception as error:
        raise Failure(described(error), where) from error
    transform, options = made if isinstance(made, tuple) else (made, {})
    if not callable(transform) or set(options) - MAP_KEYS:
        raise Failure(f"{name} has to return a function of a row, and with it only {', '.join(sorted(MAP_KEYS))}", where)
    removed = options.get("remove_columns") or ()
    more = {"tokenizer": tokenizer} if "tokenizer" in inspect.signature(transform).parameters else {}

    def apply(row):
        try:
            result = transform(dict(row.values), **more)
        except Exception as error:
            raise Failure(f"{name}: {described(error)}", str(row.place)) from error
        if not isinstance(result, dict):
            raise Failure(f"{name} returned {type(result).__name__}, not a dictionary", str(row.place))
        kept = {} if removed == "__all__" else {key: value for key, value in row.values.items() if key not in removed}
        return {**kept, **result}

    return apply
