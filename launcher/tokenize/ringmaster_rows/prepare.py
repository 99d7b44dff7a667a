"""Turns a request into tokens.safetensors: reads, encodes, applies the length rules, splits off the evaluation rows, packs, and
writes."""

import json
import math
from functools import partial

import numpy as np

from .encoders import Example, check_ids, pretokenized
from .kinds import check_entry, find_encoder, find_preferences, type_of
from .order import row_order
from .packing import first_fit, pack, pack_groups
from .report import Failure
from .rows import read_rows
from .sharing import groups_of, shared_prompts
from .streams import Stream, is_pretraining
from .tokens import Rows, write_tokens
from .vocabulary import load_tokenizer

LOST_ROWS, MOST_LOST = "lost.json", 100
PROMPTS = "prompts.jsonl"  # a line for each row of tokens.safetensors, for reward functions
MIN_LENGTH = 2  # axolotl's min_sample_len
OPTIONS = {"chat_template", "chat_template_jinja", "chat_template_kwargs", "default_system_message", "train_on_inputs", "eot_tokens",
           "tokenizer_type", "tokenizer_legacy", "tokenizer_use_mistral_common", "revision_of_model",
           "trust_remote_code", "min_sample_len", "tokens", "added_tokens_overrides", "resize_token_embeddings_to_32x",
           "mean_resizing_embeddings", "shrink_embeddings", "tokenizer_name", "streaming_multipack_buffer_size", "dataset_exact_deduplication",
           "shuffle_merged_datasets", "shuffle_before_merging_datasets", "dataset_shard_num", "dataset_shard_idx"}


def prepare(request, folder, report):
    """Writes tokens.safetensors and, if there are evaluation rows, eval.safetensors into `folder`; returns the result."""
    encode = Encoders(request, report)
    for source in [*request.sources, *request.test_sources]:
        check_entry(source, report, request)
    lost = []
    rows, counts = collect(request, request.sources, "train", encode, folder, report, lost)
    need_rows(rows, counts, request.sources[0].key)
    (folder / LOST_ROWS).write_text(json.dumps(lost))
    streams = is_stream(request.sources)
    chosen, evaluation = np.arange(len(rows.lengths)) if streams else row_order(request, rows, counts), np.arange(0)
    eval_rows, eval_counts = rows, None
    if request.test_sources:
        eval_rows, eval_counts = collect(request, request.test_sources, "test", encode, folder, report)
        need_rows(eval_rows, eval_counts, request.test_sources[0].key)
        evaluation = row_order(request, eval_rows, eval_counts)
    elif request["val_set_size"]:
        chosen, evaluation = split_rows(chosen, request)
    shuffles_later = not request["curriculum_sampling"] and request["preference"] != "kto"  # the sampler shuffles the rows later
    if shuffles_later:
        chosen, evaluation = np.sort(chosen), np.sort(evaluation)
    packed = rows.packed if streams else packed_rows(request, rows, chosen)
    with_documents = request["sample_packing"] or bool(request["preference"])
    total, longest = write_tokens(folder / "tokens.safetensors", rows, packed, partial(report.progress, "write"), with_documents)
    if rows.fields:
        lines = [rows.fields[index] for row in packed for index in row]
        (folder / PROMPTS).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    result = {"rows": len(packed), "eval_rows": 0, "counts": counts, "tokens_total": total, "longest": longest}
    if request["sample_packing"]:
        result["packing"] = {"documents": sum(map(len, packed)), "efficiency": total / (len(packed) * request["sequence_len"])}
    written = [(rows, packed)]
    if len(evaluation):
        eval_packed = packed_rows(request, eval_rows, evaluation)
        write_tokens(folder / "eval.safetensors", eval_rows, eval_packed, partial(report.progress, "write-evaluation"), with_documents)
        result["eval_rows"] = len(eval_packed)
        written.append((eval_rows, eval_packed))
    result["shared_prompts"] = shared_prompts(request, written)
    for written in {id(rows): rows, id(eval_rows): eval_rows}.values():
        written.remove()
    return result if eval_counts is None else {**result, "eval_counts": eval_counts}


