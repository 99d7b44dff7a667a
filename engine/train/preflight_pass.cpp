#include "engine/train/preflight_pass.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/model/gather.h"

namespace ringmaster {

namespace {

constexpr int64_t kSamples = 16;
constexpr const char* kAttentionGradient = "gradient of q, k, v";

/// The `dynamic` rotary embedding depends on a batch's longest document; elsewhere two micro-batches try
/// accumulation too.
int64_t micro_batches(const Plan& plan) {
    return plan.model->rope.type == "dynamic" ? 1 : 2;
}

std::vector<PreflightBatch::Document> documents_of(const StepRows& rows, bool packed) {
    std::vector<PreflightBatch::Document> found;
    for (size_t i = 0; i < rows.micro_batches.size(); ++i) {
        int64_t sequence = 0, begin = 0;
        for (const Row& row : rows.micro_batches[i]) {
            for (const Row& document : row.documents()) {
                found.push_back({document, i, sequence, begin});
                begin += document.tokens();
            }
            if (packed) continue;
            ++sequence;
            begin = 0;
        }
    }
    return found;
}

at::Tensor sum_of_ranks(Groups& groups, at::Tensor values) {
    groups.world().all_reduce(values).wait();
    return values;
}

Flat in_float32(const Flat& flat) {
    return {flat.values.to(at::kFloat, false, true), flat.sharded};
}

double loss_of_all(Groups& groups, double own_sum, double scale) {
    return sum_of_ranks(groups,
                        at::full({1}, own_sum, at::TensorOptions().dtype(at::kDouble)).to(groups.device()))
               .item<double>() *
           scale;
}

/// Gradients of q, k and v at sampled tokens of the first data-parallel group's first micro-batch.
class Samples {
  public:
    struct Token {
        size_t document;
        int64_t at;  ///< within it
    };

    Samples(const PreflightBatch& batch, Groups& groups) : layers_(batch.plan.model->num_layers) {
        const ModelConfig& m = *batch.plan.model;
        table_lsw_ = at::zeros({2, kSamples, (m.num_heads + 2 * m.num_kv_heads) * m.head_dim},
                               at::TensorOptions().dtype(at::kFloat).device(groups.device()));
        if (batch.plan.mesh.data_rank(groups.rank()) != 0) return;
        int64_t total = 0;
        for (const auto& document : batch.documents)
            total += document.micro_batch == 0 ? document.row.tokens() : 0;
        size_t document = 0;
        int64_t before = 0;
        for (int64_t sample = 0; sample < kSamples && total > 0; ++sample) {
            const int64_t at = total * sample / kSamples;
            while (at - before >= batch.documents[document].row.tokens()) {
                before += batch.documents[document++].row.tokens();
            }
            tokens_.push_back({document, at - before});
        }
    }

    const std::vector<Token>& tokens() const { return tokens_; }
    at::Tensor table() const { return table_lsw_; }

    /// `row` of what a decoder told is sample `index`.
    void take(size_t index, int layer, const at::Tensor& dqkv_nw, int64_t row) {
        if (layer == 0) table_lsw_[0][static_cast<int64_t>(index)].copy_(dqkv_nw[row]);
        if (layer == layers_ - 1) table_lsw_[1][static_cast<int64_t>(index)].copy_(dqkv_nw[row]);
    }

