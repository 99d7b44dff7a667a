"""Reads the rows of `rl: grpo` that are not sampled here: `prompt_ids` and `completion_ids`, `advantages` (one number), and as
options `old_per_token_logps` (a number for each token of the completion; without it the ratio is 1), `tool_mask` (0: a token
that the policy did not write, seen but not trained) and `completion_mask` (ends in zeros if the completion is padded; only
zeros: the answer counts as a row but is not learned). The names and their meaning are those of TRL 1.16
(trainer/grpo_trainer.py)."""

import math
from hashlib import blake2b

import numpy as np

from .encoders import IGNORED, Example, Rollout, integers
from .report import Failure

LISTS = ("completion_mask", "tool_mask", "old_per_token_logps")


def rollouts(rows, sequence_len):
    """Yields an Example for each row."""
    for row in rows:
        yield example_of(row, sequence_len)


def example_of(row, sequence_len):
    prompt, answer = (ids_of(row, name) for name in ("prompt_ids", "completion_ids"))
    masks = [mask_of(row, name, len(answer)) for name in ("completion_mask", "tool_mask")]
    kept = written_tokens(row, masks[0], len(answer))
    learned = (masks[0] * masks[1])[:kept] != 0
    old = old_of(row, len(answer))[:kept]
    if learned.any() and not np.isfinite(old[learned]).all() and not np.isnan(old).all():
        raise Failure("old_per_token_logps holds a number that is not finite", str(row.place))
    ids = np.concatenate([prompt, answer[:kept]])
    labels = np.concatenate([np.full(len(prompt), IGNORED), np.where(learned, answer[:kept], IGNORED)])
    old = np.concatenate([np.full(len(prompt), np.nan), old]).astype("<f8")
    advantage = number_of(row, "advantages")
    same = blake2b(ids.tobytes() + labels.tobytes() + old.tobytes() + np.float64(advantage).tobytes(), digest_size=16).digest()
    return Example(row.place, ids, labels, documents=(len(ids),), fate="long" if len(ids) > sequence_len else "kept", same=same,
                   rollout=Rollout(advantage, old))


def ids_of(row, name):
    ids = integers(needed(row, name), name, row.place)
    if not len(ids):
        raise Failure(f"{name} is empty", str(row.place))
    return ids


def needed(row, name):
    if row.values.get(name) is None:
        raise Failure(f"the row has no field {name!r}", str(row.place),
                      f"rows of rollouts have prompt_ids, completion_ids, advantages, and may have {', '.join(LISTS)}")
    return row.values[name]


def mask_of(row, name, count):
    if row.values.get(name) is None:
        return np.ones(count, np.int64)
    mask = integers(row.values[name], name, row.place)
    if len(mask) != count or not np.isin(mask, (0, 1)).all():
        raise Failure(f"{name} has to hold a 0 or a 1 for each of the completion's {count} tokens", str(row.place))
    return mask


def written_tokens(row, mask, count):
    """Returns how many tokens the completion has before its padding; all of them if the whole completion is masked."""
    ends = np.flatnonzero(mask)
    if not len(ends):
        return count
    if not mask[: ends[-1] + 1].all():
        raise Failure("completion_mask has a 0 before a 1, which would hide a token from the ones after it", str(row.place),
                      "tool_mask leaves out tokens that the policy did not write")
    return int(ends[-1]) + 1


def old_of(row, count):
    values = row.values.get("old_per_token_logps")
    if values is None:
        return np.full(count, np.nan)
    if not isinstance(values, (list, tuple, np.ndarray)) or len(values) != count or not all(map(is_number, values)):
        raise Failure(f"old_per_token_logps has to hold a number for each of the completion's {count} tokens", str(row.place))
    try:
        return np.asarray(values, np.float64)
    except OverflowError:  # an integer that float64 cannot hold
        raise Failure("old_per_token_logps holds a number that is not finite", str(row.place)) from None


def number_of(row, name):
    value = needed(row, name)
    try:
        if is_number(value) and math.isfinite(value):
            return float(value)
    except OverflowError:  # an integer that float64 cannot hold
        pass
    raise Failure(f"{name} has to be one finite number", str(row.place))


def is_number(value):
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
