// Computes the last norm, the head and the loss, in chunks of tokens. If the head has a single output, the
// tokens' scores take the place of the labels' log-probabilities.
#include <ATen/ATen.h>

#include <algorithm>

#include "engine/model/decoder.h"
#include "engine/model/float_gradient.h"
#include "engine/model/ops.h"
#include "engine/model/saved_modules.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

namespace {

constexpr int64_t kIgnoredLabel = -100;

/// Sums the gradient of the head's weight over chunks of labelled tokens. A bfloat16 gradient of many chunks
/// is summed in float32 first: a bfloat16 sum loses every part below 1/512 of the sum.
class ChunkedGradient {
  public:
    ChunkedGradient(const at::Tensor& gradient_vc, double beta, int64_t chunks)
        : gradient_vc_(gradient_vc), beta_(beta) {
        if (gradient_vc.defined() && gradient_vc.scalar_type() == at::kBFloat16 &&
            chunks > pieces::kMostRoundedChunks)
            sum_vc_ = at::zeros(gradient_vc.sizes(), gradient_vc.options().dtype(at::kFloat));
    }

    void add(const at::Tensor& dlogits_kv, const at::Tensor& hidden_kc) {
        const bool summed = sum_vc_.defined();
        accumulate_weight_gradient(summed ? sum_vc_ : gradient_vc_, dlogits_kv, hidden_kc,
                                   summed ? 1 : beta_);
        if (!summed) beta_ = 1;
    }

    void finish() {
        if (!sum_vc_.defined()) {
            if (beta_ == 0 && gradient_vc_.defined()) gradient_vc_.zero_();  // no chunk had a label
            return;
        }
        add_float_sum(gradient_vc_, sum_vc_, beta_);
        sum_vc_.reset();
    }

  private:
    at::Tensor gradient_vc_, sum_vc_;
    double beta_;
};

/// Returns the weights of labels, in order.
class LabelRuns {
  public:
    explicit LabelRuns(const std::vector<LabelRun>& runs) : runs_(runs) {}

    /// Returns the runs of the next `count` labels.
    std::vector<LabelRun> next(int64_t count) {
        if (runs_.empty()) return {{count, 1}};
        std::vector<LabelRun> found;
        while (count > 0) {
            const LabelRun& run = runs_.at(at_);
            const int64_t taken = std::min(count, run.labels - used_);
            if (taken > 0) found.push_back({taken, run.weight});
            count -= taken;
            used_ += taken;
            if (used_ < run.labels) continue;
            ++at_;
            used_ = 0;
        }
        return found;
    }

  private:
    const std::vector<LabelRun>& runs_;
    size_t at_ = 0;
    int64_t used_ = 0;  ///< number of labels of the current run returned so far
};

/// Returns each label's loss: minus its log-probability, or minus the token's score. With a scale, replaces
/// the logits by the gradients of the scaled losses.
at::Tensor losses_of(at::Tensor logits_kv, const at::Tensor& labels_k, std::optional<double> scale) {
    if (logits_kv.size(1) > 1) return cross_entropy(logits_kv, labels_k, scale);
    const at::Tensor losses_k = logits_kv.select(1, 0).neg().to(at::kFloat);
    if (scale) logits_kv.fill_(-*scale);
    return losses_k;
}

/// Replaces the logits by their gradients; returns the sum of the unscaled losses. All labels have the same
/// weight.
at::Tensor weighted_loss(at::Tensor logits_kv, const at::Tensor& labels_k, double scale) {
    if (scale != 0) return losses_of(logits_kv, labels_k, scale).sum(at::kDouble);
    const at::Tensor loss = losses_of(logits_kv, labels_k, std::nullopt).sum(at::kDouble);
    logits_kv.zero_();
    return loss;
}

/// Replaces the logits by their gradients if labels have several weights. Computes up to 16 runs one by one,
/// so that no weight is rounded; for more runs, multiplies the gradients by the weights.
at::Tensor loss_of_runs(const at::Tensor& logits_kv, const at::Tensor& labels_k, double scale,
                        const std::vector<LabelRun>& runs) {
    constexpr size_t kFew = 16;
    if (runs.size() > kFew) {
        std::vector<double> weights;
        for (const LabelRun& run : runs)
            weights.insert(weights.end(), static_cast<size_t>(run.labels), run.weight);
        const at::Tensor weights_k = at::tensor(weights, at::kDouble).to(logits_kv.device(), at::kFloat);
        const at::Tensor loss = weighted_loss(logits_kv, labels_k, scale);
        at::Tensor(logits_kv).mul_(weights_k.unsqueeze(1));
        return loss;
    }
    at::Tensor loss = at::zeros({}, logits_kv.options().dtype(at::kDouble));
    int64_t at = 0;
    for (const LabelRun& run : runs) {
        loss.add_(weighted_loss(logits_kv.narrow(0, at, run.labels), labels_k.narrow(0, at, run.labels),
                                scale * run.weight));
        at += run.labels;
    }
    return loss;
}

}  // namespace

at::Tensor Decoder::shape_logits(at::Tensor logits_kv) const {
    if (model_.logit_multiplier != 1) scale_in_place(logits_kv, model_.logit_multiplier);
    const double softcap = model_.logit_softcap;
    if (softcap == 0) return {};
    logits_kv.div_(softcap).tanh_();
    const at::Tensor slopes = logits_kv.square().neg_().add_(1);
    scale_in_place(logits_kv, softcap);
    return slopes;
}

/// Holds the sums over the chunks of a sequence.
class Decoder::HeadGradient {
  public:
    ChunkedGradient weight;
    LabelRuns runs;
    at::Tensor loss;  ///< read once, because reading waits for the GPU
};

