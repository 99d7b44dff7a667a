// ringmaster-engine: one rank of training, one process.
#include <torch/version.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/train/calibrate.h"
#include "engine/train/session.h"

namespace {

constexpr const char* kUsage =
    "usage: ringmaster-engine --run DIR [--resume auto|latest|none|STEP]\n"
    "       ringmaster-engine --calibrate [--device cpu|cuda] [--devices N]\n"
    "       ringmaster-engine --version | --help\n"
    "\n"
    "One rank of training: DIR is a run directory that `ringmaster prepare` made. Rank and rendezvous come "
    "from torchrun's\n"
    "variables (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT) or Slurm's; without any, it trains "
    "alone.\n"
    "--calibrate measures this machine (of N GPUs the first two) and prints JSON lines, as `ringmaster "
    "calibrate` asks for.\n";

int refuse(const std::string& what) {
    std::fprintf(stderr, "ringmaster-engine: %s\n%s", what.c_str(), kUsage);
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    ringmaster::SessionOptions options;
    ringmaster::CalibrationOptions calibration;
    bool calibrates = false;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--help") return std::fputs(kUsage, stdout) < 0;
        if (argument == "--version")
            return std::printf("ringmaster-engine %s, LibTorch %s\n", RINGMASTER_VERSION, TORCH_VERSION) < 0;
        if (argument == "--calibrate") {
            calibrates = true;
            continue;
        }
        const bool takes_value = argument == "--run" || argument == "--resume" || argument == "--device" ||
                                 argument == "--devices";
        if (!takes_value) return refuse("unknown argument '" + argument + "'");
        if (i + 1 == argc) return refuse(argument + " needs a value");
        const std::string value = argv[++i];
        if (argument == "--run") {
            options.run_dir = value;
        } else if (argument == "--resume") {
            options.resume = value;
        } else if (argument == "--devices") {
            calibration.devices = std::atoi(value.c_str());
        } else if (value == "cpu" || value == "cuda") {
            calibration.device = value == "cuda" ? ringmaster::Device::Cuda : ringmaster::Device::Cpu;
        } else {
            return refuse("--device is neither cpu nor cuda");
        }
    }
    if (calibrates) return ringmaster::print_calibration(calibration);
    if (options.run_dir.empty()) return refuse("--run is missing");
    return ringmaster::run_session(options);
}
