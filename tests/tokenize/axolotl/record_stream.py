"""Records the rows of axolotl's streams for the cases in cases_stream.py in expected_stream.json, which stream_test.py compares with
ours.

    python record_stream.py

Run it in an environment with axolotl 0.19.0 and its numba, and the versions of transformers and datasets that launcher/tokenize locks.
axolotl packs the documents of a buffer in a random order from torch's global generator, which depends on what the run computed
before. Here axolotl packs them in the stream's order, as our rows do. axolotl's packed row holds micro_batch_size x sequence_len
tokens; here micro_batch_size is 1, so that it holds one sequence_len, as our rows do."""

import os
import tempfile
from itertools import count
from pathlib import Path
from types import SimpleNamespace

from cases import digest_of, fingerprint, make_tokenizers, write_expected
from cases_stream import SEQUENCE_LEN, TOKENIZER, all_cases

OUT = Path(__file__).resolve().parent / "expected_stream.json"
DEFAULTS = {"shuffle_merged_datasets": True, "streaming_multipack_buffer_size": 10_000, "sample_packing_bin_size": 200, "sequence_len": SEQUENCE_LEN,
            "micro_batch_size": 1, "streaming": True, "max_steps": 1000, "val_set_size": 0.0, "skip_prepare_dataset": False}


def stream_of(case, tokenizer):
    from axolotl.utils import samplers
    from axolotl.utils.data import sft, streaming
    from axolotl.utils.dict import DictDefault
    from axolotl.utils.schemas.datasets import SFTDataset
    from torch.utils.data import SequentialSampler

    streaming.RandomSampler = SequentialSampler
    samplers.multipack.gc = SimpleNamespace(collect=lambda: None)  # garbage collection would take most of the time
    config = dict(case["config"])
    if config.pop("pretrains", False):
        rows = {"pretraining_dataset": [{"name": None, "skip": 0, **entry} for entry in case["entries"]]}
    else:
        rows = {"datasets": [SFTDataset(**entry).model_dump(exclude_none=True) for entry in case["entries"]]}
    config = DictDefault({**DEFAULTS, **config, **rows})
    return sft._prepare_streaming_dataset(config, tokenizer, None)[0]


def rows_of(case, tokenizer):
    """Returns the first rows of the stream, pass after pass, each without its padding."""
    stream, found = stream_of(case, tokenizer), []
    for number in count():
        stream.set_epoch(number)
        if number > 0:
            assert found, f"{case['name']}: axolotl keeps no row"
        for item in stream:
            ids, labels = (list(map(int, item[name])) for name in ("input_ids", "labels"))
            length = next((place for place in range(len(ids), 0, -1) if ids[place - 1] != tokenizer.pad_token_id), 0)
            found.append(fingerprint(ids[:length], labels[:length]))
            if len(found) == case["rows"]:
                return found


def write_files(case, folder):
    from datasets import Dataset

    for name, rows in case["files"].items():
        Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
        Dataset.from_list(rows).to_parquet(str(Path(folder, name)))


def main():
    from axolotl.utils.chat_templates import get_chat_template_from_config
    from axolotl.utils.dict import DictDefault
    import datasets
    from datasets import disable_caching, disable_progress_bars

    datasets.config.SLEEP_TIME_ON_THREADS_SHUTDOWN = 0  # otherwise each pass over Parquet files ends with five seconds of sleep
    disable_caching()
    disable_progress_bars()
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = make_tokenizers(folder)[TOKENIZER]
        origin, kept = {"axolotl": "0.19.0", "tokenizer": digest_of(tokenizer)}, {}
        tokenizer.chat_template = get_chat_template_from_config(cfg=DictDefault({"chat_template": "chatml"}), tokenizer=tokenizer)
        for number, case in enumerate(all_cases()):
            place = Path(folder, str(number))
            write_files(case, place)
            os.chdir(place)
            kept[case["name"]] = rows_of(case, tokenizer)
        os.chdir("/")
    write_expected(OUT, origin, kept)


if __name__ == "__main__":
    main()
