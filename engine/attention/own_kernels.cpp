#include "engine/attention/own_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "engine/comm/backends.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr const char* kSwitch = "RINGMASTER_CUDA_KERNELS";

const std::vector<OwnKernel>& switched_on() {
    static const std::vector<OwnKernel> kernels = [] {
        const char* value = std::getenv(kSwitch);
        return kernels_named(value == nullptr ? "all" : value);
    }();
    return kernels;
}

std::string all_names() {
    std::string text;
    for (const std::string& name : own_kernel_names()) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

const std::vector<std::string>& own_kernel_names() {
    static const std::vector<std::string> names = {"merge", "rms_norm", "layer_norm",
                                                   "rope",  "swiglu",   "cross_entropy"};
    return names;
}

std::vector<OwnKernel> kernels_named(const std::string& value) {
    const std::vector<std::string>& names = own_kernel_names();
    std::vector<OwnKernel> kernels;
    std::istringstream words(value);
    for (std::string word; std::getline(words, word, ',');) {
        if (word == "none" || word.empty()) continue;
        const auto at = std::find(names.begin(), names.end(), word);
        if (word != "all" && at == names.end())
            throw Error(Failure::Usage, Code("ENGINE-SWITCH"), "'" + word + "' is no kernel", kSwitch,
                        "it takes all, none, or some of " + all_names());
        for (size_t i = 0; i < names.size(); ++i) {
            if (word == "all" || names[i] == word) kernels.push_back(static_cast<OwnKernel>(i));
        }
    }
    return kernels;
}

bool uses_own(OwnKernel kernel, const at::Tensor& x) {
    if (!x.is_cuda()) return false;
    const std::vector<OwnKernel>& on = switched_on();
    return std::find(on.begin(), on.end(), kernel) != on.end();
}

RunRows rows_on(at::Device device) {
    const auto launch =
        reinterpret_cast<decltype(&ringmaster_launch_rows)>(cuda_function("ringmaster_launch_rows"));
    return [launch, device](const RowKernel& kernel) {
        const char* problem = launch(&kernel, current_cuda_stream(device.index()));
        if (problem != nullptr)
            throw Error(Failure::Refused, Code("ENGINE-DEVICE"),
                        std::string("a CUDA kernel cannot be started: ") + problem, {},
                        "RINGMASTER_CUDA_KERNELS=none computes with LibTorch's operations");
    };
}

}  // namespace ringmaster
