#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/base/files.h"
#include "launcher/base/format.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/plan_text.h"
#include "launcher/run/adapt.h"

namespace ringmaster {

namespace {

using nlohmann::json;

template <class Value>
json or_null(const std::optional<Value>& value) {
    return value ? json(*value) : json();
}

json size_json(const PlanSize& size) {
    return {{"memory_bytes", or_null(size.memory_bytes)}, {"global_batch", or_null(size.global_batch)}};
}

json step_json(const Adaptation& step) {
    json lines = json::array();
    for (const ChangedLine& line : step.lines)
        lines.push_back({{"line", line.number}, {"change", line.comes ? "+" : "-"}, {"text", line.text}});
    json with_fix = diagnostic_to_json(step.finding);
    Diagnostic only = step.finding;
    only.fixes = {step.fix};
    return {{"finding", std::move(with_fix)},
            {"fix", diagnostic_to_json(only)["fixes"][0]},
            {"lines", std::move(lines)},
            {"before", size_json(step.before)},
            {"after", size_json(step.after)}};
}

json adapted_json(const Adapted& adapted, const std::string& written) {
    json steps = json::array(), missing = json::array();
    for (const Adaptation& step : adapted.steps) steps.push_back(step_json(step));
    for (const Diagnostic& said : adapted.missing) missing.push_back(diagnostic_to_json(said));
    return {{"ok", adapted.missing.empty()},
            {"changed", !adapted.steps.empty()},
            {"written", written.empty() ? json() : json(written)},
            {"steps", std::move(steps)},
            {"missing", std::move(missing)},
            {"before", size_json(adapted.before)},
            {"after", size_json(adapted.after)},
            {"verdict", plan_to_json(adapted.plan)["verdict"]}};
}

/// Returns "memory 10.2 GiB → 12.0 GiB" or "memory 12.0 GiB now"; empty if it is unchanged or unknown.
std::string change_of(const char* name, const std::optional<int64_t>& before,
                      const std::optional<int64_t>& after, std::string (*format)(int64_t)) {
    if (!after || before == after) return {};
    return std::string(name) + " " +
           (before ? format(*before) + " → " + format(*after) : format(*after) + " now");
}

/// Returns what a change does to the memory of the fullest rank and to the batch.
std::string size_text(const PlanSize& before, const PlanSize& after) {
    const std::string memory = change_of("memory", before.memory_bytes, after.memory_bytes, format_bytes);
    const std::string batch = change_of("batch", before.global_batch, after.global_batch, format_count);
    if (memory.empty() && batch.empty()) return {};
    return "size: " + memory + (memory.empty() || batch.empty() ? "" : "; ") + batch;
}

std::string wrapped(const std::string& text, const Terminal& terminal) {
    std::string out;
    for (const std::string& part : wrap(printable(text), terminal.width - 4)) out += "    " + part + "\n";
    return out;
}

std::string step_text(const Adaptation& step, const Terminal& terminal) {
    std::string text;
    for (const ChangedLine& line : step.lines) {
        const std::string shown = (line.comes ? "+ " : "- ") + printable(line.text);
        text += (line.comes ? terminal.ink.green(shown) : terminal.ink.red(shown)) + "\n";
    }
    text += wrapped("why: " + step.finding.message, terminal);
    if (!step.fix.effect.empty()) text += wrapped("result: " + step.fix.effect, terminal);
    const std::string size = size_text(step.before, step.after);
    return text + (size.empty() ? "" : wrapped(size, terminal)) + "\n";
}

std::string adapted_text(const Adapted& adapted, const std::string& written, const Terminal& terminal) {
    std::string text;
    for (const Adaptation& step : adapted.steps) text += step_text(step, terminal);
    for (const Diagnostic& said : adapted.missing) {
        text +=
            terminal.ink.bold("missing") + " " + printable(said.key) + "\n" + wrapped(said.message, terminal);
        if (!said.hint.empty()) text += wrapped("by hand: " + said.hint, terminal);
    }
    if (!adapted.missing.empty()) return text + "It does not run here yet.\n";
    text += verdict_line(adapted.plan, terminal.ink) + "\n";
    if (adapted.after.global_batch)
        text += "Rows a step: " + format_count(*adapted.after.global_batch) + "\n";
    if (adapted.steps.empty()) return text + "It runs here as it is.\n";
    return text +
           (written.empty() ? "--write FILE writes it.\n" : "Written to " + printable(written) + ".\n");
}

int run_adapt(const Arguments& arguments, const CommandContext& session) {
    if (arguments.has("--write") && arguments.text("--write").empty())
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is empty", "--write");
    const Adapted adapted = adapt(request_of(arguments), this_machine(), session.places);
    if (!adapted.readable) {
        if (session.json) print_json(adapted_json(adapted, ""));
        complain(diagnostics_text(adapted.plan.diagnostics, session.err, Severity::Error));
        return 2;
    }
    std::string written;
    if (arguments.has("--write")) {
        written = absolute_path(arguments.text("--write"));
        write_file(written, adapted.text);
    }
    if (session.json) {
        print_json(adapted_json(adapted, written));
    } else {
        print(adapted_text(adapted, written, session.out));
    }
    return adapted.missing.empty() ? 0 : 1;
}

}  // namespace

Command adapt_command() {
    CommandSpec spec{"adapt",
                     "CONFIG",
                     true,
                     "Applies the fixes that a YAML needs to run here, and shows each changed line with its "
                     "reason and its "
                     "effect on memory, batch and result. Nothing else in the file changes.",
                     request_options(),
                     "exit status: 0 it runs with these changes; 1 no change of the file is enough; "
                     "2 missing "
                     "file or malformed YAML"};
    spec.options.push_back({"--write", "FILE", "write the changed text to FILE (it may be CONFIG itself)"});
    return {std::move(spec), run_adapt};
}

}  // namespace ringmaster
