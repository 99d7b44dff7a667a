// calibrate: measures the speed of a node's parts and keeps it for plan, advise and the app.
#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/plan/speeds.h"
#include "launcher/backends/needs.h"
#include "launcher/base/format.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/person.h"
#include "launcher/machine/machine_figures.h"
#include "launcher/nodes/remote_run.h"

namespace ringmaster {

namespace {

/// Returns "189 GFLOP/s" or "402 TFLOP/s".
std::string flops_text(double flops) {
    return flops >= 1e12 ? format_number(flops / 1e12, 3) + " TFLOP/s"
                         : format_number(flops / 1e9, 3) + " GFLOP/s";
}

std::string bytes_text(double bytes) {
    return format_number(bytes / 1e9, 3) + " GB/s";
}

std::string report_text(const Calibration& c, const Terminal& terminal) {
    std::string text =
        terminal.ink.bold(printable(c.host)) + "  " + printable(c.device == "cpu" ? c.processor : c.device);
    if (c.device == "cpu")
        text += (c.processor.empty() ? "CPU, " : ", ") + std::to_string(c.cores) +
                (c.cores == 1 ? " core" : " cores");
    text += "  (measured in " + format_duration(c.seconds) + ")\n";
    const auto line = [&](const std::string& name, const std::string& first, const std::string& second = "") {
        const auto padded = [](std::string part, size_t width) {
            part.resize(std::max(width, part.size()), ' ');
            return part;
        };
        text += "  " + padded(name, 22) + (second.empty() ? first : padded(first, 16) + second) + "\n";
    };
    line("", "float32", "bfloat16");
    line("matrix product", flops_text(c.float32.product), flops_text(c.bfloat16.product));
    line("attention forward", flops_text(c.float32.attention_forward),
         flops_text(c.bfloat16.attention_forward));
    line("attention backward", flops_text(c.float32.attention_backward),
         flops_text(c.bfloat16.attention_backward));
    line("memory copy", bytes_text(c.memory));
    line("link between ranks",
         c.link ? bytes_text(*c.link) + ", " + format_number(1e6 * c.latency_s.value_or(0), 3) + " µs"
                : "not measured: there is one GPU");
    if (c.disk) line("disk", bytes_text(*c.disk) + " in " + printable(c.disk_folder.value_or("")));
    return text;
}

/// Returns ", in place of those of 2026-11-20 18:03 (1 d 2 h ago)"; empty if nothing is replaced.
std::string age_text(const std::vector<Calibration>& before, const Calibration& now) {
    for (const Calibration& old : before) {
        if (old.device == now.device)
            return ", in place of those of " + format_time(old.measured_at) + " (" +
                   format_duration(std::max(0.0, now.measured_at - old.measured_at)) + " ago)";
    }
    return "";
}

/// Stores the calibration and reports it to the user.
nlohmann::json kept(const Calibration& made, const Machine& machine, const CommandContext& session) {
    const std::vector<Calibration> before = known_calibrations(session.places, machine);
    const std::string file = keep_calibration(session.places, machine, made).string();
    if (!session.json) {
        print(report_text(made, session.out) + "  kept in " + printable(file) + age_text(before, made) +
              ": plan, advise and the app use it for this machine\n");
    }
    nlohmann::json written = calibration_to_json(made);
    written["file"] = file;
    return written;
}

bool measures_cuda(const Arguments& arguments, const Machine& machine) {
    if (!arguments.has("--device")) return !machine.gpus.empty();
    const std::string device = arguments.text("--device");
    if (device != "cpu" && device != "cuda")
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "'" + device + "' is neither cpu nor cuda",
                    "--device");
    return device == "cuda";
}

Calibrated measured_parts(const Arguments& arguments, const Machine& machine) {
    const std::string folder = arguments.text("--disk");
    if (!folder.empty() && folder.front() != '/')
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "'" + folder + "' does not begin with /",
                    "--disk");
    return {measures_cuda(arguments, machine), folder};
}

nlohmann::json calibrate_this(const Arguments& arguments, const CommandContext& session,
                              const Interrupts& interrupts) {
    const Machine machine = this_machine();
    const Calibrated what = measured_parts(arguments, machine);
    ProgressPrinter printer(session, interrupts);
    const Calibration made = calibrate_here(session.places, machine, what, printer.progress());
    printer.clear();
    return nlohmann::json::array({kept(made, machine, session)});
}

/// Measures one node after the other, because simultaneous measurements would disturb each other's links.
nlohmann::json calibrate_nodes(const Arguments& arguments, const CommandContext& session,
                               const Interrupts& interrupts) {
    ProgressPrinter connecting(session, interrupts);
    connecting.progress().report({"connect-nodes"});
    std::vector<Node> nodes = connect_nodes(parse_targets(arguments.all("--node")),
                                            person_at_terminal(arguments.has("--trust-on-first-use")),
                                            program_needs(session.places));
    connecting.clear();
    nlohmann::json list = nlohmann::json::array();
    while (!nodes.empty()) {
        std::vector<Node> one;
        one.push_back(std::move(nodes.front()));
        nodes.erase(nodes.begin());
        const Machine machine = machine_of(one);
        const Calibrated what = measured_parts(arguments, machine);
        ProgressPrinter printer(session, interrupts);
        const Calibration made =
            calibrate_there(one.front(), machine, what, session.places, printer.progress());
        printer.clear();
        list.push_back(kept(made, machine, session));
    }
    return list;
}

int run_calibrate(const Arguments& arguments, const CommandContext& session) {
    if (arguments.has("--trust-on-first-use") && !arguments.has("--node"))
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "is about the nodes of --node, and none is named", "--trust-on-first-use");
    const Interrupts interrupts;
    const nlohmann::json made = arguments.has("--node") ? calibrate_nodes(arguments, session, interrupts)
                                                        : calibrate_this(arguments, session, interrupts);
    if (session.json) print_json(made);
    return 0;
}

}  // namespace

Command calibrate_command() {
    return {
        {"calibrate",
         "",
         false,
         "Measures this machine, or those of --node, in about 20 seconds: matrix product, attention, "
         "memory and the link between ranks. plan, advise and the app then use these figures.",
         {{"--device", "cpu|cuda", "device to measure; cuda if a GPU is found"},
          {"--disk", "DIR", "measure the disk of this folder too: the nvme_path of a plan that uses it"},
          {"--node", "HOST", "[user@]host[:port], a machine to measure instead, reached by SSH", true},
          {"--trust-on-first-use", "", "accept host keys of --node that are not known yet"},
          json_option()},
         "Stop other computations on the machine first. Figures are used only for the machine and device on "
         "which\nthey were measured.\n"
         "exit status: 0 measured; 1 the engine failed; 3 the engine or a node could not be reached; 130 "
         "interrupted"},
        run_calibrate};
}

}  // namespace ringmaster
