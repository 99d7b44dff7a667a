/// Defines each value of `optimizer`: the rule that updates the weights, and how its states are kept. The
/// names are those of transformers and axolotl.
///
/// Block-wise states (Dettmers et al. 2022, "8-bit Optimizers via Block-wise Quantization") are codes of 8 or
/// 4 bits, with one float32 scale per block of consecutive elements of a parameter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

/// AdamWHf is AdamW of transformers before version 5 (`adamw_hf`).
enum class UpdateRule { AdamW, AdamWHf, Sgd, RmsProp, Lion, AdEMAMix, ScheduleFree, Adafactor, Came, Muon };

enum class StateKind {
    AsWeights,       ///< dtype of the updated weights
    Float32,         ///< float32 for any dtype of the weights
    Bitsandbytes8,   ///< blocks of 256; float32 for the embedding and below 4,096 elements
    TorchaoBlocks8,  ///< blocks of 256; as AsWeights below 4,096 elements or if not a multiple of 256
    TorchaoBlocks4,  ///< as TorchaoBlocks8, but in 4 bits
};

struct OptimizerKind {
    std::string_view name;
    UpdateRule rule = UpdateRule::AdamW;
    StateKind states = StateKind::AsWeights;
    bool paged = false;  ///< true: on a GPU, the states are kept in host memory
    /// True if axolotl builds the optimizer and its parameter groups; transformers builds the others.
    bool is_axolotls = false;

    /// Returns whether the update needs whole matrices, not only a rank's slices.
    bool needs_matrices() const {
        return rule == UpdateRule::Adafactor || rule == UpdateRule::Came || rule == UpdateRule::Muon;
    }
};

/// Returns nullptr if the optimizer is not supported.
const OptimizerKind* find_optimizer(std::string_view name);
std::vector<std::string> known_optimizers();  ///< returns the names of all supported ones

/// Returns the nearest supported optimizer, for a name of axolotl or transformers; empty if unknown.
std::string_view nearest_optimizer(std::string_view name);

/// Describes the format of one state of a parameter.
struct StateFormat {
    int bits = 32;           ///< bits per code; 32: plain numbers instead of codes
    int64_t block = 0;       ///< elements that share a scale
    bool as_weights = true;  ///< true: a number in the weights' dtype; false: in float32

    bool in_codes() const { return bits < 32; }
};
StateFormat state_format(StateKind kind, int64_t elements, bool is_embedding);

/// Describes the shape of a state relative to its parameter. Ranks divide states that have one number per
/// element among themselves; every rank holds a complete copy of all other states.
enum class StateExtent {
    Elements,  ///< one number per element
    Rows,      ///< one number per row of a matrix
    Columns,   ///< one number per column of a matrix
    Whole,     ///< one number per element of a vector
};

struct StateSpec {
    std::string_view name;  ///< name in the library
    StateExtent extent = StateExtent::Elements;
    bool is_signed = true;
};

/// Holds the settings that decide which states an optimizer keeps.
struct OptimizerStates {
    UpdateRule rule = UpdateRule::AdamW;
    StateKind kind = StateKind::AsWeights;
    bool momentum = false;  ///< sgd and rmsprop: keeps a momentum
    bool centered = false;  ///< rmsprop: keeps the gradient's average
};

/// Returns the states of a parameter with `dimensions`; `is_table` marks the embedding and the head.
std::vector<StateSpec> states_of(const OptimizerStates& optimizer, size_t dimensions, bool is_table);
/// Returns whether a parameter is the embedding or the head.
bool is_table(std::string_view parameter_name);

/// Returns true if a parameter of a model or an adapter is an embedding, a table that tokens index.
bool is_embedding(std::string_view parameter_name);

}  // namespace ringmaster
