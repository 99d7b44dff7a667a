/// Times repeated work on one device. The result is the median over rounds, so that a brief load on the
/// machine does not distort it.
#pragma once

#include <ATen/DeviceAccelerator.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace ringmaster {

class Stopwatch {
  public:
    /// Measures rounds until `seconds` have passed, but at least three rounds.
    Stopwatch(at::Device device, double seconds) : device_(device), seconds_(seconds) {}

    double median(const std::function<void()>& work) const {
        return median([] {}, work);
    }

    /// Returns the median time of a call of `work`, in seconds. Calls `prepare` before every round, outside
    /// the measured time.
    double median(const std::function<void()>& prepare, const std::function<void()>& work) const {
        round(prepare, work);  // warms up memory, code paths and caches
        std::vector<double> rounds;
        double taken = 0;
        do {
            rounds.push_back(round(prepare, work));
            taken += rounds.back();
        } while (taken < seconds_ || rounds.size() < 3);
        const auto middle = rounds.begin() + static_cast<int64_t>(rounds.size() / 2);
        std::nth_element(rounds.begin(), middle, rounds.end());
        return *middle;
    }

  private:
    double round(const std::function<void()>& prepare, const std::function<void()>& work) const {
        prepare();
        synchronize();
        const auto start = std::chrono::steady_clock::now();
        work();
        synchronize();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    void synchronize() const {
        if (device_.is_cuda()) at::accelerator::synchronizeDevice(device_.index());
    }

    at::Device device_;
    double seconds_;
};

}  // namespace ringmaster
