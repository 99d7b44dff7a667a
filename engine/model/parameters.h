/// Holds a model's parameters, gradients and their names, in flat tensors in the order of parameter_shapes
/// (families): q, k and v are one matrix, and so are gate and up. A unit (the embedding, a layer, or final
/// norm and head) is one contiguous range that is reduced, gathered and sharded as a whole.
///
/// Sharded states (Rajbhandari et al. 2020, "ZeRO"): each rank of the shard group owns an equal slice of
/// every unit. Stage 1 shards the optimizer's states, including the float32 master of bfloat16 weights. Stage
/// 2 also shards gradients; a unit's full gradient exists only from its backward to its reduction. Stage 3
/// also shards weights; a unit's full weights exist only between `gather` and `drop`.
///
/// Expert parallelism (Lepikhin et al. 2020, "GShard"), at stage 3 only: each parameter of a layer's experts
/// is a unit of its own, and these units and parameters follow all others. The ranks of an expert part own
/// the slices of the part's experts and gather only those. Between `gather` and `drop` the unit's weights and
/// gradients have the shape [experts ÷ parts, …]. Slices of the states are the same as without expert
/// parallelism.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/blocks/sites.h"
#include "engine/comm/groups.h"
#include "engine/config/config.h"
#include "engine/families/model_config.h"
#include "engine/families/quantized_shapes.h"
#include "engine/files/durable.h"
#include "engine/recurrence/delta_weights.h"

namespace ringmaster {

/// Views into a flat tensor (weights or gradients); undefined if the model has no such parameter or its unit
/// is not on this rank.
struct LowRank {
    at::Tensor a_rc;         ///< [r, inputs]
    at::Tensor b_or;         ///< [outputs, r]
    at::Tensor magnitude_o;  ///< [outputs], only for DoRA
};

struct LayerTensors {
    struct Matrix {
        at::Tensor weight_oc;  ///< rows of all modules: q, k and v; gate and up
        at::Tensor bias_o;
    };
    std::array<Matrix, kLoraSites> matrices;   ///< indexed by LoraSite
    std::array<at::Tensor, kNormSites> norms;  ///< indexed by NormSite: weights, then biases if there are any
    DeltaWeights delta;
    at::Tensor router_ec;  ///< [experts, hidden]
    at::Tensor router_bias_e;
    at::Tensor expert_scales_e;  ///< factors that multiply the routing weights of the experts
    /// [experts, 2I, hidden] and [experts, hidden, I], with I of one expert. They are transposed views if the
    /// model stores these matrices transposed. With expert parallelism, these and the biases have only the
    /// experts of this rank's part.
    at::Tensor experts_gate_up_exc, experts_down_eci;
    at::Tensor experts_gate_up_bias_ex, experts_down_bias_ec;
    at::Tensor sinks_h;                             ///< [query heads], of attention
    std::array<LowRank, kModulePaths.size()> lora;  ///< adapter matrices for rows of the matrices above

    std::array<LowRank, 2> expert_lora;  ///< [0]: experts' gate and up, [E·r, C] and [2I, r·E]; [1]: down

