"""Tokenizes preferences as TRL 1.16 does: a document is a prompt and an answer, and the answer's tokens are the labels.

DPO and KTO (trl/trainer/dpo_trainer.py, kto_trainer.py) tokenize prompt and answer together, with the tokenizer's own special tokens
and EOS as text; the labels begin where the tokens differ from those of the prompt alone. ORPO and SimPO
(trl/experimental/orpo, cpo) tokenize without special tokens and add the ids of BOS and EOS themselves."""

import json
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from .encoders import IGNORED, Example, batches, eos_of, integers
from .preference_texts import DESIRED, PAIRED
from .report import Failure


class Rules(NamedTuple):
    """Holds the settings that decide how texts become tokens."""

    method: str  # dpo, orpo, simpo or kto
    sequence_len: int
    excess_length: str

    @property
    def names(self):
        return DESIRED if self.method == "kto" else PAIRED


def preferences(rows, read, tokenizer, rules, report):
    """Yields an Example for each row: a chosen and a rejected document, or one document that is desirable or not."""
    eos_of(tokenizer)
    misplaced = []
    texts = ((row, checked(row, read(row), rules)) for row in rows)
    for batch in batches(texts, lambda item: 2 * len(item[1].prompt) + sum(map(len, item[1].answers))):
        misplaced += [row.place for row, item in batch if item.misplaced]
        yield from encoded(batch, tokenizer, rules)
    if misplaced:
        report.warning(f"{len(misplaced)} rows hold an answer that the chat template changes (it removes blanks, for instance), or that "
                       f"also occurs in the template's own text; as in axolotl, the labels then begin elsewhere. The first is {misplaced[0]}")


def checked(row, texts, rules):
    """Returns the texts; raises Failure if axolotl or TRL would refuse the row."""
    if not texts.prompt or not all(texts.answers):
        empty = next(name for name, text in zip(("prompt", *rules.names), (texts.prompt, *texts.answers), strict=True) if not text)
        raise Failure(f"the row's {empty} is empty", str(row.place), f"it has: {', '.join(map(str, row.values))}")
    if rules.method == "kto":
        label_of(row, texts.desirable)
    return texts


def label_of(row, label):
    if label not in (True, False, 0, 1) or "chosen" in row.values and "rejected" in row.values:
        raise Failure("a row under rl: kto has to say in 'label' whether its one completion is desirable: true or false", str(row.place),
                      f"it has: {', '.join(map(str, row.values))}; rows with chosen and rejected answers belong to rl: dpo")
    return bool(label)


def encoded(batch, tokenizer, rules):
    counted = ids_of(tokenizer, [(texts.prompt, *texts.answers) for _, texts in batch])
    fits = [within(texts, parts, tokenizer, rules) for (_, texts), parts in zip(batch, counted, strict=True)]
    joins = rules.method in ("dpo", "kto")
    whole = ids_of(tokenizer, [[texts.prompt, *(texts.prompt + ended(text, tokenizer, joins) for text in answers)]
                               for (_, texts), (answers, _) in zip(batch, fits, strict=True)], special=joins)
    for (row, texts), (answers, fate), parts, (prompt, *wholes) in zip(batch, fits, counted, whole, strict=True):
        make = joined if joins else separate
        documents = [] if fate == "long" else make(prompt, wholes, tokenizer, rules.sequence_len, row.place)
        if not documents or not all(has_label(labels) for _, labels in documents):
            longest = np.asarray(parts[0] + max(parts[1:], key=len), np.int64)
            yield Example(row.place, longest, np.full(len(longest), IGNORED), fate="long")
        else:
            yield example_of(row, documents, texts._replace(answers=answers), fate, rules)


def within(texts, parts, tokenizer, rules):
    """Returns (the answers, "kept", "cut" or "long"), by axolotl's rule: the tokens of the prompt
    and of each answer, counted separately and without special tokens, have to fit into
    sequence_len together."""
    prompt, *answers = parts
    room = rules.sequence_len - len(prompt)
    if all(len(ids) <= room for ids in answers):
        return texts.answers, "kept"
    if rules.excess_length != "truncate" or room <= 0:
        return texts.answers, "long"
    cut = tuple(tokenizer.decode(ids[:room], skip_special_tokens=False) if len(ids) > room else text
                for ids, text in zip(answers, texts.answers, strict=True))
    fits = all(text and len(ids) <= room for text, ids in zip(cut, ids_of(tokenizer, [cut])[0], strict=True))
    return cut, "cut" if fits else "long"  # the text of the first n tokens can be tokenized into more than n tokens


def ids_of(tokenizer, groups, special=False):
    """Returns the token ids of each text of each group."""
    found = iter(tokenizer([text for group in groups for text in group], add_special_tokens=special, return_attention_mask=False)["input_ids"])
    return [[next(found) for _ in group] for group in groups]


