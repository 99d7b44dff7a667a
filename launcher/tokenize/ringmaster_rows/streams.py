"""Reads streams: rows that are read as far as the run needs them, in the order in which `datasets` shuffles an IterableDataset.
axolotl streams `pretraining_dataset`, and `datasets` under `streaming: true`."""

from itertools import count, islice
from threading import Lock

import numpy as np

from .encoders import Example, batches, eos_of, field_of
from .report import Failure
from .rows import parts_of

STRIDE = 256  # tokens that a window shares with the previous one, as in axolotl
BUFFER_ROWS = 10_000
TABLE_ROWS = 100


def is_pretraining(entry):
    """Returns whether the entry is `pretraining_dataset`, whose texts axolotl encodes in a special way."""
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

    axolotl shuffles the rows before encoding if it packs them or pretrains on them; otherwise it shuffles the encoded examples.
    Here `datasets` shuffles only numbers, which `_held` turns into the rows or examples.
    """

    def __init__(self, request, sources, encode, count_rows, report):
        self._request, self._sources, self._encode, self._count_rows, self._report = request, sources, encode, count_rows, report
        self._held, self._numbers, self._unskipped, self._lock = {}, count(), 0, Lock()
        options = request["tokenization"]
        self._shuffles = options.get("shuffle_merged_datasets") is not False
        self._buffer_rows = options.get("streaming_multipack_buffer_size") or BUFFER_ROWS
        self._rows_first = request["sample_packing"] or is_pretraining(sources[0].entry)
        if self._rows_first and len(sources) > 1:
            raise Failure("axolotl packs only one dataset of a stream", sources[1].key, "remove streaming, or the other datasets")
        self._dataset = self._of_rows() if self._rows_first else self._of_examples()

    def groups(self):
        """Yields iterables of examples, endlessly, and None after each pass. An iterable has the examples of one buffer, which are packed
        together, or of a whole pass. Each pass has a different order, as `IterableDataset.set_epoch` gives it."""
        for epoch in count():
            self._dataset.set_epoch(epoch)
            self._unskipped = self._skip()
            items = (self._held.pop(item["number"]) for item in self._dataset)
            if not self._rows_first:
                yield items
            elif not self._request["sample_packing"]:
                yield self._encode(self._sources[0], items)
            else:
                while buffer := list(islice(items, self._buffer_rows)):
                    yield self._encode(self._sources[0], iter(buffer))
            yield None

    def _hold(self, items):
        """Holds the next item and returns its number, or None at the end. `datasets` reads files in
        threads of its own, but a reader or a tokenizer can serve only one thread at a time."""
        with self._lock:
            item = next(items, None)
            if item is None:
                return None
            number = next(self._numbers)
            if self._unskipped:  # the rows that `skip` leaves out come first
                self._unskipped -= 1
            else:
                self._held[number] = item
            return number

    def _skip(self):
        return self._sources[0].entry.get("skip") or 0

    def _of_rows(self):
        """Reads rows in tables as `datasets` does, because it interleaves and shuffles files table by table."""
        import pyarrow as pa
        from datasets.iterable_dataset import ArrowExamplesIterable

        numbers, parts = self._numbers_of(self._sources[0], lambda rows: rows)

        def tables(parts):
            found = numbers(parts)
            while batch := [number for number, _ in islice(found, TABLE_ROWS)]:
                yield batch[0], pa.table({"number": batch})

        rows = dataset_of(ArrowExamplesIterable(tables, parts))
        if self._skip():
            rows = rows.skip(self._skip())
        return rows.shuffle(seed=self._request["seed"], buffer_size=self._buffer_rows) if self._shuffles else rows

    def _of_examples(self):
        from datasets import concatenate_datasets
        from datasets.iterable_dataset import ExamplesIterable

        seed = self._request["seed"]
        parts = [dataset_of(ExamplesIterable(*self._numbers_of(source, lambda rows, source=source: self._encode(source, rows))))
                 for source in self._sources]
        if len(parts) > 1 and self._request["tokenization"].get("shuffle_before_merging_datasets"):
            parts = [part.shuffle(seed=seed) for part in parts]
        merged = concatenate_datasets(parts) if len(parts) > 1 else parts[0]
        return merged.shuffle(seed=seed) if self._shuffles else merged

    def _numbers_of(self, source, make):
        """Returns (a generator function, its arguments) for an IterableDataset whose shards are the source's files. It holds each item
        that `make` makes of the rows and yields its number."""
        readers = parts_of(source, "train", self._report)

        def numbers(parts):
            for part in parts:
                items = iter(make(self._count_rows(readers[part]())))
                while (number := self._hold(items)) is not None:
                    yield number, {"number": number}

        return numbers, {"parts": list(range(len(readers)))}


def dataset_of(examples):
    from datasets import DatasetInfo, Features, IterableDataset, Value

    return IterableDataset(examples, DatasetInfo(features=Features({"number": Value("int64")})))
