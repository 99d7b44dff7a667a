/// Gives the sizes of the pieces in which the engine works through large tensors, which bound its temporary
/// memory. The memory plan (engine/plan) counts a piece with the same numbers.
#pragma once

#include <cstdint>

namespace ringmaster::pieces {

// Matrices
constexpr int64_t kWideRows = 256, kWideColumns = 4096;   ///< block of a product that is widened to float32
constexpr int64_t kQuantizedElements = int64_t{4} << 20;  ///< elements dequantized to float32 at once
constexpr int64_t kDoraRows = 1024;        ///< rows copied to float32 at once to compute their norms
constexpr int64_t kExpertRows = 1024;      ///< rows that experts' elementwise operations take at once
constexpr int64_t kMostPaddedRows = 2048;  ///< maximum rows of an expert's product that is padded on a CPU

// Norms, embeddings, head
constexpr int64_t kNormTokens = 128;  ///< tokens that one task sums in a norm's weight gradient
/// Layers' inputs are made in parts: the minimum tokens of a part, and the maximum number of parts.
constexpr int64_t kLeastEmbedded = 1024, kMostEmbedded = 16;
constexpr int64_t kLossTokens = 1024;  ///< labelled tokens in a chunk of head and loss
/// Maximum number of chunks whose gradients are summed in bfloat16.
constexpr int64_t kMostRoundedChunks = 16;

// Attention on the CPU
constexpr int64_t kScoreRows = 256, kScoreKeys = 512;  ///< queries and keys in a block of scores
constexpr int64_t kPanel = 64;  ///< columns in a panel of a product's right-hand matrix
constexpr int64_t kSinkQueries = 256;

// Recurrent layers
constexpr int64_t kChunkTokens = 64;                  ///< tokens in a chunk of a recurrence
constexpr int64_t kDeltaElements = int64_t{4} << 20;  ///< elements of the key heads computed at once
constexpr int64_t kScanElements = int64_t{8} << 20;   ///< elements of the channels scanned at once
constexpr int64_t kScanLanes = 16;                    ///< channels in one SIMD vector

// Optimizer
constexpr int64_t kStatesOnTheirWay = int64_t{16} << 20;  ///< elements copied at once from host memory

}  // namespace ringmaster::pieces
