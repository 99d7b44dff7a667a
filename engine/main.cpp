// Runs ringmaster-engine: one process per rank of training, or one of the commands that measure, merge and
// generate.
#include <torch/version.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "engine/commands/calibrate.h"
#include "engine/commands/generate_command.h"
#include "engine/commands/link.h"
#include "engine/commands/selftest.h"
#include "engine/commands/session.h"
#include "engine/commands/trial.h"
#include "engine/error.h"
#include "engine/model/merge.h"
#include "engine/words/arguments.h"

namespace {

using namespace ringmaster;

const CommandSpec& engine_command() {
    static const CommandSpec spec = {
        "",
        "",
        false,
        "Runs one rank of training. Rank and rendezvous come from torchrun's variables (RANK, WORLD_SIZE,\n"
        "LOCAL_RANK, MASTER_ADDR, MASTER_PORT) or Slurm's; without them, it is the only rank.",
        {{"--run", "DIR", "run directory that `ringmaster prepare` made"},
         {"--resume", "WHICH", "checkpoint to resume from: auto, latest, none or its step"},
         {"--int8", "cpu|gpu",
          "multiply by 8-bit weights as bitsandbytes does on that kind of device, for comparison"},
         {"--calibrate", "",
          "measure this machine, of N GPUs the first two; prints JSON lines for `ringmaster calibrate`"},
         {"--selftest", "", "prove kernels, attention and ring on a device, then measure it"},
         {"--trial", "",
          "the part of --selftest that takes seconds, on each of N GPUs, for `ringmaster nodes --deep`"},
         {"--link", "", "measure the link between two machines; runs on both, for `ringmaster nodes --deep`"},
         {"--device", "cpu|cuda", "device to measure (default of --selftest: a GPU if one is found)"},
         {"--devices", "N", "GPUs to use"},
         {"--seconds", "S", "seconds for each figure, at most 600"},
         {"--disk", "DIR", "measure this folder's disk too"},
         {"--listen", "ADDRESS", "address at which one end of the link waits"},
         {"--meet", "ADDRESS", "address of the end that waits"},
         {"--port", "PORT", "its port"},
         {"--merge", "FILE", "do what FILE says, for `ringmaster merge`"},
         {"--to", "DIR", "folder for the merged model"},
         {"--generate", "FILE", "do what FILE says, for `ringmaster generate`"},
         {"--version", "", "show the versions of this program and of LibTorch"},
         {"--help", "", "show this help"}},
        "",
        "ringmaster-engine",
        {"--run DIR [--resume WHICH] [--int8 cpu|gpu]",
         "--calibrate [--device cpu|cuda] [--devices N] [--seconds S] [--disk DIR]",
         "--selftest [--device cpu|cuda] [--devices N] [--seconds S]",
         "--trial [--device cpu|cuda] [--devices N]",
         "--link (--listen ADDRESS | --meet ADDRESS --port PORT) [--device cpu|cuda]",
         "--merge FILE --to DIR", "--generate FILE", "--version | --help"}};
    return spec;
}

std::string needed(const Arguments& given, const char* option) {
    const std::string value = given.text(option);
    if (value.empty()) throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "is missing", option);
    return value;
}

std::optional<Device> device_of(const Arguments& given) {
    const std::string device = given.either("--device", "cpu", "cuda");
    if (device.empty()) return std::nullopt;
    return device == "cuda" ? Device::Cuda : Device::Cpu;
}

double seconds_each(const Arguments& given, double otherwise) {
    constexpr double kMost = 600;
    const double seconds = given.number("--seconds").value_or(otherwise);
    if (seconds > kMost)
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"),
                    "is more than " + std::to_string(static_cast<int>(kMost)), "--seconds");
    return seconds;
}

int measure_link(const Arguments& given) {
    LinkOptions options;
    options.device = device_of(given).value_or(options.device);
    options.listen = given.text("--listen");
    options.meet = given.text("--meet");
    options.port = static_cast<int>(given.whole("--port", 1, 65535).value_or(0));
    if (options.listen.empty() == options.meet.empty())
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"), "needs --listen or --meet", "--link");
    return print_link(options);
}

int carry_out(const Arguments& given) {
    if (given.has("--help")) return std::fputs(help_of(engine_command()).c_str(), stdout) < 0;
    if (given.has("--version"))
        return std::printf("ringmaster-engine %s, LibTorch %s\n", RINGMASTER_VERSION, TORCH_VERSION) < 0;
    const std::optional<Device> device = device_of(given);
    const auto devices = static_cast<int>(given.whole("--devices", 0).value_or(0));
    if (given.has("--calibrate")) {
        CalibrationOptions options;
        options.device = device.value_or(options.device);
        options.devices = devices;
        options.disk = given.text("--disk");
        options.seconds_each = seconds_each(given, options.seconds_each);
        return print_calibration(options);
    }
    if (given.has("--selftest")) {
        SelftestOptions options;
        options.device = device;
        options.devices = devices;
        options.seconds_each = seconds_each(given, options.seconds_each);
        return print_selftest(options);
    }
    if (given.has("--trial")) return print_trial({device.value_or(Device::Cpu), devices});
    if (given.has("--link")) return measure_link(given);
    if (given.has("--generate")) return run_generate(needed(given, "--generate"));
    if (given.has("--merge")) return run_merge(needed(given, "--merge"), needed(given, "--to"));
    SessionOptions options;
    options.run_dir = needed(given, "--run");
    if (given.has("--resume")) options.resume = given.text("--resume");
    if (const std::string kind = given.either("--int8", "cpu", "gpu"); !kind.empty())
        options.quantizes_inputs = kind == "gpu";
    return run_session(options);
}

int run_or_print_error(int argc, char** argv) {
    try {
        return carry_out(Arguments(engine_command(), {argv + 1, argv + argc}));
    } catch (const Error& error) {
        if (error.failure == Failure::Usage) std::fputs(usage_of(engine_command()).c_str(), stderr);
        std::fprintf(stderr, "ringmaster-engine: %s\n", error.text().c_str());
        return static_cast<int>(error.failure);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int status = run_or_print_error(argc, argv);
    std::fflush(nullptr);
    // Ends without destroying static objects: LibTorch would take a tenth of a second to forget its
    // operators.
    std::quick_exit(status);
}
