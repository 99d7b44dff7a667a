/// Counts the operations of a recurrent layer, and the bytes that it sends between ranks.
#pragma once

#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns the number of layers with attention.
int64_t attending_layers_of(const ModelConfig& model);
int64_t recurring_layers_of(const ModelConfig& model);

/// Returns the floating-point operations of one token in the recurrence's forward pass, in one layer: the
/// products of engine/recurrence/delta_rule.cpp, or the scan of engine/kernels/scan.h.
double recurrence_flops(const ModelConfig& model);

/// Returns the bytes that a GPU moves for one token in the forward scan of a Mamba-1 layer. LibTorch's
/// operations pass over the states several times (engine/recurrence/scan_by_operations.cpp). Returns 0 for
/// other layers.
double scan_bytes(const ModelConfig& model);

/// Returns the bytes that a rank sends for one stretch of one row, in one layer: the map of states over the
/// stretch, and its last tokens, which the convolution of the next stretch reads.
double stretch_bytes(const ModelConfig& model, double element_bytes);

}  // namespace ringmaster
