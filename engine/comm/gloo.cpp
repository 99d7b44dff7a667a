// This file alone includes Gloo's headers. The headers come from Debian, but the library is part of LibTorch.
// Therefore no code here constructs Gloo's classes or derives from them; c10d makes and holds Gloo's devices.
#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "engine/comm/backends.h"
#include "engine/comm/peer_proof.h"

namespace ringmaster {

namespace {

/// Turns c10d's flight recorder off before any thread exists, unless the environment asks for it. c10d
/// records every collective in a process-wide table without a lock, and crashes if two threads use two groups
/// (tests run ranks as threads). nccl_settings.h turns NCCL's flight recorder on again.
const bool kFlightRecorderIsGiven = [] {
    constexpr const char* kName = "TORCH_FR_BUFFER_SIZE";
    const bool given = std::getenv(kName) != nullptr;
    setenv(kName, "0", 0);
    return given;
}();

}  // namespace

bool flight_recorder_is_given() {
    return kFlightRecorderIsGiven;
}

c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const BackendRequest& request) {
    auto options = c10d::ProcessGroupGloo::Options::create(request.meeting_timeout);
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(request.interface_address));
    options->group_name = request.name;
    auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
        request.store, request.rank, static_cast<int>(request.global_ranks.size()), options);
    prove_peers(*gloo, request);
    return gloo;
}

}  // namespace ringmaster
