#include "engine/model/layer_keys.h"

#include <ATen/ATen.h>

#include <utility>

namespace ringmaster {

namespace {

KeysValues views_of(const at::Tensor& both_2btkd) {
    return {both_2btkd.select(0, 0), both_2btkd.select(0, 1)};
}

}  // namespace

void LayerKeys::put(size_t chunk, const KeysValues& keys) {
    if (has(chunk) || chunk + 1 == chunks_.size()) return;
    Chunk& at = chunks_[chunk];
    at.is_put = true;
    if (!copies_ && stash_ == nullptr) {
        at.keys = keys;
        return;
    }
    const at::Tensor both_2btkd = at::stack({keys.k_btkd, keys.v_btkd});
    if (stash_ != nullptr)
        stash_->put(place(chunk, Both), both_2btkd);
    else
        at.keys = views_of(both_2btkd);
}

void LayerKeys::fetch(size_t chunk, bool with_sums) {
    if (stash_ == nullptr) return;
    stash_->fetch(place(chunk, Both));
    if (!with_sums || !chunks_[chunk].has_sums) return;
    stash_->fetch(place(chunk, KeySums));
    stash_->fetch(place(chunk, ValueSums));
}

KeysValues LayerKeys::keys(size_t chunk) {
    return stash_ == nullptr ? chunks_[chunk].keys : views_of(stash_->take(place(chunk, Both)));
}

KeysValues LayerKeys::take_sums(size_t chunk) {
    Chunk& at = chunks_[chunk];
    if (!std::exchange(at.has_sums, false)) return {};
    if (stash_ == nullptr) return std::exchange(at.sums, {});
    return {stash_->take(place(chunk, KeySums)), stash_->take(place(chunk, ValueSums))};
}

void LayerKeys::put_sums(size_t chunk, KeysValues sums) {
    Chunk& at = chunks_[chunk];
    at.has_sums = true;
    if (stash_ == nullptr) {
        at.sums = std::move(sums);
        return;
    }
    stash_->put(place(chunk, KeySums), sums.k_btkd);
    stash_->put(place(chunk, ValueSums), sums.v_btkd);
}

}  // namespace ringmaster