    const Matrix& at(LoraSite site) const { return matrices[static_cast<size_t>(site)]; }
    const at::Tensor& at(NormSite site) const { return norms[static_cast<size_t>(site)]; }
};

struct ModelTensors {
    at::Tensor embedding_vc;  ///< [vocab, hidden]
    /// LayerInputs makes the layers' additional inputs from these parameters (engine/model/layer_inputs.h).
    /// They are in the embedding's unit.
    at::Tensor layer_inputs_vw, layer_projection_wc, layer_projection_norm_p;
    std::vector<LayerTensors> layers;
    at::Tensor norm_w;       ///< [hidden] weights, then [hidden] biases if there are any
    at::Tensor head_vc;      ///< [vocab, hidden]; the embedding itself if the weights are tied
    at::Tensor head_bias_v;  ///< [vocab]
};

/// Elements [begin, end) of a flat tensor.
struct FlatRange {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t size() const { return end - begin; }
};

/// Values of every parameter, or only of this rank's slices.
struct Flat {
    at::Tensor values;
    bool sharded = false;
};

/// Which states are sharded, over which ranks, and which states are kept in host memory. `groups` must have
/// been made with GroupOptions::shards_states.
struct Sharding {
    int stage = 0;
    std::optional<Groups> groups = {};
    bool states_in_host = false;  ///< gradients, and the values that the optimizer updates
    /// Also keeps the weights that passes compute with in host memory; a unit is on the device only while a
    /// pass uses it.
    bool weights_in_host = false;
};

class HostLink;

class InitialValues;

class Parameters {
  public:
    enum class Use {
        Trained,
        Frozen,  ///< only in the dtype of computation, without gradients; sharded only at stage 3
        Bytes    ///< like Frozen, for quantised weights: elements are bytes
    };
    /// Makes a model's parameters, except those that `quantization` quantises.
    Parameters(const ModelConfig& model, Precision precision, at::Device device, Sharding sharding = {},
               Use use = Use::Trained, const Quantization& quantization = {});
    /// Makes a model's quantised matrices, as bytes (quantized_shapes). The units are the model's; those
    /// outside the layers are empty.
    Parameters(const ModelConfig& model, const Quantization& quantization, at::Device device,
               Sharding sharding);
    /// Makes an adapter's parameters (lora_shapes) in the model's units; units outside layers may be empty.
    Parameters(const ModelConfig& model, const Lora& lora, Precision precision, at::Device device,
               Sharding sharding = {});

    const std::vector<ParameterShape>& shapes() const { return shapes_; }
    bool is_empty(int unit) const { return units_[static_cast<size_t>(unit)].elements == 0; }
    int stage() const { return stage_; }
    at::Device device() const { return device_; }  ///< device of computation
    /// Returns null at stage 0.
    Groups* sharding_groups() { return stage_ > 0 ? &*sharding_.groups : nullptr; }
    int expert_parts() const { return expert_parts_; }  ///< 1 without expert parallelism
    /// Returns the group of ranks that exchange tokens for experts; empty without expert parallelism.
    std::optional<Group> expert_group() const;

    // Units: 0 holds the embedding and the parameters that compute the inputs of layers, 1 + l holds layer l,
    // then come final norm and head. With expert parallelism, units of experts' parameters follow.
    int units() const { return static_cast<int>(units_.size()); }
    int unit_of(size_t index) const;  ///< unit of a parameter
    int unit_of_layer(int layer) const { return 1 + layer; }
    int head_unit() const { return num_layers_ + 1; }
    bool is_of_layer(int unit) const { return unit > 0 && unit < head_unit(); }
    bool holds_experts(int unit) const { return unit > head_unit(); }
    /// Returns the units of the layer's experts; none for other units, or without expert parallelism.
    const std::vector<int>& expert_units(int unit) const { return units_[static_cast<size_t>(unit)].experts; }
    /// Returns the ranks that gather and reduce the unit together: the shard group, or this rank's expert
    /// part.
    Group& group_of(int unit);
    int64_t whole_size(int unit) const { return units_[static_cast<size_t>(unit)].whole.size(); }  ///< padded
    /// Returns the range, within the full unit, of the elements that a pass reads on this rank.
    FlatRange part_of(int unit) const;
    /// Returns the units that the head's forward needs; with tied weights also the embedding.
    std::vector<int> units_of_head() const;
    std::string name_of(int unit) const;  ///< e.g. "embedding", "layer 3", "head"

    // Flat tensors. An unsharded flat tensor has all units, each padded to divide evenly among the ranks that
    // share the unit.
    Flat make_flat(bool sharded, at::ScalarType dtype, at::Device device) const;  ///< filled with zeros
    at::Tensor whole_unit(const Flat& flat, int unit) const;  ///< a unit of an unsharded flat tensor
    /// Returns a unit of any flat tensor; if it is sharded, all ranks of the shard group gather it together.
    at::Tensor whole_values(const Flat& flat, int unit);
    at::Tensor view(const at::Tensor& unit_values, size_t index) const;  ///< a parameter in its unit's values
    /// Returns this rank's slice of a unit, with padding; at stage 0, the whole unit.
    at::Tensor own_slice(const Flat& flat, int unit) const;
    /// Return the elements of a parameter in this rank's slice, and their values. Empty if there are none.
    FlatRange own_elements(size_t index) const;
    at::Tensor own_values(const Flat& flat, size_t index) const;

