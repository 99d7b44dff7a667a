#pragma once

namespace ringmaster {

enum class Device { Cpu, Cuda };

/// Returns "cpu" or "cuda".
inline const char* to_string(Device device) {
    return device == Device::Cuda ? "cuda" : "cpu";
}

}  // namespace ringmaster
