#include "engine/events/event.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/events/flat_json.h"
#include "engine/events/limits.h"
#include "engine/events/step_fields.h"

namespace ringmaster {

namespace {

/// Lists the names in the order of Event's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<Event>> kTypes = {
    "step", "hello", "phase", "device", "eval", "warning", "checkpoint", "done", "error", "samples"};

// each_field lists the fields of each event, for writing and for reading.

void each_field(auto& field, EventOf<HelloEvent> auto& e) {
    field("attempt", e.attempt);
    field("version", e.version);
    field("torch_version", e.torch_version);
    field("host", e.host);
    field("device", e.device);
    field("network", e.network);
    field("pid", e.pid);
    field("world_size", e.world_size);
    field("dp_replicate", e.dp_replicate);
    field("dp_shard", e.dp_shard);
    field("ring", e.ring);
    field("ulysses", e.ulysses);
    field("start_step", e.start_step);
}

void each_field(auto& field, EventOf<PhaseEvent> auto& e) {
    field("name", e.name);
    field("done", e.done);
    field("total", e.total);
}

void each_field(auto& field, EventOf<DeviceEvent> auto& e) {
    field("utilisation", e.utilisation);
    field("temperature_c", e.temperature_c);
    field("clock_mhz", e.clock_mhz);
    field("power_w", e.power_w);
}

void each_field(auto& field, EventOf<EvalEvent> auto& e) {
    field("step", e.step);
    field("loss", e.loss);
    field("tokens", e.tokens);
    each_field(field, e.preference);
}

void each_field(auto& field, EventOf<WarningEvent> auto& e) {
    field("message", e.message);
    field("where", e.where);
}

void each_field(auto& field, EventOf<CheckpointEvent> auto& e) {
    field("step", e.step);
    field("path", e.path);
    field("seconds", e.seconds);
}

void each_field(auto& field, EventOf<DoneEvent> auto& e) {
    field("step", e.step);
    field("state", e.state);
}

void each_field(auto& field, EventOf<ErrorEvent> auto& e) {
    field("message", e.message);
    field("where", e.where);
    field("code", e.code);
    field("cause", e.cause);
}

void each_field(auto& field, EventOf<SamplesEvent> auto& e) {
    field("step", e.step);
    field("prompts", e.prompts);
    field("bytes", e.bytes);
}

class FieldReader {
  public:
    explicit FieldReader(std::string_view line) : members_(line) {}

    bool good() const { return good_; }
    /// Reads the remaining members. Returns true if the line is exactly one JSON object.
    bool is_whole() {
        while (members_.next(member_)) {
        }
        return members_.is_whole();
    }
    void required(std::string_view key, auto& value) {
        good_ = good_ && find(key) != nullptr;
        (*this)(key, value);
    }

    void operator()(std::string_view key, std::optional<double>& value) {
        if (const std::string_view* text = find(key)) good_ = (value = double_of(*text)).has_value() && good_;
    }
    void operator()(std::string_view key, double& value) {
        std::optional<double> number;
        (*this)(key, number);
        value = number.value_or(std::numeric_limits<double>::quiet_NaN());
    }
    void operator()(std::string_view key, bool& value) {
        if (const std::string_view* text = find(key)) value = *text == "true";
    }
    void if_any(std::string_view key, auto& value) { (*this)(key, value); }
    void operator()(std::string_view key, std::map<std::string, double>& values) {
        const std::string_view* text = find(key);
        if (text == nullptr) return;
        JsonMembers parts(*text);
        for (JsonMember part; parts.next(part);) {
            const auto name = text_of('"' + std::string(part.key) + '"');
            const auto value = double_of(part.value);
            if (name && value) values[*name] = *value;
        }
        good_ = good_ && parts.is_whole();
    }
    void operator()(std::string_view key, int64_t& value) {
        if (const std::string_view* text = find(key)) take(integer_of(*text), value);
        good_ = good_ && value >= -limits::kCount && value <= limits::kCount;
    }
    void operator()(std::string_view key, std::optional<int64_t>& value) {
        int64_t number = 0;
        (*this)(key, number);
        if (find(key) != nullptr) value = number;
    }
    void operator()(std::string_view key, int& value) {
        int64_t number = value;
        (*this)(key, number);
        good_ = good_ && std::in_range<int>(number);
        value = static_cast<int>(number);
    }
    void operator()(std::string_view key, std::string& value) {
        if (const std::string_view* text = find(key)) take(text_of(*text), value);
        limits::cut(value, limits::kEventText);
    }

