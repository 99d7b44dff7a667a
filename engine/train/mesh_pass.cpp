#include "engine/train/mesh_pass.h"

#include <ATen/ATen.h>

#include <chrono>

#include "engine/data/sampler.h"
#include "engine/plan/layout_figures.h"
#include "engine/plan/step_time.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;

/// Few lengths at a time: rows of ever new lengths must not pile up tables.
constexpr size_t kKeptShards = 8;

/// 0 + 1 + … within each document, and over the padding.
int64_t position_sum(const AttentionMask& mask, int64_t tokens) {
    int64_t sum = 0, begin = 0;
    for (const int64_t end : mask.documents) {
        sum += (end - begin) * (end - begin - 1) / 2;
        begin = end;
    }
    return sum + (tokens - begin) * (tokens - begin - 1) / 2;
}

}  // namespace

void Shares::add(const Shares& other) {
    for (auto [mine, more] : {std::pair{&held, &other.held}, std::pair{&expected, &other.expected}}) {
        mine->labels += more->labels;
        mine->positions += more->positions;
        mine->cells += more->cells;
    }
}

StepRows step_rows(const Plan& plan, const TokenFile& file, const std::vector<int64_t>& indices, int rank,
                   int64_t longest) {
    const auto cut = [&](const std::vector<int64_t>& some) {
        std::vector<Row> rows = rows_of(file, some);
        for (Row& row : rows) row = row.head(longest);
        return rows;
    };
    const int groups = plan.mesh.data_parallel_size();
    StepRows rows{count_rows(cut(indices)), {}, 0};
    rows.rounds = micro_batches_of(indices, plan.batch.micro, 0, groups).size();  // dealt in turn
    for (const std::vector<int64_t>& micro_batch :
         micro_batches_of(indices, plan.batch.micro, plan.mesh.data_rank(rank), groups)) {
        rows.micro_batches.push_back(cut(micro_batch));
    }
    return rows;
}

MeshPass::MeshPass(const Plan& plan, Groups& groups, Parameters& parameters, bool gradient_checkpointing)
    : plan_(plan),
      model_(*plan.model),
      groups_(groups),
      decoder_(model_, parameters, gradient_checkpointing),
      parameters_(parameters),
      reduction_(groups, parameters) {}

MeshPass::Result MeshPass::forward_backward(const std::vector<std::vector<Row>>& micro_batches, size_t rounds,
                                            double scale, Gradients gradients) {
    Result result;
    const size_t own = micro_batches.size();
    if (!parameters_.gradients_are_taken()) rounds = own;
    const auto send_off = [&](int unit) {
        if (gradients == Gradients::OfAllRanks) reduction_.start(unit);
        if (gradients == Gradients::OfAllRanksPlainly) reduction_.start_plainly(unit);
    };
    for (size_t i = 0; i < rounds; ++i) {
        const Clock::time_point start = Clock::now();
        groups_.progress().begin_micro_batch(static_cast<int>(i) + 1);
        const Loaded loaded = load(i < own ? micro_batches[i] : filler());
        result.data_s += std::chrono::duration<double>(Clock::now() - start).count();
        if (i < own) result.shares.add(loaded.shares);
        reduction_.begin_micro_batch(i == 0, i + 1 == rounds);
        const bool anew = i == 0 || parameters_.gradients_are_taken();
        result.loss_sum += decoder_.forward_backward(loaded.batch, *loaded.shard, scale, anew, send_off);
    }
    reduction_.begin_micro_batch(true, true);
    if (rounds == 0 && gradients == Gradients::OfAllRanks) reduction_.start_zeros();
    reduction_.wait();
    return result;
}

Outputs MeshPass::forward(const std::vector<Row>& rows) {
    if (rows.empty() && parameters_.stage() < 3) return {};
    const Loaded loaded = load(rows.empty() ? filler() : rows);
    return decoder_.forward(loaded.batch, *loaded.shard);
}

std::vector<Row> MeshPass::filler() const {
    static constexpr int32_t kIds[] = {0, 0}, kLabels[] = {kNoLabel, kNoLabel};
    return {Row{kIds, kLabels, {2}}};
}

