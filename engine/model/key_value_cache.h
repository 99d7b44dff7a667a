/// Keeps the keys and values of sequences that are decoded together, so that each new token is computed once.
/// The rows of a batch may have different lengths: a token belongs to a row, and nothing is padded.
///
/// Letters: B rows, N new tokens of all rows, K key/value heads, S places of a row, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/sharded_attention.h"
#include "engine/families/model_config.h"
#include "engine/model/decode_ops.h"
#include "engine/model/rope.h"

namespace ringmaster {

class KeyValueCache {
  public:
    /// Makes room for `places` tokens in each of `rows` rows. `longest` is the sequence length for rotary
    /// embeddings whose scaling depends on it.
    KeyValueCache(const ModelConfig& model, int64_t rows, int64_t places, int64_t longest,
                  at::ScalarType dtype, at::Device device);

    int64_t rows() const { return static_cast<int64_t>(lengths_.size()); }

    /// Empties a row for another sequence.
    void restart(int64_t row) { lengths_[static_cast<size_t>(row)] = 0; }

    /// Begins a pass over new tokens: `counts` holds their number in each row.
    void begin(const std::vector<int64_t>& counts);
    /// Rotates the first `heads` heads of the new tokens; see SequenceShard::rotate_heads.
    void rotate(const LayerKind& kind, const at::Tensor& qkv_nw, int64_t queries, int64_t heads) const;
    /// Adds the new tokens' keys and values [1, N, K, D] to a layer's, and returns the tokens' attention.
    /// Keys and values are undefined for a layer that reads another layer's.
    AttentionOutput attend(int layer, const LayerKind& kind, const at::Tensor& q_1nhd,
                           const at::Tensor& k_1nkd, const at::Tensor& v_1nkd, const at::Tensor& sinks_h);
    /// Ends the pass. Returns the index of the last new token of each row that has new ones, int64.
    at::Tensor end();

  private:
    struct OfLayer {
        at::Tensor keys_bksd, values_bksd;
    };
    std::vector<DecodedToken> tokens_of(const LayerKind& kind) const;

    const ModelConfig& model_;
    const int64_t longest_;
    const at::Device device_;
    std::vector<OfLayer> layers_;
    std::vector<int64_t> lengths_;  ///< tokens of each row before the pass
    std::vector<int64_t> counts_;   ///< new tokens of each row
    at::Tensor rows_n_, places_n_;  ///< int64: row and place of each new token
    std::vector<RopeTables> ropes_;
};

}  // namespace ringmaster
