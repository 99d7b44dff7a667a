#include "engine/recurrence/state_passing.h"

#include <ATen/ATen.h>

namespace ringmaster {

namespace {

/// Holds the maps of all ranks: [ranks, slots, rows, heads, K, K + V]. The last dim is 1 + V if the maps only
/// decay the state.
class SharedMaps {
  public:
    SharedMaps(Groups& groups, const OwnStretches& stretches, const StateMaps& maps,
               const at::Tensor& like_bhkv, int64_t slots, int64_t Stretch::*slot, const char* what)
        : slot_(slot), only_decays_(maps.only_decays), width_(only_decays_ ? 1 : like_bhkv.size(2)) {
        std::vector<int64_t> sizes = like_bhkv.sizes().vec();
        sizes[3] += width_;
        sizes.insert(sizes.begin(), slots);
        const at::Tensor own = at::zeros(sizes, like_bhkv.options());
        for (size_t i = 0; i < stretches.own.size(); ++i) {
            if (!maps.ends[i].defined()) continue;
            const at::Tensor to = own[stretches.at(stretches.own[i]).*slot];
            to.narrow(3, width_, like_bhkv.size(3)).copy_(maps.ends[i]);
            if (maps.transitions[i].defined()) to.narrow(3, 0, width_).copy_(maps.transitions[i]);
        }
        all_ = gather_of_context(groups, own, what);
    }

    /// Returns a stretch's A · state + B, or Aᵀ · state + B if `transpose` is set; B if the state is
    /// undefined.
    at::Tensor apply(const Stretch& stretch, const at::Tensor& state, bool transpose) const {
        const at::Tensor map = all_[stretch.rank][stretch.*slot_];
        const at::Tensor end = map.narrow(3, width_, map.size(3) - width_);
        if (!state.defined()) return end.clone();
        const at::Tensor transition = map.narrow(3, 0, width_);
        if (only_decays_) return (transition * state).add_(end);
        return at::matmul(transpose ? transition.transpose(2, 3) : transition, state).add_(end);
    }

  private:
    int64_t Stretch::*slot_;
    bool only_decays_;
    int64_t width_;
    at::Tensor all_;
};

}  // namespace

std::vector<at::Tensor> states_before(Groups& groups, const OwnStretches& stretches, const StateMaps& maps,
                                      const at::Tensor& like_bhkv) {
    std::vector<at::Tensor> states(stretches.own.size());
    const std::vector<Stretch>& all = stretches.stretches.all;
    const int64_t slots = stretches.stretches.most_sent;
    if (slots == 0) return states;
    const SharedMaps shared(groups, stretches, maps, like_bhkv, slots, &Stretch::sent, "states");
    for (size_t i = 0; i < states.size(); ++i) {
        const size_t mine = stretches.own[i].index;
        size_t first = mine;
        while (all[first].has_before) --first;
        for (; first < mine; ++first) states[i] = shared.apply(all[first], states[i], false);
    }
    return states;
}

std::vector<at::Tensor> state_gradients_after(Groups& groups, const OwnStretches& stretches,
                                              const StateMaps& maps, const at::Tensor& like_bhkv) {
    std::vector<at::Tensor> gradients(stretches.own.size());
    const std::vector<Stretch>& all = stretches.stretches.all;
    const int64_t slots = stretches.stretches.most_received;
    if (slots == 0) return gradients;
    const SharedMaps shared(groups, stretches, maps, like_bhkv, slots, &Stretch::received,
                            "gradients of states");
    for (size_t i = 0; i < gradients.size(); ++i) {
        const size_t mine = stretches.own[i].index;
        size_t last = mine;
        while (all[last].has_after) ++last;
        for (; last > mine; --last) gradients[i] = shared.apply(all[last], gradients[i], true);
    }
    return gradients;
}

}  // namespace ringmaster
