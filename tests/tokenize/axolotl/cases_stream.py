"""Defines the cases in which the rows of streams are compared with axolotl's. A case is a combination of kind of rows,
packing, shuffling and files.

Its form is {"name", "files", "entries", "config", "rows"}: the rows of each file, the entries of `datasets` (or of
`pretraining_dataset` if the configuration pretrains), and the number of rows that the run needs. record_stream.py
records axolotl's results; stream_test.py compares ours."""

import random

SEQUENCE_LEN = 256
TOKENIZER = "plain"
WORDS = "fox cat horse jumps leaps over lazy dogs happy sad seven".split()


def said(source, most):
    return " ".join(source.choice(WORDS) for _ in range(source.randint(1, most)))


def alpaca(seed, count, most=40):
    source = random.Random(seed)
    return [{"instruction": said(source, 6), "input": "", "output": said(source, most)} for _ in range(count)]


def talks(seed, count):
    source = random.Random(seed)
    return [{"messages": [{"role": "user", "content": said(source, 8)}, {"role": "assistant", "content": said(source, 20)}]} for _ in range(count)]


def texts(seed, count, most=240):
    source = random.Random(seed)
    return [{"text": said(source, most)} for _ in range(count)]


ALPACA = {"path": "one", "type": "alpaca"}
TALKS = {"path": "talks", "type": "chat_template"}
PIECES = {"path": "texts", "type": "completion"}
FILES = {"one/a.parquet": alpaca(1, 50), "three/a.parquet": alpaca(2, 11), "three/b.parquet": alpaca(3, 23), "three/c.parquet": alpaca(4, 9),
         "talks/a.parquet": talks(5, 40), "texts/a.parquet": texts(6, 40), "long/a.parquet": alpaca(7, 40, most=240)}


def all_cases():
    """Yields the cases. Each takes more rows than its files have, so that a second and a third pass are compared too."""
    def case(name, entries, rows, **config):
        files = {file: FILES[file] for file in FILES if any(entry["path"] == file.split("/")[0] for entry in entries)}
        return {"name": name, "files": files, "entries": entries, "rows": rows,
                "config": {"seed": 42, "sample_packing": False, "chat_template": "chatml", **config}}

    other = {**ALPACA, "path": "three"}
    yield case("alpaca", [ALPACA], 120)
    yield case("alpaca, another seed", [ALPACA], 120, seed=7)
    yield case("alpaca, in order", [ALPACA], 120, shuffle_merged_datasets=False)
    yield case("alpaca, by curriculum", [ALPACA], 120, curriculum_sampling=True)
    yield case("several files", [other], 100)
    yield case("talks", [TALKS], 90)
    yield case("pieces", [PIECES], 150)
    yield case("two datasets", [ALPACA, other], 210)
    yield case("two datasets, each shuffled", [ALPACA, other], 210, shuffle_before_merging_datasets=True)
    yield case("two datasets, each shuffled alone", [ALPACA, TALKS], 200, shuffle_before_merging_datasets=True, shuffle_merged_datasets=False)
    yield case("two datasets, in order", [other, TALKS], 180, shuffle_merged_datasets=False)
    for buffer in (10, 16, 10_000):
        yield case(f"packed, buffer of {buffer}", [ALPACA], 60, sample_packing=True, streaming_multipack_buffer_size=buffer)
        yield case(f"packed, several files, buffer of {buffer}", [other], 50, sample_packing=True, streaming_multipack_buffer_size=buffer)
    yield case("packed, in order", [ALPACA], 60, sample_packing=True, streaming_multipack_buffer_size=20, shuffle_merged_datasets=False)
    yield case("packed talks", [TALKS], 60, sample_packing=True, streaming_multipack_buffer_size=15)
    yield case("packed pieces", [PIECES], 80, sample_packing=True, streaming_multipack_buffer_size=15)
    yield case("packed, some too long", [{**ALPACA, "path": "long"}], 40, sample_packing=True, streaming_multipack_buffer_size=15)
    for packed in (False, True):
        for shuffled in (False, True):
            yield case(f"pretraining{', packed' * packed}{', shuffled' * shuffled}", [{"path": "texts", "type": "pretrain"}], 90, pretrains=True,
                       sample_packing=packed, shuffle_merged_datasets=shuffled, streaming_multipack_buffer_size=12)
    yield case("pretraining, skipped", [{"path": "texts", "type": "pretrain", "skip": 7}], 90, pretrains=True, streaming_multipack_buffer_size=12)
