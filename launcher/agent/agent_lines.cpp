#include "launcher/agent/agent_lines.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/control_characters.h"
#include "launcher/agent/options.h"

namespace ringmaster {

using Json = nlohmann::json;

namespace {

/// maximum bytes of a message, and of a log line
constexpr size_t kLongText = 2048, kShortText = 512;
constexpr size_t kLogLines = 8;
constexpr size_t kPlaceParts = 8, kPartWords = 4, kWordBytes = 128;  ///< limits of RankEnd::place
constexpr int kDepth = 4;
constexpr double kLatest = 1e12;  ///< Unix seconds

struct Damaged {};

/// Returns true if the nesting stays within kDepth: a short line could otherwise cost the parser much memory.
bool is_shallow(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size(); ++i) {
        if (in_string && text[i] == '\\')
            ++i;
        else if (text[i] == '"')
            in_string = !in_string;
        else if (!in_string && (text[i] == '[' || text[i] == '{') && ++depth > kDepth)
            return false;
        else if (!in_string && (text[i] == ']' || text[i] == '}'))
            --depth;
    }
    return true;
}

Json parsed(std::string_view line) {
    if (line.size() > kLongestLine || !is_shallow(line)) throw Damaged();
    Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) throw Damaged();
    return json;
}

const Json& field(const Json& json, const char* name) {
    if (!json.is_object()) throw Damaged();
    const auto found = json.find(name);
    if (found == json.end()) throw Damaged();
    return *found;
}

int64_t whole(const Json& json, const char* name, int64_t low, int64_t high) {
    const Json& value = field(json, name);
    if (!value.is_number_integer()) throw Damaged();
    if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) throw Damaged();
    const auto number = value.get<int64_t>();
    if (number < low || number > high) throw Damaged();
    return number;
}

double seconds(const Json& json, const char* name) {
    const Json& value = field(json, name);
    if (!value.is_number()) throw Damaged();
    const auto number = value.get<double>();
    if (!std::isfinite(number) || number < 0 || number > kLatest) throw Damaged();
    return number;
}

bool flag(const Json& json, const char* name) {
    const Json& value = field(json, name);
    if (!value.is_boolean()) throw Damaged();
    return value.get<bool>();
}

/// Returns text with control characters blanked, because a terminal could obey them; cuts it to `longest`.
std::string text_of(const Json& value, size_t longest) {
    if (!value.is_string()) throw Damaged();
    std::string text = value.get<std::string>();
    if (text.size() > longest) {
        while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xC0) == 0x80)
            --longest;  // cuts between UTF-8 characters
        text.resize(longest);
    }
    return without_controls(std::move(text), ' ', "\n");
}

const Json& list(const Json& value, size_t most) {
    if (!value.is_array() || value.size() > most) throw Damaged();
    return value;
}

int rank_of(const Json& json, std::set<int>& seen) {
    const auto rank = static_cast<int>(whole(json, "rank", 0, int64_t{kMaxNodes} * kMaxRanks - 1));
    if (!seen.insert(rank).second) throw Damaged();
    return rank;
}

Json json_of(const ProcessId& process) {
    return {{"host", process.host},
            {"pid", process.pid},
            {"start_time", process.start_time},
            {"boot_id", process.boot_id}};
}

ProcessId process_of(const Json& json) {
    return {text_of(field(json, "host"), kShortText), whole(json, "pid", 0, INT32_MAX),
            whole(json, "start_time", 0, INT64_MAX), text_of(field(json, "boot_id"), kShortText)};
}

Json json_of(const Reason& reason) {
    Json parts = Json::array();
    for (const ReasonPart& part : reason) {
        parts.push_back({part.code});
        for (const std::string& value : part.with) parts.back().push_back(value.substr(0, kWordBytes));
    }
    return parts;
}

RankEnd end_of(const Json& json, std::set<int>& seen) {
    RankEnd end;
    end.rank = rank_of(json, seen);
    end.wait_status = static_cast<int>(whole(json, "wait_status", 0, 0xffff));
    end.killed_by_us = flag(json, "killed_by_us");
    end.unkillable = flag(json, "unkillable");
    end.t = seconds(json, "t");
    end.stopped = text_of(field(json, "stopped"), kShortText);
    for (const Json& part : list(field(json, "place"), kPlaceParts)) {
        const Json& words = list(part, kPartWords);
        if (words.empty()) throw Damaged();
        ReasonPart& added = end.place.emplace_back(ReasonPart{text_of(words[0], kWordBytes)});
        for (size_t i = 1; i < words.size(); ++i) added.with.push_back(text_of(words[i], kWordBytes));
    }
    end.waits = flag(json, "waits");
    for (const Json& line : list(field(json, "log"), kLogLines))
        end.record.last_log_lines.push_back(text_of(line, kShortText));
    if (!json.contains("error")) return end;
    const Json& error = json.at("error");
    end.record.error =
        ErrorEvent{text_of(field(error, "message"), kLongText), text_of(field(error, "where"), kShortText),
                   text_of(field(error, "code"), kShortText), text_of(field(error, "cause"), kShortText)};
    end.record.error_t = seconds(error, "t");
    return end;
}

/// Clamps a time to the range that the other end accepts.
double in_range(double seconds) {
    return std::isfinite(seconds) ? std::clamp(seconds, 0.0, kLatest) : 0;
}

std::string on_one_line(const Json& json) {
    return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

std::string rank_ends_to_line(const std::vector<RankEnd>& ends) {
    Json all = Json::array();
    for (const RankEnd& end : ends) {
        all.push_back({{"rank", end.rank},
                       {"wait_status", end.wait_status},
                       {"killed_by_us", end.killed_by_us},
                       {"unkillable", end.unkillable},
                       {"t", in_range(end.t)},
                       {"stopped", end.stopped.substr(0, kShortText)},
                       {"place", json_of(end.place)},
                       {"waits", end.waits},
                       {"log", end.record.last_log_lines}});
        if (end.record.error) {
            all.back()["error"] = {{"message", end.record.error->message.substr(0, kLongText)},
                                   {"where", end.record.error->where.substr(0, kShortText)},
                                   {"code", end.record.error->code.substr(0, kShortText)},
                                   {"cause", end.record.error->cause.substr(0, kShortText)},
                                   {"t", in_range(end.record.error_t)}};
        }
    }
    return on_one_line(all);
}

std::optional<std::vector<RankEnd>> rank_ends_from_line(std::string_view line) {
    try {
        std::vector<RankEnd> ends;
        std::set<int> seen;
        const Json json = parsed(line);
        for (const Json& one : list(json, kMaxRanks)) ends.push_back(end_of(one, seen));
        return ends;
    } catch (const Damaged&) {
        return std::nullopt;
    }
}

std::string node_to_line(const NodeState& node) {
    Json ranks = Json::array();
    for (const RankProcess& rank : node.ranks)
        ranks.push_back({{"rank", rank.rank}, {"process", json_of(rank.process)}});
    return on_one_line({{"host", node.host}, {"agent", json_of(node.agent)}, {"ranks", std::move(ranks)}});
}

std::optional<NodeState> node_from_line(std::string_view line) {
    try {
        const Json json = parsed(line);
        NodeState node{text_of(field(json, "host"), kShortText), process_of(field(json, "agent")), {}};
        std::set<int> seen;
        for (const Json& one : list(field(json, "ranks"), kMaxRanks))
            node.ranks.push_back({rank_of(one, seen), process_of(field(one, "process"))});
        return node;
    } catch (const Damaged&) {
        return std::nullopt;
    }
}

}  // namespace ringmaster
