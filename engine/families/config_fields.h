/// Reads the fields of one config.json object.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/error.h"

namespace ringmaster {

/// Reads one config.json field by field. Every error names the file and the field.
class ConfigFields {
  public:
    /// Pairs the common name of a field with its name in the file.
    using Renamed = std::vector<std::pair<std::string, std::string>>;

    ConfigFields(const nlohmann::json& values, std::string where, Renamed renamed = {})
        : values_(&values), where_(std::move(where)), renamed_(std::move(renamed)) {
        if (!values.is_object())
            throw Error(Failure::Refused, Code("MODEL-CONFIG"), "is not a JSON object", where_);
    }

    /// Throws Error(Refused). Fields in `what` get the names that the file has.
    [[noreturn]] void refuse(const std::string& what, const std::string& hint = {}) const {
        throw Error(Failure::Refused, Code("MODEL-CONFIG"), in_files(what), where_, hint);
    }
    /// Replaces names of fields in a text by those that the file has.
    std::string in_files(std::string text) const;

    /// Returns whether the field exists, and marks it as read.
    bool has(const char* key) const {
        read_->insert(key);
        return values_->contains(key);
    }
    /// Marks fields as read; `keys` are separated by spaces.
    void ignore(const std::string& keys) const {
        std::istringstream words(keys);
        for (std::string key; words >> key;) read_->insert(key);
    }
    bool is_null(const char* key) const { return has(key) && at(key).is_null(); }

    int64_t integer(const char* key, int64_t max) const {
        if (!has(key)) refuse("'" + std::string(key) + "' is missing");
        const nlohmann::json& value = at(key);
        const bool fits =
            value.is_number_integer() && value.get<double>() >= 1 && value.get<double>() <= double(max);
        if (!fits) {
            refuse("'" + std::string(key) + "' is " + value.dump() + ", not a whole number from 1 to " +
                   std::to_string(max));
        }
        return value.get<int64_t>();
    }
    /// Returns the field's value, or `otherwise` if the key is absent or null.
    int64_t integer_or(const char* key, int64_t otherwise, int64_t max) const {
        return !has(key) || is_null(key) ? otherwise : integer(key, max);
    }

    double number_or(const char* key, double otherwise) const {
        if (!has(key) || is_null(key)) return otherwise;
        if (!at(key).is_number()) {
            refuse("'" + std::string(key) + "' is " + at(key).dump() + ", not a number");
        }
        return at(key).get<double>();
    }
    double number(const char* key) const {
        if (!has(key) || is_null(key)) refuse("'" + std::string(key) + "' is missing");
        return number_or(key, 0);
    }
    std::optional<double> optional_number(const char* key) const {
        if (!has(key) || is_null(key)) return std::nullopt;
        return number(key);
    }
    double positive_or(const char* key, double otherwise) const {
        const double value = number_or(key, otherwise);
        if (!(value > 0)) refuse("'" + std::string(key) + "' is " + at(key).dump() + ", not above 0");
        return value;
    }

    bool flag_or(const char* key, bool otherwise) const {
        if (!has(key) || is_null(key)) return otherwise;
        if (!at(key).is_boolean()) {
            refuse("'" + std::string(key) + "' is " + at(key).dump() + ", not true or false");
        }
        return at(key).get<bool>();
    }

    std::string text_or(const char* key, const std::string& otherwise) const {
        if (!has(key) || is_null(key)) return otherwise;
        if (!at(key).is_string()) refuse("'" + std::string(key) + "' is " + at(key).dump() + ", not text");
        return at(key).get<std::string>();
    }

    /// Returns the field's object; nullopt if the object is empty, null or absent.
    std::optional<ConfigFields> object(const char* key) const {
        if (!has(key) || is_null(key)) return std::nullopt;
        if (!at(key).is_object()) refuse("'" + std::string(key) + "' is not an object");
        if (at(key).empty()) return std::nullopt;
        return ConfigFields(at(key), where_ + ": " + key);
    }

    /// Returns the fields that were not read and hold a value: not null, false, 0 or empty.
    std::vector<std::string> unread() const;

    const nlohmann::json& values() const { return *values_; }
    const std::string& where() const { return where_; }

  private:
    const nlohmann::json& at(const char* key) const { return values_->at(key); }

    const nlohmann::json* values_;
    std::string where_;
    Renamed renamed_;
    std::shared_ptr<std::set<std::string>> read_ = std::make_shared<std::set<std::string>>();
};

}  // namespace ringmaster