def ended(text, tokenizer, joins):
    eos = tokenizer.eos_token
    return text + eos if joins and not text.endswith(eos) else text


def has_label(labels):
    """Returns whether the loss uses any label; the first one has no effect, because nothing predicts a document's first token."""
    return bool((labels[1:] != IGNORED).any())


def joined(prompt, wholes, tokenizer, most, place):
    """Builds documents as DPOTrainer and KTOTrainer do. Returns [(ids, labels)], empty if the prompt alone fills `most` tokens."""
    begin = min(common(prompt, whole) for whole in wholes)
    return [] if begin >= most else [document(whole[:most], begin) for whole in wholes]


def common(ids, others):
    return next((place for place, (one, other) in enumerate(zip(ids, others, strict=False)) if one != other), min(len(ids), len(others)))


def separate(prompt, wholes, tokenizer, most, place):
    """Builds documents as ORPOTrainer and CPOTrainer do. Returns [(ids, labels)]."""
    begins = [len(prompt) - (whole[: len(prompt)] != prompt) for whole in wholes]  # the prompt's last token may merge with the answer's first
    heads = [whole[:begin] for whole, begin in zip(wholes, begins, strict=True)]
    if min(map(len, wholes)) < len(prompt) or sum(one != other for one, other in zip(*heads, strict=False)) > 1:
        raise Failure("the tokens of the prompt change with the answer in more than the last place, which TRL refuses", str(place),
                      "end the prompt where a token ends: with a line break, for instance")
    return [finished(head, whole[begin:], tokenizer, most) for head, whole, begin in zip(heads, wholes, begins, strict=True)]


def finished(prompt, answer, tokenizer, most):
    """Adds BOS and EOS where they are missing, and cuts the answer."""
    bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
    prompt = [bos, *prompt] if bos is not None and prompt[:1] != [bos] else prompt
    answer = answer if answer[-1:] == [eos] else [*answer, eos]
    return document([*prompt, *answer[: max(0, most - len(prompt))]], len(prompt))


def document(ids, begin):
    ids = np.asarray(ids, np.int64)
    return ids, np.concatenate([np.full(min(begin, len(ids)), IGNORED), ids[begin:]])


def example_of(row, documents, texts, fate, rules):
    ids, labels = (np.concatenate(part) for part in zip(*documents, strict=True))
    shown = {name: value for name, value in row.values.items() if value is not None and name not in texts.dropped}
    shown |= {"prompt": texts.prompt, **dict(zip(rules.names, texts.answers, strict=True))}
    return Example(row.place, ids, labels, documents=tuple(len(part) for part, _ in documents), fate=fate, same=identity(shown),
                   desirable=label_of(row, texts.desirable) if rules.method == "kto" else None)


def identity(values):
    """Returns the fields that dataset_exact_deduplication compares: all fields of the row, with
    axolotl's texts in place of the original ones."""
    return blake2b(json.dumps(values, sort_keys=True, default=str).encode(), digest_size=16).digest()


def token_preferences(rows, rules):
    """Yields an Example for each row that already holds token ids and labels."""
    parts = ("",) if rules.method == "kto" else ("chosen_", "rejected_")
    for row in rows:
        names = [f"{part}{name}" for part in parts for name in ("input_ids", "labels")]
        missing = next((name for name in names if row.values.get(name) is None), None)
        if missing:
            raise Failure(f"the row has no field {missing!r}", str(row.place), f"rows of tokens under rl: {rules.method} have {', '.join(names)}")
        held = [integers(row.values[name], name, row.place) for name in names]
        documents = list(zip(held[::2], held[1::2], strict=True))
        if any(len(ids) != len(labels) for ids, labels in documents):
            raise Failure("input_ids and labels have unequal lengths", str(row.place))
        ids, labels = (np.concatenate(part) for part in zip(*cut(documents, rules), strict=True))
        yield Example(row.place, ids, labels, documents=tuple(len(part) for part, _ in cut(documents, rules)),
                      fate=fate_of(documents, rules), desirable=label_of(row, row.values.get("label")) if rules.method == "kto" else None)


def cut(documents, rules):
    most = rules.sequence_len if rules.excess_length == "truncate" else None
    return [(ids[:most], labels[:most]) for ids, labels in documents]


def fate_of(documents, rules):
    if not all(has_label(labels) for _, labels in cut(documents, rules)):
        return "short" if max(len(ids) for ids, _ in documents) <= rules.sequence_len else "long"
    if max(len(ids) for ids, _ in documents) <= rules.sequence_len:
        return "kept"
    return "cut" if rules.excess_length == "truncate" else "long"
