#include "engine/check/preflight_batch.h"

#include <algorithm>

#include "engine/plan/memory/memory.h"
#include "engine/train/preference_pass.h"

namespace ringmaster {

namespace {

constexpr int64_t kRounds = 3;

/// Returns how many rows a micro-batch of the proof has: as many as the run's, but at most three (a first, a
/// middle and a last one).
int64_t rows_at_once(const Plan& plan) {
    return std::min<int64_t>(plan.batch.micro, 3);
}

/// Returns a plan with the same mesh for rows of at most `tokens`.
Plan shortened(Plan plan, int64_t tokens) {
    Config& config = plan.config;
    config.sequence_len = std::min(config.sequence_len, tokens);
    if (config.padding.fixed_length)
        config.padding.fixed_length = std::min(*config.padding.fixed_length, tokens);
    config.unfrozen_parameters.clear();  // all gradients are proved
    plan.batch.micro = rows_at_once(plan);
    return plan;
}

/// Returns as many chunks and tiles as in the run, at most three, for a rank's `tokens` in a micro-batch.
Kept kept_of(const Plan& plan, int64_t tokens) {
    Kept kept = what_is_kept(plan);
    const int64_t third = std::max<int64_t>(1, tokens / 3);
    kept.loss_chunk_tokens = std::min(kept.loss_chunk_tokens, third);
    if (kept.chunk_tokens > 0) kept.chunk_tokens = std::min(kept.chunk_tokens, third);
    if (kept.mlp_tile_tokens > 0) kept.mlp_tile_tokens = std::min(kept.mlp_tile_tokens, third);
    return kept;
}

/// Sets the places, in a sequence with shared prompts, of a micro-batch's documents from `first` on.
void place_in_sequence(const SharedPrompts& prompts, size_t first,
                       std::vector<PreflightBatch::Document>& found) {
    for (size_t i = 0; first + i < found.size(); ++i) {
        PreflightBatch::Document& document = found[first + i];
        document.shared = prompts.shared[i];
        document.begin = prompts.place_of(i, document.shared);
        if (document.shared == 0) continue;
        document.prompt_begin = prompts.place_of(i, 0);
        document.prompt_of = first + prompts.holder[i];
        found[document.prompt_of].lent = document.shared;
    }
}

void add_documents(const Plan& plan, const std::vector<Row>& rows, int rank_of_group, int group,
                   std::vector<PreflightBatch::Document>& found) {
    const StepRows step = step_rows(plan, rows, rank_of_group);
    for (size_t i = 0; i < step.micro_batches.size(); ++i) {
        const BatchShape shape =
            batch_shape(step.micro_batches[i], plan.config, plan.model->sliding_window, plan.sharing.on);
        int64_t sequence = 0, begin = 0;
        size_t slot = step.first_slots[i];
        const size_t first = found.size();
        for (size_t r = 0; r < step.micro_batches[i].size(); ++r) {
            const Row& row = step.micro_batches[i][r];
            int64_t in_row = 0;
            for (const Row& document : row.documents()) {
                found.push_back({document, group, i, r, in_row, sequence, begin, shape.longest_document,
                                 shape.padded_row, slot});
                slot += slot_keys(plan.config, {document}).size();
                in_row += document.tokens();
                begin += document.tokens();
            }
            if (shape.joins_rows(plan.config)) continue;
            ++sequence;
            begin = 0;
        }
        if (shape.prompts.any()) place_in_sequence(shape.prompts, first, found);
    }
}

/// Returns the first rank of a data-parallel group.
int rank_of_group(const Plan& plan, int group) {
    int rank = 0;
    while (plan.mesh.data_rank(rank) != group) ++rank;
    return rank;
}

/// Returns a packed row's pairs (KTO: documents) that lie completely within its first `tokens` tokens.
Row whole_documents(const Row& row, size_t at_once, int64_t tokens) {
    Row part = row;
    part.document_ends.clear();
    for (size_t last = at_once - 1; last < row.document_ends.size(); last += at_once) {
        if (row.document_ends[last] > tokens) break;
        part.document_ends.assign(row.document_ends.begin(),
                                  row.document_ends.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    }
    const auto kept = static_cast<size_t>(part.document_ends.empty() ? 0 : part.document_ends.back());
    part.input_ids = row.input_ids.first(kept);
    part.labels = row.labels.first(kept);
    return part;
}

/// Returns the sequences of a row of the data, cut to `tokens`; empty if one of them has no label.
std::vector<Row> cut_sequences(const Config& config, const Row& row, int64_t tokens) {
    std::vector<Row> sequences = sequences_of(config, {row});
    const bool whole = config.preference.on() && config.sample_packing;
    for (Row& sequence : sequences) {
        sequence = whole ? whole_documents(sequence, config.preference.has_pairs() ? 2 : 1, tokens)
                         : sequence.head(tokens);
        if (sequence.valid_labels() == 0) return {};
    }
    return sequences;
}

}  // namespace

int64_t preflight_rows(const Plan& plan) {
    const int64_t groups = plan.mesh.data_parallel_size();
    return (kRounds * groups - (groups > 1 ? 1 : 0)) * rows_at_once(plan) * sequences_per_row(plan.config);
}

std::vector<Row> labelled_rows(const Plan& plan, const TokenFile& file,
                               const std::vector<int64_t>& candidates, int64_t tokens) {
    const auto wanted = static_cast<size_t>(preflight_rows(plan));
    std::vector<Row> rows;
    for (const int64_t index : candidates) {
        for (Row& row : cut_sequences(plan.config, file.row(index), tokens)) rows.push_back(std::move(row));
        if (rows.size() == wanted) return rows;
    }
    const size_t found = rows.size();
    for (size_t i = 0; found > 0 && rows.size() < wanted; ++i) rows.push_back(rows[i % found]);
    return rows;
}

PreflightBatch::PreflightBatch(const Plan& whole, std::vector<Row> chosen, int rank, int64_t tokens)
    : plan(shortened(whole, tokens)), all(std::move(chosen)) {
    const int groups = plan.mesh.data_parallel_size();
    rows = step_rows(plan, all, rank);
    unlabelled = rows.micro_batches.front();
    no_labels_.assign(static_cast<size_t>(tokens), kNoLabel);
    for (Row& row : unlabelled) row.labels = std::span<const int32_t>(no_labels_).first(row.labels.size());
    for (int group = 0; group < groups; ++group)
        add_documents(plan, all, rank_of_group(plan, group), group, documents);

    const int64_t of_rank = std::max<int64_t>(
        1, plan.batch.micro * std::min(tokens, plan.config.sequence_len) / plan.context_parallel.size);
    kept = kept_of(whole, of_rank);
    blocks.rows = std::clamp<int64_t>(of_rank / 8, 32, blocks.rows);
    blocks.keys = std::clamp<int64_t>(of_rank / 16, 12, blocks.keys);
}

}  // namespace ringmaster
