/// Writes structs as JSON and reads them with one list of their fields. A struct takes part by defining
///
///     template <class Visit>
///     void each_field(const Visit& visit, Same<Struct> auto& value);  // calls visit("name", value.member)
///
/// `value` is const while writing. Fields may be such structs, lists and optional values. A field that is
/// missing or of another type throws nlohmann::json::exception.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <vector>

namespace ringmaster {

/// Matches a struct, const or not.
template <class Value, class Struct>
concept Same = std::is_same_v<std::remove_const_t<Value>, Struct>;

template <class Visit, class T>
concept HasFields = requires(const Visit& visit, T& value) {
    each_field(visit, value);
};

struct JsonWriter {
    nlohmann::json& into;

    void operator()(const char* name, const auto& value) const { into[name] = json_of(value); }
    void if_any(const char* name, const auto& value) const { (*this)(name, value); }

    template <class T>
    static nlohmann::json json_of(const T& value) {
        if constexpr (HasFields<JsonWriter, const T>) {
            nlohmann::json fields = nlohmann::json::object();
            each_field(JsonWriter{fields}, value);
            return fields;
        } else {
            return value;
        }
    }
    template <class T>
    static nlohmann::json json_of(const std::optional<T>& value) {
        return value ? json_of(*value) : nlohmann::json();
    }
    template <class T>
    static nlohmann::json json_of(const std::vector<T>& values) {
        nlohmann::json list = nlohmann::json::array();
        for (const T& value : values) list.push_back(json_of(value));
        return list;
    }
};

struct JsonReader {
    const nlohmann::json& from;

    void operator()(const char* name, auto& value) const { read(from.at(name), value); }
    /// Leaves the value unchanged if the field is missing, because older files do not have every field.
    void if_any(const char* name, auto& value) const {
        if (from.contains(name)) (*this)(name, value);
    }

    template <class T>
    static void read(const nlohmann::json& json, T& value) {
        if constexpr (HasFields<JsonReader, T>) {
            each_field(JsonReader{json}, value);
        } else {
            json.get_to(value);
        }
    }
    template <class T>
    static void read(const nlohmann::json& json, std::optional<T>& value) {
        value.reset();
        if (!json.is_null()) read(json, value.emplace());
    }
    template <class T>
    static void read(const nlohmann::json& json, std::vector<T>& values) {
        values.clear();
        for (const nlohmann::json& value : json.get_ref<const nlohmann::json::array_t&>())
            read(value, values.emplace_back());
    }
};

nlohmann::json fields_to_json(const auto& value) {
    return JsonWriter::json_of(value);
}

template <class T>
T fields_from_json(const nlohmann::json& json) {
    T value;
    JsonReader::read(json, value);
    return value;
}

}  // namespace ringmaster
