#include "launcher/slurm/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/control_characters.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr const char* kWhere = "--slurm";
constexpr long kWarning_s = 120;

/// Options that a user cannot choose, each with the reason or the alternative to show.
constexpr std::array<std::pair<const char*, const char*>, 13> kOwn = {{
    {"ntasks", "--ranks says how many ranks there are"},
    {"output", "what the job says goes to agent.log in the run directory"},
    {"error", "what the job says goes to agent.log in the run directory"},
    {"open-mode", "what the job says is appended to agent.log in the run directory"},
    {"input", "the ranks read nothing"},
    {"chdir", "the job works in the run directory"},
    {"array", "a run is one job"},
    {"wrap", "the script is Ringmaster's; --dry-run shows it"},
    {"parsable", "Ringmaster reads the job's number itself"},
    {"test-only", "--dry-run shows the script and submits nothing"},
    {"wait", "without --detach the run is followed to its end"},
    {"gpus-per-task", "every rank sees the GPUs of its node: gres=gpu:N, N a node"},
    {"requeue", "the script asks for it; no-requeue takes it away"},
}};

bool is_key(const std::string& key) {
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    return key.size() > 1 && is_letter(key.front()) && std::all_of(key.begin(), key.end(), [&](char c) {
               return is_letter(c) || c == '-' || (c >= '0' && c <= '9');
           });
}

std::string shown(std::string text) {
    text = without_controls(std::move(text), '?');
    return text.size() > 100 ? text.substr(0, 100) + "…" : text;
}

std::optional<long> number_of(const std::string& text) {
    long value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = problem == std::errc() && end == text.data() + text.size() && value >= 0;
    return whole && value < 100'000'000 ? std::optional(value) : std::nullopt;
}

std::optional<int> count_of(const SlurmOptions& options, const std::string& key) {
    const auto text = options.value(key);
    if (!text) return std::nullopt;
    const auto count = number_of(*text);
    if (!count || *count < 1 || *count > 1'000'000)
        throw Error(Failure::Usage, Code("SLURM-OPTION"),
                    key + "=" + shown(*text) + " is no whole number from 1", kWhere);
    return static_cast<int>(*count);
}

/// Parses "USR1@120" or "120" into seconds. Other signals are refused: the engine saves only on USR1.
long seconds_of_signal(const std::string& text) {
    const size_t at = text.find('@');
    const std::string name = at == std::string::npos ? "" : text.substr(0, at);
    const auto seconds = number_of(at == std::string::npos ? text : text.substr(at + 1));
    if ((name.empty() || name == "USR1" || name == "SIGUSR1") && seconds && *seconds > 0) return *seconds;
    throw Error(Failure::Usage, Code("SLURM-OPTION"),
                "signal=" + shown(text) + " would not be understood by the ranks", kWhere,
                "signal=USR1@120 warns them 120 s before the end: they save, and the job is queued again");
}

void check(const std::string& key, const std::string& value) {
    if (!is_key(key))
        throw Error(Failure::Usage, Code("SLURM-OPTION"), "'" + shown(key) + "' is no option of sbatch",
                    kWhere, "key=value with a long option, such as partition=gpu or time=4:00:00");
    for (const auto& [own, why] : kOwn) {
        if (key == own)
            throw Error(Failure::Usage, Code("SLURM-OPTION"), key + " cannot be chosen", kWhere, why);
    }
    if (has_controls(value))
        throw Error(Failure::Usage, Code("SLURM-OPTION"),
                    "the value of " + key + " holds a control character", kWhere);
    if (key == "time" && !slurm_seconds(value) && value != "UNLIMITED" && value != "INFINITE")
        throw Error(Failure::Usage, Code("SLURM-OPTION"), "time=" + shown(value) + " is no time", kWhere,
                    "minutes, hours:minutes:seconds or days-hours:minutes:seconds");
    if (key == "signal") seconds_of_signal(value);
}

void put(SlurmOptions& options, const std::string& key, const std::string& value) {
    std::erase_if(options.values, [&](const auto& one) { return one.first == key; });
    options.values.emplace_back(key, value);
}

}  // namespace

