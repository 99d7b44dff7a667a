#include "engine/train/not_finite.h"

#include <ATen/ATen.h>

#include <array>
#include <cstring>

namespace ringmaster {

namespace {

constexpr std::array kWhat = {"embedding", "attention output",    "layer output",
                              "gradient",  "gradient of q, k, v", "MLP output"};

}  // namespace

NotFiniteFinder::NotFiniteFinder(Decoder& decoder) : decoder_(decoder) {
    decoder_.set_probe([this](int layer, const char* what, const at::Tensor& tensor) {
        ++looked_at_;
        if (found_at_ != 0 || at::isfinite(tensor).all().item<bool>()) return;
        found_at_ = looked_at_;
        layer_ = layer;
        for (size_t i = 0; i < kWhat.size(); ++i) {
            if (std::strcmp(kWhat[i], what) == 0) what_ = static_cast<int>(i);
        }
    });
}

NotFiniteFinder::~NotFiniteFinder() {
    decoder_.set_probe({});
}

std::string NotFiniteFinder::agree(Groups& groups, Parameters& parameters, at::Device device) const {
    const int ranks = groups.world().size();
    at::Tensor table = at::zeros({ranks, 4}, at::kDouble);
    table[groups.rank()][0] = static_cast<double>(found_at_);
    table[groups.rank()][1] = layer_;
    table[groups.rank()][2] = what_;
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        if (at::isfinite(parameters.own_values(parameters.gradients(), i)).all().item<bool>()) continue;
        table[groups.rank()][3] = static_cast<double>(i + 1);
        break;
    }
    at::Tensor shared = table.to(device);
    groups.world().all_reduce(shared).wait();
    table = shared.cpu();
    auto cell = [&](int rank, int column) {
        return static_cast<int64_t>(table[rank][column].item<double>());
    };
    int first = -1;
    for (int rank = 0; rank < ranks; ++rank) {
        if (cell(rank, 0) != 0 && (first < 0 || cell(rank, 0) < cell(first, 0))) first = rank;
    }
    if (first >= 0) {
        const int64_t layer = cell(first, 1);
        const std::string what = kWhat[static_cast<size_t>(cell(first, 2))];
        const std::string where = layer < 0 ? "the embedding"
                                  : layer >= static_cast<int64_t>(parameters.weights().layers.size())
                                      ? "the head (" + what + ")"
                                      : "layer " + std::to_string(layer) + " (" + what + ")";
        return "on rank " + std::to_string(first) + " in " + where;
    }
    for (int rank = 0; rank < ranks; ++rank) {
        if (cell(rank, 3) == 0) continue;
        const ParameterShape& shape = parameters.shapes()[static_cast<size_t>(cell(rank, 3) - 1)];
        const std::string place =
            "in the gradient of " + shape.name + " (layer " + std::to_string(shape.layer) + ")";
        return parameters.gradients_are_taken() ? place + ", summed over all ranks"
                                                : "on rank " + std::to_string(rank) + " " + place;
    }
    return "in the sum over ranks: every rank's own values are finite";
}

}  // namespace ringmaster
