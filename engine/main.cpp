// ringmaster-engine: one rank of training, one process.
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "engine/commands/calibrate.h"
#include "engine/commands/generate_command.h"
#include "engine/commands/link.h"
#include "engine/commands/selftest.h"
#include "engine/commands/session.h"
#include "engine/commands/trial.h"
#include "engine/model/merge.h"

namespace {

constexpr const char* kUsage =
    "usage: ringmaster-engine --run DIR [--resume auto|latest|none|STEP] [--int8 cpu|gpu]\n"
    "       ringmaster-engine --calibrate [--device cpu|cuda] [--devices N] [--seconds S] [--disk DIR]\n"
    "       ringmaster-engine --selftest [--device cpu|cuda] [--devices N] [--seconds S]\n"
    "       ringmaster-engine --trial [--device cpu|cuda] [--devices N]\n"
    "       ringmaster-engine --link (--listen ADDRESS | --meet ADDRESS --port PORT) [--device cpu|cuda]\n"
    "       ringmaster-engine --merge FILE --to DIR\n"
    "       ringmaster-engine --generate FILE\n"
    "       ringmaster-engine --version | --help\n"
    "\n"
    "Runs one rank of training; DIR is a run directory that `ringmaster prepare` made. Rank and rendezvous "
    "come from\n"
    "torchrun's variables (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT) or Slurm's; without them, "
    "it is the\n"
    "only rank. --int8 multiplies by 8-bit weights as bitsandbytes does on that kind of device, for "
    "comparison.\n"
    "--calibrate measures this machine (of N GPUs the first two), each figure for S seconds, the disk of DIR "
    "too, and prints\n"
    "JSON lines, for `ringmaster calibrate`. --selftest first proves kernels, attention and ring on a "
    "device: "
    "--device, or else\n"
    "a GPU if one is found. --trial runs the part of it that takes seconds, on each of N GPUs; --link "
    "measures the link\n"
    "between two machines and runs on both. Both are for `ringmaster nodes --deep`, and --merge and "
    "--generate "
    "are for `ringmaster merge` and `ringmaster generate`.\n";

int refuse(const std::string& what) {
    std::fprintf(stderr, "ringmaster-engine: %s\n%s", what.c_str(), kUsage);
    return 2;
}

enum class Task { Run, Calibrate, Selftest, Trial, Link };

struct Command {
    Task task = Task::Run;
    ringmaster::SessionOptions run;
    std::optional<ringmaster::Device> device;
    int devices = 0;
    std::optional<double> seconds;
    ringmaster::LinkOptions link;
    std::string merge, to, generate, disk;
};

/// Sets an option's value; returns false if the option does not accept it.
bool take(Command& command, const std::string& option, const std::string& value) {
    if (option == "--run") {
        command.run.run_dir = value;
    } else if (option == "--merge") {
        command.merge = value;
    } else if (option == "--generate") {
        command.generate = value;
    } else if (option == "--disk") {
        command.disk = value;
    } else if (option == "--to") {
        command.to = value;
    } else if (option == "--resume") {
        command.run.resume = value;
    } else if (option == "--int8") {
        command.run.quantizes_inputs = value == "gpu";
        return value == "cpu" || value == "gpu";
    } else if (option == "--devices") {
        command.devices = std::atoi(value.c_str());
    } else if (option == "--listen") {
        command.link.listen = value;
    } else if (option == "--meet") {
        command.link.meet = value;
    } else if (option == "--port") {
        command.link.port = std::atoi(value.c_str());
    } else if (option == "--seconds") {
        char* end = nullptr;
        command.seconds = std::strtod(value.c_str(), &end);
        return end != value.c_str() && *end == '\0' && *command.seconds >= 0 && *command.seconds <= 600;
    } else {
        command.device = value == "cuda" ? ringmaster::Device::Cuda : ringmaster::Device::Cpu;
        return value == "cpu" || value == "cuda";
    }
    return true;
}

int carry_out(const Command& command) {
    if (command.task == Task::Calibrate) {
        ringmaster::CalibrationOptions options;
        options.device = command.device.value_or(options.device);
        options.devices = command.devices;
        options.disk = command.disk;
        options.seconds_each = command.seconds.value_or(options.seconds_each);
        return ringmaster::print_calibration(options);
    }
    if (command.task == Task::Selftest) {
        ringmaster::SelftestOptions options;
        options.device = command.device;
        options.devices = command.devices;
        options.seconds_each = command.seconds.value_or(options.seconds_each);
        return ringmaster::print_selftest(options);
    }
    if (command.task == Task::Trial)
        return ringmaster::print_trial({command.device.value_or(ringmaster::Device::Cpu), command.devices});
    if (command.task == Task::Link) {
        ringmaster::LinkOptions options = command.link;
        options.device = command.device.value_or(options.device);
        if (options.listen.empty() == options.meet.empty()) return refuse("--link needs --listen or --meet");
        return ringmaster::print_link(options);
    }
    if (!command.generate.empty()) return ringmaster::run_generate(command.generate);
    if (!command.merge.empty()) {
        if (command.to.empty()) return refuse("--merge needs --to");
        return ringmaster::run_merge(command.merge, command.to);
    }
    if (command.run.run_dir.empty()) return refuse("--run is missing");
    return ringmaster::run_session(command.run);
}

}  // namespace

int main(int argc, char** argv) {
    const std::array<std::string, 13> with_value = {
        "--run",  "--resume", "--device", "--devices", "--seconds",  "--listen", "--meet",
        "--port", "--merge",  "--to",     "--int8",    "--generate", "--disk"};
    const std::map<std::string, Task> tasks = {{"--calibrate", Task::Calibrate},
                                               {"--selftest", Task::Selftest},
                                               {"--trial", Task::Trial},
                                               {"--link", Task::Link}};
    Command command;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--help") return std::fputs(kUsage, stdout) < 0;
        if (argument == "--version")
            return std::printf("ringmaster-engine %s, LibTorch %s\n", RINGMASTER_VERSION, TORCH_VERSION) < 0;
        if (const auto task = tasks.find(argument); task != tasks.end()) {
            command.task = task->second;
            continue;
        }
        if (std::find(with_value.begin(), with_value.end(), argument) == with_value.end())
            return refuse("unknown argument '" + argument + "'");
        if (i + 1 == argc) return refuse(argument + " needs a value");
        const std::string value = argv[++i];
        if (!take(command, argument, value)) return refuse("'" + value + "' is not a value of " + argument);
    }
    return carry_out(command);
}
