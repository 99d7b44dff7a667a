#include "engine/train/mesh_pass.h"

#include <ATen/ATen.h>

#include <chrono>
#include <limits>
#include <numeric>

#include "engine/config/policy.h"
#include "engine/data/sampler.h"
#include "engine/layout/layout_figures.h"
#include "engine/layout/windows.h"
#include "engine/model/host_arena.h"
#include "engine/plan/time/step_time.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;

/// Number of shapes whose tables are cached. It is small, because a run may meet ever new lengths.
constexpr size_t kKeptShapes = 8;

/// Adds the documents of all rows; returns the first slot of each row.
std::vector<size_t> add_documents(const Config& config, const std::vector<Row>& rows, StepRows& step) {
    const bool by_label = config.policy.has_value(), weighs = weighs_documents(config);
    std::vector<size_t> begins;
    for (const Row& row : rows) {
        begins.push_back(step.slots);
        if (!weighs) continue;
        for (Row& document : row.documents()) {
            step.slots += by_label ? static_cast<size_t>(document.valid_labels()) : 1;
            step.documents.push_back(std::move(document));
        }
    }
    return begins;
}

}  // namespace

StepRows step_rows(const Plan& plan, const std::vector<Row>& rows, int rank) {
    const int groups = plan.mesh.data_parallel_size();
    std::vector<int64_t> all(rows.size());
    std::iota(all.begin(), all.end(), int64_t{0});
    StepRows step{count_rows(rows), {}, 0};
    const int64_t micro = plan.batch.micro * sequences_per_row(plan.config);
    step.rounds = micro_batches_of(all, micro, 0, groups).size();  // group 0 never has fewer than the others
    const std::vector<size_t> begins = add_documents(plan.config, rows, step);
    for (const std::vector<int64_t>& micro_batch :
         micro_batches_of(all, micro, plan.mesh.data_rank(rank), groups)) {
        step.micro_batches.emplace_back();
        step.first_slots.push_back(begins[static_cast<size_t>(micro_batch[0])]);
        for (const int64_t row : micro_batch)
            step.micro_batches.back().push_back(rows[static_cast<size_t>(row)]);
    }
    return step;
}

MeshPass::MeshPass(const Plan& plan, Groups& groups, TrainedModel& trained, const Kept& kept)
    : plan_(plan),
      model_(*plan.model),
      groups_(groups),
      chunk_tokens_(kept.chunk_tokens),
      decoder_(model_, trained.weights, kept, trained.adapter_or_null(), trained.quantized_or_null()),
      trained_(trained),
      parameters_(trained.trained()),
      reduction_(groups, parameters_),
      noise_(plan.config) {
    if (model_.adds_router_loss) router_loss_.emplace(model_, groups.device());
}

MeshPass::Result MeshPass::forward_backward(const std::vector<std::vector<Row>>& micro_batches, size_t rounds,
                                            double scale, Gradients gradients,
                                            const SegmentWeights* weights) {
    Result result;
    const size_t own = micro_batches.size();
    if (router_loss_) begin_router_loss(micro_batches, rounds);
    if (!parameters_.gradients_are_taken()) rounds = own;
    const auto send_off = [&](int unit) {
        if (parameters_.is_empty(unit)) return;
        if (gradients == Gradients::OfAllRanks) reduction_.start(unit);
        if (gradients == Gradients::OfAllRanksPlainly) reduction_.start_plainly(unit);
    };
    for (size_t i = 0; i < rounds; ++i) {
        const Clock::time_point start = Clock::now();
        groups_.progress().begin_micro_batch(static_cast<int>(i) + 1);
        const bool weighed = weights != nullptr && i < own;
        Loaded loaded =
            weighed ? load(micro_batches[i], summed_segments()) : load(i < own ? micro_batches[i] : filler());
        if (weighed) weigh(loaded, micro_batches[i], *weights, i);
        if (on_batch_) on_batch_(*loaded.shard);
        result.data_s += std::chrono::duration<double>(Clock::now() - start).count();
        reduction_.begin_micro_batch(i == 0, i + 1 == rounds);
        const bool anew = i == 0 || parameters_.gradients_are_taken();
        const HostIsClosed closed;
        const double loss =
            decoder_.forward_backward(loaded.batch, *loaded.shard, scale * loss_scale_, anew, send_off);
        result.loss_sum += loss;
        if (i < own) {
            result.shares += loaded.shares;
            if (weights == nullptr) result.shares.weight += scale * static_cast<double>(loaded.shares.labels);
        } else {
            result.shares.filling += loaded.shares.labels + (loss != 0 ? 1 : 0);
        }
    }
    reduction_.begin_micro_batch(true, true);
    if (rounds == 0 && gradients == Gradients::OfAllRanks) reduction_.start_zeros();
    reduction_.wait();
    if (router_loss_) result.router_loss = router_loss_->value();
    return result;
}

