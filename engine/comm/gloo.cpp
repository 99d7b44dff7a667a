// The only file with Gloo's headers. They are Debian's, the library is inside LibTorch: nothing of Gloo is
// constructed or derived from here, its devices are made and held by c10d.
#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "engine/comm/backends.h"
#include "engine/comm/peer_proof.h"

namespace ringmaster {

namespace {

/// c10d notes every collective in a table of the process that it changes without a lock: two groups used by
/// two threads (ranks as threads, in tests) crash in it. Off before any thread exists, unless somebody asked
/// for it; NCCL's is turned on again (nccl_settings.h).
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
