"""Reads pretraining_dataset: streamed texts, as far as the run needs them, in the stream's own shuffled order."""

import numpy as np

from .encoders import Example, batches, eos_of, field_of

STRIDE = 256  # tokens that a window shares with the previous one, as in axolotl
BUFFER_ROWS = 10_000


def pretrain(rows, entry, tokenizer, sequence_len, packed):
    """With packing, yields overlapping windows of sequence_len tokens, each with an end-of-text token; otherwise only the text's first
    tokens."""
    name, eos = entry.get("text_column") or "text", eos_of(tokenizer)
    windows = {"max_length": sequence_len - 1, "return_overflowing_tokens": True, "stride": min(STRIDE, (sequence_len - 1) // 2)}
    limit = windows if packed else {"max_length": sequence_len - 2}
    texts = ((row.place, field_of(row, name)) for row in rows)
    for batch in batches(texts, lambda item: len(item[1])):
        found = tokenizer([text for _, text in batch], truncation=True, add_special_tokens=True, return_attention_mask=False, **limit)
        sources = found.get("overflow_to_sample_mapping") or range(len(batch))
        for source, ids in zip(sources, found["input_ids"], strict=True):
            ids = np.asarray([*ids, eos] if packed else ids, np.int64)
            yield Example(batch[source][0], ids, ids)


def shuffled_stream(rows, seed, buffer_rows):
    """Yields the rows in the order of `datasets.IterableDataset.shuffle(seed, buffer_size)`: a full buffer is shuffled, and half of it
    is emitted."""
    generator, held, kept = np.random.default_rng(seed), [], buffer_rows // 2
    for row in rows:
        held.append(row)
        if len(held) >= buffer_rows:
            held = [held[place] for place in generator.permutation(len(held))]
            given = len(held) - kept
            yield from held[:given]
            held = held[given:]
    yield from (held[place] for place in generator.permutation(len(held)))


class Enough:
    """Decides whether the rows so far are enough for the run; packed rows are counted by next-fit."""

    def __init__(self, rows, sequence_len, packed):
        self._left, self._length, self._packed, self._room = rows, sequence_len, packed, 0

    def __call__(self, length):
        if self._left is None:
            return False
        if not self._packed or length > self._room:
            self._left -= 1
            self._room = self._length
        self._room -= length
        return self._left < 0
