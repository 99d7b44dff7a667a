"""Counts what the engine saves by computing a prompt only once if several answers of a row share it (engine/data/shared_prompts.h): the
answers of a pair, or packed rollouts of one prompt."""

import numpy as np


def shared_prompts(request, written):
    """Returns the computed shares of tokens and of attention cells (without windows), and under "most" the largest number of tokens
    computed for a row, relative to the row's capacity; None if this depends on the step. `written` has pairs (rows, packed rows as lists of
    indices)."""
    packs, method = request["sample_packing"], request["preference"]
    single = not packs and method == "grpo"  # the sampler chooses which rollouts share a micro-batch
    if not method or method == "kto" or single or request["completion_tokens"]:
        return None
    totals, most = np.zeros(4), 0
    for rows, packed in written:
        ids, labels = rows.part("input_ids"), rows.part("labels")
        begins = np.concatenate([[0], np.cumsum(np.asarray(rows.lengths, np.int64))])
        for row in packed:
            documents = [document for index in row for document in documents_of(rows, index, int(begins[index]), ids, labels)]
            counts = count_row(in_common(documents) if method == "reward" else documents, method == "orpo")
            totals += counts
            computed, tokens = counts[0], counts[1]
            longest = max(len(document) for document, _ in documents)
            most = max(most, computed if packs or computed < tokens else longest * len(documents))
    computed, tokens, computed_cells, cells = totals
    capacity = request["sequence_len"] * (1 if packs else 2)
    return {"tokens": computed / tokens, "cells": computed_cells / cells, "most": min(1.0, most / capacity)}


def groups_of(rows, chosen):
    """Returns lists of the chosen rows, of one document each, that have the same prompt."""
    ids, labels = rows.part("input_ids"), rows.part("labels")
    begins = np.concatenate([[0], np.cumsum(np.asarray(rows.lengths, np.int64))])
    groups = {}
    for index in chosen:
        for document, shareable in documents_of(rows, index, int(begins[index]), ids, labels):
            groups.setdefault(document[:shareable].tobytes(), []).append(int(index))
    return list(groups.values())


def documents_of(rows, index, begin, ids, labels):
    """Yields each document of a row: its ids, and how many of them other answers may share."""
    lengths = rows.documents[index] if rows.documents else [rows.lengths[index]]
    for length in lengths:
        learned = np.flatnonzero(labels[begin : begin + length] != -100)
        prompt = int(learned[0]) if len(learned) else length
        yield ids[begin : begin + length], max(0, prompt - 1)
        begin += length


def in_common(documents):
    """Returns each document with the number of tokens that its pair has in common; a reward model's row does not say where its prompt ends."""
    made = []
    for (chosen, most), (rejected, least) in zip(documents[::2], documents[1::2]):
        count = min(most, least)
        differs = np.flatnonzero(chosen[:count] != rejected[:count])
        shareable = int(differs[0]) if len(differs) else count
        made += [(chosen, shareable), (rejected, shareable)]
    return made


def count_row(documents, learns_prompt):
    """Returns (computed tokens, tokens, computed cells, cells). If prompts are trained, the prompt of a chosen answer is never shared."""
    known, counts = set(), np.zeros(4)
    for number, (ids, shareable) in enumerate(documents):
        length, prompt = len(ids), ids[:shareable].tobytes()
        keeps = learns_prompt and number % 2 == 0
        shared = shareable if shareable and prompt in known and not keeps else 0
        known.add(prompt)
        cells = length * (length + 1) / 2
        counts += [length - shared, length, cells - shared * (shared + 1) / 2, cells]
    return counts
