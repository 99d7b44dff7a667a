#include "engine/plan/findings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <utility>

namespace ringmaster {

void Findings::error(const Form& form, const std::string& key, FindingValues parameters,
                     std::vector<Fix> fixes) {
    add(Severity::Error, form, key, std::move(parameters), std::move(fixes));
}

void Findings::warn(const Form& form, const std::string& key, FindingValues parameters,
                    std::vector<Fix> fixes) {
    add(Severity::Warning, form, key, std::move(parameters), std::move(fixes));
}

void Findings::inform(const Form& form, const std::string& key, FindingValues parameters,
                      std::vector<Fix> fixes) {
    add(Severity::Info, form, key, std::move(parameters), std::move(fixes));
}

void Findings::add(Severity severity, const Form& form, const std::string& key, FindingValues parameters,
                   std::vector<Fix> fixes) {
    Diagnostic said = finding(severity, form, key, line_of(key), std::move(parameters), std::move(fixes));
    if (plan_.config.accelerate_only) said.fixes.clear();  // fixes name keys of an axolotl file
    plan_.diagnostics.push_back(std::move(said));
}

int Findings::line_of(const std::string& key) const {
    const auto line = plan_.config.lines.find(key);
    return line == plan_.config.lines.end() ? 0 : line->second;
}

bool Findings::is_set(const char* key) const {
    return plan_.config.lines.count(key) > 0;
}

std::string Findings::key_of(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
        if (is_set(key)) return key;
    }
    return *keys.begin();
}

namespace {

/// Returns a lower number for a finding that a user should see sooner.
int rank_of(const Diagnostic& said) {
    static const std::set<std::string> kMethods = {"rl", "reward_model", "process_reward_model"};
    if (said.severity == Severity::Info) return 7;
    if (said.severity == Severity::Warning) return said.code == "MEM-FIT" ? 5 : 6;
    if (said.code == "CFG-FILE" || said.code.starts_with("YAML-")) return 0;
    if (kMethods.contains(said.key)) return 1;
    if (said.code.starts_with("MODEL-") || said.key == "base_model") return 2;
    const bool edit_mends =
        std::any_of(said.fixes.begin(), said.fixes.end(), [](const Fix& fix) { return !fix.edits.empty(); });
    return edit_mends ? 4 : 3;
}

}  // namespace

void put_worst_first(Diagnostics& diagnostics) {
    const auto place = [](const Diagnostic& said) {
        return std::pair(rank_of(said), said.line > 0 ? said.line : std::numeric_limits<int>::max());
    };
    std::stable_sort(diagnostics.begin(), diagnostics.end(),
                     [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
}

std::string grouped(int64_t number) {
    std::string digits = std::to_string(number);
    const int64_t first = number < 0 ? 1 : 0;
    for (auto at = static_cast<int64_t>(digits.size()) - 3; at > first; at -= 3) {
        digits.insert(static_cast<size_t>(at), ",");
    }
    return digits;
}

std::string size_text(double bytes) {
    constexpr double kMiB = 1 << 20, kGiB = 1 << 30;
    if (bytes < kGiB) return grouped(static_cast<int64_t>(std::ceil(bytes / kMiB))) + " MiB";
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB", bytes / kGiB);
    return text;
}

std::string counted(int64_t number, const char* thing) {
    return grouped(number) + " " + thing + (number == 1 ? "" : "s");
}

std::vector<int> divisors(int64_t number) {
    std::vector<int> found;
    for (int64_t d = 1; d * d <= number; ++d) {
        if (number % d != 0) continue;
        found.push_back(static_cast<int>(d));
        if (d != number / d) found.push_back(static_cast<int>(number / d));
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<int64_t> as_list(const std::vector<int>& sizes) {
    return {sizes.begin(), sizes.end()};
}

std::vector<Fix> fixes_of_sizes(const std::string& key, const std::vector<int>& sizes, int64_t asked) {
    constexpr size_t kMost = 4;
    std::vector<Fix> fixes;
    for (auto size = sizes.rbegin(); size != sizes.rend() && fixes.size() < kMost; ++size) {
        if (*size != asked) fixes.push_back({{{key, std::to_string(*size)}}});
    }
    return fixes;
}

std::optional<int64_t> product(std::initializer_list<int64_t> factors) {
    int64_t result = 1;
    for (const int64_t factor : factors) {
        if (__builtin_mul_overflow(result, factor, &result) || result > (int64_t{1} << 62))
            return std::nullopt;
    }
    return result;
}

}  // namespace ringmaster
