/// What each value of `optimizer` is: the rule that moves the weights, and how its states are kept. The names
/// are those of transformers and axolotl.
///
/// Block-wise states (Dettmers et al. 2022, "8-bit Optimizers via Block-wise Quantization") are codes of 8 or
/// 4 bits and a float32 scale for each block of a parameter's elements in their order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

enum class UpdateRule { AdamW, Sgd, RmsProp, Lion, AdEMAMix, ScheduleFree, Adafactor, Came, Muon };

enum class StateKind {
    AsWeights,       ///< in the dtype of the weights that are updated
    Float32,         ///< whatever that dtype
    Bitsandbytes8,   ///< blocks of 256; the embedding's, and those below 4,096 elements, in float32
    TorchaoBlocks8,  ///< blocks of 256; below 4,096 elements, or in part of a block, as the weights
    TorchaoBlocks4,  ///< likewise
};

struct OptimizerKind {
    std::string_view name;
    UpdateRule rule = UpdateRule::AdamW;
    StateKind states = StateKind::AsWeights;
    bool paged = false;  ///< states lie in host memory on a GPU
    /// axolotl builds the optimizer and its parameter groups itself; transformers builds the others.
    bool is_axolotls = false;

    /// The update needs whole matrices, not only a rank's slices.
    bool needs_matrices() const {
        return rule == UpdateRule::Adafactor || rule == UpdateRule::Came || rule == UpdateRule::Muon;
    }
};

/// nullptr: not built.
const OptimizerKind* find_optimizer(std::string_view name);
std::vector<std::string> known_optimizers();

/// The nearest that is built, of a name of axolotl's or transformers' that is not; empty where nobody knows it.
std::string_view nearest_optimizer(std::string_view name);

/// How one state of a parameter is kept.
struct StateFormat {
    int bits = 32;           ///< of a code; 32: a number
    int64_t block = 0;       ///< elements that share a scale
    bool as_weights = true;  ///< a number in the weights' dtype, else in float32

    bool in_codes() const { return bits < 32; }
};
StateFormat state_format(StateKind kind, int64_t elements, bool is_embedding);

/// Which numbers a state holds of a parameter. Ranks share the elements' numbers; every rank holds the
/// others.
enum class StateExtent {
    Elements,  ///< one for each element
    Rows,      ///< one for each row of a matrix
    Columns,   ///< one for each column of a matrix
    Whole,     ///< one for each element of a vector
};

struct StateSpec {
    std::string_view name;  ///< as the library calls it
    StateExtent extent = StateExtent::Elements;
    bool is_signed = true;
};

/// Holds all that decides which states an optimizer keeps.
struct OptimizerStates {
    UpdateRule rule = UpdateRule::AdamW;
    StateKind kind = StateKind::AsWeights;
    bool momentum = false;  ///< sgd and rmsprop
    bool centered = false;  ///< rmsprop
};

/// Returns the states of a parameter with `dimensions`; `is_table` says that it is the embedding or the head.
std::vector<StateSpec> states_of(const OptimizerStates& optimizer, size_t dimensions, bool is_table);
/// Returns whether a parameter is the embedding or the head.
bool is_table(std::string_view parameter_name);

/// The end of the embedding's name, in the model and beside an adapter.
constexpr std::string_view kEmbedding = "model.embed_tokens.weight";

}  // namespace ringmaster
