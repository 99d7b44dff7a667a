#include "engine/model/saved_modules.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ringmaster {

namespace {

Parameters& holder(Parameters& weights, Adapter* adapter, int unit) {
    const bool saved = adapter != nullptr && !adapter->parameters().is_empty(unit);
    return saved ? adapter->parameters() : weights;
}

/// Returns the model's embedding or head; for tied weights, the embedding in both cases.
size_t index_of_table(const Parameters& weights, Role role) {
    const std::vector<ParameterShape>& shapes = weights.shapes();
    const auto found = std::find_if(shapes.begin(), shapes.end(),
                                    [&](const ParameterShape& shape) { return shape.role == role; });
    return found != shapes.end() ? static_cast<size_t>(found - shapes.begin())
                                 : index_of_table(weights, Role::Embedding);
}

}  // namespace

Parameters& embedding_holder(Parameters& weights, Adapter* adapter) {
    return holder(weights, adapter, 0);
}

Parameters& head_holder(Parameters& weights, Adapter* adapter) {
    return holder(weights, adapter, weights.head_unit());
}

std::vector<std::pair<Parameters*, int>> units_of_head(Parameters& weights, Adapter* adapter) {
    Parameters& head = head_holder(weights, adapter);
    std::vector<std::pair<Parameters*, int>> units;
    if (&head != &weights) {
        units.emplace_back(&weights, weights.head_unit());
        units.emplace_back(&head, head.head_unit());
        return units;
    }
    for (const int unit : weights.units_of_head()) units.emplace_back(&weights, unit);
    return units;
}

namespace {

/// Computes the lengths of the rows of frozen matrices.
class RowLengths {
  public:
    explicit RowLengths(TrainedModel& trained)
        : trained_(trained), of_model_(trained.weights, trained.weights.master()) {}

    /// Returns the row lengths of the matrix that the adapter's parameter belongs to.
    at::Tensor of(const ParameterShape& magnitude) {
        if (trained_.quantized) return of_quantized(magnitude);
        const std::vector<ParameterShape>& shapes = trained_.weights.shapes();
        const auto adapted = [&](const ParameterShape& shape) {
            return shape.layer == magnitude.layer && shape.shape.size() == 2 &&
                   is_of(magnitude, shape.name.substr(0, shape.name.rfind('.')));
        };
        const auto found = std::find_if(shapes.begin(), shapes.end(), adapted);
        return lengths(of_model_.of(static_cast<size_t>(found - shapes.begin())));
    }

  private:
    static bool is_of(const ParameterShape& magnitude, const std::string& module) {
        return magnitude.name.ends_with(module + ".lora_magnitude_vector");
    }
    static at::Tensor lengths(const at::Tensor& weight_oc) { return weight_oc.to(at::kFloat).norm(2, 1); }

    at::Tensor of_quantized(const ParameterShape& magnitude) {
        Parameters& bytes = trained_.quantized->bytes();
        if (const int unit = bytes.unit_of_layer(magnitude.layer); unit != unit_) {
            unit_ = unit;
            unit_bytes_ = bytes.whole_values(bytes.master(), unit);
        }
        size_t target = 0;
        while (!is_of(magnitude, module_path(target))) ++target;
        return lengths(trained_.quantized->plain_matrix(unit_bytes_, magnitude.layer, target));
    }

    TrainedModel& trained_;
    WholeValues of_model_;
    int unit_ = -1;
    at::Tensor unit_bytes_;
};

}  // namespace

void initialize_adapter(TrainedModel& trained, const ModelConfig& model, int64_t seed) {
    Parameters &adapter = trained.trained(), &weights = trained.weights;
    WholeValues of_model(weights, weights.master());
    RowLengths lengths(trained);
    InitialValues initial(model, seed);
    for (size_t i = 0; i < adapter.shapes().size(); ++i) {
        const ParameterShape& shape = adapter.shapes()[i];
        if (shape.role == Role::LoraMagnitude)
            adapter.put(i, lengths.of(shape));
        else if (shape.layer >= 0)
            adapter.put(i, initial.next(shape));
        else
            adapter.put(i, of_model.of(index_of_table(weights, shape.role)));
    }
    adapter.share_update();
}

}  // namespace ringmaster
