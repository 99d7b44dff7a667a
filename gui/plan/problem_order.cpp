#include "gui/plan/problem_order.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace ringmaster {

namespace {

/// Returns a lower number for a problem that a person should see sooner.
int rank_of(const Diagnostic& said) {
    static const std::set<std::string> kMethods = {"rl", "reward_model", "process_reward_model"};
    if (said.code == "CFG-FILE" || said.code == "CFG-YAML") return 0;
    if (kMethods.contains(said.key)) return 1;
    if (said.code.starts_with("MODEL-") || said.key == "base_model") return 2;
    return 3;
}

auto weight_of(const Diagnostic& said) {
    const int line = said.line > 0 ? said.line : 1 << 30;
    return std::tuple(-int(said.severity), said.severity == Severity::Error ? rank_of(said) : 0, line);
}

}  // namespace

void sort_by_weight(Diagnostics& problems) {
    std::stable_sort(problems.begin(), problems.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return weight_of(a) < weight_of(b); });
}

}  // namespace ringmaster
