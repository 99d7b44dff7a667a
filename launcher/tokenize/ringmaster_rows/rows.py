"""Reads the rows of a Source, each with its place, so that a broken one can be named by file and line. JSON lines are read here, line
by line. `datasets` reads the formats in which a row's number suffices (Parquet, Arrow, CSV, text, saved datasets, the hub),
streaming if the files are local."""

import bz2
import gzip
import json
import lzma
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from .cache import is_saved_dataset
from .hub import first_line, from_hub, hub_failure
from .report import Failure
from .sources import as_list, ds_type

LONGEST_LINE = 1 << 28  # bytes of one row
OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class Place(NamedTuple):
    file: str
    unit: str  # "line" or "row"
    number: int

    def __str__(self):
        return f"{self.file}, {self.unit} {self.number}"


class Row(NamedTuple):
    place: Place
    values: dict


def read_rows(source, default_split, seed, report):
    """Returns the Rows of the source's split, or of one shard of it. `default_split` is used if there are several and the entry names
    none."""
    shards = source.entry.get("shards")
    if not shards:
        yield from split_rows(source, default_split, report)
        return
    chosen = shard_rows(sum(1 for _ in split_rows(source, default_split, report)), shards, source.entry.get("shards_idx") or 0, seed)
    places = {index: place for place, index in enumerate(chosen)}
    held = [None] * len(chosen)
    for index, row in enumerate(split_rows(source, default_split, report)):
        if index in places:
            held[places[index]] = row
    yield from held


def shard_rows(count, shards, index, seed):
    """Returns the rows of a shard, in order: as in axolotl, all rows are shuffled by `seed` first."""
    import numpy as np

    begin = count // shards * index + min(index, count % shards)
    end = begin + count // shards + (index < count % shards)
    return np.random.default_rng(seed).permutation(count)[begin:end].tolist()


def split_rows(source, default_split, report):
    split, sliced = split_of(source)
    if not source.local:
        yield from hub_rows(source, default_split, report)
        return
    if source.folder and is_saved_dataset(source.folder):
        def rows():
            return saved_rows(source, split or default_split, report)
    else:
        files = files_of_split(source, split, default_split)

        def rows():
            return (row for file in files for row in file_rows(source, file, report))
    yield from take_slice(rows, sliced, source) if sliced else rows()


def split_of(source):
    """Returns (split, slice): ("train", "train[:10%]") for `split: train[:10%]`. The second is empty for a whole split."""
    asked = str(source.entry.get("split") or "")
    name = asked.split("[")[0].split("+")[0]
    return name, asked if asked != name else ""


def take_slice(rows, sliced, source):
    from datasets import ReadInstruction

    count = sum(1 for _ in rows())
    try:
        instruction = ReadInstruction.from_spec(sliced)
        ranges = [(part.from_, part.to) for part in instruction.to_absolute({split_of(source)[0]: count})]
    except Exception as error:
        raise Failure(f"split {sliced}: {first_line(error)}", f"{source.key}.split") from error
    for begin, end in ranges:
        for index, row in enumerate(rows()):
            if index >= end:
                break
            if index >= begin:
                yield row


def files_of_split(source, split, default_split):
    """Returns the files to read: all that were named, or those that `datasets` assigns to the split of a folder."""
    if not source.folder or as_list(source.entry.get("data_files")):
        if split not in ("", "train"):
            raise Failure(f"there is no split {split}: files that are named hold one split, train",
                          f"{source.key}.split", "leave `split` out")
        return source.files
    from datasets import load_dataset_builder

    try:
        by_split = load_dataset_builder(str(source.folder), name=source.entry.get("name")).config.data_files
    except Exception as error:
        raise Failure(f"no data files found in the folder: {first_line(error)}", str(source.folder),
                      "name them in `data_files`") from error
    return [Path(file) for file in of_split(by_split, split or default_split, source)]


def of_split(splits, split, source):
    old = source.entry.get("train_on_split")  # axolotl's key until early 2024, for data without a split named train
    if split not in splits and not source.entry.get("split") and old in splits:
        return splits[old]
    if split in splits:
        return splits[split]
    raise Failure(f"no split {split} in {source.name}", f"{source.key}.split", f"there is: {', '.join(map(str, splits))}")


def file_rows(source, file, report):
    kind = ds_type(source, file)
    if kind == "json":
        return json_rows(file, report)
    return streamed_rows(kind, file, report)


def streamed_rows(kind, file, report):
    from datasets import load_dataset

    with failures_name(file, kind):
        dataset = load_dataset(kind, data_files=[str(file)], split="train", streaming=True)
        rows = iter(dataset)
    number = 0
    while True:
        with failures_name(file, kind):
            values = next(rows, None)
        if values is None:
            break
        number += 1
        report.progress("read", number, 0, file.name)
        yield Row(Place(str(file), "row", number), values)


@contextmanager
def failures_name(file, kind):
    try:
        yield
    except Exception as error:
        raise Failure(f"cannot be read as {kind}: {first_line(error)}", str(file)) from error


def saved_rows(source, split, report):
    from datasets import load_from_disk

    with failures_name(source.folder, "a saved dataset"):
        dataset = load_from_disk(str(source.folder))
    if isinstance(dataset, dict):
        dataset = of_split(dataset, split, source)
    yield from numbered(dataset, str(source.folder), report)