    /// The values that the optimizer updates: float32, or bfloat16 under `bf16: full`. Each rank changes only
    /// its slices; `share_update` sends them to all ranks.
    Flat& master() { return master_; }
    const Flat& master() const { return master_; }
    /// Unsharded gradients (below stage 2) cover only this rank's rows until they are reduced; then they are
    /// correct in this rank's slices (stage 1) or everywhere.
    Flat& gradients() { return gradients_; }
    void share_update();

    // A pass over the model uses these functions to access units that are on this rank.
    /// Weights in the dtype of computation: the master itself, or its bfloat16 copy under `bf16: true`.
    const ModelTensors& weights() const { return weights_; }
    const ModelTensors& weight_gradients() const { return weight_gradients_; }
    at::ScalarType compute_dtype() const { return compute_.values.scalar_type(); }
    // These functions return float32 values that are not trained.
    /// Returns the correction of a layer's router, [experts]; undefined if there is none.
    at::Tensor router_correction(int layer) const { return buffer(Role::RouterCorrection, layer); }
    double layer_scalar(int layer) const { return buffer(Role::LayerScalar, layer).item<double>(); }
    void take_buffers(const Parameters& from) { buffer_values_ = from.buffer_values_; }
    /// Returns a unit's weights as a pass reads them, with padding; at stage 3 only between `use` and `drop`.
    /// A unit of experts has only this rank's part of them (part_of).
    at::Tensor weights_of_unit(int unit) const;
    // The next functions also act on the units of a layer's experts.
    /// Starts to gather a unit's weights; `use` waits for them, `drop` frees them. No effect below stage 3.
    /// All ranks of the shard group must go through the same units in the same order.
    void gather(int unit);
    void use(int unit);
    void drop(int unit);
    /// Prepares a unit's gradients for writing; they start as zeros, or the first write replaces them. From
    /// stage 2 on, `take_gradients` returns the unit's full gradients, padded with zeros, or this rank's part
    /// for a unit of experts. Take a layer's gradients before those of its experts.
    void open_gradients(int unit);
    at::Tensor take_gradients(int unit);
    /// Makes gradients start as NaN instead of zeros, so that preflight's proofs find elements that no code
    /// writes. With `nan` false, they start as zeros again.
    void begin_gradients(bool nan);
    /// Returns whether each micro-batch's gradients start from zero instead of being added to the previous
    /// gradients.
    bool gradients_are_taken() const { return stage_ >= 2 || sharding_.states_in_host; }
    /// Adds a unit's reduced gradients, this rank's slice, to those of the step; `first` replaces them.
    void keep_gradients(int unit, const at::Tensor& slice, bool first);

    /// Initialises a model as transformers does: normal with initializer_range, biases 0, norms 1.
    /// Initialises an adapter as PEFT does: A uniform within inputs^-1/2 (Kaiming with a = √5), B 0. The
    /// values are the same on every mesh.
    void initialize(const ModelConfig& model, int64_t seed);
    /// Stores this rank's part of a parameter's values; `share_update` sends it to all ranks.
    void put(size_t index, const at::Tensor& values);
    /// Reads a Hugging Face folder (model.safetensors, or shards by their index; adapter_model.safetensors
    /// for an adapter). A head that the folder lacks gets values from `of_head`, if given. Matrices outside
    /// the layers are rounded as `quantization` would (is_rounded). Throws Error with file and tensor.
    void load(const std::string& model_dir, InitialValues* of_head = nullptr,
              const Quantization& quantization = {});

    /// Returns the stem of the saved file: "model", "adapter_model".
    const std::string& file_stem() const { return file_stem_; }

