#include "engine/optimizers/cut_blocks.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ringmaster {

CutBlocks::CutBlocks(Parameters& parameters, const std::vector<int64_t>& blocks, int64_t states)
    : parameters_(parameters), blocks_(blocks), states_(states) {
    if (parameters.stage() == 0) return;
    int64_t in_unit = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
        if (i > 0 && parameters.unit_of(i) != parameters.unit_of(i - 1)) in_unit = 0;
        const int64_t size = parameters.shapes()[i].size();
        const int64_t slice = parameters.own_slice(parameters.master(), parameters.unit_of(i)).size(0);
        for (int64_t edge = (in_unit / slice + 1) * slice; blocks[i] > 0 && edge < in_unit + size;
             edge += slice) {
            const int64_t at = edge - in_unit;
            if (at % blocks[i] != 0)
                cuts_.emplace(std::pair(i, at / blocks[i]), static_cast<int64_t>(cuts_.size()));
        }
        in_unit += size;
    }
}

int64_t CutBlocks::cut_of(size_t parameter, int64_t block) const {
    const auto found = cuts_.find({parameter, block});
    return found == cuts_.end() ? -1 : found->second;
}

std::vector<CutBlocks::Stretch> CutBlocks::stretches(size_t parameter) const {
    const FlatRange own = parameters_.own_elements(parameter);
    const int64_t block = blocks_[parameter];
    if (block == 0 || own.size() == 0) return {{0, own.size(), -1}};
    std::vector<Stretch> stretches;
    const auto add = [&](int64_t begin, int64_t end, int64_t cut) {
        if (begin < end) stretches.push_back({begin - own.begin, end - begin, cut});
    };
    const int64_t first = own.begin / block, last = (own.end - 1) / block;
    const int64_t cut_first = cut_of(parameter, first), cut_last = cut_of(parameter, last);
    const int64_t begin = cut_first >= 0 ? std::min((first + 1) * block, own.end) : own.begin;
    const int64_t end = cut_last >= 0 ? std::max(last * block, begin) : own.end;
    add(own.begin, begin, cut_first);
    add(begin, end, -1);
    add(end, own.end, cut_last);
    return stretches;
}

at::Tensor CutBlocks::begin() const {
    return at::zeros({static_cast<int64_t>(cuts_.size()), states_},
                     parameters_.master().values.options().dtype(at::kFloat));
}

void CutBlocks::agree(at::Tensor& largest) const {
    at::Tensor here = largest.view({-1}).to(parameters_.device());
    parameters_.sharding_groups()->shard().all_reduce(here, Reduce::Max).wait();
    largest.view({-1}).copy_(here);
}

}  // namespace ringmaster
