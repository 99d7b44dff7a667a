#include "launcher/cli/run_list.h"

#include <algorithm>

#include "launcher/base/format.h"

namespace ringmaster {

namespace {

constexpr int kOtherColumns = 50;  ///< columns reserved for the rest of a row next to a long name
constexpr int kLeastName = 12;

/// Returns the first line of why a run waits, has failed or was cut short; empty if there is nothing to say.
std::string reason_line(const RunSummary& run, const Terminal& terminal) {
    const bool failed = run.state.state == RunPhase::Failed;
    std::string reason;
    if (failed || run.state.state == RunPhase::Queued) reason = printable(run.state.reason);
    if (run.is_cut_short()) reason = cut_short_text(run.step.value_or(0));
    if (reason.empty()) return "";
    const std::string line = fit("  " + reason.substr(0, reason.find('\n')), terminal.width);
    return (failed ? terminal.ink.red(line) : terminal.ink.yellow(line)) + "\n";
}

}  // namespace

RunList::RunList(std::vector<std::string> before, const std::vector<std::string>& after)
    : name_(before.size()) {
    before.insert(before.end(), {"name", "state    ", "step       ", "loss   "});
    before.insert(before.end(), after.begin(), after.end());
    rows_.push_back(std::move(before));
}

void RunList::add(const RunSummary& run, std::vector<std::string> before,
                  const std::vector<std::string>& after) {
    std::string steps = run.step ? std::to_string(*run.step) : "–";
    if (run.total_steps) steps += "/" + std::to_string(*run.total_steps);
    const std::string state = run.is_cut_short() ? "incomplete" : to_string(run.state.state);
    before.insert(before.end(), {printable(run.name), state, steps, run.loss ? format_loss(*run.loss) : "–"});
    for (const std::string& cell : after) before.push_back(printable(cell));
    rows_.push_back(std::move(before));
    runs_.push_back(run);
}

std::string RunList::text(const Terminal& terminal) const {
    std::vector<int> widths(rows_.front().size());
    for (const auto& row : rows_) {
        for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    widths[name_] = std::min(widths[name_], std::max(kLeastName, terminal.width - kOtherColumns));
    std::string text;
    for (size_t i = 0; i < rows_.size(); ++i) {
        std::string line;
        for (size_t column = 0; column < widths.size(); ++column) {
            const std::string cell = fit(rows_[i][column], widths[column]);
            const std::string space = column == 0 ? "" : "  ";
            line +=
                space + (column < name_ ? right_aligned(cell, widths[column]) : padded(cell, widths[column]));
        }
        line.erase(line.find_last_not_of(' ') + 1);
        if (terminal.is_tty) line = fit(line, terminal.width);
        text += (i == 0 ? terminal.ink.dim(line) : line) + "\n";
        if (i > 0) text += reason_line(runs_[i - 1], terminal);
    }
    return text;
}

}  // namespace ringmaster
