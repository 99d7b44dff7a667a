#include "engine/check/int8_check.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/train/mesh_pass.h"
#include "engine/train/rank_agreement.h"

namespace ringmaster {

namespace {

constexpr int64_t kSampledRows = 16;

// Bounds for ‖product − definition‖ ÷ ‖definition‖. A product passes through float16, whose
// relative error is at most 5e-4. In bfloat16 it is then rounded twice, by at most 4e-3 in all.
constexpr double kFloat32Bound = 2e-3;
constexpr double kBfloat16Bound = 1e-2;

const char* name_of(LoraSite site) {
    switch (site) {
        case LoraSite::Qkv:
            return "queries, keys and values";
        case LoraSite::Output:
            return "attention's output";
        case LoraSite::GateUp:
            return "gate and up";
        case LoraSite::Down:
            return "the MLP's output";
        case LoraSite::DeltaIn:
            return "inputs of a recurrence";
        case LoraSite::DeltaOutput:
            return "a recurrence's output";
        case LoraSite::SharedGateUp:
            return "gate and up of the shared expert";
        case LoraSite::SharedDown:
            return "the shared expert's output";
        case LoraSite::SharedGate:
            return "the shared expert's gate";
        case LoraSite::LatentIn:
            return "latents";
        case LoraSite::QueryUp:
            return "queries from a latent";
        case LoraSite::KeyValueUp:
            return "keys and values from a latent";
        case LoraSite::ExpertsIn:
            return "the latents of experts";
        case LoraSite::ExpertsOut:
            return "the mixture's output";
        case LoraSite::LayerGate:
            return "the gate of a layer's input";
        case LoraSite::LayerOutput:
            return "what a layer's input adds";
        case LoraSite::SelectIn:
            return "what makes the steps, keys and queries of a state space";
        case LoraSite::Steps:
            return "the steps of a state space";
        case LoraSite::Router:
            break;
    }
    return "the scores of experts";
}

class Products {
  public:
    Products(const PreflightBatch& batch, Groups& groups, QuantizedBase& base)
        : mesh_(batch.plan.mesh), groups_(groups), base_(base), threshold_(base.outlier_threshold()) {}

    void check(const Int8Product& product) {
        const int number =
            2 * (product.layer * static_cast<int>(kLoraSites) + static_cast<int>(product.site));
        if (!holds_same_columns(product)) found_ = std::max(found_, number + 1);
        if (!equals_definition(product)) found_ = std::max(found_, number + 2);
    }

    std::string wrong() const {
        const auto found = static_cast<int>(largest_of_ranks(groups_, found_)) - 1;
        if (found < 0) return "";
        const int sites = static_cast<int>(kLoraSites), layer = found / 2 / sites;
        const std::string of = std::string(name_of(static_cast<LoraSite>(found / 2 % sites))) + " in layer " +
                               std::to_string(layer);
        return found % 2 == 0
                   ? "the columns with outliers of the inputs of " + of +
                         " are not those of all ranks' tokens"
                   : "the product of 8-bit inputs and weights for " + of + " differs from its definition";
    }

  private:
    /// Returns whether the product's outlier columns are those of the tokens of all ranks, which this
    /// function finds by another method than the decoder.
    bool holds_same_columns(const Int8Product& product) const {
        at::Tensor large_nc = product.x_nc.to(at::kHalf).abs().ge(threshold_);
        if (product.counted_n.defined()) large_nc = large_nc.logical_and(product.counted_n.unsqueeze(1));
        if (threshold_ == 0) large_nc = at::zeros_like(large_nc);
        const int own = mesh_.data_rank(groups_.rank());
        at::Tensor counts_gc = at::zeros({mesh_.data_parallel_size(), product.x_nc.size(1)},
                                         product.x_nc.options().dtype(at::kFloat));
        counts_gc[own].copy_(large_nc.sum(0));
        groups_.world().all_reduce(counts_gc).wait();
        return at::equal(counts_gc[own].gt(0), product.outliers_c);
    }

    /// Returns the inputs as the product rounds them: rounded to multiples of a row's scale, except for
    /// outliers.
    at::Tensor rounded_inputs(const at::Tensor& x_rc, const at::Tensor& outliers_c) const {
        at::Tensor half_rc = x_rc.to(at::kHalf).to(at::kFloat);
        if (threshold_ > 0) half_rc.masked_fill_(half_rc.abs().ge(threshold_), 0);
        const at::Tensor step_r1 = half_rc.abs().amax(1, true) / 127;
        const at::Tensor rounded_rc = at::round(half_rc / step_r1).nan_to_num(0) * step_r1;
        return at::where(outliers_c, x_rc.to(at::kFloat), rounded_rc);
    }

    bool equals_definition(const Int8Product& product) const {
        const int64_t N = product.x_nc.size(0), count = std::min(N, kSampledRows);
        if (count == 0) return true;
        const at::Tensor chosen_r =
            at::arange(count, product.x_nc.options().dtype(at::kLong)).mul_(N).floor_divide(count);
        const at::Tensor x_rc = rounded_inputs(product.x_nc.index_select(0, chosen_r), product.outliers_c);
        std::vector<at::Tensor> parts;
        for (const Int8Matrix& matrix : base_.int8_matrices(product.site))
            parts.push_back(at::matmul(x_rc, (matrix.codes_oc * (matrix.scales_o / 127).unsqueeze(1)).t()));
        at::Tensor y_ro = at::cat(parts, 1);
        if (product.bias_o.defined()) y_ro += product.bias_o;
        const at::Tensor got_ro = product.y_no.index_select(0, chosen_r).to(at::kFloat);
        const double bound = product.x_nc.scalar_type() == at::kFloat ? kFloat32Bound : kBfloat16Bound;
        return (got_ro - y_ro).norm().item<double>() <= bound * y_ro.norm().item<double>();
    }

    const Mesh& mesh_;
    Groups& groups_;
    QuantizedBase& base_;
    double threshold_;
    int found_ = 0;  ///< 1 + a number that encodes the last wrong product and its kind; 0 if none is wrong
};

}  // namespace

DequantizedProducts::DequantizedProducts(TrainedModel& trained)
    : trained_(trained), before_(trained.quantized && trained.quantized->quantizes_inputs()) {
    if (trained_.quantized) trained_.quantized->quantize_inputs(false);
}

DequantizedProducts::~DequantizedProducts() {
    if (trained_.quantized) trained_.quantized->quantize_inputs(before_);
}

std::string wrong_int8_product(const PreflightBatch& batch, Groups& groups, TrainedModel& trained) {
    trained.quantized->quantize_inputs(true);
    Products products(batch, groups, *trained.quantized);
    MeshPass pass(batch.plan, groups, trained, Kept{.checkpointing = true});
    pass.decoder().set_product_probe([&](const Int8Product& product) { products.check(product); });
    pass.forward(batch.rows.micro_batches[0]);
    trained.quantized->quantize_inputs(false);
    return products.wrong();
}

}  // namespace ringmaster
