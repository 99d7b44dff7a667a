"""Chooses the tokens of a rendered conversation that are labels."""

import numpy as np

from .encoders import IGNORED
from .report import Failure

# The largest number of tokens that the template may put between a turn's text and its end-of-turn token,
# as in axolotl.
END_DISTANCE = 3


def labels_of(conversation, ids, offsets, tokenizer, options):
    labels = np.full(len(ids), IGNORED, np.int64)
    ids_array, last = np.asarray(ids, np.int64), [None, None]
    for index, turn in enumerate(conversation.turns):
        train = is_trained(turn, options)
        if not train and "all" not in options.when:
            continue
        thought = turn.message.get(options.thinking) is not None
        in_parts = bool(turn.content_parts or turn.thought_parts)
        begin, end = conversation.token_span(index, ids, offsets, keep_thought=in_parts and thought)
        chosen = chosen_tokens(conversation, index, (begin, end), ids, offsets, tokenizer, thought) if train else []
        labels[chosen] = ids_array[chosen]
        for kind, (when, end_ids) in enumerate(zip(options.when, options.ends, strict=True)):
            found = end_token(ids, end, end_ids)
            if found is None:
                continue
            last[kind] = found
            if when == "all" or (when == "turn" and train):
                labels[found] = ids[found]
    for when, found in zip(options.when, last, strict=True):
        if when == "last" and found is not None:
            labels[found] = ids[found]
    return labels


def is_trained(turn, options):
    if turn.train is not None:
        return bool(turn.train)
    if turn.content_parts is not None or turn.thought_parts is not None:
        return bool(turn.content_parts) or bool(turn.thought_parts)
    return options.train_on_inputs or turn.message["role"] in options.roles_to_train


def chosen_tokens(conversation, index, span, ids, offsets, tokenizer, has_thought):
    """Returns the indices of a trained turn's tokens: all of its text, or only the flagged parts."""
    turn, chosen = conversation.turns[index], []
    begin, end = span
    if begin >= 0 and turn.content_parts:
        chosen += [begin + i for i in part_tokens(turn.message.get("content"), turn.content_parts, tokenizer, conversation.place)]
    elif begin >= 0 and not turn.thought_parts:
        chosen += range(begin, end)
    if turn.thought_parts and has_thought:
        begin, _ = conversation.token_span(index, ids, offsets, only_thought=True)
        if begin >= 0:
            text = turn.message[conversation.thinking]
            chosen += [begin + i for i in part_tokens(text, turn.thought_parts, tokenizer, conversation.place)]
    return [i for i in chosen if i < len(ids)]


def end_token(ids, begin, end_ids):
    """Returns the index of the first token of `end_ids` from `begin` to END_DISTANCE after it; None if there is none. A turn that was
    not found has the `begin` -1: then the result is also None if the conversation ends with such a token, as in axolotl."""
    if begin == -1:
        if not ids or ids[-1] in end_ids:
            return None
        begin, last = 0, END_DISTANCE - 1
    else:
        last = begin + END_DISTANCE
    return next((i for i in range(begin, min(last + 1, len(ids))) if ids[i] in end_ids), None)


def part_tokens(text, parts, tokenizer, place):
    """Returns the indices of the tokens of `text` in trained parts; a token across a part's edge is added or left out as in
    axolotl."""
    if not isinstance(text, str):
        raise Failure("parts of a message can be trained only if it is text", str(place))
    if getattr(tokenizer, "encodes_chats", False):
        raise Failure("mistral-common does not tell where a token stands in its text, which parts of a message need", str(place),
                      "leave out the flags of parts, or tokenizer_use_mistral_common")
    starts = [begin for begin, _ in tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)["offset_mapping"]]
    tokens = [(begin, following - 1) for begin, following in zip(starts, [*starts[1:], len(text)], strict=True)]
    ranges = [found for part in parts if (found := whole_tokens(part, tokens, place))]
    return [index for index, (begin, end) in enumerate(tokens)
            if any(train and begin >= first and end <= last for first, last, train in ranges)]


def whole_tokens(part, tokens, place):
    """Returns a part's range, moved to the edges of tokens: (first character, last character, trained). None if it covers no token."""
    try:
        first, last, train = part["begin_offset"], part["end_offset"], part["train"]
    except (KeyError, TypeError) as error:
        raise Failure("a training detail needs begin_offset, end_offset and train", str(place)) from error
    begin = next((i for i, token in enumerate(tokens) if token[0] >= first), len(tokens))
    if begin > 0 and tokens[begin - 1][1] > first:
        begin -= 1
    end = next((i for i in range(len(tokens) - 1, -1, -1) if tokens[i][1] <= last), -1)
    if end < len(tokens) - 1 and tokens[end + 1][0] < last:
        end += 1
    return (tokens[begin][0], tokens[end][1], train) if begin <= end else None
