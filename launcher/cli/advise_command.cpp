#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/resolve/advise.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/base/format.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/plan_text.h"
#include "launcher/run/prepare.h"

namespace ringmaster {

namespace {

constexpr size_t kColumns = 6;
using Row = std::array<std::string, kColumns>;

Row row_of(const Alternative& plan, size_t place) {
    const double exposed = plan.time.overhead();
    const std::string rate = plan.tokens_per_s < 10 ? format_number(plan.tokens_per_s, 2)
                                                    : format_count(std::llround(plan.tokens_per_s));
    std::string verdict = plan.verdict == Verdict::WillNotFit ? " (will not fit)"
                          : plan.verdict == Verdict::Tight    ? " (tight)"
                                                              : "";
    return {std::to_string(place),
            mesh_text(plan.mesh, plan.zero_stage) +
                (plan.mesh.ring > 1 ? std::string(", ") + to_string(plan.layout) : ""),
            rate,
            format_percent(exposed),
            format_bytes(plan.memory_total) + verdict,
            format_count(plan.global_batch)};
}

std::string settings_text(const Alternative& plan) {
    if (plan.is_present()) return "nothing changes";
    std::string text;
    for (const auto& [key, value] : plan.set) text += (text.empty() ? "" : " ") + key + "=" + value;
    return text;
}

std::string table_text(const Advice& advice, const Terminal& terminal) {
    std::vector<Row> rows = {{"", "mesh", "tokens/s", "exposed", "memory", "batch"}};
    for (const Alternative& plan : advice.plans) rows.push_back(row_of(plan, rows.size()));
    std::array<int, kColumns> widths{};
    for (const Row& row : rows) {
        for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    std::string text;
    for (size_t i = 0; i < rows.size(); ++i) {
        std::string line;
        for (size_t column = 0; column < kColumns; ++column) {
            const std::string& cell = rows[i][column];
            const bool is_number = column != 1;
            const std::string blank(static_cast<size_t>(widths[column] - display_width(cell)), ' ');
            line += (column > 0 ? "  " : "") + (is_number ? blank + cell : cell + blank);
        }
        text += (i == 0 ? terminal.ink.dim(line) : terminal.ink.bold(line)) + "\n";
        if (i == 0) continue;
        const Alternative& plan = advice.plans[i - 1];
        const std::string indent(static_cast<size_t>(widths[0]) + 2, ' ');
        for (const std::string& part : wrap(plan.why, terminal.width - widths[0] - 2))
            text += indent + part + "\n";
        for (const std::string& part : wrap(settings_text(plan), terminal.width - widths[0] - 2))
            text += indent + terminal.ink.cyan(part) + "\n";
    }
    return text;
}

std::string longest_text(const Advice& advice, const Plan& plan) {
    if (!advice.longest_sequence_len)
        return plan.model ? "The longest sequence_len that fits is not known: the device's memory is not.\n"
                          : "The longest sequence_len that fits is not known: the model's shape is not.\n";
    if (*advice.longest_sequence_len == 0) return "No sequence_len fits with the present mesh and options.\n";
    return "The longest sequence_len that fits with the present mesh: " +
           format_count(*advice.longest_sequence_len) + " (the file has " +
           format_count(plan.sequence.length) + ")\n";
}

std::string advice_text(const Advice& advice, const Plan& plan, const Terminal& terminal) {
    std::string text = verdict_line(plan, terminal.ink) + "\n\n";
    if (advice.plans.empty()) {
        text += plan.model ? "No mesh of this configuration can be trained as the rest of it stands.\n\n" +
                                 diagnostics_text(plan.diagnostics, terminal, Severity::Error)
                           : "Nothing can be ranked: the model's shape is not known here.\n\n";
    } else {
        text += table_text(advice, terminal) + "\n";
    }
    text += longest_text(advice, plan);
    if (advice.longer_by) {
        std::string set;
        for (const auto& [key, value] : advice.longer_by->set)
            set += (set.empty() ? "" : " ") + key + "=" + value;
        for (const std::string& part : wrap("The single change that buys most: " + set + ", up to " +
                                                format_count(advice.longer_by->sequence_len) + " tokens",
                                            terminal.width))
            text += part + "\n";
    }
    return text;
}

int run_advise(const Arguments& arguments, const CommandContext& session) {
    const Machine machine = this_machine();
    const Proposal proposal = propose(request_of(arguments), machine, session.places);
    if (!proposal.reading.readable) {
        if (session.json) print_json(plan_to_json(proposal.plan));
        complain(diagnostics_text(proposal.plan.diagnostics, session.err, Severity::Error));
        return 2;
    }
    const Advice advice =
        advise(proposal.reading, plan_request_of(proposal.request, machine, session.places), proposal.plan);
    if (session.json) {
        print_json(advice_to_json(advice));
    } else {
        print(advice_text(advice, proposal.plan, session.out));
    }
    return advice.plans.empty() && !proposal.plan.ok() ? 1 : 0;
}

}  // namespace

Command advise_command() {
    return {{"advise", "CONFIG", true,
             "Ranks other meshes and options for the same rows by predicted tokens/s, and shows the "
             "longest sequence_len that fits.",
             request_options(),
             "exit status: 0 advice was given, 1 nothing can be trained, 2 missing file or malformed YAML"},
            run_advise};
}

}  // namespace ringmaster
