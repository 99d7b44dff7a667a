/// Gives the sizes of the pieces in which the engine works through large tensors, which bound its temporary
/// memory. The memory plan (engine/plan) counts a piece with the same numbers.
#pragma once

#include <cstdint>

namespace ringmaster::pieces {

// Matrices
constexpr int64_t kWideRows = 256, kWideColumns = 4096;   ///< of products that are widened to float32
constexpr int64_t kQuantizedElements = int64_t{4} << 20;  ///< widened at once when a matrix is dequantized
constexpr int64_t kDoraRows = 1024;                       ///< copied in float32 to measure their lengths
constexpr int64_t kExpertRows = 1024;                     ///< multiplied element by element and summed
constexpr int64_t kMostPaddedRows = 2048;                 ///< of an expert's product in bfloat16 on a CPU

// Norms, embeddings, head
constexpr int64_t kNormTokens = 128;  ///< summed by one task in a norm's weight gradient
constexpr int64_t kLeastEmbedded = 1024, kMostEmbedded = 16;  ///< tokens a part of layers' inputs; parts
constexpr int64_t kLossTokens = 1024;                         ///< labelled tokens in a chunk of head and loss
constexpr int64_t kMostRoundedChunks = 16;                    ///< whose gradients are added in bfloat16

// Attention on the CPU
constexpr int64_t kScoreRows = 256, kScoreKeys = 512;  ///< queries and keys in a block of scores
constexpr int64_t kPanel = 64;                         ///< columns in a panel of the right side
constexpr int64_t kSinkQueries = 256;

// Recurrent layers
constexpr int64_t kChunkTokens = 64;                  ///< tokens in a chunk of a recurrence
constexpr int64_t kDeltaElements = int64_t{4} << 20;  ///< of the key heads that are computed at once
constexpr int64_t kScanElements = int64_t{8} << 20;   ///< of the channels that are scanned at once
constexpr int64_t kScanLanes = 16;                    ///< channels in a vector

// Optimizer
constexpr int64_t kStatesOnTheirWay = int64_t{16} << 20;  ///< elements copied at once from host memory

}  // namespace ringmaster::pieces
