#include "launcher/run/adapt.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "engine/config/edit.h"
#include "engine/error.h"
#include "launcher/base/files.h"

namespace ringmaster {
namespace {

constexpr size_t kMostSteps = 200;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

PlanSize size_of(const Plan& plan) {
    PlanSize size;
    if (plan.memory && plan.ok()) {
        for (const RankMemory& rank : plan.memory->per_rank)
            size.memory_bytes = std::max(size.memory_bytes.value_or(0), rank.total);
    }
    if (plan.batch.global > 0) size.global_batch = plan.batch.global;
    return size;
}

/// Keys that trade time for memory and leave every trained number unchanged.
constexpr std::array<std::string_view, 4> kMemoryKeys{"gradient_checkpointing", "selective_checkpointing",
                                                      "activation_offloading", "tiled_mlp"};

/// Returns the fix; if it only saves memory, its effect also says that the trained weights stay the same.
Fix with_effect(Fix fix) {
    const bool only_memory = std::all_of(fix.edits.begin(), fix.edits.end(), [](const Edit& edit) {
        return std::find(kMemoryKeys.begin(), kMemoryKeys.end(), edit.key) != kMemoryKeys.end();
    });
    if (only_memory)
        fix.effect +=
            std::string(fix.effect.empty() ? "" : "; ") + "the same weights are trained; a step takes longer";
    return fix;
}

/// A configuration's text, what was read from it, and its plan.
struct Draft {
    std::string text;
    ConfigReading reading;
    Plan plan;
};

class Adapter {
  public:
    Adapter(const Request& request, const Machine& machine, const Places& places)
        : request_(request), machine_(machine), places_(places) {}

    Adapted run(const std::string& text) {
        Draft draft = read(text);
        Adapted adapted;
        adapted.before = size_of(draft.plan);
        adapted.readable = draft.reading.readable;
        while (adapted.readable && adapted.steps.size() < kMostSteps && improve(draft, adapted)) {
        }
        for (const Diagnostic& said : draft.plan.diagnostics) {
            if (stops(said, draft.plan)) adapted.missing.push_back(said);
        }
        adapted.after = size_of(draft.plan);
        adapted.text = std::move(draft.text);
        adapted.plan = std::move(draft.plan);
        return adapted;
    }

  private:
    Draft read(std::string text) const {
        ReadOptions options;
        options.set = request_.set;
        options.accelerate_file = request_.accelerate_file;
        options.environment = request_.environment;
        options.base_dir = request_.base_dir;
        Draft draft;
        draft.reading = read_config_text(text, request_.config, options);
        draft.plan = plan_request(request_, draft.reading, machine_, places_);
        draft.text = std::move(text);
        return draft;
    }

    /// Returns the finding's fixes. Fixes of other findings come first if they rename a key to this finding's
    /// key, because they keep a value that the user wrote.
    static std::vector<Fix> fixes_of(const Diagnostic& said, const Diagnostics& all) {
        std::vector<Fix> fixes;
        for (const Diagnostic& other : all) {
            const auto renames = [&](const Fix& fix) {
                return fix.edits.size() == 2 && fix.edits[0].key == other.key && fix.edits[0].remove &&
                       fix.edits[1].key == said.key;
            };
            if (other.key != said.key) std::ranges::copy_if(other.fixes, std::back_inserter(fixes), renames);
        }
        fixes.insert(fixes.end(), said.fixes.begin(), said.fixes.end());
        return fixes;
    }

    /// Applies one fix for one finding that stops the run. Returns false if no fix helps.
    bool improve(Draft& draft, Adapted& adapted) const {
        for (const Diagnostic& said : draft.plan.diagnostics) {
            if (!stops(said, draft.plan)) continue;
            for (const Fix& fix : fixes_of(said, draft.plan.diagnostics)) {
                std::optional<Draft> fixed = with(draft, said, fix);
                if (!fixed) continue;
                adapted.steps.push_back({said, with_effect(fix), changed_lines(draft.text, fixed->text),
                                         size_of(draft.plan), size_of(fixed->plan)});
                draft = std::move(*fixed);
                return true;
            }
        }
        return false;
    }

    /// Returns the draft after the fix; nullopt if the finding is still there or the fix cannot be applied.
    std::optional<Draft> with(const Draft& draft, const Diagnostic& said, const Fix& fix) const {
        if (fix.edits.empty()) return std::nullopt;
        try {
            Draft fixed = read(apply_fix(draft.text, fix));
            if (!fixed.reading.readable || holds(fixed.plan, said)) return std::nullopt;
            return fixed;
        } catch (const Error&) {  // this text does not allow the edit
            return std::nullopt;
        }
    }

    /// Returns true if the finding stops the run: an error, or a memory estimate that will not fit.
    static bool stops(const Diagnostic& said, const Plan& plan) {
        return said.severity == Severity::Error ||
               (said.code == "MEM-FIT" && plan.verdict == Verdict::WillNotFit);
    }

    static bool holds(const Plan& plan, const Diagnostic& said) {
        return std::any_of(plan.diagnostics.begin(), plan.diagnostics.end(), [&](const Diagnostic& other) {
            return other.code == said.code && other.key == said.key && stops(other, plan);
        });
    }

    const Request& request_;
    const Machine& machine_;
    const Places& places_;
};

}  // namespace

std::vector<ChangedLine> changed_lines(const std::string& before, const std::string& after) {
    const std::vector<std::string> old_lines = lines_of(before), new_lines = lines_of(after);
    const size_t n = old_lines.size(), m = new_lines.size();
    size_t head = 0, tail = 0;
    while (head < std::min(n, m) && old_lines[head] == new_lines[head]) ++head;
    while (tail < std::min(n, m) - head && old_lines[n - 1 - tail] == new_lines[m - 1 - tail]) ++tail;
    const size_t rows = n - head - tail, columns = m - head - tail;
    std::vector<ChangedLine> changed;
    constexpr size_t kMostCells = 4'000'000;
    if (rows * columns > kMostCells) {
        for (size_t i = 0; i < rows; ++i)
            changed.push_back({static_cast<int>(head + i) + 1, false, old_lines[head + i]});
        for (size_t j = 0; j < columns; ++j)
            changed.push_back({static_cast<int>(head + j) + 1, true, new_lines[head + j]});
        return changed;
    }
    // Longest common subsequence: common[i][j] is its length for old lines from i, new ones from j.
    std::vector<std::vector<int>> common(rows + 1, std::vector<int>(columns + 1));
    for (size_t i = rows; i-- > 0;) {
        for (size_t j = columns; j-- > 0;)
            common[i][j] = old_lines[head + i] == new_lines[head + j]
                               ? common[i + 1][j + 1] + 1
                               : std::max(common[i + 1][j], common[i][j + 1]);
    }
    for (size_t i = 0, j = 0; i < rows || j < columns;) {
        if (i < rows && j < columns && old_lines[head + i] == new_lines[head + j]) {
            ++i, ++j;
        } else if (j == columns || (i < rows && common[i + 1][j] >= common[i][j + 1])) {
            changed.push_back({static_cast<int>(head + i) + 1, false, old_lines[head + i]});
            ++i;
        } else {
            changed.push_back({static_cast<int>(head + j) + 1, true, new_lines[head + j]});
            ++j;
        }
    }
    return changed;
}

Adapted adapt_text(const std::string& text, const Request& request, const Machine& machine,
                   const Places& places) {
    return Adapter(request, machine, places).run(text);
}

Adapted adapt(const Request& request, const Machine& machine, const Places& places) {
    return adapt_text(read_file(request.config), request, machine, places);
}

}  // namespace ringmaster
