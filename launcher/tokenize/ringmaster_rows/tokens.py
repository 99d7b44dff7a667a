"""tokens.safetensors: `input_ids` I32 [N], `labels` I32 [N] (-100 = none; not shifted), `row_offsets` I64 [rows+1].

Rows go to disk as they come; the file is put together from them in the end, so memory stays bounded."""

import json
from pathlib import Path

import numpy as np

COPY_TOKENS = 1 << 22


class Rows:
    """Rows on disk while they are collected. `close` before reading them."""

    def __init__(self, folder, name):
        self._paths = {part: Path(folder, f"{name}.{part}") for part in ("input_ids", "labels")}
        self._files = {part: open(path, "wb") for part, path in self._paths.items()}
        self.lengths = []
        self.label_count = 0

    def add(self, input_ids, labels):
        self._files["input_ids"].write(input_ids.astype("<i4").tobytes())
        self._files["labels"].write(labels.astype("<i4").tobytes())
        self.lengths.append(len(input_ids))
        self.label_count += int(np.count_nonzero(labels != -100))

    def close(self):
        for file in self._files.values():
            file.close()

    def part(self, name):
        if not sum(self.lengths):
            return np.zeros(0, "<i4")
        return np.memmap(self._paths[name], "<i4", "r")

    def remove(self):
        for path in self._paths.values():
            path.unlink()


def write_tokens(path, rows, chosen, progress):
    """Writes the rows with the ascending indices `chosen`; returns (number of tokens, longest row)."""
    lengths = np.asarray(rows.lengths, np.int64)
    begins = np.concatenate([[0], np.cumsum(lengths)])
    offsets = np.concatenate([[0], np.cumsum(lengths[chosen])]).astype("<i8")
    count = int(offsets[-1])
    with open(path, "wb") as file:
        file.write(header(count, len(offsets)))
        for number, name in enumerate(("input_ids", "labels")):
            done = number * count
            for begin, end in runs(begins, chosen):
                file.write(rows.part(name)[begin:end].tobytes())
                done += end - begin
                progress(done, 2 * count)
        file.write(offsets.tobytes())
    return count, int(lengths[chosen].max(initial=0))


def runs(begins, chosen):
    """Token ranges of the chosen rows, neighbours joined, none longer than COPY_TOKENS."""
    breaks = np.flatnonzero(np.diff(chosen) != 1) + 1
    for run in np.split(chosen, breaks):
        if len(run):
            begin, end = int(begins[run[0]]), int(begins[run[-1] + 1])
            for cut in range(begin, end, COPY_TOKENS):
                yield cut, min(cut + COPY_TOKENS, end)


def header(count, offsets):
    """The format's 8 bytes of length and JSON, padded with spaces so that the tensors begin at a multiple of 8."""
    sizes = {"input_ids": ("I32", count, 4), "labels": ("I32", count, 4), "row_offsets": ("I64", offsets, 8)}
    tensors, begin = {}, 0
    for name, (dtype, length, width) in sizes.items():
        tensors[name] = {"dtype": dtype, "shape": [length], "data_offsets": [begin, begin + length * width]}
        begin += length * width
    text = json.dumps(tensors).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text
