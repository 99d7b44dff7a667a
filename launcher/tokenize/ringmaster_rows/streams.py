"""Reads streams: rows that are read as far as the run needs them, in the order in which `datasets` shuffles an IterableDataset.
axolotl streams `pretraining_dataset`, and `datasets` under `streaming: true`."""

from itertools import count, islice

import numpy as np

from .encoders import Example, batches, eos_of, field_of
from .report import Failure
from .rows import parts_of

STRIDE = 256  # tokens that a window shares with the previous one, as in axolotl
BUFFER_ROWS = 10_000


def is_pretraining(entry):
    """Returns whether the entry is `pretraining_dataset`, whose texts axolotl reads in ways of its own."""
    return bool(entry.get("pretraining")) or entry.get("type") == "pretrain"


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


class Stream:
    """The rows of a run's sources as one stream, pass after pass.

    axolotl shuffles rows before it encodes them if it packs them or pretrains on them, and examples after it encoded them otherwise.
    `datasets` shuffles small places here, which `_held` turns into the rows or examples, so that these are never copied.
    """

    def __init__(self, request, sources, encode, count_rows, report):
        self._request, self._sources, self._encode, self._count_rows, self._report = request, sources, encode, count_rows, report
        self._held, self._places = {}, count()
        options = request["tokenization"]
        self._shuffles = options.get("shuffle_merged_datasets") is not False
        self._buffer_rows = options.get("streaming_multipack_buffer_size") or BUFFER_ROWS
        self._rows_first = request["sample_packing"] or is_pretraining(sources[0].entry)
        if self._rows_first and len(sources) > 1:
            raise Failure("axolotl packs only one dataset of a stream", sources[1].key, "remove streaming, or the other datasets")
        self._dataset = self._of_rows() if self._rows_first else self._of_examples()

    def groups(self):
        """Yields iterables of examples, endlessly: a buffer's, which are packed together, or those of a whole pass; and None after each
        pass. Later passes have another order, as `IterableDataset.set_epoch` gives it."""
        for number in count():
            self._dataset.set_epoch(number)
            items = (self._held.pop(item["place"]) for item in self._dataset)
            if not self._rows_first:
                yield items
            elif not self._request["sample_packing"]:
                yield self._encode(self._sources[0], items)
            else:
                while buffer := list(islice(items, self._buffer_rows)):
                    yield self._encode(self._sources[0], iter(buffer))
            yield None

    def _of_rows(self):
        rows = self._places_of(self._sources[0], lambda rows: rows)
        if skipped := self._sources[0].entry.get("skip"):
            rows = rows.skip(skipped)
        return rows.shuffle(seed=self._request["seed"], buffer_size=self._buffer_rows) if self._shuffles else rows

    def _of_examples(self):
        from datasets import concatenate_datasets

        seed = self._request["seed"]
        parts = [self._places_of(source, lambda rows, source=source: self._encode(source, rows)) for source in self._sources]
        if len(parts) > 1 and self._request["tokenization"].get("shuffle_before_merging_datasets"):
            parts = [part.shuffle(seed=seed) for part in parts]
        merged = concatenate_datasets(parts) if len(parts) > 1 else parts[0]
        return merged.shuffle(seed=seed) if self._shuffles else merged

    def _places_of(self, source, make):
        """Returns an IterableDataset with a place in `_held` for each item that `make` makes of the source's rows. Its shards are the
        source's files."""
        from datasets import DatasetInfo, Features, IterableDataset, Value
        from datasets.iterable_dataset import ExamplesIterable

        readers = parts_of(source, "train", self._report)

        def places(parts):
            for part in parts:
                for item in make(self._count_rows(readers[part]())):
                    place = next(self._places)
                    self._held[place] = item
                    yield place, {"place": place}

        return IterableDataset(ExamplesIterable(places, {"parts": list(range(len(readers)))}), DatasetInfo(features=Features({"place": Value("int64")})))
