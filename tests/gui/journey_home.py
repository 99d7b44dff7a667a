"""Writes axolotl's llama-3 8B QLoRA example, and tiny stand-ins for its model and its rows in a Hugging Face cache under the
names that the example gives them.

    python journey_home.py EXAMPLE HF_HOME
"""

import json
import pathlib
import shutil
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "examples")]
MODEL, ROWS, COMMIT = "NousResearch/Meta-Llama-3-8B", "aaditya/alpaca_subset_1", "0" * 40
LETTERS = 256


def make_tokenizer(folder):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[]))
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    backend.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>"])
    PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<|begin_of_text|>", eos_token="<|end_of_text|>").save_pretrained(folder)


def keep_model(hf_home):
    from ringmaster_runs import make_model

    kept = hf_home / "hub" / ("models--" + MODEL.replace("/", "--"))
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text(COMMIT)
    snapshot = kept / "snapshots" / COMMIT
    make_model(snapshot, "llama", vocab_size=LETTERS + 32, max_position_embeddings=8192)
    make_tokenizer(snapshot)


def keep_rows(hf_home):
    """Stores rows in the cache as the `datasets` library stores a data set that it has downloaded."""
    import datasets

    owner, name = ROWS.split("/")
    rows = [{"instruction": f"Say the number {i}.", "input": "", "output": f"The number is {i}. " * (1 + i % 5)} for i in range(160)]
    folder = hf_home / "datasets" / f"{owner}___{name}" / "default" / "0.0.0" / COMMIT
    made = datasets.Dataset.from_list(rows)
    made.save_to_disk(folder / "saved")
    shutil.copy(next((folder / "saved").glob("*.arrow")), folder / f"{name}-train.arrow")
    shutil.rmtree(folder / "saved")
    info = {"features": made.features.to_dict(), "builder_name": "parquet", "dataset_name": name, "config_name": "default",
            "version": {"version_str": "0.0.0", "major": 0, "minor": 0, "patch": 0},
            "splits": {"train": {"name": "train", "num_bytes": 1, "num_examples": len(rows), "dataset_name": name}}}
    (folder / "dataset_info.json").write_text(json.dumps(info))


def main(example, hf_home):
    with tarfile.open(HERE.parent / "examples" / "axolotl-0.18.0-examples.tar.xz") as archive:
        pathlib.Path(example).write_bytes(archive.extractfile("examples/llama-3/qlora.yml").read())
    keep_model(pathlib.Path(hf_home))
    keep_rows(pathlib.Path(hf_home))


if __name__ == "__main__":
    main(*sys.argv[1:])