  private:
    template <class T>
    void take(std::optional<T> found, T& value) {
        good_ = good_ && found;
        if (found) value = std::move(*found);
    }

    /// Returns a member's value; null counts as absent. Members mostly come in the order in which callers ask
    /// for them. A caller may ask for a key twice in a row, but not again later.
    const std::string_view* find(std::string_view key) {
        if (members_.next_if(key, member_) || member_.key == key) return value_of(member_);
        const auto skipped = std::ranges::find(skipped_, key, &JsonMember::key);
        if (skipped != skipped_.end()) return value_of(*skipped);
        while (members_.next(member_)) {
            if (member_.key == key) return value_of(member_);
            skipped_.push_back(member_);
        }
        return nullptr;
    }

    static const std::string_view* value_of(const JsonMember& member) {
        return member.value == "null" ? nullptr : &member.value;
    }

    JsonMembers members_;
    JsonMember member_;                ///< the member that was read last
    std::vector<JsonMember> skipped_;  ///< members that were read before a caller asked for them
    bool good_ = true;
};

struct FieldWriter {
    nlohmann::ordered_json& object;

    void operator()(const char* key, const auto& value) { object[key] = value; }
    template <class T>
    void operator()(const char* key, const std::optional<T>& value) {
        object[key] = value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
    }
    void if_any(const char* key, const auto& value) {
        if (value) (*this)(key, value);
    }
    void if_any(const char* key, const std::map<std::string, double>& values) {
        if (!values.empty()) (*this)(key, values);
    }
};

/// Sets `event` to an event of this type; returns false for an unknown type.
template <size_t... I>
bool make_event(Event& event, std::string_view type, std::index_sequence<I...>) {
    return ((type == kTypes[I] && (event.emplace<I>(), true)) || ...);
}

bool is_step(int64_t number) {
    return number >= 0 && number <= limits::kSteps;
}

bool read_fields(FieldReader& reader, Event& event) {
    return std::visit(
        [&](auto& e) {
            bool good = true;
            if constexpr (requires { e.step; }) {
                reader.required("step", e.step);
                good = is_step(e.step);
            }
            each_field(reader, e);
            if constexpr (requires { e.start_step; }) good = is_step(e.start_step);
            if constexpr (requires { e.world_size; }) good = good && e.world_size <= limits::kRanks;
            return good && reader.good();
        },
        event);
}

}  // namespace

std::string to_json_line(const EventLine& line) {
    nlohmann::ordered_json object{{"type", kTypes[line.event.index()]}, {"t", line.t}, {"rank", line.rank}};
    FieldWriter writer{object};
    std::visit([&](const auto& e) { each_field(writer, e); }, line.event);
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::optional<EventLine> parse_event(std::string_view line) {
    if (line.size() > limits::kEvent) return std::nullopt;
    FieldReader reader(line);
    std::string type;
    std::optional<EventLine> result(std::in_place);
    reader.required("type", type);
    reader.required("t", result->t);
    reader.required("rank", result->rank);
    const bool known = make_event(result->event, type, std::make_index_sequence<kTypes.size()>());
    if (!known || !reader.good() || result->rank < 0 || result->rank >= limits::kRanks ||
        !(std::abs(result->t) <= limits::kSeconds) || !read_fields(reader, result->event) ||
        !reader.is_whole())
        result.reset();
    return result;
}

}  // namespace ringmaster
