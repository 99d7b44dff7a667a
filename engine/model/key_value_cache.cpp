#include "engine/model/key_value_cache.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/model/ops.h"

namespace ringmaster {

namespace {

at::Tensor on_device(const std::vector<int64_t>& values, at::Device device) {
    return at::tensor(values, at::kLong).to(device);
}

}  // namespace

KeyValueCache::KeyValueCache(const ModelConfig& model, int64_t rows, int64_t places, int64_t longest,
                             at::ScalarType dtype, at::Device device)
    : model_(model), longest_(longest), device_(device), lengths_(static_cast<size_t>(rows)) {
    for (int64_t layer = 0; layer < model.num_layers; ++layer) {
        const ModelConfig own = model.of_layer(layer);
        if (own.borrows_keys) {
            layers_.emplace_back();
            continue;
        }
        const auto empty = [&] {
            return at::empty({rows, own.num_kv_heads, places, own.head_dim},
                             at::TensorOptions().dtype(dtype).device(device));
        };
        layers_.push_back({empty(), empty()});
    }
}

void KeyValueCache::begin(const std::vector<int64_t>& counts) {
    counts_ = counts;
    std::vector<int64_t> rows, places;
    for (size_t row = 0; row < counts.size(); ++row) {
        for (int64_t i = 0; i < counts[row]; ++i) {
            rows.push_back(static_cast<int64_t>(row));
            places.push_back(lengths_[row] + i);
        }
    }
    rows_n_ = on_device(rows, device_);
    places_n_ = on_device(places, device_);
    ropes_.clear();
    for (const RopeConfig& rope : model_.ropes)
        ropes_.push_back(make_rope_tables(model_, rope, places_n_, longest_));
}

void KeyValueCache::rotate(const LayerKind& kind, const at::Tensor& qkv_nw, int64_t queries,
                           int64_t heads) const {
    if (kind.rope < 0) return;
    const RopeTables& rope = ropes_[static_cast<size_t>(kind.rope)];
    const int64_t head_dim = kind.global ? model_.global_heads.head_dim : model_.head_dim;
    ringmaster::rotate(qkv_nw, rope.cos_td, rope.sin_td, heads, head_dim, false, rope.interleaved);
    if (rope.query_scale_t.defined())
        qkv_nw.narrow(1, 0, queries * head_dim).mul_(rope.query_scale_t.unsqueeze(1));
}

std::vector<DecodedToken> KeyValueCache::tokens_of(const LayerKind& kind) const {
    std::vector<DecodedToken> tokens;
    for (size_t row = 0; row < counts_.size(); ++row) {
        for (int64_t i = 0; i < counts_[row]; ++i) {
            const int64_t end = lengths_[row] + i + 1;
            const int64_t begin = kind.window ? std::max<int64_t>(0, end - *kind.window) : 0;
            tokens.push_back({static_cast<int64_t>(row), begin, end});
        }
    }
    return tokens;
}

AttentionOutput KeyValueCache::attend(int layer, const LayerKind& kind, const at::Tensor& q_1nhd,
                                      const at::Tensor& k_1nkd, const at::Tensor& v_1nkd,
                                      const at::Tensor& sinks_h) {
    const OfLayer& cached = layers_[static_cast<size_t>(kind.keys_of < 0 ? layer : kind.keys_of)];
    const auto put = [&](const at::Tensor& all_bksd, const at::Tensor& new_1nkd) {
        all_bksd.transpose(1, 2).index_put_({rows_n_, places_n_}, new_1nkd.squeeze(0));
    };
    if (k_1nkd.defined()) put(cached.keys_bksd, k_1nkd);
    if (v_1nkd.defined()) put(cached.values_bksd, v_1nkd);
    const at::Tensor out_nhd =
        decode_attention(q_1nhd.squeeze(0), cached.keys_bksd, cached.values_bksd, tokens_of(kind),
                         {model_.attention_scale, model_.score_softcap}, sinks_h);
    return {out_nhd.unsqueeze(0), {}, {}};
}

at::Tensor KeyValueCache::end() {
    std::vector<int64_t> last;
    int64_t tokens = 0;
    for (size_t row = 0; row < counts_.size(); ++row) {
        tokens += counts_[row];
        lengths_[row] += counts_[row];
        if (counts_[row] > 0) last.push_back(tokens - 1);
    }
    return on_device(last, device_);
}

}  // namespace ringmaster