double Decoder::head(HiddenStates& hidden, HiddenStates& gradients, const MicroBatch& batch, double scale,
                     double beta) {
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) {
        held->use(unit);
        held->open_gradients(unit);
    }
    const ModelTensors& sums = head_holder(parameters_, adapter_).weight_gradients();
    if (beta == 0 && sums.head_bias_v.defined()) at::Tensor(sums.head_bias_v).zero_();
    const int64_t tokens = batch.labels_bt.numel();
    HeadGradient gradient{
        {sums.head_vc, beta, (tokens + kept_.loss_chunk_tokens - 1) / kept_.loss_chunk_tokens},
        LabelRuns(batch.runs),
        at::zeros({}, at::TensorOptions(batch.labels_bt.device()).dtype(at::kDouble))};
    const int layers = static_cast<int>(model_.num_layers);
    for (size_t chunk = 0; chunk < hidden.chunks(); ++chunk) {
        const at::Tensor labels_n = chunk_of(batch, chunk).labels_bt.reshape({-1});
        at::Tensor dx_nc =
            head_chunk(take_last(hidden, chunk), labels_n, scale, chunk == 0 ? beta : 1, gradient);
        machine_.probe_at(layers, "gradient", dx_nc);
        gradients.put(static_cast<size_t>(layers) + 1, chunk, std::move(dx_nc));
    }
    gradient.weight.finish();
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->drop(unit);
    return gradient.loss.item<double>();
}

/// Adds the losses and gradients of a chunk of the sequence to `sums`; returns the gradient of x_nc.
at::Tensor Decoder::head_chunk(const at::Tensor& x_nc, const at::Tensor& labels_n, double scale, double beta,
                               HeadGradient& sums) {
    const ModelTensors& weights = head_holder(parameters_, adapter_).weights();
    const ModelTensors& gradients = head_holder(parameters_, adapter_).weight_gradients();
    at::Tensor rstd_n;
    at::Tensor normed_nc = norm_of(model_, x_nc, parameters_.weights().norm_w, rstd_n, model_.rms_norm_eps);
    at::Tensor valid_m = at::nonzero(labels_n.ne(kIgnoredLabel)).squeeze(1);
    const int64_t valid = valid_m.size(0);
    const bool all = valid == labels_n.size(0);
    at::Tensor hidden_mc = all ? normed_nc : normed_nc.index_select(0, valid_m);
    at::Tensor labels_m = all ? labels_n : labels_n.index_select(0, valid_m);
    at::Tensor logits_kv =
        at::empty({std::min(valid, kept_.loss_chunk_tokens), model_.head_rows()}, x_nc.options());
    for (int64_t begin = 0; begin < valid; begin += kept_.loss_chunk_tokens) {
        const int64_t count = std::min(kept_.loss_chunk_tokens, valid - begin);
        at::Tensor chunk_kc = hidden_mc.narrow(0, begin, count);
        at::Tensor logits = logits_kv.narrow(0, 0, count);
        product_out(logits, chunk_kc, weights.head_vc.t());
        if (weights.head_bias_v.defined()) logits.add_(weights.head_bias_v);
        const at::Tensor slopes = shape_logits(logits);
        sums.loss.add_(loss_of_runs(logits, labels_m.narrow(0, begin, count), scale * model_.logit_multiplier,
                                    sums.runs.next(count)));
        if (slopes.defined()) logits.mul_(slopes);
        sums.weight.add(logits, chunk_kc);
        accumulate_bias_gradient(gradients.head_bias_v, logits, 1);
        product_out(chunk_kc, logits, weights.head_vc);  // the gradient replaces the hidden states
    }
    at::Tensor dnormed_nc = hidden_mc;
    if (!all) {
        dnormed_nc = normed_nc.zero_();
        dnormed_nc.index_copy_(0, valid_m, hidden_mc);
    }
    at::Tensor dx_nc = at::empty_like(x_nc);
    norm_backward_of(model_, dnormed_nc, x_nc, parameters_.weights().norm_w, rstd_n, dx_nc, false,
                     gradients.norm_w, beta);
    return dx_nc;
}

at::Tensor Decoder::logits_of(const at::Tensor& normed_kc) {
    const ModelTensors& weights = head_holder(parameters_, adapter_).weights();
    at::Tensor logits_kv = machine_.decodes() ? decode_linear(normed_kc, weights.head_vc, {})
                                              : product(normed_kc, weights.head_vc.t());
    if (weights.head_bias_v.defined()) logits_kv.add_(weights.head_bias_v);
    shape_logits(logits_kv);
    return logits_kv;
}

at::Tensor Decoder::label_logprobs(const at::Tensor& normed_nc, const at::Tensor& labels_n) {
    at::Tensor logprobs_n = at::zeros(labels_n.sizes(), normed_nc.options().dtype(at::kFloat));
    at::Tensor valid_m = at::nonzero(labels_n.ne(kIgnoredLabel)).squeeze(1);
    for (int64_t begin = 0; begin < valid_m.size(0); begin += kept_.loss_chunk_tokens) {
        at::Tensor chunk_k =
            valid_m.narrow(0, begin, std::min(kept_.loss_chunk_tokens, valid_m.size(0) - begin));
        at::Tensor logits_kv = logits_of(normed_nc.index_select(0, chunk_k));
        logprobs_n.index_copy_(0, chunk_k,
                               losses_of(logits_kv, labels_n.index_select(0, chunk_k), std::nullopt).neg_());
    }
    return logprobs_n;
}

}  // namespace ringmaster
