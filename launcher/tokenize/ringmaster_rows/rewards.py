"""Turns rows of two answers into pairs of conversations for a reward model, as axolotl's bradley_terry.chat_template does. Each
conversation has one label, 0, at the token whose score counts: the last one that is not the padding token, as in transformers."""

import numpy as np

from .chat import encoded
from .chat_spans import Conversation
from .chat_turns import tools_of, turns_of
from .encoders import IGNORED, Example, batches, field_of, integers
from .preference_texts import PAIRED
from .preference_tokens import identity
from .report import Failure


def compared(rows, tokenizer, options, sequence_len):
    """Yields an Example for each row: its chosen and its rejected conversation, each cut to sequence_len as in axolotl."""
    pad = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    items = ((row, [rendered(row, name, tokenizer, options) for name in PAIRED]) for row in rows)
    for batch in batches(items, lambda item: sum(map(len, item[1]))):
        found = iter(encoded([text for _, texts in batch for text in texts], tokenizer))
        for row, texts in batch:
            wholes = [next(found)[0] for _ in texts]
            fate = "cut" if max(map(len, wholes)) > sequence_len else "kept"
            yield pair_of(row, [np.asarray(ids[:sequence_len], np.int64) for ids in wholes], pad, fate)


def rendered(row, name, tokenizer, options):
    """Returns the conversation with one of the answers as the chat template writes it."""
    if "system" not in row.values:
        raise Failure("the row has no field 'system', which axolotl reads here (it may be empty)", str(row.place),
                      f"it has: {', '.join(map(str, row.values))}")
    system = field_of(row, "system")
    said = [("system", system)] if system else []
    said += [("user", field_of(row, "input")), ("assistant", field_of(row, name))]
    talk = row._replace(values={**row.values, "messages": [{"role": role, "content": text} for role, text in said]})
    turns = turns_of(talk, options)
    return Conversation(row.place, turns, tools_of(talk, options), tokenizer, options).render([turn.message for turn in turns])


def pair_of(row, documents, pad, fate):
    documents = [trimmed(ids, pad) for ids in documents]
    if not all(map(len, documents)):
        fate = "short"
    labels = [np.where(np.arange(len(ids)) == len(ids) - 1, 0, IGNORED) for ids in documents]
    return Example(row.place, np.concatenate(documents), np.concatenate(labels), documents=tuple(map(len, documents)), fate=fate,
                   same=identity(row.values))


def trimmed(ids, pad):
    """Removes the tokens after the last one that is not the padding token: no score depends on
    them."""
    others = np.flatnonzero(ids != pad)
    return ids[: others[-1] + 1] if len(others) else ids[:0]


def token_pairs(rows, sequence_len):
    """Yields an Example for each row that already holds token ids. Rows that do not fit are dropped, as TRL does."""
    for row in rows:
        held = [integers(row.values.get(f"{name}_input_ids"), f"{name}_input_ids", row.place) for name in PAIRED]
        yield pair_of(row, held, None, "long" if max(map(len, held)) > sequence_len else "kept")
