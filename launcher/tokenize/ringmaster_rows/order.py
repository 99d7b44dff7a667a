"""Merges the rows of several datasets, and drops equal rows, in exactly axolotl's order. This order decides which rows are used for
evaluation under `val_set_size`, and the order of training under `curriculum_sampling`."""

import numpy as np


def row_order(request, rows, counts):
    """Returns the indices of `rows` in the merged order, without duplicates if `dataset_exact_deduplication` is set."""
    options = request["tokenization"]
    order = merged(request, options, rows)
    if options.get("dataset_exact_deduplication"):
        before = len(order)
        order = without_duplicates(order, rows.digests)
        counts["duplicates"] = before - len(order)
        counts["kept"] = len(order)
    return shard_of(order, options)


def merged(request, options, rows):
    seed, sizes = request["seed"], rows.made_by_source
    total = np.arange(sum(sizes))
    if len(sizes) > 1 and options.get("shuffle_before_merging_datasets"):
        begins = np.concatenate([[0], np.cumsum(sizes)])
        total = np.concatenate([begin + shuffled(size, seed) for begin, size in zip(begins, sizes)])
    if shuffles(request, options, len(sizes)):
        total = total[shuffled(len(total), seed)]
    rank = np.empty(len(total), np.int64)
    rank[total] = np.arange(len(total))
    return np.argsort(rank[np.asarray(rows.positions, np.int64)], kind="stable") if len(total) else np.arange(len(rows.positions))


def shuffles(request, options, sources):
    """Returns whether rows are shuffled. `curriculum_sampling` keeps the files' order, unless several datasets are to be shuffled
    anyway."""
    asked = options.get("shuffle_merged_datasets")
    if request["curriculum_sampling"] and request["preference"] != "kto":  # KTO trains the merged rows in their order
        return bool(asked) and sources > 1
    return asked is None or bool(asked)


def shuffled(count, seed):
    """Returns the permutation of `datasets.Dataset.shuffle(seed)`."""
    return np.random.default_rng(seed).permutation(count)


def without_duplicates(order, digests):
    seen, kept = set(), []
    for index in order:
        if digests[index] not in seen:
            seen.add(digests[index])
            kept.append(index)
    return np.asarray(kept, np.int64)


def shard_of(order, options):
    """Returns the part that `dataset_shard_num` and `dataset_shard_idx` choose."""
    shards, index = options.get("dataset_shard_num"), options.get("dataset_shard_idx")
    if not shards or index is None:
        return order
    begin = len(order) // shards * index + min(index, len(order) % shards)
    return order[begin : begin + len(order) // shards + (index < len(order) % shards)]