void MeshPass::begin_router_loss(const std::vector<std::vector<Row>>& micro_batches, size_t rounds) {
    router_loss_->begin();
    decoder_.set_router_loss(&*router_loss_, [this] { settle_router_loss(); });
    const bool takes_part = parameters_.stage() >= 2 || !micro_batches.empty();
    if (rounds == 1 && takes_part) return;
    for (size_t i = 0; i < rounds; ++i) {
        if (i >= micro_batches.size() && parameters_.stage() < 3) continue;
        const Loaded loaded = load(i < micro_batches.size() ? micro_batches[i] : filler());
        decoder_.count_experts(loaded.batch, *loaded.shard);
    }
    settle_router_loss();
}

void MeshPass::settle_router_loss() {
    if (!router_loss_->counts()) return;
    groups_.world().all_reduce(router_loss_->sums()).wait();
    router_loss_->settle(loss_scale_);
}

Outputs MeshPass::forward(const std::vector<Row>& rows) {
    if (rows.empty() && parameters_.stage() < 3) return {};
    const Loaded loaded = load(rows.empty() ? filler() : rows);
    if (on_batch_) on_batch_(*loaded.shard);
    return decoder_.forward(loaded.batch, *loaded.shard);
}

std::vector<double> MeshPass::segment_sums(const std::vector<Row>& rows, bool dropout) {
    if (rows.empty() && parameters_.stage() < 3) return {};
    const Loaded loaded = rows.empty() ? load(filler()) : load(rows, summed_segments());
    const at::Tensor logprobs =
        decoder_.forward(loaded.batch, *loaded.shard, std::numeric_limits<int64_t>::max(), dropout)
            .logprobs_bt.reshape({-1})
            .cpu();
    const float* of_tokens = logprobs.const_data_ptr<float>();
    std::vector<double> sums;
    for (size_t i = 0; i < loaded.segments.size(); ++i) {
        if (loaded.segments[i] < 0) continue;
        const auto segment = static_cast<size_t>(loaded.segments[i]);
        if (segment >= sums.size()) sums.resize(segment + 1);
        sums[segment] += static_cast<double>(of_tokens[i]);
    }
    return sums;
}

Segments MeshPass::summed_segments() const {
    if (plan_.config.policy) return Segments::Labels;
    return plan_.config.preference.learns_prompt() ? Segments::ChosenPromptsToo : Segments::Completions;
}

/// Gives the labels the weights of their segments. Each slot gets the same part of Shares::weight, so that
/// the parts of all ranks add up to 1 if each label is counted once.
void MeshPass::weigh(Loaded& loaded, const std::vector<Row>& rows, const SegmentWeights& weights,
                     size_t micro_batch) const {
    const bool by_label = summed_segments() == Segments::Labels;
    const double part = 1 / static_cast<double>(weights.slots);
    std::vector<double> parts;
    for (const Row& row : rows) {
        for (const Row& document : row.documents()) {
            const auto labels = static_cast<size_t>(document.valid_labels());
            if (by_label)
                parts.insert(parts.end(), labels, part);
            else
                parts.push_back(part / static_cast<double>(labels));
        }
    }
    const std::vector<double>& of_segments = weights.of_micro_batches[micro_batch];
    int32_t before = -1;
    for (const int32_t segment : loaded.segments) {
        if (segment < 0) continue;
        const auto index = static_cast<size_t>(segment);
        if (segment != before) loaded.batch.runs.push_back({0, of_segments[index]});
        ++loaded.batch.runs.back().labels;
        before = segment;
        if (segment % 2 == 0) loaded.shares.weight += parts[index / 2];
    }
}