  private:
    int64_t layers_;
    std::vector<Token> tokens_;
    at::Tensor table_lsw_;
};

/// Which row of a rank's tokens holds the token at `place` of `sequence`.
std::optional<int64_t> local_row(const SequenceShard& shard, int64_t sequence, int64_t place) {
    const at::Tensor found = at::nonzero(shard.places_t.eq(place));
    if (found.numel() == 0) return std::nullopt;
    return sequence * shard.places_t.size(0) + found[0][0].item<int64_t>();
}

/// Of each token's last hidden state, so that a changed bit shows: int64 [B, S] on every rank of the group.
at::Tensor fingerprints(const PreflightBatch& batch, const std::vector<Row>& rows, Groups& groups,
                        TrainedModel& trained) {
    MeshPass pass(batch.plan, groups, trained, Kept{.checkpointing = true});
    const int last = static_cast<int>(batch.plan.model->num_layers) - 1;
    at::Tensor print_n;
    Layout layout;
    pass.on_batch([&](const SequenceShard& shard) { layout = shard.layout; });
    pass.decoder().set_probe([&](int layer, const char* what, const at::Tensor& x_nc) {
        if (layer != last || std::strcmp(what, "layer output") != 0) return;
        const at::Tensor bits_nc = x_nc.contiguous().view(x_nc.element_size() == 4 ? at::kInt : at::kShort);
        const at::Tensor weights_c = at::arange(1, 2 * x_nc.size(1), 2, bits_nc.options().dtype(at::kLong));
        std::vector<at::Tensor> parts;
        for (const at::Tensor& part : bits_nc.split(1024))
            parts.push_back((part.to(at::kLong) * weights_c).sum(1));
        print_n = at::cat(parts);
    });
    pass.forward(rows);
    const int64_t sequences = batch.plan.config.sample_packing ? 1 : static_cast<int64_t>(rows.size());
    return gather_tokens(groups, layout, print_n.view({sequences, -1}), layout.tokens).cpu();
}

}  // namespace

double largest_of_ranks(Groups& groups, double value) {
    at::Tensor shared = at::full({1}, value, at::TensorOptions().dtype(at::kDouble)).to(groups.device());
    groups.world().all_reduce(shared, Reduce::Max).wait();
    return shared.item<double>();
}

PreflightBatch::PreflightBatch(const Plan& whole, const Groups& groups, const TokenFile& file,
                               const std::vector<int64_t>& first_rows, int64_t tokens)
    : plan(whole) {
    Config& config = plan.config;
    config.sequence_len = std::min(config.sequence_len, tokens);
    if (config.padding.fixed_length)
        config.padding.fixed_length = std::min(*config.padding.fixed_length, tokens);
    // Micro-batches are dealt to the groups in turn: so many rows are the first of each.
    const int64_t wanted = micro_batches(plan) * plan.batch.micro * plan.mesh.data_parallel_size();
    const auto count = std::min(first_rows.size(), static_cast<size_t>(wanted));
    const std::vector<int64_t> chosen(first_rows.begin(),
                                      first_rows.begin() + static_cast<std::ptrdiff_t>(count));
    rows = step_rows(plan, file, chosen, groups.rank(), tokens);
    all_rows = count;
    documents = documents_of(rows, config.sample_packing);
}

MeshProof prove_on_mesh(const PreflightBatch& batch, Groups& groups, TrainedModel& trained) {
    Parameters& parameters = trained.trained();
    MeshPass pass(batch.plan, groups, trained, what_is_kept(batch.plan));
    Samples samples(batch, groups);
    size_t begun = 0;
    std::vector<std::optional<int64_t>> held;
    pass.on_batch([&](const SequenceShard& shard) {
        held.clear();
        if (++begun > 1) return;
        for (const Samples::Token& token : samples.tokens()) {
            const PreflightBatch::Document& document = batch.documents[token.document];
            held.push_back(local_row(shard, document.sequence, document.begin + token.at));
        }
    });
    pass.decoder().set_probe([&](int layer, const char* what, const at::Tensor& tensor) {
        if (std::strcmp(what, kAttentionGradient) != 0) return;
        for (size_t i = 0; i < held.size(); ++i) {
            if (held[i]) samples.take(i, layer, tensor, *held[i]);
        }
    });
    const MeshPass::Result result =
        pass.forward_backward(batch.rows.micro_batches, batch.rows.rounds, batch.rows.scale());

    at::Tensor shares = at::zeros({kShareNumbers}, at::kDouble);
    put_shares(result.shares, groups, shares.data_ptr<double>());
    shares = sum_of_ranks(groups, shares.to(groups.device())).cpu();
    check_shares(shares.data_ptr<double>(), batch.rows.counts.valid_labels);
    return {loss_of_all(groups, result.loss_sum, batch.rows.scale()), in_float32(parameters.gradients()),
            sum_of_ranks(groups, samples.table())};
}

MeshProof prove_on_one_rank(const PreflightBatch& batch, Groups& groups, TrainedModel& trained) {
    Parameters& parameters = trained.trained();
    Plan alone = batch.plan;
    alone.mesh = {};
    alone.context_parallel.size = 1;
    alone.context_parallel.layout = RingAttnFunc::BatchRing;
    alone.config.sample_packing = false;
    alone.config.padding = {};
    if (alone.model->rope.type == "dynamic" && !batch.rows.micro_batches.empty())
        alone.config.padding.fixed_length =
            batch_shape(batch.rows.micro_batches[0], batch.plan.config, {}).longest_document;
    GroupOptions options;
    options.device = alone.device;
    options.device_index = groups.device().has_index() ? groups.device().index() : 0;
    Groups one = make_groups({}, 0, alone.mesh, options);
    MeshPass pass(alone, one, trained, Kept{.checkpointing = true});
    Samples samples(batch, groups);

    int64_t labels = 0;
    std::vector<std::vector<Row>> own;
    std::vector<size_t> indices;  // of the documents of `own`
    const auto dealt = static_cast<size_t>(batch.plan.context_parallel.size);
    for (size_t i = 0; i < batch.documents.size(); ++i) {
        if (i % dealt != static_cast<size_t>(batch.plan.mesh.context_rank(groups.rank()))) continue;
        own.push_back({batch.documents[i].row});
        indices.push_back(i);
        labels += batch.documents[i].row.valid_labels();
    }
    size_t begun = 0;
    pass.on_batch([&](const SequenceShard&) { ++begun; });
    const bool sharded = parameters.gradients_are_taken();
    pass.decoder().set_probe([&](int layer, const char* what, const at::Tensor& tensor) {
        if (std::strcmp(what, kAttentionGradient) != 0) return;
        for (size_t i = 0; i < samples.tokens().size(); ++i) {
            const Samples::Token& token = samples.tokens()[i];
            if (begun <= indices.size() && token.document == indices[begun - 1])
                samples.take(i, layer, tensor, token.at);
        }
    });
    const double all_labels = loss_of_all(groups, static_cast<double>(labels), 1);
    const double scale = all_labels > 0 ? 1 / all_labels : 0;
    if (own.empty()) parameters.gradients().values.zero_();
    const auto rounds = static_cast<size_t>(largest_of_ranks(groups, static_cast<double>(own.size())));
    const MeshPass::Result result = pass.forward_backward(
        own, rounds, scale, sharded ? Gradients::OfAllRanksPlainly : Gradients::OfThisRank);
    MeshProof proof{loss_of_all(groups, result.loss_sum, scale), in_float32(parameters.gradients()),
                    sum_of_ranks(groups, samples.table())};
    if (!sharded) sum_of_ranks(groups, proof.gradients.values);
    return proof;
}

bool leaks(const PreflightBatch& batch, Groups& groups, TrainedModel& trained) {
    if (batch.rows.micro_batches.empty()) {  // the others may need this rank's weights
        MeshPass pass(batch.plan, groups, trained, Kept{.checkpointing = true});
        for (int i = 0; i < 2; ++i) pass.forward({});
        return false;
    }
    std::vector<Row> rows = batch.rows.micro_batches[0];
    const auto in_first = [](const PreflightBatch::Document& document) { return document.micro_batch == 0; };
    const auto documents = std::count_if(batch.documents.begin(), batch.documents.end(), in_first);
    const PreflightBatch::Document& changed = batch.documents[static_cast<size_t>((documents - 1) / 2)];
    const int64_t from = changed.row.tokens() / 2;

    const at::Tensor before_bs = fingerprints(batch, rows, groups, trained);
    std::vector<int32_t> ids;
    for (Row& row : rows) {
        const auto at = changed.row.input_ids.data() - row.input_ids.data();
        if (at < 0 || at >= row.tokens()) continue;
        ids.assign(row.input_ids.begin(), row.input_ids.end());
        for (auto id = ids.begin() + at + from; id != ids.begin() + at + changed.row.tokens(); ++id) {
            *id = static_cast<int32_t>((*id + 1) % batch.plan.model->vocab_size);
        }
        row.input_ids = ids;
        break;
    }
    at::Tensor differs_bs = fingerprints(batch, rows, groups, trained).ne(before_bs);
    at::Tensor inside =
        differs_bs[changed.sequence].slice(0, changed.begin + from, changed.begin + changed.row.tokens());
    if (!inside.all().item<bool>()) return true;
    inside.zero_();
    for (const PreflightBatch::Document& document : batch.documents) {
        if (!in_first(document)) continue;
        if (differs_bs[document.sequence]
                .slice(0, document.begin, document.begin + document.row.tokens())
                .any()
                .item<bool>())
            return true;
    }
    return false;
}

}  // namespace ringmaster
