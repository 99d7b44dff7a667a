/// A model's parameters, gradients and their names, in flat tensors in the order of parameter_shapes (plan):
/// q, k and v are one matrix, and so are gate and up. A unit (the embedding, a layer, or final norm and head)
/// is one contiguous range: reduced, gathered and sharded as a whole.
///
/// Sharded states (Rajbhandari et al. 2020, "ZeRO"): each rank of the shard group owns an equal slice of
/// every unit. Stage 1: the optimizer's states, the float32 master of bfloat16 weights among them. Stage 2:
/// gradients too; a unit's whole gradient lives from its backward to its reduction. Stage 3: weights too; a
/// unit is whole between `gather` and `drop`.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/config/config.h"
#include "engine/files/durable.h"
#include "engine/families/model_config.h"
#include "engine/families/quantized_shapes.h"

namespace ringmaster {

/// Views into a flat tensor (weights or gradients); undefined where the model has no such parameter, or its
/// unit is not here.
struct LowRank {
    at::Tensor a_rc;  ///< [r, inputs]
    at::Tensor b_or;  ///< [outputs, r]
};

struct LayerTensors {
    at::Tensor input_norm_w;                        ///< [hidden], before attention
    at::Tensor qkv_oc;                              ///< [(H + 2K)·D, hidden]
    at::Tensor qkv_bias_o;                          ///< [(H + 2K)·D]
    at::Tensor q_norm_d;                            ///< [D], or [H·D] over all heads
    at::Tensor k_norm_d;                            ///< [D], or [K·D]
    at::Tensor output_oc;                           ///< [hidden, H·D]
    at::Tensor output_bias_o;                       ///< [hidden]
    at::Tensor attention_output_norm_w;             ///< [hidden]
    at::Tensor post_norm_w;                         ///< [hidden], before the MLP
    at::Tensor gate_up_oc;                          ///< [2I, hidden]; [I, hidden] without a gate
    at::Tensor gate_up_bias_o;                      ///< [2I] or [I]
    at::Tensor down_oc;                             ///< [hidden, I]
    at::Tensor down_bias_o;                         ///< [hidden]
    at::Tensor mlp_output_norm_w;                   ///< [hidden]
    std::array<LowRank, kLoraTargets.size()> lora;  ///< of an adapter, each beside rows of the matrices above
};

struct ModelTensors {
    at::Tensor embedding_vc;  ///< [vocab, hidden]
    std::vector<LayerTensors> layers;
    at::Tensor norm_w;   ///< [hidden]
    at::Tensor head_vc;  ///< [vocab, hidden]; the embedding itself where they are tied
};

/// Elements [begin, end) of a flat tensor.
struct FlatRange {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t size() const { return end - begin; }
};

/// Of every parameter, or of this rank's slices alone.
struct Flat {
    at::Tensor values;
    bool sharded = false;
};

/// Which states are sharded, and over whom: `groups` made with shards_states.
struct Sharding {
    int stage = 0;
    std::optional<Groups> groups;
};

class Parameters {
  public:
    enum class Use {
        Trained,
        Frozen,  ///< in the dtype of computation alone, without gradients; sharded at stage 3 only
        Bytes    ///< as Frozen, but quantised weights: elements are bytes
    };
    /// A model's, without those that are quantised.
    Parameters(const ModelConfig& model, Precision precision, at::Device device, Sharding sharding = {},
               Use use = Use::Trained, const Quantization& quantization = {});
    /// A model's quantised matrices, as bytes (quantized_shapes); its units are the model's, those outside
    /// the layers empty.
    Parameters(const ModelConfig& model, const Quantization& quantization, at::Device device,
               Sharding sharding);
    /// An adapter's (lora_shapes): its units are the model's, those outside the layers empty.
    Parameters(const ModelConfig& model, const Lora& lora, Precision precision, at::Device device,
               Sharding sharding = {});

    const std::vector<ParameterShape>& shapes() const { return shapes_; }
    int64_t count() const;  ///< of all parameters' elements
    bool is_empty(int unit) const { return units_[static_cast<size_t>(unit)].elements == 0; }
    int stage() const { return stage_; }
    /// Null at stage 0.
    Groups* sharding_groups() { return stage_ > 0 ? &*sharding_.groups : nullptr; }

    // Units: 0 is the embedding, 1 + l layer l, the last final norm and head.
    int units() const { return static_cast<int>(units_.size()); }
    int unit_of(size_t index) const;  ///< of a parameter
    int unit_of_layer(int layer) const { return 1 + layer; }
    int head_unit() const { return units() - 1; }
    /// That the head's forward needs: of tied weights the embedding besides.
    std::vector<int> units_of_head() const;
    std::string name_of(int unit) const;  ///< "embedding", "layer 3", "head"

    // Flat tensors: whole ones have all units, each padded so that it divides by the ranks that share it.
    Flat make_flat(bool sharded, at::ScalarType dtype, at::Device device) const;  ///< zeros
    at::Tensor whole_unit(const Flat& flat, int unit) const;  ///< of a flat tensor that is not sharded
    /// Of any; where it is sharded all ranks of the shard group gather it together.
    at::Tensor whole_values(const Flat& flat, int unit);
    at::Tensor view(const at::Tensor& unit_values, size_t index) const;  ///< a parameter in its unit's values
    /// This rank's slice of a unit, its padding included; all of it at stage 0.
    at::Tensor own_slice(const Flat& flat, int unit) const;
    /// What of a parameter this rank's slice holds: its elements, and the values. Empty where none.
    FlatRange own_elements(size_t index) const;
    at::Tensor own_values(const Flat& flat, size_t index) const;

