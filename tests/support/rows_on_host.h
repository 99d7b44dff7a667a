/// Runs the engine's CUDA kernels on the CPU in one of two ways. The first runs only the kernel's `row`
/// function, with threads as lanes. The second runs all of row_kernels.cu, compiled with
/// tests/support/cuda_on_host in place of CUDA, with one thread per thread of a block.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <variant>
#include <vector>

#include "engine/kernels/row_kernels.h"

namespace ringmaster {

class HostLanes {
  public:
    static constexpr int kFewest = 1;

    struct Shared {
        explicit Shared(int count)
            : values(static_cast<size_t>(count)), pointers(static_cast<size_t>(count)), met(count) {}
        std::vector<float> values;
        std::vector<const void*> pointers;
        std::barrier<> met;
    };

    HostLanes(Shared& shared, int64_t index) : shared_(shared), index_(index) {}

    int64_t index() const { return index_; }
    int64_t count() const { return static_cast<int64_t>(shared_.values.size()); }
    void sync() { shared_.met.arrive_and_wait(); }
    float sum(float x) {
        return joined(x, [](const auto& all) { return std::accumulate(all.begin(), all.end(), 0.0F); });
    }
    float max(float x) {
        return joined(x, [](const auto& all) { return *std::max_element(all.begin(), all.end()); });
    }

    float from(float x, int lane) {
        return joined(x, [=](const auto& all) { return all[static_cast<size_t>(lane)]; });
    }
    template <typename T>
    const T* from(const T* x, int lane) {
        shared_.pointers[static_cast<size_t>(index_)] = x;
        sync();
        const void* of_lane = shared_.pointers[static_cast<size_t>(lane)];
        sync();  // before the next pointer is written
        return static_cast<const T*>(of_lane);
    }

  private:
    template <typename Join>
    float joined(float x, const Join& join) {
        shared_.values[static_cast<size_t>(index_)] = x;
        sync();
        const float all = join(shared_.values);
        sync();  // before the next value is written
        return all;
    }

    Shared& shared_;
    int64_t index_;
};

constexpr int kAsLaunched = 0;
constexpr int64_t kEdgeSizes[] = {1, 31, 32, 33, 1023, 4096};  ///< around the sizes of a warp and a block

/// Runs all rows, one after the other, with `lanes` threads. With kAsLaunched it distributes the rows as a
/// launch does.
inline void run_rows_on_host(const RowKernel& kernel, int lanes) {
    if (lanes == kAsLaunched) {
        if (const char* problem = ringmaster_launch_rows(&kernel, nullptr)) throw std::runtime_error(problem);
        return;
    }
    std::visit(
        [&](const auto& one) {
            HostLanes::Shared shared(lanes);
            std::vector<std::jthread> threads;
            for (int lane = 0; lane < lanes; ++lane) {
                threads.emplace_back([&, lane] {
                    HostLanes own(shared, lane);
                    for (int64_t r = 0; r < one.rows; ++r) one.row(own, r);
                });
            }
        },
        kernel);
}

}  // namespace ringmaster
