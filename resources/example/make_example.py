"""Makes the example's tokenizer and corpus from files that set-up has installed; nothing is downloaded.

    make_example.py --to DIR

The corpus is Python source: the models of the transformers library in the cached environment. A byte-level BPE of
4,096 tokens is trained on it. Files that are up to date are left alone.
"""

import argparse
import hashlib
import json
import os
import shutil
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE, PATTERN = "transformers", "models/*/modeling_*.py"
CORPUS_BYTES = 4 << 20
FILE_BYTES = range(12 << 10, 96 << 10)  # sizes of whole files that fill some sequences, without the few huge ones
VOCABULARY = 4096
BOS, EOS, PAD = "<s>", "</s>", "<pad>"


def source_files():
    """Returns (name, path) of all suitable files, in an order that is the same on every machine."""
    folder = Path(sysconfig.get_path("purelib"), PACKAGE)
    found = [(path.relative_to(folder.parent).as_posix(), path) for path in folder.glob(PATTERN)]
    return sorted((name, path) for name, path in found if path.stat().st_size in FILE_BYTES)


def corpus():
    """Returns texts with CORPUS_BYTES in total, spread evenly over all files."""
    files = source_files()
    total = sum(path.stat().st_size for _, path in files)
    if total < CORPUS_BYTES:
        sys.exit(f"make_example: only {total} bytes of Python source found; run `ringmaster setup`")
    taken = passed = 0
    for name, path in files:
        if taken * total <= passed * CORPUS_BYTES:
            taken += path.stat().st_size
            yield {"text": path.read_text(encoding="utf-8"), "source": name}
        passed += path.stat().st_size


def train_tokenizer(texts, folder):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[BOS, EOS, PAD], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A {BOS} $B", special_tokens=[(BOS, tokenizer.token_to_id(BOS))])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": BOS, "eos_token": EOS, "pad_token": PAD,
         "clean_up_tokenization_spaces": False}, indent=2) + "\n")


def stamp():
    """Returns what the example depends on: these files, and the libraries that make it."""
    digest = hashlib.blake2b(digest_size=16)
    for path in (Path(__file__), HERE / "example.yaml", HERE / "tiny-llama" / "config.json"):
        digest.update(path.read_bytes())
    digest.update(repr([version(PACKAGE), version("tokenizers")]).encode())
    return digest.hexdigest()


def make(target):
    model = target / "tiny-llama"
    model.mkdir(parents=True, exist_ok=True)
    rows = list(corpus())
    aside = target / "corpus.jsonl.unfinished"
    with open(aside, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    train_tokenizer((row["text"] for row in rows), model)
    shutil.copyfile(HERE / "tiny-llama" / "config.json", model / "config.json")
    shutil.copyfile(HERE / "example.yaml", target / "example.yaml")
    os.replace(aside, target / "corpus.jsonl")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", required=True, metavar="DIR", type=Path)
    target = parser.parse_args().to
    made, wanted = target / ".made", stamp()
    parts = [target / name for name in ("corpus.jsonl", "example.yaml", "tiny-llama/config.json", "tiny-llama/tokenizer.json",
                                        "tiny-llama/tokenizer_config.json")]
    if made.is_file() and made.read_text() == wanted and all(part.is_file() for part in parts):
        return
    print(f"making the example in {target}", file=sys.stderr)
    made.unlink(missing_ok=True)
    make(target)
    made.write_text(wanted)


if __name__ == "__main__":
    main()
