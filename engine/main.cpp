// ringmaster-engine: one rank of training, one process.
#include <torch/version.h>

#include <cstdio>
#include <string>

#include "engine/train/session.h"

namespace {

constexpr const char* kUsage =
    "usage: ringmaster-engine --run DIR [--resume auto|latest|none|STEP]\n"
    "       ringmaster-engine --version | --help\n"
    "\n"
    "One rank of training: DIR is a run directory that `ringmaster prepare` made. Rank and rendezvous come "
    "from torchrun's\n"
    "variables (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT) or Slurm's; without any, it trains "
    "alone.\n";

int refuse(const std::string& what) {
    std::fprintf(stderr, "ringmaster-engine: %s\n%s", what.c_str(), kUsage);
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    ringmaster::SessionOptions options;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--help") return std::fputs(kUsage, stdout) < 0;
        if (argument == "--version")
            return std::printf("ringmaster-engine %s, LibTorch %s\n", RINGMASTER_VERSION, TORCH_VERSION) < 0;
        const bool takes_value = argument == "--run" || argument == "--resume";
        if (!takes_value) return refuse("unknown argument '" + argument + "'");
        if (i + 1 == argc) return refuse(argument + " needs a value");
        const char* value = argv[++i];
        if (argument == "--run") {
            options.run_dir = value;
        } else {
            options.resume = value;
        }
    }
    if (options.run_dir.empty()) return refuse("--run is missing");
    return ringmaster::run_session(options);
}
