#include "engine/commands/link.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/comm/meeting.h"
#include "engine/commands/json_command.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kMeeting = std::chrono::seconds(20);
constexpr auto kTransfer = std::chrono::seconds(60);

class LinkTest {
  public:
    explicit LinkTest(Groups& groups) : groups_(groups) {}

    double seconds_of(int64_t numbers, int64_t rounds) {
        const at::TensorOptions here = at::TensorOptions().device(groups_.device());
        const at::Tensor out = at::ones({numbers}, here);
        const at::Tensor in = at::empty_like(out);
        round(out, in);
        groups_.world().barrier();
        const Clock::time_point start = Clock::now();
        for (int64_t i = 0; i < rounds; ++i) round(out, in);
        return std::chrono::duration<double>(Clock::now() - start).count() / double(rounds);
    }

    /// Returns the longer time of the two ranks, so that both make the same decisions.
    double agreed(double seconds) {
        const at::Tensor both = at::full({1}, seconds, at::TensorOptions().device(groups_.device()));
        groups_.world().all_reduce(both, Reduce::Max).wait();
        return both.item<double>();
    }

  private:
    void round(const at::Tensor& out, const at::Tensor& in) {
        const int other = 1 - groups_.ring().rank();
        groups_.ring().exchange({out}, other, {in}, other, "calibration").wait();
        if (groups_.device().is_cuda()) at::accelerator::synchronizeDevice(groups_.device().index());
    }

    Groups& groups_;
};

/// Ends the process when stdin is closed, because the user or program that started it has then given up.
void end_with_stdin() {
    std::thread([] {
        std::array<char, 256> ignored;
        ssize_t got = 0;
        do got = ::read(STDIN_FILENO, ignored.data(), ignored.size());
        while (got > 0 || (got < 0 && errno == EINTR));
        std::_Exit(130);
    }).detach();
}

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

Rendezvous rendezvous_of(const LinkOptions& options) {
    const std::string token = variable("RINGMASTER_LINK_TOKEN");
    if (token.empty())
        throw Error(Failure::Usage, Code("RANKS-ENVIRONMENT"), "RINGMASTER_LINK_TOKEN is not set");
    Rendezvous at;
    at.world_size = 2;
    at.key_prefix = "ringmaster/link";
    at.secret = token;
    at.interface_name = variable("GLOO_SOCKET_IFNAME");
    at.rank = options.listen.empty() ? 1 : 0;
    at.master_addr = options.listen.empty() ? options.meet : options.listen;
    at.master_port = options.port;
    if (options.listen.empty()) return at;
    const ListeningSocket store = listen_at(options.listen);
    at.store_fd = store.fd;
    at.master_port = store.port;
    print_line({{"meet", {{"address", options.listen}, {"port", store.port}}}});
    return at;
}

}  // namespace

LinkFigures measure_link(Groups& groups, double seconds) {
    constexpr int64_t kLeast = int64_t{16} << 10, kMost = int64_t{4} << 20,
                      kRounds = 200;  // messages of 64 KiB to 16 MiB
    constexpr double kEnough_s = 0.005;
    LinkTest test(groups);
    const double once = test.agreed(test.seconds_of(1, 3));
    LinkFigures figures;
    figures.latency_s =
        test.seconds_of(1, std::clamp<int64_t>(static_cast<int64_t>(seconds / once), 3, kRounds));
    int64_t numbers = kLeast;
    double slowest = test.agreed(test.seconds_of(numbers, 1));
    while (numbers < kMost && slowest < kEnough_s) {
        numbers *= 4;
        slowest = test.agreed(test.seconds_of(numbers, 1));
    }
    const auto rounds = static_cast<int64_t>(std::clamp(seconds / slowest, 3.0, 2000.0));
    figures.bytes_per_s = 4 * double(numbers) / test.seconds_of(numbers, rounds);
    return figures;
}

int print_link(const LinkOptions& options) {
    constexpr double kSeconds = 1;
    return exit_status_of([&] {
        end_with_stdin();
        const at::NoGradGuard no_grad;
        at::set_num_threads(1);
        Mesh mesh;
        mesh.ring = 2;
        GroupOptions groups;
        groups.device = options.device;
        groups.timeout = kTransfer;
        groups.meeting_timeout = kMeeting;
        Groups both = connect(rendezvous_of(options), mesh, groups);
        const LinkFigures own = measure_link(both, kSeconds);
        print_line({{"result", {{"bytes_per_s", own.bytes_per_s}, {"latency_s", own.latency_s}}}});
        both.world().barrier();  // neither rank may leave while the other measures
        return 0;
    });
}

}  // namespace ringmaster