std::optional<std::string> SlurmOptions::value(const std::string& key) const {
    for (const auto& [name, text] : values) {
        if (name == key) return text;
    }
    return std::nullopt;
}

std::optional<int> SlurmOptions::nodes() const {
    return count_of(*this, "nodes");
}

std::optional<int> SlurmOptions::tasks_per_node() const {
    return count_of(*this, "ntasks-per-node");
}

std::optional<int> SlurmOptions::gpus_per_node() const {
    std::string text = value("gpus-per-node").value_or("");
    if (const auto gres = value("gres"); text.empty() && gres && gres->starts_with("gpu"))
        text = gres->size() > 4 ? gres->substr(4) : "1";
    if (text.empty() || text.find(',') != std::string::npos) return std::nullopt;
    text = text.substr(0, text.find('('));
    const auto count = number_of(text.substr(text.rfind(':') + 1));  // "a100:4" or "4"
    return count && *count > 0 ? std::optional(static_cast<int>(*count)) : std::nullopt;
}

bool SlurmOptions::asks_for_gpus() const {
    return value("gpus") || value("gpus-per-node") || value("gres").value_or("").starts_with("gpu");
}

std::optional<long> SlurmOptions::time_s() const {
    const auto text = value("time");
    const auto seconds = text ? slurm_seconds(*text) : std::nullopt;
    return seconds && *seconds > 0 ? seconds : std::nullopt;  // Slurm reads 0 as no limit
}

long SlurmOptions::warning_s() const {
    const auto asked = value("signal");
    const long seconds =
        asked ? seconds_of_signal(*asked) : std::clamp(time_s().value_or(kWarning_s * 5) / 5, 1L, kWarning_s);
    if (time_s() && seconds >= *time_s())
        throw Error(
            Failure::Usage, Code("SLURM-OPTION"),
            "the warning " + std::to_string(seconds) + " s before the end would come before the start",
            kWhere, "more time, or signal=USR1@N with fewer seconds");
    return seconds;
}

SlurmOptions parse_slurm_options(const std::vector<std::string>& words) {
    SlurmOptions options;
    for (const std::string& word : words) {
        const size_t equals = word.find('=');
        const std::string key = word.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
        check(key, value);
        put(options, key, value);
    }
    options.nodes();
    options.tasks_per_node();
    options.warning_s();
    return options;
}

SlurmOptions merged(const SlurmOptions& older, const SlurmOptions& newer) {
    SlurmOptions all = older;
    for (const auto& [key, value] : newer.values) put(all, key, value);
    all.warning_s();
    return all;
}

std::optional<long> slurm_seconds(const std::string& text) {
    const size_t dash = text.find('-');
    const bool has_days = dash != std::string::npos;
    std::vector<long> parts;
    for (size_t begin = has_days ? dash + 1 : 0; begin <= text.size();) {
        const size_t end = std::min(text.find(':', begin), text.size());
        const auto part = number_of(text.substr(begin, end - begin));
        if (!part) return std::nullopt;
        parts.push_back(*part);
        begin = end + 1;
    }
    if (parts.empty() || parts.size() > 3) return std::nullopt;
    parts.resize(3, 0);
    constexpr long kMinute = 60, kHour = 3600, kDay = 86400;
    if (has_days) {
        const auto days = number_of(text.substr(0, dash));
        return days ? std::optional(*days * kDay + parts[0] * kHour + parts[1] * kMinute + parts[2])
                    : std::nullopt;
    }
    const auto colons = std::count(text.begin(), text.end(), ':');
    if (colons == 2) return parts[0] * kHour + parts[1] * kMinute + parts[2];
    return parts[0] * kMinute + parts[1];
}

nlohmann::json to_json(const SlurmOptions& options) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [key, value] : options.values) list.push_back({key, value});
    return list;
}

SlurmOptions slurm_options_of(const nlohmann::json& json) {
    SlurmOptions options;
    for (const nlohmann::json& pair : json) {
        const std::string key = pair.at(0), value = pair.at(1);
        check(key, value);
        put(options, key, value);
    }
    return options;
}

}  // namespace ringmaster
