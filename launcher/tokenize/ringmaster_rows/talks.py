"""Encodes rows of segments or turns that no Jinja template renders: input_output, pygmalion, llama2_chat."""

import numpy as np

from .encoders import IGNORED, Example, check_text, eos_of, token_ids
from .instruct import with_ends
from .report import Failure
from .rows import json_kind


def list_of(row, name, *keys):
    """Returns the dictionaries in a field, each with all `keys`."""
    values = row.values.get(name)
    if not isinstance(values, list):
        raise Failure(f"field {name!r} has to be a list, not {json_kind(values)}", str(row.place),
                      f"the row has: {', '.join(map(str, row.values)) or 'none'}")
    for index, value in enumerate(values):
        missing = [key for key in keys if not isinstance(value, dict) or key not in value]
        if missing:
            raise Failure(f"entry {index} of {name!r} has no {missing[0]!r}", str(row.place))
    return values


def example(place, ids, labels):
    return Example(place, np.asarray(ids, np.int64), np.asarray(labels, np.int64))


def input_output(rows, tokenizer, train_on_inputs):
    """Joins the texts of `segments` and adds nothing; a token is a label if its segment's `label` is true."""
    for row in rows:
        ids, labels = [], []
        for segment in list_of(row, "segments", "label", "text"):
            text = check_text(segment["text"], "text", row.place)
            found = tokenizer(text, add_special_tokens=False)["input_ids"] if text else []
            ids += found
            labels += found if segment["label"] or train_on_inputs else [IGNORED] * len(found)
        yield example(row.place, ids, labels)


class Texts:
    """Tokenizes single texts as axolotl's strategies do: cuts to sequence_len, adds end-of-text, removes BOS."""

    def __init__(self, tokenizer, sequence_len):
        self.tokenizer, self.sequence_len, self.eos = tokenizer, sequence_len, eos_of(tokenizer)

    def __call__(self, text, add_eos, strip_bos):
        ids = token_ids(self.tokenizer, [text], self.sequence_len)[0]
        ids = with_ends(ids, self.eos, 1, self.sequence_len) if add_eos else ids
        return ids[1:] if strip_bos and ids and ids[0] == self.tokenizer.bos_token_id else ids


def pygmalion(rows, tokenizer, sequence_len):
    """Encodes a persona, then turns of `human` and `bot`; the bot's texts are labels."""
    encode = Texts(tokenizer, sequence_len)
    prefix = len(encode("<|model|>", False, True))
    for row in rows:
        ids, labels = [], []
        for message in list_of(row, "conversations", "role", "value"):
            role, text = message["role"], check_text(message["value"], "value", row.place)
            if role == "system":
                found = encode("<|system|>Persona: " + text.removesuffix("\n<START>").strip(), False, False)
            elif role in ("human", "bot"):
                found = encode(f"<|{'user' if role == 'human' else 'model'}|> {text.strip()}", role == "bot", True)
            else:
                raise Failure(f"role {role!r} is none of system, human and bot", str(row.place))
            ids += found
            labels += [IGNORED] * prefix + found[prefix:] if role == "bot" else [IGNORED] * len(found)
        yield example(row.place, ids, labels)


LLAMA2_SYSTEM = (
    "You are a helpful, respectful and honest assistant. Always answer as helpfully as possible, while being safe. "
    "Your answers should not include any harmful, unethical, racist, sexist, toxic, dangerous, or illegal content. "
    "Please ensure that your responses are socially unbiased and positive in nature.\n\n"
    "If a question does not make any sense, or is not factually coherent, explain why instead of answering something not correct. "
    "If you don't know the answer to a question, please don't share false information.")
LLAMA2_ROLES = ("[INST]", "[/INST]")
LLAMA2_ENDS = (" ", " </s><s>")
LLAMA2_BRACKETS = (29961, 518)  # Llama has two ids for "["; axolotl uses only one


def llama2_chat(rows, tokenizer, sequence_len):
    """Encodes Llama 2's prompt. Ids and labels are axolotl's except for its padding, which is left out."""
    padding = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    old, new = LLAMA2_BRACKETS
    for row in rows:
        text = llama2_prompt(row)
        ids = token_ids(tokenizer, [text], sequence_len)[0]
        total = sum(value != padding for value in ids)
        labels = llama2_labels(text, ids, total, tokenizer, sequence_len)
        ids, labels = ([new if value == old and 2 <= index < total - 2 else value for index, value in enumerate(values)]
                       for values in (ids, labels))
        yield example(row.place, ids, labels)


def llama2_prompt(row):
    turns = list_of(row, "conversations", "from", "value")
    system = LLAMA2_SYSTEM
    if turns and turns[0]["from"] == "system":
        system, turns = turns[0]["value"], turns[1:]
    if len(turns) < 2:
        raise Failure("the conversation has fewer than two turns", str(row.place))
    roles = dict(zip(("human", "gpt"), LLAMA2_ROLES, strict=True))
    unknown = next((turn["from"] for turn in turns if turn["from"] not in roles), None)
    if unknown is not None:
        raise Failure(f"role {unknown!r} is neither human nor gpt", str(row.place))
    turns = turns if turns[0]["from"] == "human" else turns[1:]
    if any(roles[turn["from"]] != LLAMA2_ROLES[index % 2] for index, turn in enumerate(turns)):
        raise Failure("human and gpt do not take turns", str(row.place))
    messages = [(roles[turn["from"]], check_text(turn["value"], "value", row.place)) for turn in turns if turn["value"]]
    text = ""
    for index, (role, message) in enumerate(messages):
        if index == len(messages) - 1 and role == LLAMA2_ROLES[0]:
            break
        text += (f"[INST] <<SYS>>\n{system}\n<</SYS>>\n\n{message.strip()}" if index == 0
                 else f"{role} {message.strip()}{LLAMA2_ENDS[index % 2]}")
    return text


def llama2_labels(text, ids, total, tokenizer, sequence_len):
    """Returns the labels of the responses. As in axolotl, nothing is trained if the turns' tokens add up to less than sequence_len and
    not to `total`, the number of tokens without padding."""
    labels, position = list(ids), 1

    def ignore(begin, end):
        labels[begin:end] = [IGNORED] * len(labels[begin:end])

    ignore(0, 1)
    for turn in text.split(LLAMA2_ENDS[1]):
        parts = turn.split(LLAMA2_ROLES[1])
        if turn == "" or len(parts) != 2:
            break
        ignore(position - 1, position + len(tokenizer(parts[0] + LLAMA2_ROLES[1])["input_ids"]) - 1)
        position += len(tokenizer(turn)["input_ids"]) + 2
    ignore(position, len(labels))
    return [IGNORED] * len(labels) if position < sequence_len and position != total else labels