MeshPass::Loaded MeshPass::load(const std::vector<Row>& rows) {
    Loaded loaded;
    const BatchShape shape = batch_shape(rows, plan_.config, model_.sliding_window);
    loaded.shard = &shard_of(shape);
    BatchShard own = shard_rows(rows, loaded.shard->layout, plan_.mesh.context_rank(groups_.rank()),
                                plan_.config.sample_packing);
    const int64_t tokens = loaded.shard->layout.tokens;
    loaded.shares.held = {own.valid_labels, own.rows * loaded.shard->positions_t.sum().item<int64_t>(),
                          own.rows * loaded.shard->attention.cells()};
    loaded.shares.expected = {count_rows(rows).valid_labels, own.rows * position_sum(shape.mask, tokens),
                              own.rows * visible_cells(Spans{{0, tokens, 1}}, shape.mask)};
    auto to_tensor = [&](std::vector<int64_t>& values) {
        return at::from_blob(values.data(), {own.rows, static_cast<int64_t>(values.size()) / own.rows},
                             at::kLong)
            .clone()
            .to(groups_.device());
    };
    loaded.batch.ids_bt = to_tensor(own.input_ids);
    loaded.batch.labels_bt = to_tensor(own.labels);
    if (on_batch_) on_batch_(*loaded.shard);
    return loaded;
}

RingAttnFunc MeshPass::layout_of(const BatchShape& shape) {
    if (plan_.config.ring_attn_func != RingAttnFunc::Auto || plan_.context_parallel.size == 1)
        return plan_.context_parallel.layout;
    const RingAttnFunc func =
        choose_layout(shape.tokens, plan_.mesh.ring, plan_.mesh.ulysses, shape.mask, layout_costs(plan_));
    if (on_layout_ && picked_ != func) on_layout_(func);
    picked_ = func;
    return func;
}

SequenceShard& MeshPass::shard_of(const BatchShape& shape) {
    std::unique_ptr<SequenceShard>& shard = shards_[{shape.tokens, shape.mask.window, shape.mask.documents}];
    if (shard) return *shard;
    const RingAttnFunc func = layout_of(shape);
    const int64_t padded = padded_length(func, shape.tokens, plan_.mesh.ring, plan_.mesh.ulysses);
    const Layout layout = make_layout(func, padded, plan_.mesh.ring, plan_.mesh.ulysses, shape.mask);
    const int64_t gathered =
        func == RingAttnFunc::VarlenLlama3 ? std::max<int64_t>(1, plan_.context_parallel.heads_k_stride) : 0;
    auto made = std::make_unique<SequenceShard>(groups_, model_, layout, shape.mask, shape.longest_document,
                                                gathered, groups_.device());
    if (shards_.size() > kKeptShards) shards_.clear();
    return *(shards_[{shape.tokens, shape.mask.window, shape.mask.documents}] = std::move(made));
}

void put_shares(const Shares& shares, const Groups& groups, double* values) {
    const MeshCoordinates at = groups.mesh().coordinates(groups.rank());
    const bool first_of_heads = at.ulysses == 0, first_of_all = first_of_heads && at.ring == 0;
    values[0] = static_cast<double>(shares.held.labels);
    values[1] = static_cast<double>(shares.held.positions);
    values[2] = first_of_heads ? static_cast<double>(shares.held.cells) : 0;
    values[3] = first_of_all ? static_cast<double>(shares.expected.positions) : 0;
    values[4] = first_of_all ? static_cast<double>(shares.expected.cells) : 0;
}

void check_shares(const double* summed, int64_t labels) {
    const auto refuse = [](const std::string& what, double held, double expected) {
        throw SharesDiffer(Failure::Refused,
                           "the ranks' shares do not add up: " + std::to_string(static_cast<int64_t>(held)) +
                               " " + what + " instead of " + std::to_string(static_cast<int64_t>(expected)),
                           {}, "this is a fault of the program, not of the configuration: please report it");
    };
    if (summed[0] != static_cast<double>(labels))
        refuse("valid labels", summed[0], static_cast<double>(labels));
    if (summed[1] != summed[3]) refuse("as the sum of position ids", summed[1], summed[3]);
    if (summed[2] != summed[4]) refuse("cells of the attention mask", summed[2], summed[4]);
}

}  // namespace ringmaster