def parts_of(source, default_split, report):
    """Returns functions that each read the rows of one part of a stream. Parts are files, whose order `datasets` shuffles."""
    if not source.local:
        dataset = hub_dataset(source, default_split, report)
        count = getattr(dataset, "num_shards", 1)
        names = [source.address] if count == 1 else [f"{source.address}, part {index + 1}" for index in range(count)]
        return [partial(numbered_part, dataset, count, index, name, report) for index, name in enumerate(names)]
    split, _ = split_of(source)
    if source.folder and is_saved_dataset(source.folder):
        return [partial(saved_rows, source, split or default_split, report)]
    return [partial(file_rows, source, file, report) for file in files_of_split(source, split, default_split)]


def numbered_part(dataset, count, index, name, report):
    yield from numbered(dataset.shard(num_shards=count, index=index) if count > 1 else dataset, name, report)


def hub_rows(source, default_split, report):
    yield from numbered(hub_dataset(source, default_split, report), source.address, report)


def hub_dataset(source, default_split, report):
    entry, address = source.entry, source.address
    report.progress("fetch", 0, 0, address)
    if "://" in address:
        dataset = from_url(source)
    else:
        with from_hub(address, "dataset", f"{source.key}.path", f"{address}, which is no local file or folder,"):
            from datasets import load_dataset

            dataset = load_dataset(address, name=entry.get("name"), split=entry.get("split"), revision=entry.get("revision"),
                                   data_files=as_list(entry.get("data_files")) or None, streaming=bool(entry.get("streamed")))
    return of_split(dataset, default_split, source) if isinstance(dataset, dict) else dataset


def from_url(source):
    from datasets import load_dataset

    try:
        return load_dataset(ds_type(source, Path(source.address)), data_files=source.address,
                            split=source.entry.get("split") or "train", streaming=bool(source.entry.get("streamed")))
    except Exception as error:
        raise hub_failure(error, source.address, f"{source.key}.path") from error


def numbered(dataset, name, report):
    for number, values in enumerate(dataset, 1):
        report.progress("read", number, len(dataset) if hasattr(dataset, "__len__") else 0, Path(name).name)
        yield Row(Place(name, "row", number), values)


def json_rows(file, report, most_array_bytes=None):
    """Yields the rows of a file of JSON lines, or of one JSON array of at most `most_array_bytes`, after decompression."""
    try:
        with OPENERS.get(file.suffix, open)(file, "rb") as stream:
            begin = stream.peek(1 << 16)[: 1 << 16].lstrip(b"\xef\xbb\xbf \t\r\n")
            if begin.startswith(b"["):
                yield from array_rows(file, stream, most_array_bytes)
            else:
                yield from line_rows(file, stream, report)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise Failure(f"cannot be read: {first_line(error)}", str(file)) from error


def line_rows(file, stream, report):
    size, done = file.stat().st_size, 0
    compressed = file.suffix in OPENERS
    for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE + 1), b""), 1):
        done += len(line)
        if len(line) > LONGEST_LINE:
            raise Failure(f"the line has more than {LONGEST_LINE} bytes", f"{file}, line {number}", "a JSON file holds one array of rows, or one row a line")
        report.progress("read", 0 if compressed else done, 0 if compressed else size, file.name)
        if line.isspace():
            continue
        place = Place(str(file), "line", number)
        values = parse(line, place)
        if not isinstance(values, dict):
            raise Failure(f"a row has to be a JSON object, not {json_kind(values)}", str(place))
        yield Row(place, values)


def parse(line, place):
    try:
        return json.loads(line.decode("utf-8-sig" if place.number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        raise Failure(f"not valid UTF-8: byte 0x{line[error.start]:02x} in column {error.start + 1}", str(place)) from error
    except ValueError as error:
        column = f" (column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        message = error.msg if isinstance(error, json.JSONDecodeError) else error
        raise Failure(f"not valid JSON: {message}{column}", str(place), one_row_a_line(line, place)) from error
    except RecursionError as error:
        raise Failure("not valid JSON: nested too deep", str(place)) from error


def one_row_a_line(line, place):
    """Returns a hint if the file looks like one JSON value over many lines."""
    return "a JSON file holds one array of rows, or one row a line" if place.number == 1 and len(line.strip()) < 3 else ""


def array_rows(file, stream, most_bytes):
    """Parses one array as a whole, so it has to fit into memory. Large data belongs in JSON lines or Parquet."""
    try:
        text = stream.read(-1 if most_bytes is None else most_bytes + 1)
        if most_bytes is not None and len(text) > most_bytes:
            raise Failure(f"the array has more than {most_bytes} bytes", str(file), "write one JSON object a line")
        rows = json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Failure(f"not valid UTF-8 at byte {error.start + 1}", str(file)) from error
    except (ValueError, RecursionError) as error:
        place = Place(str(file), "line", getattr(error, "lineno", 1))
        raise Failure(f"not valid JSON: {getattr(error, 'msg', error)}", str(place)) from error
    for number, values in enumerate(rows, 1):
        place = Place(str(file), "row", number)
        if not isinstance(values, dict):
            raise Failure(f"a row has to be a JSON object, not {json_kind(values)}", str(place))
        yield Row(place, values)


def json_kind(value):
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return kinds.get(type(value), "null" if value is None else type(value).__name__)
