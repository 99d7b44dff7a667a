"""Finds the files that a dataset entry means, and hashes their content. Uses only the standard library, so that a cached answer does
not wait for imports."""

import glob
import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from .report import USAGE, Failure

SUFFIX_TYPES = {".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet", ".arrow": "arrow",
                ".csv": "csv", ".txt": "text"}
DS_TYPES = {"json": "json", "jsonl": "json", "parquet": "parquet", "arrow": "arrow", "csv": "csv", "text": "text"}
COMPRESSIONS = (".gz", ".bz2", ".xz")
CHUNK_BYTES = 1 << 22


@dataclass
class Source:
    """Describes one entry of `datasets` or `test_datasets`: files, a folder (of data files, or
    saved by `datasets`), or an address for the hub's client."""

    entry: dict
    key: str  # key of the entry in the configuration: "datasets.0"
    address: str = ""
    folder: Path | None = None
    files: list[Path] = field(default_factory=list)

    @property
    def local(self):
        return not self.address

    @property
    def name(self):
        return self.address or (self.folder or self.files[0]).name


def find_source(entry, key, base_dir):
    path, data_files = str(entry.get("path") or ""), as_list(entry.get("data_files"))
    if not path:
        raise Failure(f"{key} has no path", key, "name a file, a folder or a dataset of the hub", USAGE)
    location = Path(base_dir, os.path.expanduser(path))
    if location.is_file():
        return Source(entry, key, files=[location])
    if location.is_dir():
        if not data_files:
            return folder_source(entry, key, location)
        files = [file for pattern in data_files for file in expand(pattern, [location, Path(base_dir)], key)]
        return Source(entry, key, folder=location, files=files)
    if glob.has_magic(path):
        return Source(entry, key, files=expand(path, [Path(base_dir)], key))
    if path in DS_TYPES and data_files:  # load_dataset's form: `path` is the type, `data_files` the files
        return Source({**entry, "ds_type": path}, key,
                      files=[file for pattern in data_files for file in expand(pattern, [Path(base_dir)], key)])
    if looks_local(path):
        raise Failure(f"no such file or folder: {location}", f"{key}.path", nearest(location), USAGE)
    return Source(entry, key, address=path)


def folder_source(entry, key, folder):
    files = files_below(folder)
    if not files:
        raise Failure(f"no data files in the folder {folder}", f"{key}.path", "", USAGE)
    return Source(entry, key, folder=folder, files=files)


def files_below(folder):
    return sorted(file for file in folder.rglob("*")
                  if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts))


def expand(pattern, folders, key):
    for folder in folders:
        matches = sorted(Path(match) for match in glob.glob(str(folder / pattern), recursive=True))
        files = [match for match in matches if match.is_file()]
        if files:
            return files
    raise Failure(f"no file matches {pattern} in {folders[0]}", f"{key}.data_files", "", USAGE)


def as_list(value):
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def looks_local(path):
    """Returns whether the text is a path. A hub id is `name` or `owner/name`; anything else, or a name that ends like a data file, is
    a path."""
    if "://" in path:
        return False
    return not re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", path) or data_type_of(Path(path)) is not None


def nearest(location):
    """Returns the hint for a missing path: names in the same folder."""
    folder = location.parent
    while not folder.is_dir():
        folder = folder.parent
    there = sorted(item.name for item in folder.iterdir() if not item.name.startswith("."))[:8]
    return f"in {folder} there is: {', '.join(there)}" if there else f"{folder} is empty"


def data_type_of(file):
    suffixes = [suffix for suffix in file.suffixes if suffix not in COMPRESSIONS]
    return SUFFIX_TYPES.get(suffixes[-1].lower()) if suffixes else None


def ds_type(source, file):
    """Returns the reader for a file: `ds_type`, else its extension, else JSON (as in axolotl)."""
    asked = source.entry.get("ds_type")
    if asked is None:
        return data_type_of(file) or "json"
    if asked not in DS_TYPES:
        raise Failure(f"ds_type {asked} is not supported", f"{source.key}.ds_type", f"one of {', '.join(DS_TYPES)}")
    return DS_TYPES[asked]


class ContentHashes:
    """Remembers the hashes of files' content by path, size, times and inode, so that asking again costs a `stat`."""

    def __init__(self, memory, report):
        self._memory, self._report = Path(memory), report
        try:
            self._known = json.loads(self._memory.read_text())
        except (OSError, ValueError):
            self._known = {}
        self._changed = False

    def of(self, file):
        path, stat = str(file.absolute()), file.stat()
        stamp = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
        known = self._known.get(path)
        if known and known[:-1] == stamp:
            return known[-1]
        digest = hash_file(file, stat.st_size, self._report)
        self._known[path] = [*stamp, digest]
        self._changed = True
        return digest

    def save(self):
        if not self._changed:
            return
        known = {path: value for path, value in self._known.items() if os.path.exists(path)}
        aside = self._memory.with_name(f"{self._memory.name}.{os.getpid()}")
        aside.write_text(json.dumps(known))
        os.replace(aside, self._memory)


def hash_file(file, size, report):
    digest, done = hashlib.blake2b(digest_size=20), 0
    with open(file, "rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            report.progress("hash", done, size, file.name)
    return digest.hexdigest()
