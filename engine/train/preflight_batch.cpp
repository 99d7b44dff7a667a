#include "engine/train/preflight_batch.h"

#include <algorithm>

#include "engine/plan/memory.h"

namespace ringmaster {

namespace {

constexpr int64_t kRounds = 3;

/// Returns how many rows a micro-batch of the proof has: a first, a middle and a last one, if the run's has
/// more.
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
    if (kept.mlp_tile_tokens > 0) kept.mlp_tile_tokens = std::min(kept.mlp_tile_tokens, third);
    return kept;
}

void add_documents(const Plan& plan, const std::vector<Row>& rows, int rank_of_group, int group,
                   std::vector<PreflightBatch::Document>& found) {
    const StepRows step = step_rows(plan, rows, rank_of_group);
    for (size_t i = 0; i < step.micro_batches.size(); ++i) {
        const BatchShape shape = batch_shape(step.micro_batches[i], plan.config, plan.model->sliding_window);
        int64_t sequence = 0, begin = 0;
        for (size_t r = 0; r < step.micro_batches[i].size(); ++r) {
            const Row& row = step.micro_batches[i][r];
            int64_t in_row = 0;
            for (const Row& document : row.documents()) {
                found.push_back(
                    {document, group, i, r, in_row, sequence, begin, shape.longest_document, shape.tokens});
                in_row += document.tokens();
                begin += document.tokens();
            }
            if (plan.config.sample_packing) continue;
            ++sequence;
            begin = 0;
        }
    }
}

/// Returns the first rank of a data-parallel group.
int rank_of_group(const Plan& plan, int group) {
    int rank = 0;
    while (plan.mesh.data_rank(rank) != group) ++rank;
    return rank;
}

}  // namespace

int64_t preflight_rows(const Plan& plan) {
    const int64_t groups = plan.mesh.data_parallel_size();
    return (kRounds * groups - (groups > 1 ? 1 : 0)) * rows_at_once(plan);
}

std::vector<Row> labelled_rows(const Plan& plan, const TokenFile& file,
                               const std::vector<int64_t>& candidates, int64_t tokens) {
    const auto wanted = static_cast<size_t>(preflight_rows(plan));
    std::vector<Row> rows;
    for (const int64_t index : candidates) {
        const Row row = file.row(index).head(tokens);
        if (row.valid_labels() > 0) rows.push_back(row);
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