def packed_rows(request, rows, chosen):
    if not request["sample_packing"]:
        return [[index] for index in chosen]
    if request["preference"] == "grpo" and not request["curriculum_sampling"]:
        return pack_groups(rows.lengths, groups_of(rows, chosen), request["sequence_len"])
    return pack(rows.lengths, chosen, request["sequence_len"], request["curriculum_sampling"])


class Encoders:
    """Turns a source's rows into examples by its `type`; loads the tokenizer when a row of text needs it."""

    def __init__(self, request, report):
        self._request, self._report, self._loaded = request, report, None
        unsupported = sorted(key for key, value in request["tokenization"].items() if value and key not in OPTIONS)
        if unsupported:
            raise Failure(f"{', '.join(unsupported)} would change the tokens and is not supported", unsupported[0])

    def __call__(self, source, rows):
        if type_of(source) == "" and not self._request["preference"]:
            return pretokenized(rows)
        rows = iter(rows)
        first = next(rows, None)
        if first is None:
            return iter(())
        rows = (row for part in ((first,), rows) for row in part)
        if self._request["preference"]:
            return find_preferences(source, self._request, self.tokenizer, first.values, self._report)(rows)
        if {"input_ids", "attention_mask", "labels"} <= set(first.values):  # rows that are already tokens, as in axolotl
            return pretokenized(rows)
        return find_encoder(source, self._request, self.tokenizer)(rows)

    def tokenizer(self):
        if self._loaded is None:
            self._loaded = load_tokenizer(self._request, self._report)
        return self._loaded


def is_stream(sources):
    return bool(sources[0].entry.get("streamed"))


def collect(request, sources, split, encode, folder, report, lost=None):
    """Returns the examples of all sources that the length rules keep, in order, and counts of what was read, kept, dropped and cut.
    Adds the first MOST_LOST rows that are left out or cut to `lost`."""
    own_labels = request["preference"] == "reward" or request["token_labels"] > 0
    rows, counts = Rows(folder, split, own_labels), dict.fromkeys(
        ("read", "kept", "dropped_long", "dropped_short", "truncated", "cut_texts"), 0)
    take = partial(take_example, request, rows, counts, lost)
    if is_stream(sources):
        collect_stream(request, Stream(request, sources, encode, partial(counted, counts=counts), report), rows, take)
        say_long_rows(request, sources, counts, report)
    else:
        for source in sources:
            before = rows.made
            for example in encode(source, counted(read_rows(source, split, request["seed"], report), counts)):
                take(example, length_rules(request))
            rows.made_by_source.append(rows.made - before)
    rows.close()
    counts["kept"] = len(rows.lengths)
    if counts["cut_texts"]:
        report.warning(f"{counts['cut_texts']} texts were longer than 64 × sequence_len tokens; as in axolotl, what is "
                       "behind that was left out")
    if rows.lengths and not rows.label_count and not rows.fields:
        report.warning("no row has a label to train on")
    return rows, counts


def take_example(request, rows, counts, lost, example, rules):
    check_ids(example, request["vocab_size"])
    counts["cut_texts"] += example.cut
    kept = within_length(example, request, counts, *rules)
    if (kept is not example or example.fate == "cut") and lost is not None and len(lost) < MOST_LOST:
        lost.append(lost_row(example, kept, request))
    if kept:
        rows.add(kept)
    rows.made += example.counted


def collect_stream(request, stream, rows, take):
    """Takes examples until they fill as many rows as the run trains on. A buffer's examples are packed together, as in axolotl."""
    limit, packs, before = request["row_limit"], request["sample_packing"], 0
    rows.packed = []
    for group in stream.groups():
        begin = len(rows.lengths)
        if group is None:  # the end of a pass
            if limit is None or begin == before:
                return
            before = begin
            continue
        for example in group:
            take(example, stream_rules(request))
            if not packs and len(rows.lengths) == limit:
                break
        added = range(begin, len(rows.lengths))
        rows.packed += first_fit(rows.lengths, added, request["sequence_len"]) if packs else ([index] for index in added)
        if limit is not None and len(rows.packed) >= limit:
            rows.packed = rows.packed[:limit]
            return


