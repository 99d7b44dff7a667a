"""Keeps the results of requests in DIR/<key>/{tokens.safetensors, eval.safetensors, summary.json}. The key is a hash of the
request, of the content of every local file that it names, of the tokenizer's files and of this program, so a result is
never out of date. A dataset or tokenizer of the hub counts by its name and revision.

Uses only the standard library, so that a cached answer does not wait for imports."""

import hashlib
import json
import os
import shutil
import socket
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .report import USAGE, Failure
from .sources import ContentHashes, find_source, folder_source

TOKENIZER_FILES = ("*token*", "*vocab*", "merges.txt", "*.model*", "tekken.json", "*.tiktoken", "chat_template*", "*.jinja", "config.json")
LIBRARIES = ("tokenizers", "transformers", "datasets", "mistral-common")


class Request:
    """Reads the request file, finds its sources and fills in its defaults."""

    DEFAULTS = {"datasets": [], "test_datasets": [], "special_tokens": {}, "tokenization": {}, "tokenizer": "",
                "base_dir": "", "sequence_len": 512, "excess_length": "drop", "val_set_size": 0, "seed": 42,
                "curriculum_sampling": False, "sample_packing": False, "dataset_prepared_path": "", "vocab_size": None, "row_limit": None,
                "preference": "", "completion_tokens": 0, "token_labels": 0}

    def __init__(self, values):
        unknown = sorted(set(values) - set(self.DEFAULTS))
        if unknown:
            raise Failure(f"the request has unknown keys: {', '.join(unknown)}", "", "", USAGE)
        self.values = self.DEFAULTS | {key: value for key, value in values.items() if value is not None}
        base_dir = self["base_dir"] or os.getcwd()
        self.base_dir = Path(base_dir)
        self.test_sources = [find_source(entry, f"test_datasets.{i}", base_dir)
                             for i, entry in enumerate(expanded(entries(self["test_datasets"], "test_datasets")))]
        self.prepared = find_prepared(self)
        self.sources = [self.prepared] if self.prepared else [
            find_source(entry, f"datasets.{i}", base_dir)
            for i, entry in enumerate(expanded(entries(self["datasets"], "datasets")))]
        if not self.sources:
            raise Failure("there is no dataset", "datasets", "name one under `datasets`")

    def __getitem__(self, key):
        return self.values[key]


def entries(value, key):
    """Returns `datasets` as a list of mappings."""
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise Failure(f"{key} has to be a list of entries with a `path`", key)
    return value


def expanded(listed):
    """Returns the entries. An entry that names several configurations or `preprocess_shards` becomes several, as in axolotl."""
    for entry in listed:
        if isinstance(entry.get("name"), list):
            yield from ({**entry, "name": name} for name in entry["name"])
        elif entry.get("preprocess_shards") and not entry.get("shards"):
            shards = entry["preprocess_shards"]
            yield from ({**entry, "shards": shards, "shards_idx": index} for index in range(shards))
        else:
            yield entry


def read_json(path):
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"cannot read the request: {error.strerror}", str(path), "", USAGE) from error
    except ValueError as error:
        raise Failure(f"the request is not valid JSON: {error}", str(path), "", USAGE) from error
    if not isinstance(values, dict):
        raise Failure("the request is not a JSON object", str(path), "", USAGE)
    return values


def read_request(path):
    return Request(read_json(path))


def find_prepared(request):
    """Returns the folder that axolotl prepared (`dataset_prepared_path`, or its one subfolder named by a hash), or None."""
    path = request["dataset_prepared_path"]
    if not path:
        return None
    folder, key = Path(request.base_dir, os.path.expanduser(path)), "dataset_prepared_path"
    if not folder.is_dir():
        if request["datasets"]:
            return None
        raise Failure(f"no such folder: {folder}", key, "or name the rows under `datasets`", USAGE)
    if is_saved_dataset(folder):
        return folder_source({}, key, folder)
    saved = sorted(item for item in folder.iterdir() if item.is_dir() and is_saved_dataset(item))
    if len(saved) > 1:
        names = ", ".join(item.name for item in saved)
        raise Failure(f"{folder} holds several prepared datasets: {names}", key, f"name one of them: {saved[0]}")
    if saved:
        return folder_source({}, key, saved[0])
    if not request["datasets"]:
        raise Failure(f"no prepared dataset in {folder}", key, "or name the rows under `datasets`")
    return None


