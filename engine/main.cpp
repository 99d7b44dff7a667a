// ringmaster-engine: one rank of training, one process.
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/train/calibrate.h"
#include "engine/train/link.h"
#include "engine/train/selftest.h"
#include "engine/train/session.h"

namespace {

constexpr const char* kUsage =
    "usage: ringmaster-engine --run DIR [--resume auto|latest|none|STEP]\n"
    "       ringmaster-engine --calibrate [--device cpu|cuda] [--devices N]\n"
    "       ringmaster-engine --selftest [--device cpu|cuda] [--devices N]\n"
    "       ringmaster-engine --link (--listen ADDRESS | --meet ADDRESS --port PORT) [--device cpu|cuda]\n"
    "       ringmaster-engine --version | --help\n"
    "\n"
    "One rank of training: DIR is a run directory that `ringmaster prepare` made. Rank and rendezvous come "
    "from torchrun's\n"
    "variables (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT) or Slurm's; without any, it trains "
    "alone.\n"
    "--calibrate measures this machine (of N GPUs the first two) and prints JSON lines, as `ringmaster "
    "calibrate` asks for.\n"
    "--selftest compares attention, its gradients and two ranks (and N GPUs) with plain formulas; --link, on "
    "each of two\n"
    "machines, measures what goes between them: both as `ringmaster nodes --deep` asks for.\n";

enum class Work { Train, Calibrate, SelfTest, Link };

struct Options {
    Work work = Work::Train;
    ringmaster::Device device = ringmaster::Device::Cpu;
    int devices = 0;
    ringmaster::SessionOptions session;
    ringmaster::LinkOptions link;
};

int refuse(const std::string& what) {
    std::fprintf(stderr, "ringmaster-engine: %s\n%s", what.c_str(), kUsage);
    return 2;
}

bool takes_value(const std::string& argument) {
    constexpr std::array kNames = {"--run",    "--resume", "--device", "--devices",
                                   "--listen", "--meet",   "--port"};
    return std::find(kNames.begin(), kNames.end(), argument) != kNames.end();
}

/// What is wrong; empty: nothing.
std::string take_value(Options& options, const std::string& argument, const std::string& value) {
    if (argument == "--run") {
        options.session.run_dir = value;
    } else if (argument == "--resume") {
        options.session.resume = value;
    } else if (argument == "--devices") {
        options.devices = std::atoi(value.c_str());
    } else if (argument == "--listen") {
        options.link.listen = value;
    } else if (argument == "--meet") {
        options.link.meet = value;
    } else if (argument == "--port") {
        options.link.port = std::atoi(value.c_str());
    } else if (value != "cpu" && value != "cuda") {
        return "--device is neither cpu nor cuda";
    } else {
        options.device = value == "cuda" ? ringmaster::Device::Cuda : ringmaster::Device::Cpu;
    }
    return {};
}

int run(const Options& options) {
    switch (options.work) {
        case Work::Calibrate: {
            ringmaster::CalibrationOptions calibration;
            calibration.device = options.device;
            calibration.devices = options.devices;
            return ringmaster::print_calibration(calibration);
        }
        case Work::SelfTest:
            return ringmaster::print_self_test({options.device, options.devices});
        case Work::Link: {
            ringmaster::LinkOptions link = options.link;
            link.device = options.device;
            if (link.listen.empty() == link.meet.empty()) return refuse("--link needs --listen or --meet");
            return ringmaster::print_link(link);
        }
        case Work::Train:
            break;
    }
    if (options.session.run_dir.empty()) return refuse("--run is missing");
    return ringmaster::run_session(options.session);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--help") return std::fputs(kUsage, stdout) < 0;
        if (argument == "--version")
            return std::printf("ringmaster-engine %s, LibTorch %s\n", RINGMASTER_VERSION, TORCH_VERSION) < 0;
        if (argument == "--calibrate" || argument == "--selftest" || argument == "--link") {
            options.work = argument == "--calibrate"  ? Work::Calibrate
                           : argument == "--selftest" ? Work::SelfTest
                                                      : Work::Link;
            continue;
        }
        if (!takes_value(argument)) return refuse("unknown argument '" + argument + "'");
        if (i + 1 == argc) return refuse(argument + " needs a value");
        const std::string problem = take_value(options, argument, argv[++i]);
        if (!problem.empty()) return refuse(problem);
    }
    return run(options);
}
