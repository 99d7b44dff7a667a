#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/anywhere/adopt.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/person.h"

namespace ringmaster {

std::vector<OptionSpec> request_options() {
    return {
        {"--ranks", "N",
         "total number of ranks, one per GPU; default: accelerate's num_processes, the\nGPUs found here, "
         "or 2 on the CPU"},
        {"--nodes", "N", "number of machines for the ranks (1)"},
        {"--device", "cpu|cuda", "the ranks' device; cuda if a GPU is found"},
        {"--device-memory", "GiB", "memory of one device; default: this machine's"},
        {"--host-memory", "GiB", "memory of one node, all its ranks together; default: this machine's"},
        {"--disk-memory", "GiB",
         "free disk of one node, all its ranks together; default: what the folder of\nnvme_path has here"},
        {"--accelerate", "FILE", "an accelerate YAML: its parallel sizes override those of CONFIG"},
        {"--set", "key=value", "overrides a key of CONFIG: a dotted path, and a value in YAML", true},
        json_option()};
}

Request request_of(const Arguments& arguments) {
    Request request;
    request.config = arguments.operand();
    request.accelerate_file = arguments.text("--accelerate");
    for (const std::string& setting : arguments.all("--set")) request.set.push_back(parse_set(setting));
    request.environment = parallelism_environment();
    if (const auto ranks = arguments.whole("--ranks", 1)) request.ranks = static_cast<int>(*ranks);
    if (const auto nodes = arguments.whole("--nodes", 1)) request.nodes = static_cast<int>(*nodes);
    if (const auto gib = arguments.number("--device-memory"))
        request.device_memory_bytes = std::llround(std::min(*gib, 1e9) * (1 << 30));
    if (const auto gib = arguments.number("--host-memory"))
        request.host_memory_bytes = std::llround(std::min(*gib, 1e9) * (1 << 30));
    if (const auto gib = arguments.number("--disk-memory"))
        request.disk_memory_bytes = std::llround(std::min(*gib, 1e9) * (1 << 30));
    if (const std::string device = arguments.either("--device", "cpu", "cuda"); !device.empty())
        request.device = device == "cuda" ? Device::Cuda : Device::Cpu;
    if (const auto restarts = arguments.whole("--restarts", 0))
        request.restarts = static_cast<int>(*restarts);
    request.shrink = arguments.has("--shrink");
    if (arguments.has("--no-preflight")) request.preflight = Preflight::None;
    return request;
}

OptionSpec json_option() {
    return {"--json", "", "print JSON, and nothing else, on stdout"};
}

OptionSpec libtorch_option() {
    return {"--libtorch", "pip|copy",
            "if a node has no suitable LibTorch: its own pip installs one (2.8 GB from\nPyPI), or this "
            "machine sends the needed part of its LibTorch"};
}

std::optional<LibTorchWay> libtorch_of(const Arguments& arguments) {
    if (!arguments.has("--libtorch")) return std::nullopt;
    return libtorch_way(arguments.text("--libtorch"));
}

OptionSpec runs_dir_option() {
    return {"--runs-dir", "DIR", "folder with the runs (${XDG_DATA_HOME:-~/.local/share}/ringmaster/runs)"};
}

std::filesystem::path runs_dir_of(const Arguments& arguments, const CommandContext& session) {
    const std::string asked = arguments.text("--runs-dir");
    if (arguments.has("--runs-dir") && asked.empty())
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is empty", "--runs-dir");
    return asked.empty() ? session.places.runs_dir : absolute_path(asked);
}

RunDirectory run_of(const Arguments& arguments, const CommandContext& session) {
    const RunDirectory run = find_run(arguments.operand(), runs_dir_of(arguments, session));
    session.about(run);
    return run;
}

OptionSpec run_node_option() {
    return {"--node", "HOST",
            "a machine of a run that another machine launched: [user@]host[:port];\n"
            "one of its nodes, or all in order; no others are contacted",
            true};
}

OptionSpec trust_option() {
    return {"--trust-on-first-use", "", "accept host keys of --node that are not known yet"};
}

RunDirectory run_here_or_there(const Arguments& arguments, const CommandContext& session) {
    if (!arguments.has("--node")) return run_of(arguments, session);
    const Adopted adopted =
        adopt_run(arguments.operand(), arguments.all("--node"), runs_dir_of(arguments, session),
                  person_at_terminal(arguments.has("--trust-on-first-use")));
    session.about(adopted.run);
    if (adopted.is_new)
        complain("found on " + printable(arguments.all("--node").front()) + "; followed here in " +
                 printable(adopted.run.dir.string()) + "\n");
    return adopted.run;
}

void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

void complain(const std::string& text) {
    std::fputs(text.c_str(), stderr);
}

void print_json(const nlohmann::json& json) {
    print(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void print_line(const nlohmann::json& json) {
    print(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace ringmaster
