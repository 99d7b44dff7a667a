"""Writes tokens.safetensors: `input_ids` I32 [N], `labels` I32 [N] (-100 = none; not shifted), `row_offsets` I64 [rows+1]; for packed
rows and under `rl` also `document_offsets` I64 [documents+1]; under rl: kto also `desirable` I32 [documents]; for a reward model
`own_labels` I32 [1]: a label belongs to its own token, not to the one before; under rl: grpo
also `advantages` F64 [documents] and `old_log_probabilities` F64 [N] (NaN: not given). Rows go to disk as they arrive and are
joined into the file at the end, so memory stays bounded."""

import json
from hashlib import blake2b
from pathlib import Path

import numpy as np

COPY_TOKENS = 1 << 22
PARTS = {"input_ids": "<i4", "labels": "<i4", "old_log_probabilities": "<f8"}  # one value for each token
WORDS = {"i": "I", "f": "F"}  # numpy's kind of a type → the format's letter


class Rows:
    """Collects rows on disk. Call `close` before reading them."""

    def __init__(self, folder, name, own_labels=False):
        self._paths = {part: Path(folder, f"{name}.{part}") for part in PARTS}
        self._files = {part: open(path, "wb") for part, path in self._paths.items()}
        self.lengths = []
        self.documents = []  # under `rl`: lengths of each row's documents
        self.desirable = []  # the rows' labels, under rl: kto
        self.advantages = []  # one per document, under rl: grpo
        self.fields = []  # rows of prompts, as JSON
        self.own_labels = own_labels  # true: a label belongs to its own token, not to the one before
        self.label_count = 0
        self.made = 0  # examples made, including those that the length rules dropped
        self.positions = []  # index of each kept row among the examples made
        self.made_by_source = []
        self.digests = []
        self.packed = []  # only for a stream: indices of each packed row's documents

    def add(self, example):
        ids, labels = (part.astype("<i4").tobytes() for part in (example.input_ids, example.labels))
        self._files["input_ids"].write(ids)
        self._files["labels"].write(labels)
        self.lengths.append(len(example.input_ids))
        self.documents += [example.documents] if example.documents else []
        self.desirable += [example.desirable] if example.desirable is not None else []
        if example.rollout:
            self._files["old_log_probabilities"].write(example.rollout.old_log_p.tobytes())
            self.advantages.append(example.rollout.advantage)
        self.fields += [example.fields] if example.fields else []
        self.positions.append(self.made)
        self.digests.append(example.same or blake2b(ids + labels, digest_size=16).digest())
        self.label_count += int(np.count_nonzero(example.labels != -100))

    def close(self):
        for file in self._files.values():
            file.close()

    def part(self, name):
        if not sum(self.lengths):
            return np.zeros(0, PARTS[name])
        return np.memmap(self._paths[name], PARTS[name], "r")

    def parts(self):
        """Returns the names of the tensors with one value for each token."""
        return [name for name in PARTS if name != "old_log_probabilities" or self.advantages]

    def remove(self):
        for path in self._paths.values():
            path.unlink()


def write_tokens(path, rows, packed, progress, with_documents):
    """Writes rows, each a list of indices of `rows`; returns (number of tokens, the longest row's or document's length).

    `progress` gets the rows written so far; each row is written once for each part: as tokens, as labels, …
    """
    lengths = np.asarray(rows.lengths, np.int64)
    begins = np.concatenate([[0], np.cumsum(lengths)])
    chosen = np.array([index for row in packed for index in row], np.int64)
    ends = np.cumsum(lengths[chosen])
    lasts = np.cumsum([len(row) for row in packed]) - 1
    tensors = {"row_offsets": np.concatenate([[0], ends[lasts]]).astype("<i8")}
    documents = [length for index in chosen for length in rows.documents[index]] if rows.documents else lengths[chosen]
    if with_documents:
        tensors["document_offsets"] = np.concatenate([[0], np.cumsum(documents)]).astype("<i8")
    if rows.desirable:
        tensors["desirable"] = np.array([rows.desirable[index] for index in chosen], "<i4")
    if rows.own_labels:
        tensors["own_labels"] = np.ones(1, "<i4")
    if rows.advantages:
        tensors["advantages"] = np.array([rows.advantages[index] for index in chosen], "<f8")
    count, parts = int(ends[-1]), rows.parts()
    with open(path, "wb") as file:
        file.write(header(count, parts, tensors))
        for number, name in enumerate(parts):
            done = number * count
            for begin, end in runs(begins, chosen):
                file.write(rows.part(name)[begin:end].tobytes())
                done += end - begin
                progress(len(packed) * done // (len(parts) * count), len(packed))
        for tensor in tensors.values():
            file.write(tensor.tobytes())
    return count, int(max(documents, default=0))


def runs(begins, chosen):
    """Yields the token ranges of the chosen rows; joins adjacent ranges, up to COPY_TOKENS."""
    breaks = np.flatnonzero(np.diff(chosen) != 1) + 1
    for run in np.split(chosen, breaks):
        if len(run):
            begin, end = int(begins[run[0]]), int(begins[run[-1] + 1])
            for cut in range(begin, end, COPY_TOKENS):
                yield cut, min(cut + COPY_TOKENS, end)


def header(count, parts, more):
    """Returns the format's 8 bytes of length and its JSON, padded with spaces so that the tensors begin at a multiple of 8."""
    kinds = {**{name: (np.dtype(PARTS[name]), count) for name in parts}, **{name: (tensor.dtype, len(tensor)) for name, tensor in more.items()}}
    tensors, begin = {}, 0
    for name, (dtype, length) in kinds.items():
        end = begin + length * dtype.itemsize
        tensors[name] = {"dtype": f"{WORDS[dtype.kind]}{8 * dtype.itemsize}", "shape": [length], "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(tensors).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text