  private:
    Parameters(std::vector<ParameterShape> shapes, std::string file_stem, const ModelConfig& model,
               Precision precision, at::Device device, Sharding sharding, Use use);

    struct Unit {
        FlatRange whole;
        FlatRange own;                  ///< this rank's slice of the unit
        int64_t shard_begin = 0;        ///< index at which this slice begins in a sharded flat tensor
        int64_t elements = 0;           ///< number of elements without padding
        std::vector<int> experts = {};  ///< units of a layer's experts
        size_t parameter = 0;           ///< the only parameter of experts' units
        at::Tensor gathered;            ///< stage 3: the weights between `use` and `drop`
        Transfer gathering;
        at::Tensor gradients;  ///< set from stage 2 on
    };

    void divide_experts();
    void lay_out_units();
    FlatRange range_of(size_t index) const {
        return {offsets_[index], offsets_[index] + shapes_[index].size()};
    }
    int64_t begin_in_unit(size_t index) const;
    void bind(ModelTensors& views, int unit, const at::Tensor& values) const;
    void bind_experts(LayerTensors& views, size_t index, const at::Tensor& values) const;
    void start_gathering(int unit);
    void wait_for(int unit);
    void free_weights(int unit);
    LayerTensors layer_views(int layer, const at::Tensor& values) const;
    /// Returns adjacent parameters as one tensor: [Σ rows, …], in their unit's values.
    at::Tensor joined(const std::vector<std::string>& names, const at::Tensor& values) const;
    at::Tensor all(std::vector<std::string> names, const at::Tensor& values) const;

    at::Tensor buffer(Role role, int layer) const;

    std::vector<ParameterShape> shapes_;
    std::vector<size_t> drawn_;  ///< parameters in the order in which `initialize` draws their values
    std::vector<ParameterShape> buffers_;  ///< buffer_shapes; empty unless these are a model's parameters
    std::vector<at::Tensor> buffer_values_;
    std::string file_stem_;
    std::map<std::string, size_t> index_;
    std::vector<int64_t> offsets_;  ///< offsets in an unsharded flat tensor
    std::vector<Unit> units_;
    Sharding sharding_;
    int stage_ = 0;
    int expert_parts_ = 1;
    std::vector<int> unit_of_;  ///< each parameter's unit
    int num_layers_ = 0;
    bool experts_transposed_ = false;
    at::Device device_;
    Flat master_;
    Flat compute_;
    Flat gradients_;
    bool begins_with_nan_ = false;
    std::vector<at::Tensor> spare_;  ///< a dropped layer's buffer, for reuse
    /// Copies from and to host memory; null if nothing is kept there.
    std::shared_ptr<HostLink> from_host_, to_host_;
    ModelTensors weights_;
    ModelTensors weight_gradients_;
};

/// Draws the initial values of parameters in order: float32, with the parameter's shape.
class InitialValues {
  public:
    InitialValues(const ModelConfig& model, int64_t seed);
    at::Tensor next(const ParameterShape& shape);

  private:
    double range_, norm_;
    at::Generator generator_;
};

/// Returns full parameters in order. Sharded parameters are gathered one unit at a time: all ranks of the
/// shard group must go through the same parameters.
class WholeValues {
  public:
    WholeValues(Parameters& parameters, const Flat& flat) : parameters_(parameters), flat_(flat) {}
    at::Tensor of(size_t index);

  private:
    Parameters& parameters_;
    const Flat& flat_;
    int unit_ = -1;
    at::Tensor values_;
};

/// Writes the master as weights of a Hugging Face folder: one model.safetensors, or shards of at most
/// `shard_bytes` with an index, or an adapter_model.safetensors for PEFT. `dtype` is kFloat or kBFloat16.
/// Returns the files written, which are durable when the function returns; throws Error(Refused) if the disk
/// is full. If states are sharded, all ranks of a shard group take part, and those without `writes` only
/// send.
std::vector<WrittenFile> save_weights(Parameters& parameters, const std::string& dir, at::ScalarType dtype,
                                      bool writes = true, int64_t shard_bytes = 5'000'000'000);

}  // namespace ringmaster