def length_rules(request):
    """Returns (the fewest tokens of a row, what to do with rows longer than sequence_len)."""
    return request["tokenization"].get("min_sample_len") or MIN_LENGTH, request["excess_length"]


def stream_rules(request):
    """Returns the length rules of a stream, like length_rules. axolotl drops rows that are too long or too short from a
    packed stream, and none from other streams."""
    return (MIN_LENGTH, "drop") if request["sample_packing"] else (1, request["excess_length"])


def say_long_rows(request, sources, counts, report):
    changed = counts["dropped_long"] + counts["truncated"]
    if changed and not request["sample_packing"] and not is_pretraining(sources[0].entry):
        report.warning(f"{changed} rows of the stream are longer than sequence_len and were {'cut' if counts['truncated'] else 'left out'}; "
                       "axolotl applies no length rule to a stream that is not packed, and would train on them whole")


def lost_row(example, kept, request):
    """Describes an example that the length rules drop or cut."""
    length = len(example.input_ids)
    why = "cut" if kept else example.fate if example.fate in ("long", "short") else "long" if length > request["sequence_len"] else "short"
    return {"place": str(example.place), **example.place._asdict(), "tokens": length, "why": why}


def counted(rows, counts):
    for row in rows:
        counts["read"] += 1
        yield row


def within_length(example, request, counts, least, excess):
    """Returns the example, cut if `excess` is "truncate"; None if it is dropped. If `excess` is "raise", raises Failure for a long example."""
    length, most = len(example.input_ids), request["sequence_len"]
    if example.fate:
        return within_pair(example, request, counts)
    if length < least:
        counts["dropped_short"] += 1
        return None
    if length <= most:
        return example
    if excess == "raise":
        raise Failure(f"the row has {length} tokens, sequence_len is {most}", str(example.place),
                      "excess_length_strategy: drop or truncate, or a larger sequence_len")
    if excess == "truncate":
        counts["truncated"] += 1
        return Example(example.place, example.input_ids[:most], example.labels[:most])
    counts["dropped_long"] += 1
    return None


def within_pair(example, request, counts):
    """Applies the length rules to a row of preferences, each of whose documents has to fit; a packed pair has to fit as a whole."""
    long = example.fate == "long" or request["sample_packing"] and len(example.input_ids) > request["sequence_len"]
    if long and request["excess_length"] == "raise":
        raise Failure(f"the row is longer than sequence_len, {request['sequence_len']} tokens", str(example.place),
                      "excess_length_strategy: drop or truncate, or a larger sequence_len")
    counts["dropped_long"] += long
    counts["dropped_short"] += example.fate == "short"
    counts["truncated"] += example.fate == "cut" and not long
    return None if long or example.fate == "short" else example


def need_rows(rows, counts, key):
    if not rows.lengths:
        raise Failure(f"no row is left: {counts['read']} read, {counts['dropped_long']} longer than sequence_len, "
                      f"{counts['dropped_short']} shorter than {MIN_LENGTH} tokens", key,
                      "a larger sequence_len, or excess_length_strategy: truncate" if counts["dropped_long"] else "")


def split_rows(order, request):
    """Returns (training rows, evaluation rows): as in axolotl, the last rows of the merged order are used for evaluation."""
    size, count = request["val_set_size"], len(order)
    chosen = math.ceil(size * count) if size < 1 else int(size)
    if chosen >= count or size < 0:
        raise Failure(f"val_set_size {size:g} takes {chosen} of {count} rows, and leaves none to train on", "val_set_size",
                      "a smaller share or number")
    return order[: count - chosen], order[count - chosen :]