    /// What the optimizer updates: float32, or bfloat16 under `bf16: full`. Each rank may change its own
    /// slices; `share_update` makes them everybody's weights.
    Flat& master() { return master_; }
    const Flat& master() const { return master_; }
    /// Where they are not sharded, below stage 2: of this rank's rows until they are reduced, then right in
    /// the own slices only (stage 1) or everywhere.
    Flat& gradients() { return gradients_; }
    void share_update();

    // What a pass over the model asks: of units that are here.
    /// In the dtype of computation: the master itself, or its bfloat16 copy under `bf16: true`.
    const ModelTensors& weights() const { return weights_; }
    const ModelTensors& weight_gradients() const { return weight_gradients_; }
    at::ScalarType compute_dtype() const { return compute_.values.scalar_type(); }
    /// A unit's weights as a pass reads them, its padding included; at stage 3 between `use` and `drop`.
    at::Tensor weights_of_unit(int unit) const;
    /// Starts to bring a unit's weights here; `use` waits for them, `drop` frees them. Nothing below stage 3.
    /// All ranks of the shard group go through the same units in the same order.
    void gather(int unit);
    void use(int unit);
    void drop(int unit);
    /// From here a unit's gradients may be written; they are zeros or written over first. From stage 2 on
    /// `take_gradients` gives them away whole, padded with zeros.
    void open_gradients(int unit);
    at::Tensor take_gradients(int unit);
    /// For proofs: with `nan`, gradients begin as NaN, so that an element that nobody writes shows. Without,
    /// they become zeros again.
    void begin_gradients(bool nan);
    /// A micro-batch's gradients begin anew: they are not added to those of the one before.
    bool gradients_are_taken() const { return stage_ >= 2; }

    /// transformers' initialisation (normal with initializer_range, biases 0, norms 1), of an adapter PEFT's
    /// (A uniform within inputs^-1/2, which is Kaiming's with a = √5; B 0), the same on every mesh.
    void initialize(const ModelConfig& model, int64_t seed);
    /// Takes what this rank keeps of a parameter's values; `share_update` makes them everybody's.
    void put(size_t index, const at::Tensor& values);
    /// Reads a Hugging Face folder (model.safetensors, or shards by their index; adapter_model.safetensors of
    /// an adapter). Throws Error naming the file and tensor.
    void load(const std::string& model_dir);

    /// Of the file that they are saved in: "model", "adapter_model".
    const std::string& file_stem() const { return file_stem_; }

  private:
    Parameters(std::vector<ParameterShape> shapes, std::string file_stem, const ModelConfig& model,
               Precision precision, at::Device device, Sharding sharding, Use use);

    struct Unit {
        FlatRange whole;
        FlatRange own;            ///< this rank's slice of it
        int64_t shard_begin = 0;  ///< of that slice in a sharded flat tensor
        int64_t elements = 0;     ///< without padding
        at::Tensor gathered;      ///< stage 3: its weights while they are here
        Transfer gathering;
        at::Tensor gradients;  ///< stage 2 on
    };

    void lay_out_units();
    FlatRange range_of(size_t index) const {
        return {offsets_[index], offsets_[index] + shapes_[index].size()};
    }
    int64_t begin_in_unit(size_t index) const;
    void bind(ModelTensors& views, int unit, const at::Tensor& values) const;
    LayerTensors layer_views(int layer, const at::Tensor& values) const;
    /// Parameters that lie side by side as one: [Σ rows, …], in their unit's values.
    at::Tensor joined(const std::vector<std::string>& names, const at::Tensor& values) const;

    std::vector<ParameterShape> shapes_;
    std::string file_stem_;
    std::map<std::string, size_t> index_;
    std::vector<int64_t> offsets_;  ///< in a whole flat tensor
    std::vector<Unit> units_;
    Sharding sharding_;
    int stage_ = 0;
    int num_layers_ = 0;
    at::Device device_;
    Flat master_;
    Flat compute_;
    Flat gradients_;
    bool begins_with_nan_ = false;
    std::vector<at::Tensor> spare_;  ///< a dropped layer's buffer, for the next
    ModelTensors weights_;
    ModelTensors weight_gradients_;
};

/// What parameters begin with, drawn in their order: float32, of a parameter's shape.
class InitialValues {
  public:
    InitialValues(const ModelConfig& model, int64_t seed);
    at::Tensor next(const ParameterShape& shape);

  private:
    double range_, norm_;
    at::Generator generator_;
};

/// Whole parameters in their order, gathered a unit at a time where they are sharded: all ranks of the shard
/// group go through the same.
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

/// Writes the master as a Hugging Face folder's weights: one model.safetensors, or shards of at most
/// `shard_bytes` with an index, or an adapter_model.safetensors as PEFT reads it. `dtype` is kFloat or
/// kBFloat16. Returns the files written, durable by then; throws Error(Refused) on a full disk. Where states
/// are sharded all ranks of a shard group take part, and those without `writes` only send.
std::vector<WrittenFile> save_weights(Parameters& parameters, const std::string& dir, at::ScalarType dtype,
                                      bool writes = true, int64_t shard_bytes = 5'000'000'000);

}  // namespace ringmaster