def is_saved_dataset(folder):
    """Returns whether `datasets` saved the folder (Dataset.save_to_disk)."""
    return (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file()


def request_key(request, cache, report):
    hashes = ContentHashes(cache / "hashes.json", report)
    identity = {name: value for name, value in request.values.items()
                if name not in ("base_dir", "datasets", "test_datasets", "dataset_prepared_path", "tokenizer")}
    identity["program"] = [hash_of(file.read_bytes()) for file in program_files()]
    identity["libraries"] = [library_version(name) for name in LIBRARIES]
    identity["rows"] = [source_identity(source, hashes) for source in request.sources]
    identity["eval_rows"] = [source_identity(source, hashes) for source in request.test_sources]
    identity["tokenizer"] = tokenizer_identity(request["tokenizer"], hashes)
    identity["transforms"] = [hashes.of(file) for file in transform_files(request)]
    identity["templates"] = [hashes.of(file) for file in template_files(request)]
    hashes.save()
    return hash_of(json.dumps(identity, sort_keys=True).encode())


def program_files():
    here = Path(__file__).parent
    return sorted([*here.glob("*.py"), *here.glob("templates/*")])


def source_identity(source, hashes):
    entry = {name: value for name, value in source.entry.items() if name != "path"} if source.local else source.entry
    return [entry, [[file.name, hashes.of(file)] for file in source.files]]


def tokenizer_identity(tokenizer, hashes):
    folder = Path(tokenizer)
    if not tokenizer or not folder.is_dir():
        return tokenizer
    files = {file for pattern in TOKENIZER_FILES for file in folder.glob(pattern) if file.is_file()}
    return [[file.name, hashes.of(file)] for file in sorted(files)]


def transform_files(request):
    """Returns the Python files next to the module of each function that `type` names
    (ringmaster_rows/asked.py), because functions may use them."""
    if not request["completion_tokens"]:
        return []
    files = set()
    for source in request.sources:
        module = str(source.entry.get("type") or "").rpartition(".")[0]
        for folder in (Path(request.base_dir), Path.cwd()) if module else ():
            files.update(folder.joinpath(*module.split(".")).parent.glob("*.py"))
    return sorted(files)


def template_files(request):
    """Returns the files that `chat_template_jinja` names if it does not hold a template itself."""
    asked = [holder.get("chat_template_jinja") for holder in
             [request["tokenization"], *(source.entry for source in request.sources + request.test_sources)]]
    return [file for text in asked if text and (file := template_file(text, request.base_dir))]


def template_file(text, base_dir):
    if "{" in text or "\n" in text or len(text) > 1024:
        return None
    file = Path(base_dir, os.path.expanduser(text))
    return file if file.is_file() else None


def library_version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def hash_of(data):
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def cached_result(folder):
    """Returns the result in `folder`, or None; a result with a truncated or missing file does not
    count."""
    try:
        summary = json.loads((folder / "summary.json").read_text())
        for name, size in summary["files"].items():
            if (folder / name).stat().st_size != size:
                return None
    except (OSError, ValueError, KeyError):
        return None
    return with_paths(summary["result"], folder)


def with_paths(result, folder):
    return {**result, "tokens": str(folder / "tokens.safetensors"),
            "eval_tokens": str(folder / "eval.safetensors") if result["eval_rows"] else None}


def store(aside, folder, result):
    """Moves the finished folder `aside` to its place, so that a reader never sees an incomplete one."""
    files = {file.name: file.stat().st_size for file in aside.glob("*.safetensors")}
    (aside / "summary.json").write_text(json.dumps({"result": result, "files": files}))
    if folder.exists() and cached_result(folder) is None:
        shutil.rmtree(folder)
    try:
        os.rename(aside, folder)
    except OSError:
        if cached_result(folder) is None:
            raise
    return with_paths(result, folder)


@contextmanager
def aside_folder(cache, key):
    """Yields a folder to write in and removes it afterwards unless it was renamed. First removes what a killed process left."""
    prefix = f"unfinished-{socket.gethostname()}-"
    for left in cache.glob(prefix + "*"):
        pid = left.name[len(prefix):].split("-")[0]
        if not Path("/proc", pid).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = cache / f"{prefix}{os.getpid()}-{key[:12]}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