std::vector<Row> MeshPass::filler() const {
    static constexpr int32_t kIds[] = {0, 0}, kLabels[] = {kNoLabel, kNoLabel};
    return {Row{kIds, kLabels, {2}, -2}};  // places below 0, like those of padding
}

bool MeshPass::needs_places() const {
    return noise_.on() || (trained_.adapter && trained_.adapter->drops()) ||
           (trained_.quantized && trained_.quantized->quantizes_inputs()) || model_.num_experts > 0;
}

MeshPass::Loaded MeshPass::load(const std::vector<Row>& rows, Segments segments) {
    Loaded loaded;
    const BatchShape shape = batch_shape(rows, plan_.config, widest_window(model_), plan_.sharing.on);
    const bool joined = shape.joins_rows(plan_.config);
    const KnownShape& kept = known(shape);
    loaded.shard = kept.shard.get();
    BatchShard own = shard_rows(rows, loaded.shard->layout, plan_.mesh.context_rank(groups_.rank()), joined,
                                segments, shape.prompts);
    // The expected sums come from these rows, never from the cached shape, so that a wrong shape is detected.
    const int64_t tokens = loaded.shard->layout.tokens;
    loaded.shares.positions = kept.positions;
    loaded.shares.cells = kept.cells;
    put_expected(loaded.shares, rows, model_, joined, shape.prompts.shared, shape.tokens, tokens);
    loaded.shares = loaded.shares.times(own.rows);
    loaded.shares.labels = own.valid_labels;
    loaded.segments = std::move(own.segments);
    auto to_tensor = [&](std::vector<int64_t>& values) {
        return at::from_blob(values.data(), {own.rows, static_cast<int64_t>(values.size()) / own.rows},
                             at::kLong)
            .clone()
            .to(groups_.device());
    };
    loaded.batch.ids_bt = to_tensor(own.input_ids);
    loaded.batch.labels_bt = to_tensor(own.labels);
    if (needs_places()) loaded.batch.places_bt = to_tensor(own.places);
    if (noise_.on())
        loaded.batch.add_noise = [this, length = shape.tokens](const at::Tensor& x_nc,
                                                               const at::Tensor& places_n) {
            noise_.add(x_nc, places_n, length);
        };
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

MeshPass::KnownShape& MeshPass::known(const BatchShape& shape) {
    const ShapeKey key{shape.tokens, shape.mask.window, shape.mask.documents, shape.mask.continues};
    if (const auto found = shapes_.find(key); found != shapes_.end()) return found->second;
    const RingAttnFunc func = layout_of(shape);
    const int ring = plan_.mesh.ring, ulysses = plan_.mesh.ulysses;
    const int64_t padded = padded_length(func, shape.tokens, ring, ulysses, chunk_tokens_ > 0);
    const int64_t at_once = chunk_tokens_ * ring * ulysses;
    const int64_t chunks = at_once > 0 ? (padded + at_once - 1) / at_once : 1;
    const Layout layout = make_layout(func, padded, ring, ulysses, shape.mask, chunks);
    const bool gathers = func == RingAttnFunc::VarlenLlama3 && chunks == 1;
    const int64_t gathered = gathers ? std::max<int64_t>(1, plan_.context_parallel.heads_k_stride) : 0;
    KnownShape made;
    made.shard = std::make_unique<SequenceShard>(groups_, model_, layout, shape.mask, shape.longest_document,
                                                 gathered, groups_.device());
    made.positions = made.shard->position_sum();
    made.cells = made.shard->cells();
    if (shapes_.size() >= kKeptShapes) shapes_.clear();
    return shapes_[key] = std::move(made);
}

}  // namespace ringmaster
